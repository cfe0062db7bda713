"""Where a cache holds data, by how long single reads take: cells of one bit are read sooner.

A write that is past the cache leaves its oldest data in fast cells where the rest went past it, and
its newest where all data goes through the cache. What slows writes down, the host's stalls, heat,
a slow start, is not in the latency of reads. Invariants: pure; only ratios of latencies count, so
that it does not matter how fast a drive reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Regions of a cache that is being folded, and the reads of each.
REGIONS, READS = 12, 48
# Regions of a write past the cache, as shares of the cache's size: the oldest data, data that the
# cache took and has not folded, and data past its size. The write is as long as the last one says.
OLDEST, TAKEN, PAST = (0.02, 0.2), (0.6, 0.9), (1.05, 1.3)
PAST_READS = 128
# From this ratio on two regions lie in different cells; so far apart in logarithms all is clear.
APART, CLEAR = 1.12, 0.15


def mean_wait(series: Mapping[str, Any]) -> float:
    """The mean latency of reads in nanoseconds, without the longest: one stall is the host's."""
    ios = int(series["ios"].sum())
    if ios < 2:
        return 0.0
    return float(series["lat_sum_ns"].sum() - series["lat_max_ns"].max()) / (ios - 1)


def folded_share(levels: Sequence[float], cached_ns: float) -> float:
    """How much of a cache lies in slower cells, where its data takes `cached_ns` to read."""
    waits = np.array(levels)
    fast = min(cached_ns, float(waits.min()))
    slow = float(waits.max())
    if slow < APART * fast:
        return 0.0
    if waits.min() > APART * fast:
        return 1.0
    fast = float(np.median(waits[waits < np.sqrt(fast * slow)]))
    slow = float(np.median(waits[waits >= np.sqrt(fast * slow)]))
    return float(np.clip((waits - fast) / (slow - fast), 0.0, 1.0).mean())


def is_apart(shown: Floats) -> bool:
    """True if a pattern (`pattern`) says that its regions lie in different cells."""
    return shown.size == 0 or float(shown[0]) >= np.log(APART) / CLEAR


def pattern(oldest: float, taken: float, past: float) -> Floats:
    """What three regions' mean latencies say: whether they differ (0 to 1), and how much slower
    than what the cache took the data past its size and the oldest data are read, as shares of the
    largest difference; empty where a region was not read."""
    waits = np.array([oldest, taken, past])
    if waits.min() <= 0.0:
        return np.zeros(0)
    ratio = float(waits.max() / waits.min())
    clear = min(np.log(ratio) / CLEAR, 1.0)
    if ratio < APART:
        return np.array([clear, 0.0, 0.0])
    apart = waits.max() - waits.min()
    return np.array([clear, (past - taken) / apart, (oldest - taken) / apart])
