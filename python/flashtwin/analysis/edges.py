"""Where exactly a plateau ends: finer than a sample, with an interval that keeps its promise.

What: around a known cut, the place of the change as a probability over time. A change inside a
sample leaves its trace in that sample's mean rate, f x before + (1 - f) x after, so f can be read
off it as well as the noise allows. Every moment in the window is weighed by how well it explains
all samples (noise of each side its own; odd samples, such as stalls and teeth, say no more than a
bound; correlated samples count for less), all moments being as likely as each other beforehand.
Since a shift of the series shifts everything alike, the middle 95 % of this weight covers the truth
in 95 % of repetitions.

An odd sample at the very edge can be read as neither level, and the interval takes it in whole.
A sample between the levels may hold a pause instead of both: `paused` says where it would be then.
Where two or more neighbouring samples lie between the levels no sharp edge explains them: the drive
needed that long, and the interval is widened to all of them.

Invariants: low <= value <= high, all within the window; no random draw.

Source of the numbers: choices. The place depends on few samples near the cut, the window of 300 a
side is far more; a side of few samples borrows from the series' own noise with the weight of
`BORROWED` samples. The coverage is tested (tests/analysis/test_analysis_coverage.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.changepoints import MAD_TO_SIGMA
from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.estimate import CONFIDENCE, Estimate, memory
from flashtwin.analysis.quantiles import median

WINDOW = 300
BORROWED = 10
OUTLYING = 4.0
ODD = 0.05
CAP = 8.0
NOISE_FLOOR = 0.003
COARSE = 21
FINE = 4001


@dataclass(frozen=True, kw_only=True)
class Edge:
    """The place in bytes, and the samples that lie wholly on either side of its interval.

    `paused` is the place if the sample at the edge holds a pause: it then has fewer bytes than its
    time is worth, and all of them were written before the change. `between` is how many samples in
    a row belong to neither level, as on a slope: an interval may be wide for noise alone.
    """

    place: Estimate
    before: int
    after: int
    paused: float | None = None
    between: int = 0


def locate(curve: Curve, first: int, cut: int, last: int, relative_noise: float) -> Edge:
    """The change near `cut` between the segments [first, cut) and [cut, last)."""
    low, high = max(first, cut - WINDOW), min(last, cut + WINDOW)
    # A stage of equal bytes may end within its first sample where samples differ much in length.
    if high - low < 3 or cut <= low:
        return _unresolved(curve, cut)
    sides = _Sides.of(curve.rate[low:high], cut - low, relative_noise)
    grid = 1.0 + (np.arange((high - low - 2) * COARSE) + 0.5) / COARSE
    rough = _quantiles(grid, sides.weight(grid), (1e-7, 1 - 1e-7))
    begin = max(1.0, rough[0] - 1.5 / COARSE)
    end = min(high - low - 1 - 1e-9, rough[1] + 1.5 / COARSE)
    grid = np.linspace(begin, end, FINE)
    tail = (1 - CONFIDENCE) / 2
    moments = _quantiles(grid, sides.weight(grid), (tail, 0.5, 1 - tail))
    places = _in_bytes(curve, low, sides, moments)
    return _finished(curve, low, sides, int(moments[1]), places)


@dataclass(frozen=True, kw_only=True)
class _Sides:
    """A window's rates, level and noise of either side, and what speaks against each place."""

    rate: Floats
    level: tuple[float, float]
    noise: tuple[float, float]
    count: tuple[int, int]
    against: Floats

    @staticmethod
    def of(rate: Floats, cut: int, relative_noise: float) -> _Sides:
        before, after = _apart(rate, cut)
        noise = (_scatter(before, relative_noise), _scatter(after, relative_noise))
        level = (_middle(before), _middle(after))
        # Both sides share one correlation length: otherwise a sample would weigh more on one of
        # them.
        waves = min(max(memory(before), memory(after)), 10.0)
        # An outlier gets the same bound on both sides, so that it favours neither.
        bound = CAP + float(np.log(max(noise)))
        costs = [
            np.minimum(np.log(s) + (rate - m) ** 2 / (2 * waves * s**2 * (1 + 1 / n)), bound)
            for m, s, n in zip(level, noise, (before.size, after.size), strict=True)
        ]
        sums = [np.concatenate(([0.0], np.cumsum(cost))) for cost in costs]
        return _Sides(
            rate=rate,
            level=level,
            noise=noise,
            count=(before.size, after.size),
            # For each sample as the mixed one: what all before it and all after it cost.
            against=sums[0][:-1] + sums[1][-1] - sums[1][1:],
        )

    def weight(self, moments: Floats) -> Floats:
        """Log likelihood of a change at each moment, in samples since the window began."""
        index = moments.astype(np.int64)
        share = moments - index
        (before, after), (noise_before, noise_after), (left, right) = (
            self.level,
            self.noise,
            self.count,
        )
        expected = share * before + (1 - share) * after
        variance = share * noise_before**2 * (1 + share / left)
        variance += (1 - share) * noise_after**2 * (1 + (1 - share) / right)
        # Without the bound: a floor under all moments of a sample would outweigh a sharp peak.
        away = (self.rate[index] - expected) ** 2 / (2 * variance)
        result: Floats = -self.against[index] - 0.5 * np.log(variance) - away
        return result


def _apart(rate: Floats, cut: int) -> tuple[Floats, Floats]:
    """Both sides of a cut without the samples at it, which may hold some of both."""
    return rate[: max(cut - 1, min(cut, 2))], rate[min(cut + 1, rate.size - 1) :]


def _middle(rate: Floats) -> float:
    """Level of a side: the mean, odd samples drawn in."""
    return float(_drawn_in(rate).mean())


def _drawn_in(rate: Floats) -> Floats:
    middle = median(rate)
    reach = 5 * MAD_TO_SIGMA * median(np.abs(rate - middle))
    return np.clip(rate, middle - reach, middle + reach) if reach > 0 else rate


def _scatter(rate: Floats, relative_noise: float) -> float:
    """Standard deviation of one side; odd samples are pulled in, few samples borrow."""
    middle, clipped = median(rate), _drawn_in(rate)
    expected = max(relative_noise, NOISE_FLOOR) * abs(middle)
    own_variance = float(np.var(clipped, ddof=1)) if rate.size > 1 else 0.0
    # A side with enough samples of its own borrows nothing.
    borrowed = BORROWED if rate.size < 3 * BORROWED else 0
    degrees = max(rate.size - 1, 0)
    variance = (degrees * own_variance + borrowed * expected**2) / max(degrees + borrowed, 1)
    return float(np.sqrt(max(variance, (NOISE_FLOOR * abs(middle)) ** 2, 1e-12)))


def _quantiles(grid: Floats, weight: Floats, shares: tuple[float, ...]) -> Floats:
    mass = np.exp(weight - weight.max())
    total = np.concatenate(([0.0], np.cumsum((mass[1:] + mass[:-1]) / 2 * np.diff(grid))))
    result: Floats = np.interp(np.array(shares) * total[-1], total, grid)
    return result


def _in_bytes(curve: Curve, low: int, sides: _Sides, moments: Floats) -> Floats:
    """Places in bytes: the part of the mixed sample that was written before the change."""
    index = moments.astype(np.int64)
    share = moments - index
    before, after = sides.level
    expected = share * before + (1 - share) * after
    part = np.divide(share * before, expected, out=share.copy(), where=expected > 0)
    result: Floats = curve.bytes_at[low + index] + curve.size[low + index] * part.clip(0.0, 1.0)
    return result


def _finished(curve: Curve, low: int, sides: _Sides, middle: int, places: Floats) -> Edge:
    """The edge, widened where the samples about it show a slope instead of a step."""
    before, after = sides.level
    first, last = _between(sides, middle, before, after)
    start, value, end = (float(place) for place in places)
    if last - first >= 2:
        start = min(start, float(curve.bytes_at[low + first]))
        end = max(end, float(curve.bytes_at[low + last]))
    for odd in _unreadable(low, sides, middle):
        start, end = (
            min(start, float(curve.bytes_at[odd])),
            max(end, float(curve.bytes_at[odd + 1])),
        )
    return Edge(
        place=Estimate(value=value, low=start, high=end),
        before=int(np.searchsorted(curve.bytes_at, start, side="right")) - 1,
        after=min(int(np.searchsorted(curve.bytes_at, end, side="left")), len(curve)),
        paused=float(curve.bytes_at[low + middle + 1]) if _is_mixed(sides, middle) else None,
        between=last - first,
    )


def _is_mixed(sides: _Sides, middle: int) -> bool:
    """Whether the sample at the edge lies clearly between both levels of a drop."""
    before, after = sides.level
    upper, lower = before - 3 * sides.noise[0], after + 3 * sides.noise[1]
    return bool(lower < sides.rate[middle] < upper)


def _between(sides: _Sides, middle: int, before: float, after: float) -> tuple[int, int]:
    """First and one past the last of the samples at the edge that belong to neither level."""
    gap = 0.15 * abs(before - after)
    sign = 1.0 if before > after else -1.0
    upper = sign * before - max(4 * sides.noise[0], gap)
    lower = sign * after + max(4 * sides.noise[1], gap)
    neither = (sign * sides.rate < upper) & (sign * sides.rate > lower)
    for start in (middle, middle - 1, middle + 1):
        if 0 <= start < neither.size and neither[start]:
            first, last = start, start + 1
            while first > 0 and neither[first - 1]:
                first -= 1
            while last < neither.size and neither[last]:
                last += 1
            return first, last
    return middle, middle


def _unreadable(low: int, sides: _Sides, middle: int) -> list[int]:
    """Odd samples at the very edge: beyond both levels, so they may belong to either."""
    ends = [(m, max(OUTLYING * s, ODD * m)) for m, s in zip(sides.level, sides.noise, strict=True)]
    (lower, under), (upper, over) = sorted(ends)
    near = range(max(middle - 1, 0), min(middle + 2, sides.rate.size))
    return [low + i for i in near if not lower - under <= sides.rate[i] <= upper + over]


def _unresolved(curve: Curve, cut: int) -> Edge:
    """With two samples only, the interval of the change is both samples."""
    low, high = max(cut - 1, 0), min(cut + 1, len(curve))
    place = Estimate(
        value=float(curve.bytes_at[cut]),
        low=float(curve.bytes_at[low]),
        high=float(curve.bytes_at[high]),
    )
    return Edge(place=place, before=cut, after=cut)
