"""Latency histograms in fio's buckets, so that percentiles compare with fio's one to one.

Layout (fio's stat.h, `FIO_IO_U_PLAT_*`): 29 groups of 64 buckets, 1,856 in all. The first two
groups count single nanoseconds up to 127; each later group doubles the width. A value is put back
at the middle of its bucket. Invariant: a bucket is never wider than 1/64 of its values, so a
percentile is right within 0.8 %.

`Counts` has the count of each bucket, `Bins` the buckets that hold anything. numpy is not imported
here, so that fio's emulator starts without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtwin.model.series import Counts

BITS = 6
WITHIN = 1 << BITS
GROUPS = 29
BUCKETS = GROUPS * WITHIN

Bins = Mapping[int, int]


def bucket_of(nanoseconds: int) -> int:
    """The bucket of a latency; the last one also takes all that are longer."""
    top = max(nanoseconds.bit_length() - 1, 0)
    if top <= BITS:
        return nanoseconds
    shift = top - BITS
    return min((shift + 1) * WITHIN + ((nanoseconds >> shift) & (WITHIN - 1)), BUCKETS - 1)


def start_of(bucket: int) -> int:
    """The least latency that falls into a bucket."""
    if bucket < 2 * WITHIN:
        return bucket
    shift = (bucket >> BITS) - 1
    return (WITHIN + bucket % WITHIN) << shift


def middle_of(bucket: int) -> int:
    """The latency that stands for a bucket."""
    return (start_of(bucket) + start_of(bucket + 1)) // 2


def edges() -> list[tuple[int, int]]:
    """First and last nanosecond of every bucket, for tables and charts."""
    return [(start, after - 1) for start, after in pairwise(map(start_of, range(BUCKETS + 1)))]


def bins_of(counts: Counts) -> dict[int, int]:
    """The buckets that hold anything."""
    return {int(bucket): int(counts[bucket]) for bucket in counts.nonzero()[0]}


def summed(several: Iterable[Bins]) -> dict[int, int]:
    """Counts put together."""
    total: dict[int, int] = {}
    for bins in several:
        for bucket, count in bins.items():
            total[bucket] = total.get(bucket, 0) + count
    return dict(sorted(total.items()))


def percentiles_of(bins: Bins, shares: Iterable[float]) -> dict[float, int]:
    """The nanoseconds within which so many percent of the requests were answered; empty without
    requests. As in fio, that is the first bucket at which the running count reaches the share."""
    total = sum(bins.values())
    rows = iter(sorted(bins.items()))
    latencies: dict[float, int] = {}
    bucket, running = 0, 0
    for share in sorted(shares) if total else ():
        # Exactly, as fio's longer floats have it: 99.95 is a little more than it looks.
        numerator, denominator = share.as_integer_ratio()
        reached = max(-(-numerator * total // (100 * denominator)), 1)
        while running < reached:
            bucket, count = next(rows)
            running += count
        latencies[share] = middle_of(bucket)
    return latencies


def percentiles(counts: Counts, shares: Iterable[float]) -> dict[float, int]:
    """As `percentiles_of` says."""
    return percentiles_of(bins_of(counts), shares)


def mean_ns(counts: Counts) -> float | None:
    """The mean of the bucketed latencies; none without requests."""
    bins = bins_of(counts)
    total = sum(bins.values())
    if not total:
        return None
    return sum(middle_of(bucket) * count for bucket, count in bins.items()) / total
