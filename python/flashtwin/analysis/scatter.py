"""Does a limit from outside cut off a drive's own scatter?

What: the scatter of a drive's samples in one part of a fill against that in another one. A limiter,
another guest or a slower link is a ceiling: the drive behind it could be faster, and its samples
all come out at one speed. Heat, the end of a cache and collection leave a drive its scatter.

How: scatter is the noise between neighbouring samples (`changepoints.noise`) of the logarithms of
speed. A ceiling takes the scatter above the median, whatever dips it leaves below; a drive whose
dips become rarer keeps that. Neither few samples nor rates that were rounded show that scatter has
ended.

Invariants: pure; a speed in other units has the same answer.

Source of the numbers: choices; those of the standard error were found by drawing normal values (the
median of the differences of neighbours varies more than that of as many independent values).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flashtwin.analysis.changepoints import MAD_TO_SIGMA, logs, noise
from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.estimate import DEVIATIONS
from flashtwin.analysis.quantiles import median

# Scatter is cut off where it is less than such a share of what it was before; less scatter than the
# second figure is none that could be cut off.
CUT_OFF, SCATTERS = 0.3, 0.002
# The relative standard error of a scatter that is read off n samples is the first figure over the
# root of n; the second one where those are the upper half of more samples.
KNOWN, KNOWN_OF_HALF = 1.27, 1.47
# Rates on a grid of steps may scatter by half a step unseen. What differs by less than a share of
# the highest rate is one rate, whose bytes and nanoseconds were rounded.
HALF_A_STEP, SAME_RATE = 0.5, 1e-6
# A single low is even where its scatter is such a share of that beside it. Fewer samples have no
# scatter to speak of.
EVEN, FEWEST = 0.15, 6


def is_cut_off(curve: Curve, end: float, recorded: Curve) -> bool:
    """True where the scatter of samples all but ends at this byte, for good; `recorded` has the
    rates as they were told."""
    at = int(np.searchsorted(curve.bytes_at, end))
    before, past = _steps(curve, 0, at - 1), _steps(curve, at + 1, len(curve))
    return _is_ceiling(before, past, _unseen(past, recorded))


def are_even(curve: Curve, ends_s: Floats, off_s: float = 0.0) -> bool:
    """True where the scatter is cut off in slower stretches (stretches x 2: the first and the last
    second of each, in the order of their beginnings, known to `off_s`), against the samples between
    them and as many before the first. In slower stretches the whole spread counts, and not only
    that of neighbours: what a drive does at a byte may take several samples there."""
    inwards = np.array([off_s, -off_s])
    inner = np.searchsorted(curve.time_at, (ends_s + inwards).T) + np.array([[1], [-2]])
    slow = [_steps(curve, a, b) for a, b in zip(*inner, strict=True)]
    first, last = np.searchsorted(curve.time_at, (ends_s - inwards).T)
    most = max(int((inner[1] - inner[0]).max()), 0)
    # A stretch may lie within a longer one.
    starts = np.append(max(first[0] - 2 - most, 0), np.maximum.accumulate(last)[:-1] + 1)
    beside = [_steps(curve, a, b) for a, b in zip(starts, first - 2, strict=True)]
    past = _level(slow)
    around = MAD_TO_SIGMA * median(np.abs(past)) if past.size else 0.0
    unseen = max(around, _unseen(np.concatenate([np.empty(0), *slow]), curve))
    return _is_ceiling(_level(beside), past, unseen)


def is_even(curve: Curve, start: float, end: float) -> bool:
    """True where a single slower stretch between two bytes has next to none of the scatter of the
    samples on both sides."""
    first, last = (int(at) for at in np.searchsorted(curve.bytes_at, (start, end)))
    inside = _steps(curve, first + 1, last - 1)
    reach = max(last - first, 2 * FEWEST)
    around = [_steps(curve, first - reach, first - 1), _steps(curve, last + 1, last + reach)]
    beside = [noise(values) for values in around if values.size >= FEWEST]
    if inside.size < FEWEST or not beside:
        return False
    return noise(inside) < EVEN * min(beside)


def _is_ceiling(before: Floats, past: Floats, unseen: float) -> bool:
    """True where the scatter of all samples ends, and that of the upper half too. `unseen`: how
    much scatter the later samples may have without showing it."""
    if min(before.size, past.size) < FEWEST or noise(before) < SCATTERS:
        return False
    upper, upper_past = (part[part >= median(part)] for part in (before, past))
    is_less = _has_ended(before, past, unseen, KNOWN)
    return is_less and _has_ended(upper, upper_past, unseen, KNOWN_OF_HALF)


def _has_ended(before: Floats, past: Floats, unseen: float, known: float) -> bool:
    """True where the later of two scatters is surely less than a share of the earlier one."""
    error = known * float(np.sqrt(1 / before.size + 1 / past.size))
    most = max(noise(past), unseen) * float(np.exp(DEVIATIONS * error))
    return most < CUT_OFF * noise(before)


def _unseen(past: Floats, recorded: Curve) -> float:
    """Half a step of the rates as they were told, as a share of the speed of these samples."""
    if not past.size:
        return 0.0
    return HALF_A_STEP * _grid(recorded.rate) / float(np.exp(median(past)))


def _grid(rate: Floats) -> float:
    """The least difference of two rates: the step of their grid, where they were rounded."""
    steps = np.diff(np.unique(rate))
    steps = steps[steps > SAME_RATE * rate.max()]
    return float(steps.min()) if steps.size else 0.0


def _level(parts: Sequence[Floats]) -> Floats:
    """The values of all parts with enough of them, each about its own median."""
    own = [part - median(part) for part in parts if part.size >= FEWEST]
    return np.concatenate([np.empty(0), *own])


def _steps(curve: Curve, first: int, last: int) -> Floats:
    """Logarithms of the speed of these samples; none where there are none between."""
    return logs(curve.rate[max(first, 0) : max(last, 0)])
