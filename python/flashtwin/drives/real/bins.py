"""Latencies and fio's own bins as counts in fio's 1,856 buckets (the layout: `results.hist`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from flashtwin.model.histogram import BITS, BUCKETS, WITHIN, Counts, bucket_of
from flashtwin.model.series import Ints


def counts_of(latencies_ns: Ints) -> Counts:
    """Counts of whole arrays; agrees with `bucket_of` value by value."""
    # frexp's exponent of a double is exact for the lengths of time that there are (below 2^53 ns).
    top = np.frexp(np.maximum(latencies_ns, 1).astype(np.float64))[1].astype(np.int64) - 1
    shift = np.maximum(top - BITS, 0)
    wide = (shift + 1) * WITHIN + ((latencies_ns >> shift) & (WITHIN - 1))
    buckets = np.minimum(np.where(top <= BITS, latencies_ns, wide), BUCKETS - 1)
    counts: NDArray[np.uint64] = np.bincount(buckets, minlength=BUCKETS).astype(np.uint64)
    return counts


def counts_of_bins(bins: Mapping[int, int]) -> Counts:
    """Counts out of json+: each bin is named after the middle of its bucket."""
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    for middle, count in bins.items():
        counts[bucket_of(middle)] += np.uint64(count)
    return counts
