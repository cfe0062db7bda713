"""Medians and quantiles of short series.

Why: an analysis takes thousands of them of some hundred values each, for which numpy's own spend
five sixths of their time on what they could have been asked besides.

Invariants: the same numbers as numpy's to the last bit, not-a-number included.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Number = TypeVar("Number", bound=np.generic)


def median(values: Floats) -> float:
    """As `np.median` of one row."""
    count = values.size
    if count == 0:
        return float("nan")
    lower, upper = (count - 1) // 2, count // 2
    ordered = np.partition(values, (lower, upper, count - 1))
    if np.isnan(ordered[-1]):  # what is no number comes last
        return float("nan")
    return float((ordered[lower] + ordered[upper]) / 2.0)


def medians_around(values: Floats, count: int) -> Floats:
    """The median of the `count` values around each, an odd number; the ends count on past them.

    As `np.median`, which imports numpy's masked arrays: those take 10 MB.
    """
    padded = np.pad(values, count // 2, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, count)
    middle: Floats = np.partition(windows, count // 2, axis=1)[:, count // 2]
    return middle


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """As `np.unique` of numbers, which imports numpy's masked arrays too."""
    ordered = np.sort(values)
    first = np.ones(ordered.size, dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def quantile(values: Floats, share: float) -> float:
    """As `np.quantile` of one row that has values, for one share."""
    place = share * (values.size - 1)
    lower = int(place)
    upper = min(lower + 1, values.size - 1)
    ordered = np.partition(values, (lower, upper, values.size - 1))
    step, part = ordered[upper] - ordered[lower], place - lower
    # From the nearer of both, as numpy does it.
    inner = ordered[lower] + step * part if part < 0.5 else ordered[upper] - step * (1 - part)
    return float("nan" if np.isnan(ordered[-1]) else inner)
