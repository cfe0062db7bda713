"""Where a time begins to grow otherwise: two terms, of which the second begins at a knee.

What: times are first x f + second x g, where f and g are known once the knee is. The knee is looked
for on a fine grid, and first and second are fitted at each place by least squares of relative
errors. A second term that would be negative is left out.

Interval: where the fit is no worse than an F test allows. Times repeat to `REPEATS`, or better than
anybody can rely on, so that a perfect fit has an interval too.

Invariants: pure; no random draw; the knee lies between the given ends.

Source of the numbers: choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.curve import Floats

PLACES = 2000
REPEATS = 0.005
# Twice as good as one term for all would be noise; ten times is none for six times and more.
BETTER = 10.0

# f and g of a knee, one value a time.
Terms = Callable[[float], tuple[Floats, Floats]]


@dataclass(frozen=True, kw_only=True)
class Knee:
    """The best place and those about as good, both factors there, and the squared misfit.

    `alone` is whether the first term does nearly as well without the second.
    """

    place: float
    low: float
    high: float
    first: float
    second: float
    misfit: float
    alone: bool


def knee(
    seconds: Floats, terms: Terms, ends: tuple[float, float], flat: Floats, f_95: float
) -> Knee:
    """The knee between the ends; `flat` is the one term of times without a knee, and `f_95` the
    95 % quantile of F with 1 and the fewest degrees of freedom that there can be."""
    places = np.geomspace(*ends, PLACES)
    fits = [_fitted(seconds, terms(float(place))) for place in places]
    misfits = np.array([fit[0] for fit in fits])
    best = int(misfits.argmin())
    misfit, first, second = fits[best]
    floor = seconds.size * REPEATS**2
    near = places[misfits + floor <= (misfit + floor) * (1 + f_95 / (seconds.size - 3))]
    without = _misfit_of_one(flat / seconds)[0]
    return Knee(
        place=float(places[best]),
        low=float(near[0]),
        high=float(near[-1]),
        first=first,
        second=second,
        misfit=misfit,
        alone=without + floor < BETTER * (misfit + floor),
    )


def _fitted(seconds: Floats, terms: tuple[Floats, Floats]) -> tuple[float, float, float]:
    """Misfit and both factors at one knee."""
    columns = np.stack([term / seconds for term in terms], axis=1)
    (first, second), *_ = np.linalg.lstsq(columns, np.ones(seconds.size), rcond=None)
    if second < 0:
        misfit, first = _misfit_of_one(columns[:, 0])
        return misfit, first, 0.0
    return float(np.sum((columns @ (first, second) - 1) ** 2)), float(first), float(second)


def _misfit_of_one(column: Floats) -> tuple[float, float]:
    """Misfit and factor of one term, in shares of each time."""
    factor = float(column.sum() / (column**2).sum())
    return float(np.sum((factor * column - 1) ** 2)), factor
