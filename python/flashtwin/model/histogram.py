"""Latency histograms as arrays of fio's buckets, so that percentiles compare with fio's one to one.

What a bucket is, `results.buckets` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flashtwin.model.buckets import (
    BITS,
    BUCKETS,
    GROUPS,
    WITHIN,
    bucket_of,
    middle_of,
    percentiles_of,
)

__all__ = [
    "BITS",
    "BUCKETS",
    "GROUPS",
    "WITHIN",
    "Counts",
    "bins_of",
    "bucket_of",
    "edges",
    "mean_ns",
    "middle_of",
    "percentiles",
]

Counts = NDArray[np.uint64]


def bins_of(counts: Counts) -> dict[int, int]:
    """The buckets that hold anything."""
    return {int(bucket): int(counts[bucket]) for bucket in np.flatnonzero(counts)}


def percentiles(counts: Counts, wanted: Iterable[float]) -> dict[float, int]:
    """As `percentiles_of` says."""
    return percentiles_of(bins_of(counts), wanted)


def mean_ns(counts: Counts) -> float | None:
    """The mean of the bucketed latencies; None without requests."""
    used = np.flatnonzero(counts)
    if not len(used):
        return None
    middles = np.array([middle_of(int(bucket)) for bucket in used], dtype=np.float64)
    return float(np.average(middles, weights=counts[used].astype(np.float64)))


def edges() -> list[tuple[int, int]]:
    """First and last nanosecond of every bucket, for tables and charts."""
    starts = [bucket if bucket < 2 * WITHIN else _start(bucket) for bucket in range(BUCKETS + 1)]
    return [(start, after - 1) for start, after in pairwise(starts)]


def _start(bucket: int) -> int:
    shift = (bucket >> BITS) - 1
    return (1 << (shift + BITS)) + ((bucket % WITHIN) << shift)
