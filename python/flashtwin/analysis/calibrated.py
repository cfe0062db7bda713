"""Intervals widened until they hold as often as they say, on drives whose inside is known.

What: an interval from one series knows its noise, and nothing of what stands between series and
drive: how much a buffer or a superblock moves an edge, what heat and a journal leave behind. Split
conformal scaling (Lei and others 2018) asks drives with known truth how far off answers were, in
units of the interval's own half-width plus a share of the value and of a sample: the 95 % quantile
is the factor. `calibration.toml` has the factors and how they were made.

Invariants: no interval gets narrower and none has no width; values stay as they are.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from flashtwin.analysis.estimate import Estimate

Kind = Literal["cache", "fold", "speed", "bound"]
DATA = Path(__file__).with_name("calibration.toml")


@cache
def _factors(kind: Kind) -> tuple[float, float, float]:
    """Scale, share of the value, share of a sample."""
    table = tomllib.loads(DATA.read_text())[kind]
    return float(table["scale"]), float(table["share"]), float(table["samples"])


def widened(estimate: Estimate, kind: Kind, *, sample_bytes: float = 0.0) -> Estimate:
    """The estimate with the interval that holds; `sample_bytes` are those of a sample there."""
    scale, share, samples = _factors(kind)
    more = share * abs(estimate.value) + samples * sample_bytes
    low = estimate.value if estimate.low is None else estimate.low
    high = estimate.value if estimate.high is None else estimate.high
    below = max(scale * (estimate.value - low + more), estimate.value - low)
    above = max(scale * (high - estimate.value + more), high - estimate.value)
    return Estimate(
        value=estimate.value, low=max(estimate.value - below, 0.0), high=estimate.value + above
    )


def bound(smallest_visible: float, total: float) -> float:
    """No cache larger than this was there, where none was seen."""
    return min(_factors("bound")[0] * smallest_visible, total)
