"""How much of a drive its controller's map cache tells of, by random reads over ranges.

What: reads over a range that the cached part of the map covers cost one time; over a larger range a
share of them first needs a piece of the map from flash or from the host. A cache that keeps what
was used last holds R of a range S, so that the mean time of a read is a + b max(0, 1 - R/S). The
curve is fitted by least squares of relative errors, a and b for each R on a fine grid.

When it is told: the knee has to explain the times far better than one time for all of them (an F
test), and to make reads slower by `LEAST_SLOWER` or more. The interval of R is where the fit is
no worse than an F test allows, and never narrower than `LEAST_WIDTH`.

Invariants: pure; ranges and times in, at least `FEWEST` of them; R lies within the ranges.

Source of the numbers: Gupta, Kim and Urgaonkar 2009 (DFTL) for the mechanism; the limits are
choices. The quantiles of F are bounded from above by those of its fewest degrees of freedom here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.curve import Floats
from flashtwin.analysis.estimate import Estimate

FEWEST = 6
PLACES = 2000
LEAST_SLOWER = 0.05
# Times of a range repeat to a share of this size, or better than anybody can rely on.
REPEATS = 0.005
# Twice as good as one time for all would be noise; ten times is none for six ranges and more.
BETTER = 10.0
# The 95 % quantile of F with 1 and 3 degrees of freedom, those of six ranges.
F_95 = 10.1
LEAST_WIDTH = 0.05


@dataclass(frozen=True, kw_only=True)
class Reach:
    """The reach in bytes, and by how much a read is slower that is beyond it, as a share."""

    size: Estimate
    slower: float


def reach(spans: Floats, seconds: Floats) -> Reach | None:
    """The reach that mean times of reads over such spans say; none where there is no knee."""
    if spans.size < FEWEST:
        return None
    places = np.exp(np.linspace(np.log(spans[0]), np.log(spans[-1]), PLACES))
    fits = [_fitted(spans, seconds, place) for place in places]
    misfits = np.array([fit[0] for fit in fits])
    best = int(misfits.argmin())
    _, base, beyond = fits[best]
    alone = float(np.sum((seconds / _flat(seconds) - 1) ** 2))
    floor = spans.size * REPEATS**2
    if beyond < LEAST_SLOWER * base or alone + floor < BETTER * (misfits[best] + floor):
        return None
    freedom = spans.size - 3
    near = places[misfits + floor <= (misfits[best] + floor) * (1 + F_95 / freedom)]
    value = float(places[best])
    low = min(float(near[0]), value / (1 + LEAST_WIDTH))
    high = max(float(near[-1]), value * (1 + LEAST_WIDTH))
    return Reach(size=Estimate(value=value, low=low, high=high), slower=beyond / base)


def _flat(seconds: Floats) -> float:
    """The one time that is least wrong for all, in shares of each."""
    return float(np.sum(1 / seconds) / np.sum(1 / seconds**2))


def _fitted(spans: Floats, seconds: Floats, place: float) -> tuple[float, float, float]:
    """Misfit, time within the reach and what is added beyond it, for a reach."""
    missed = np.maximum(0.0, 1.0 - place / spans)
    columns = np.stack([1 / seconds, missed / seconds], axis=1)
    (base, beyond), *_ = np.linalg.lstsq(columns, np.ones(spans.size), rcond=None)
    if beyond < 0:
        base, beyond = _flat(seconds), 0.0
    away = (base + beyond * missed) / seconds - 1
    return float(np.sum(away**2)), float(base), float(beyond)
