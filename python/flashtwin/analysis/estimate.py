"""A number with its 95 % interval, and the interval of a plateau's speed.

What: the speed of a plateau is its bytes over its time. Samples of a drive are often correlated
(a saw-tooth, slow waves), so their scatter may not be divided by the root of their number: the
variance is that of the moving-block bootstrap in closed form (overlapping block means, what the
bootstrap tends to with ever more draws). No draw, so the same interval out on every run. A straight
trend is taken out first: a slow decline is shape, and no scatter of the mean.

Invariants: low <= value <= high where there is an interval; fewer than two samples have none.

Source of the numbers: block length 4 times the integrated autocorrelation time, at most a quarter
of the samples; overlapping blocks after Meketon and Schmeiser 1984, their bias taken out with half
as long blocks (the lugsail idea of Vats and Flegal). The degrees of freedom, 1.2 times (blocks - 1)
instead of their 1.5, are fitted: with them waves of known memory are covered best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from flashtwin.analysis.curve import Curve, Floats

CONFIDENCE = 0.95
# Standard deviations from the middle of an interval of 95 % to its ends (normal distribution).
DEVIATIONS = 1.96
FEWEST_BLOCKS = 4


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value and the ends of its 95 % interval; none where there is too little to say."""

    value: float
    low: float | None
    high: float | None

    def scaled(self, factor: float) -> Estimate:
        """The same in another unit (`factor` above zero)."""
        return Estimate(
            value=self.value * factor,
            low=None if self.low is None else self.low * factor,
            high=None if self.high is None else self.high * factor,
        )


def memory(values: Floats) -> float:
    """Integrated autocorrelation time in samples: 1 for independent ones, more for slow waves."""
    count = values.size
    if count < 8:
        return 1.0
    centred = values - values.mean()
    power = float(centred @ centred)
    if power <= 0:
        return 1.0
    total = 1.0
    # What is below this is indistinguishable from none (two standard errors of a correlation).
    faint = max(0.1, 2.0 / float(np.sqrt(count)))
    for lag in range(1, count // 4):
        correlation = float(centred[:-lag] @ centred[lag:]) / power
        if correlation < faint:
            break
        total += 2.0 * correlation
    return total


def mean_error(values: Floats) -> tuple[float, float]:
    """Standard error of the mean and its degrees of freedom, correlated samples or not."""
    values = _level(values)
    count, tau = values.size, memory(values)
    if tau <= 1.0 or count < 2 * FEWEST_BLOCKS:
        return float(np.std(values, ddof=1) / np.sqrt(count)), count - 1.0
    block = int(min(np.ceil(4.0 * tau), count // FEWEST_BLOCKS))
    variance = _of_blocks(values, block)
    # Short blocks miss part of a long memory; half as short ones miss twice that part.
    variance = max(variance, 2.0 * variance - _of_blocks(values, max(block // 2, 1)))
    return float(np.sqrt(variance)), 1.2 * (count / block - 1.0)


def _of_blocks(values: Floats, block: int) -> float:
    """Variance of the mean from the scatter of all overlapping means of `block` values."""
    count = values.size
    totals = np.concatenate(([0.0], np.cumsum(values - values.mean())))
    means = (totals[block:] - totals[:-block]) / block
    return float(means @ means) / means.size * block / (count - block)


def _level(values: Floats) -> Floats:
    """Values without their straight trend; as they are where too few to tell one."""
    if values.size < 16:
        return values
    x = np.arange(values.size) - (values.size - 1) / 2
    result: Floats = values - x * float(x @ values) / float(x @ x)
    return result


def half_width(error: float, freedom: float) -> float:
    """Half of the 95 % interval of a mean with that standard error."""
    return error * student_t(max(freedom, 1.0))


@cache
def student_t(freedom: float, confidence: float = CONFIDENCE) -> float:
    """The bound within which a share of Student's t distribution lies, for `freedom` >= 1.

    With t = sqrt(freedom) tan(angle) that share is the integral of cos^(freedom-1) from 0 to the
    angle, over the same to a right angle (Abramowitz and Stegun 26.7.1, substituted). Within one
    angle it is smooth, so 64 Gauss-Legendre nodes have it to the last digits; it grows ever slower,
    so Newton's steps from zero never pass the root.
    """
    target_area = confidence * _wallis(freedom)
    angle = 0.0
    nodes, weights = _quadrature()
    for _ in range(100):
        area = angle / 2 * float(weights @ _cosine_power(angle * nodes, freedom - 1.0))
        step = float((target_area - area) / _cosine_power(angle, freedom - 1.0))
        angle += step
        if abs(step) <= 1e-15 * angle:
            break
    return float(np.sqrt(freedom) * np.tan(angle))


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes between 0 and 1, and their weights; many pages need no interval."""
    roots, weights = np.polynomial.legendre.leggauss(64)
    return (roots + 1.0) / 2.0, weights


def _cosine_power(angle: Any, power: float) -> Any:
    """cos^n computed from the sine: the cosine of a small angle would round to 1."""
    return np.exp(power / 2 * np.log1p(-(np.sin(angle) ** 2)))


def _wallis(freedom: float) -> float:
    """The integral of cos^(freedom-1) over a right angle: sqrt(pi)/2 Gamma(v/2)/Gamma(v/2 + 1/2).

    The ratio of the Gammas by its series in 1/v (DLMF 5.11.13), which needs a v above 30: a
    smaller one is led there by W(v) = W(v + 2) (v + 1)/v.
    """
    below = 1.0
    while freedom < 60.0:
        below *= (freedom + 1.0) / freedom
        freedom += 2.0
    x = 1.0 / (2.0 * freedom)
    # Of Gamma(a + 1/2) / (Gamma(a) sqrt(a)), a = v/2.
    series = 1 - x / 2 + x**2 / 8 + 5 * x**3 / 16 - 21 * x**4 / 128 - 399 * x**5 / 256
    return below * float(np.sqrt(np.pi / (2.0 * freedom))) / series


def speed(curve: Curve, pieces: list[tuple[int, int]]) -> Estimate | None:
    """Bytes over time of the samples in `pieces` (first, one past the last), with its interval."""
    ranges = [np.arange(a, b, dtype=np.int64) for a, b in pieces if b > a]
    if not ranges:
        return None
    index = np.concatenate(ranges)
    seconds = float(curve.dt[index].sum())
    value = float(curve.size[index].sum()) / seconds
    if index.size < 2:
        return Estimate(value=value, low=None, high=None)
    # What a sample holds beyond its share: the error of a ratio of sums, samples unequal or not.
    beyond = curve.size[index] - value * curve.dt[index]
    error, freedom = mean_error(beyond)
    reach = half_width(error * index.size / seconds, freedom)
    return Estimate(value=value, low=max(value - reach, 0.0), high=value + reach)


def total_time(parts: list[tuple[float, Estimate]]) -> Estimate:
    """Seconds for stretches of so many bytes at such speeds, the speeds' errors independent."""
    value = sum(size / at.value for size, at in parts if at.value > 0)
    variance = 0.0
    for size, at in parts:
        if at.low is not None and at.high is not None and at.value > 0:
            share = (at.high - at.low) / 2 / at.value
            variance += (size / at.value * share) ** 2
    reach = float(np.sqrt(variance))
    return Estimate(value=value, low=max(value - reach, 0.0), high=value + reach)
