"""Effective over-provisioning of a drive, from random writes over all of it.

What: an erased drive takes random writes as fast as it programs until its erased flash is used up;
from there on it has to collect, and the rate falls for good. What was written until then is all the
flash that may hold data, whatever of it was overwritten, so that its excess over the capacity is
the over-provisioning. Later, when steady, each write costs A programs, of which rates tell another
estimate: A lies between the fresh rate over the steady one, and that less what reading the copied
units may cost. First-in first-out collection needs A = 1/(1 - exp(-(1 + p)/A)) at an
over-provisioning p (Desnoyers 2012; Xiang and Kurkoski 2012), which inverts to
p = -A ln(1 - 1/A) - 1; greedy collection is up to 12 % below it.

Invariants: the place has an interval within the samples around it; the estimate from rates has
bounds and no probability, open below where the fresh rate was not that of native programs alone.

Source of the numbers: the 12 % are those of docs/concepts/theory.md for 64 pages a block and more.
That a copied unit costs at most `COPY_MOST` of a program beyond its program is a prior: reads take
a fourth of a program or less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.changepoints import calm, logs, noise
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.edges import locate
from flashtwin.analysis.estimate import Estimate, speed
from flashtwin.analysis.quantiles import median

# The erased flash is used up between these multiples of the capacity.
LEAST, MOST = 0.85, 2.0
# The rate falls by so many times there, and more than samples scatter.
FALLS, SIGMAS = 1.15, 3.0
FEWEST = 3
# A rate that was held for so many samples.
HELD = 5
COPY_MOST = 0.3
GREEDY_BELOW = 0.12


@dataclass(frozen=True, kw_only=True)
class Exhausted:
    """Where the erased flash is used up, in bytes, and the rates before that and of a steady drive.

    `earlier`: the rate had fallen before, as where a cache ends.
    """

    place: Estimate
    fresh: Estimate
    earlier: bool


def exhausted(curve: Curve, user_bytes: float) -> Exhausted | None:
    """The fall of the rate for good around the capacity; none where there is none."""
    first, last = (
        int(np.searchsorted(curve.bytes_at, share * user_bytes)) for share in (LEAST, MOST)
    )
    first, last = max(first, FEWEST), min(last, len(curve))
    if last - first < 2 * FEWEST:
        return None
    values = logs(curve.rate[:last])
    cut = _steepest(values, first, last)
    begin = max(cut - (last - first), 0)
    before = median(values[begin:cut])
    after = median(values[cut:last])
    scatter = max(noise(values[:cut]), 1e-9)
    if before - after < max(math.log(FALLS), SIGMAS * scatter / math.sqrt(FEWEST)):
        return None
    edge = locate(curve, begin, cut, last, calm(values))
    fresh = speed(curve, [(max(edge.before - (last - first), edge.before // 2), edge.before)])
    if fresh is None:
        return None
    each = np.arange(edge.before - HELD)
    held = [curve.mean(int(at), int(at) + HELD) for at in each]
    highest = max(held, default=0.0)
    return Exhausted(place=edge.place, fresh=fresh, earlier=highest > FALLS * fresh.value)


def _steepest(values: np.ndarray[tuple[int], np.dtype[np.float64]], first: int, last: int) -> int:
    """The sample from which on the rate is lower, by the two levels that part best."""
    window = values[first - FEWEST : last]
    total, count = np.cumsum(window), window.size
    at = np.arange(FEWEST, count - FEWEST + 1)
    before, after = total[at - 1] / at, (total[-1] - total[at - 1]) / (count - at)
    gain = at * (count - at) * np.where(before > after, before - after, 0.0) ** 2
    return first - FEWEST + int(at[int(gain.argmax())])


def by_place(place: Estimate, user_bytes: float) -> Estimate:
    """The over-provisioning that a place of exhaustion says."""
    share = place.scaled(1 / user_bytes)
    low = share.value if share.low is None else share.low
    high = share.value if share.high is None else share.high
    return Estimate(value=share.value - 1, low=low - 1, high=high - 1)


def by_rates(fresh: float, steady: float, *, has_low: bool) -> Estimate | None:
    """The bounds that the two rates say, and the middle of them; none where the drive never
    collects. `has_low`: the fresh rate is that of native programs, and the steady one stays; where
    either may differ, collection costs more than is seen, and the lower end is open."""
    ratio = fresh / steady
    least = (ratio + COPY_MOST) / (1 + COPY_MOST)
    if least <= 1.01:
        return None
    high = fifo_inverse(least)
    low = fifo_inverse(ratio / (1 - GREEDY_BELOW))
    if not has_low:
        return Estimate(value=high, low=None, high=high)
    return Estimate(value=(low + high) / 2, low=low, high=high)


def fifo_inverse(amplification: float) -> float:
    """The over-provisioning at which first-in first-out collection has this write amplification."""
    return -amplification * math.log1p(-1 / amplification) - 1
