"""Fewer points that still show everything: min-max pairs over buckets that suit both axes.

A curve is drawn over data written and over time, and a cache that is a tenth of the bytes may be a
fiftieth of the time. So buckets are equal steps of the mean of the two shares: neither axis gets
less than half of the points. A curve short enough has a bucket a sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_POINTS = 2000
FEWEST_POINTS = 400
# All curves of a page together: what keeps five drives within a few megabytes.
PAGE_POINTS = 40_000


def points_each(curves: int) -> int:
    """How many points a curve may have on a page with so many."""
    return max(FEWEST_POINTS, min(MOST_POINTS, PAGE_POINTS // max(curves, 1)))


def progress(seconds: Floats, done: Floats) -> Floats:
    """From 0 to 1, the mean of the share of time and the share of bytes at each sample."""
    shares = [axis / axis[-1] for axis in (seconds, done) if len(axis) and axis[-1] > 0]
    return np.mean(shares, axis=0) if shares else np.zeros(len(seconds))


def buckets(at: Floats, most: int) -> NDArray[np.int64]:
    """Where each bucket ends (one past its last sample); `at` rises from 0 to 1."""
    if len(at) <= most:
        return np.arange(1, len(at) + 1)
    number = _bucket(at, most)
    return np.append(np.flatnonzero(np.diff(number)) + 1, len(at))


def ends(at: Floats, most: int) -> NDArray[np.int64]:
    """Indices of the last sample of each bucket: for counters, whose differences then add up."""
    if len(at) <= most:
        return np.arange(len(at))
    return np.flatnonzero(np.diff(_bucket(at, most), append=most + 1))


def _bucket(at: Floats, count: int) -> NDArray[np.int64]:
    return np.minimum((at * count).astype(np.int64), count - 1)
