"""How much of a drive its controller's map cache tells of, by random reads over ranges.

What: reads over a range that the cached part of the map covers cost one time; over a larger range a
share of them first needs a piece of the map from flash or from the host. A cache that keeps what
was used last holds R of a range S, so that the mean time of a read is a + b max(0, 1 - R/S). The
curve is fitted by `knee`.

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
from flashtwin.analysis.knee import knee

FEWEST = 6
LEAST_SLOWER = 0.05
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
    ones = np.ones(spans.size)
    best = knee(
        seconds,
        lambda place: (ones, np.maximum(0.0, 1.0 - place / spans)),
        (float(spans[0]), float(spans[-1])),
        ones,
        F_95,
    )
    if best.alone or best.second < LEAST_SLOWER * best.first:
        return None
    size = Estimate(
        value=best.place,
        low=min(best.low, best.place / (1 + LEAST_WIDTH)),
        high=max(best.high, best.place * (1 + LEAST_WIDTH)),
    )
    return Reach(size=size, slower=best.second / best.first)
