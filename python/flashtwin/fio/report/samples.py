"""Spreads and windows out of samples: what stands in a report where nobody counted as fio does."""

from __future__ import annotations

import numpy as np

from flashtwin.fio.report.job import Spread, Windows
from flashtwin.model.histogram import Counts, middle_of


def spread_of(counts: Counts, **exact: float) -> Spread:
    """The spread of bucketed latencies; what is known exactly (`minimum`, `maximum`, `mean`) wins.

    A deviation out of buckets is right within half a bucket, 0.8 %.
    """
    used = np.flatnonzero(counts)
    total = int(counts.sum())
    if not total:
        return Spread()
    middles = np.array([middle_of(int(bucket)) for bucket in used], dtype=np.float64)
    weights = counts[used].astype(np.float64)
    mean = float(np.average(middles, weights=weights))
    square = float(np.average((middles - mean) ** 2, weights=weights))
    # fio divides by one less than the number of its samples.
    deviation = (square * total / (total - 1)) ** 0.5 if total > 1 else 0.0
    return Spread(
        minimum=int(exact.get("minimum", middles[0])),
        maximum=int(exact.get("maximum", middles[-1])),
        mean=exact.get("mean", mean),
        stddev=deviation,
        count=total,
    )


def windows_of(values: np.ndarray) -> Windows:
    """Rates of whole windows as fio sums them up."""
    if not len(values):
        return Windows()
    return Windows(
        minimum=int(values.min()),
        maximum=int(values.max()),
        mean=float(values.mean()),
        stddev=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        count=len(values),
    )
