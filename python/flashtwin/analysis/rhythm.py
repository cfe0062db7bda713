"""The period of a series that goes up and down: is there one, how long, and how sure is that.

What: a drive that folds a step, writes a step and folds again, or that collects one superblock
after another, repeats itself in bytes or in time. Its power lies at one frequency and its
multiples. The spectrum is divided by its own background (a low quantile of the frequencies around),
so that a drift and noise with a memory, whose spectra are smooth, do not count; what is left of
noise is exponential, whatever the noise was. The largest sum over a frequency and its multiples is
then held against the largest that noise alone would show (Fisher 1929, with harmonics as in the
H-test of de Jager and others 1989).

How long: the series is filtered around that frequency, and its cycles are counted by the phase of
the analytic signal (Gabor 1946), so that a period that wanders gives its mean. The count is right
to half a cycle, which is the interval, widened by how the two halves of the series differ.

Invariants: none where fewer than `FEWEST` cycles are there, or where a half of the series does not
show the same period; the same numbers give the same answer.

Source of the numbers: the chance of a period in noise, 1 in 100,000, is a choice; noise whose
memory is longer than a tenth of the series passes more often, once in a hundred. So are the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.curve import Floats
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.quantiles import distinct, median, quantile

FEWEST = 5
HARMONICS = 3
CHANCE = 1e-5
# A half has fewer cycles, and is asked at the frequency of the whole only.
HALF_CHANCE = 1e-3
# A period has at least so many samples, or nobody sees its shape.
LEAST_SAMPLES = 3.0
# The background at a frequency is that of this share of the frequencies on either side of it,
# and of at least so many.
AROUND, FEWEST_AROUND = 0.5, 12
# Of a multiple of the period's frequency, up to this one, the frequency itself has such a share.
MULTIPLES, OF_MULTIPLE = 5, 0.2
# The background is smooth, and so taken at so many frequencies.
PLACES = 150
# A half of the series has a period that is this near to the whole's, or it is none of the drive.
SAME = 0.2
# The background is read off a low quantile, because the multiples of a slow period take many of the
# frequencies around each; of exponential values that quantile is so much of the mean.
QUANTILE = 0.25
OF_MEAN = -float(np.log(1.0 - QUANTILE))


@dataclass(frozen=True, kw_only=True)
class Rhythm:
    """A period in samples, the chance that noise alone shows it, and how far it swings.

    `swing`: from the low to the high of a cycle, in the unit of the values, the mean over cycles.
    """

    period: Estimate
    chance: float
    cycles: float
    swing: float


def rhythm(values: Floats, *, chance: float = CHANCE) -> Rhythm | None:
    """The period of evenly spaced values; none where noise would do."""
    if values.size < FEWEST * 2 * LEAST_SAMPLES:
        return None
    series = _level(values)
    peak = _peak(series)
    if peak is None or peak[1] > chance:
        return None
    period = _counted(series, peak[0])
    halves = [_of_half(half, peak[0]) for half in np.array_split(series, 2)]
    if period is None or any(half is None for half in halves):
        return None
    lengths = [half for half in halves if half is not None]
    apart = abs(lengths[0] - lengths[1]) / 2
    cycles = values.size / period
    reach = max(period * 0.5 / cycles, apart / np.sqrt(2.0))
    return Rhythm(
        period=Estimate(value=period, low=period - reach, high=period + reach),
        chance=peak[1],
        cycles=cycles,
        swing=_swing(series, period),
    )


def _level(values: Floats) -> Floats:
    """Without mean and line."""
    x = np.linspace(-1.0, 1.0, values.size)
    slope, mean = np.polyfit(x, values, 1)
    result: Floats = values - mean - slope * x
    return result


def _peak(series: Floats) -> tuple[float, float] | None:
    """The frequency in cycles of the whole series, and the chance of such a sum in noise."""
    power = _whitened(series)
    last = int(series.size / LEAST_SAMPLES)
    first = FEWEST
    if last <= first or not np.isfinite(power[first : last + 1]).all():
        return None
    best, least = 0, 1.0
    at = np.arange(first, last + 1)
    for harmonics in range(1, HARMONICS + 1):
        inside = at[at * harmonics < power.size - harmonics]
        if inside.size == 0:
            break
        sums = power[inside].copy()
        for multiple in range(2, harmonics + 1):
            # A period that is no whole number of cycles has its multiples beside theirs.
            around = [power[inside * multiple + step] for step in (-1, 0, 1)]
            sums += np.max(around, axis=0)
        place = int(sums.argmax())
        tries = inside.size * 3 ** (harmonics - 1) * HARMONICS
        chance = min(tries * _erlang(float(sums[place]), harmonics), 1.0)
        if chance < least:
            best, least = int(inside[place]), chance
    return (float(_lowest(power, best, first)), least) if best else None


def _lowest(power: Floats, best: int, first: int) -> int:
    """The frequency of which this one is a multiple, if one is: short pulses have multiples as
    strong as what they are multiples of."""
    near = float(power[best - 1 : best + 2].max())
    for divisor in range(MULTIPLES, 1, -1):
        at = round(best / divisor)
        if at < first:
            continue
        there = float(power[at - 1 : at + 2].max())
        if there > max(-np.log(HALF_CHANCE), OF_MULTIPLE * near):
            return at - 1 + int(power[at - 1 : at + 2].argmax())
    return best


def _erlang(total: float, count: int) -> float:
    """The chance that the sum of so many exponential values of mean 1 is larger."""
    term, result = 1.0, 0.0
    for index in range(count):
        result += term
        term *= total / (index + 1)
    return float(np.exp(-total) * result)


def _whitened(series: Floats) -> Floats:
    """Power at each whole number of cycles over that of the frequencies around it."""
    window = np.hanning(series.size)
    power = np.abs(np.fft.rfft(series * window)) ** 2
    at = distinct(np.geomspace(1, power.size - 1, PLACES).astype(np.int64))
    reach = np.maximum((AROUND * at).astype(np.int64), FEWEST_AROUND)
    seen = [
        quantile(power[max(middle - width, 1) : middle + width + 1], QUANTILE)
        for middle, width in zip(at.tolist(), reach.tolist(), strict=True)
    ]
    background = np.interp(np.arange(power.size), at, seen)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = power / background * OF_MEAN
    return result


def _of_half(half: Floats, cycles: float) -> float | None:
    """The period of one half, if it shows the one of the whole."""
    period = _counted(_level(half), cycles / 2)
    power = _whitened(_level(half))
    at = round(cycles / 2)
    near = power[max(at - 1, 1) : at + 2]
    shown = bool(near.size) and float(near.max()) > -np.log(HALF_CHANCE)
    usual = 2 * half.size / cycles
    if period is None or not shown or abs(period / usual - 1) > SAME:
        return None
    return period


def _counted(series: Floats, cycles: float) -> float | None:
    """Samples a cycle, by the phase of what lies around a frequency."""
    spectrum = np.fft.fft(series)
    at = np.arange(series.size)
    inside = (at >= 0.6 * cycles) & (at <= 1.5 * cycles)
    signal = np.fft.ifft(np.where(inside, 2 * spectrum, 0.0))
    # The ends of the series leak into each other, so a cycle at either end is left out.
    margin = int(series.size / max(cycles, 1.0))
    inner = signal[margin : series.size - margin]
    if inner.size < 2 * LEAST_SAMPLES:
        return None
    turned = float(np.angle(inner[1:] * np.conj(inner[:-1])).sum()) / (2 * np.pi)
    return (inner.size - 1) / turned if turned > 0 else None


def _swing(series: Floats, period: float) -> float:
    """From low to high within a cycle, the median over cycles, by their fifths and fourths."""
    each = max(round(period), 2)
    count = series.size // each
    cycles = series[: count * each].reshape(count, each)
    low, high = np.quantile(cycles, (0.1, 0.9), axis=1)
    return median(high - low)
