"""Latency histograms in fio's buckets, so that percentiles compare with fio's one to one.

Layout (fio's stat.h, `FIO_IO_U_PLAT_*`): 29 groups of 64 buckets, 1,856 in all. The first two
groups count single nanoseconds up to 127; each later group doubles the width. A value is put back
at the middle of its bucket. Invariant: a bucket is never wider than 1/64 of its values, so a
percentile is right within 0.8 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

BITS = 6
WITHIN = 1 << BITS
GROUPS = 29
BUCKETS = GROUPS * WITHIN

Counts = NDArray[np.uint64]


def bucket_of(nanoseconds: int) -> int:
    """The bucket that a latency falls into; beyond the last one everything is in the last."""
    top = max(nanoseconds.bit_length() - 1, 0)
    if top <= BITS:
        return nanoseconds
    shift = top - BITS
    return min((shift + 1) * WITHIN + ((nanoseconds >> shift) & (WITHIN - 1)), BUCKETS - 1)


def middle_of(bucket: int) -> int:
    """The latency that stands for a bucket."""
    if bucket < 2 * WITHIN:
        return bucket
    shift = (bucket >> BITS) - 1
    base = 1 << (shift + BITS)
    inside = bucket % WITHIN
    return base + (inside << shift) + (1 << (shift - 1))


def percentiles(counts: Counts, wanted: Iterable[float]) -> dict[float, int]:
    """Nanoseconds below or at which so many percent of the requests lie; empty without requests.

    As fio does: the first bucket at which the running count reaches the share of the whole.
    """
    total = int(counts.sum())
    if total == 0:
        return {}
    running = np.cumsum(counts)
    first = int(np.flatnonzero(counts)[0])
    found = {}
    for share in sorted(wanted):
        # Exactly, as fio's longer floats have it: 99.95 is a little more than it looks.
        reached = math.ceil(Fraction(share) * total / 100)
        at = int(np.searchsorted(running, reached, side="left"))
        found[share] = middle_of(max(at, first))
    return found


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
