"""Medians and quantiles of short series.

Why: an analysis takes thousands of them of some hundred values each, for which numpy's own spend
five sixths of their time on what they could have been asked besides.

Invariants: the same numbers as numpy's to the last bit, not-a-number included.
"""

from __future__ import annotations

import numpy as np

from flashtwin.analysis.curve import Floats


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
