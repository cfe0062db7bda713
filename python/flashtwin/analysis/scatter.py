"""Does a limit from outside cut off a drive's own scatter?

What: the scatter of a drive's samples in one part of a fill against that in another one. A limiter,
another guest or a slower link is a ceiling: the drive behind it could be faster, and its samples
all come out at one speed. Heat, the end of a cache and collection leave a drive its scatter.

How: scatter is the noise between neighbouring samples (`changepoints.noise`) of the logarithms of
speed. A ceiling takes the scatter above the median, whatever dips it leaves below; a drive whose
dips become rarer keeps that. Neither few samples nor rates that were rounded show that scatter has
ended.

Invariants: pure; a speed in other units has the same answer.

Source of the numbers: choices; of the standard error, the normal distribution (a scatter from a
median of differences of neighbours).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flashtwin.analysis.changepoints import MAD_TO_SIGMA, logs, noise
from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.estimate import DEVIATIONS
from flashtwin.analysis.quantiles import median

# Scatter is cut off where it is less than such a share of what it was, which is at least that.
CUT_OFF, SCATTERS = 0.3, 0.002
# The relative standard error of a scatter that is read off n samples is this over the root of n;
# rates on a grid of steps may scatter by half a step unseen.
SCATTER_KNOWN, HALF_A_STEP, SAME_RATE = 1.17, 0.5, 1e-9
# A single low is even where its scatter is such a share of that beside it. Fewer samples have no
# scatter to speak of.
EVEN, FEWEST = 0.15, 6


def is_cut_off(curve: Curve, end: float, recorded: Curve) -> bool:
    """True where the scatter of samples all but ends at this byte, for good; `recorded` has the
    rates as they were told."""
    at = int(np.searchsorted(curve.bytes_at, end))
    before, past = _steps(curve, 0, at - 1), _steps(curve, at + 1, len(curve))
    return _is_ceiling(before, past, _unseen(past, recorded))


def are_even(curve: Curve, ends_s: Floats) -> bool:
    """True where it is cut off in slower stretches (stretches x 2, their first and last second),
    against the samples between them and as many before the first. There neighbours may be alike
    and scatter with those farther off, as where what a drive does at a byte takes longer."""
    first, last = np.searchsorted(curve.time_at, ends_s.T) + np.array([[1], [-2]])
    slow = [_steps(curve, a, b) for a, b in zip(first, last, strict=True)]
    most = max(int((last - first).max()), 0)
    starts = np.append(max(first[0] - 3 - most, 0), last[:-1] + 3)
    beside = [_steps(curve, a, b) for a, b in zip(starts, first - 3, strict=True)]
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
    """True where all scatter ends, and that above the median; so much of it may be unseen."""
    if min(before.size, past.size) < FEWEST or noise(before) < SCATTERS:
        return False
    halves = (before[before >= median(before)], past[past >= median(past)])
    return all(_has_ended(a, b, unseen) for a, b in ((before, past), halves))


def _has_ended(before: Floats, past: Floats, unseen: float) -> bool:
    """True where the later of two scatters is surely less than a share of the earlier one."""
    error = SCATTER_KNOWN * float(np.sqrt(1 / before.size + 1 / past.size))
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
