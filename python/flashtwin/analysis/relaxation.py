"""The shape of a fall in speed: a step, a straight line, or an exponential decay to a lower level.

What: firmware that holds a temperature throttles in proportion to how far the drive is above it.
The speed then decays exponentially to its new level, with the time constant of the drive's thermal
mass. A limiter, the end of a cache or one throttling step shows as a step. The three shapes are
fitted to the logarithm of speed in a window around a given time by least absolute deviations, over
a grid of start times and durations. Two shapes are compared by the logarithm of their likelihood
ratio (Laplace distributed residuals, scale from the fit). `decays_s` looks for a decay that follows
a level and lasts to the end, at moments all over a fill.

A drive whose speed falls in a few steps, each of which lasts, looks like a decay from afar: where
plateaus that were read elsewhere explain the window far better than a decay, it is none.

Invariants: pure; there is no result where the window has too few samples or the speed does not
fall.

Source of the numbers: choices of this project, as shares of the time at the window's centre.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtwin.analysis.curve import Curve, Floats

# The window around a time, as shares of it; the least share that has to lie after it.
BEGINS, ENDS, LEAST_PAST = 0.6, 1.7, 0.1
# Bins of the window, and the fewest; a bin is no shorter than a sample.
BINS, FEWEST_BINS = 48, 12
# Start times and durations of the grid, and the remainder of a fall at which most of it is in the
# window.
PLACES = np.arange(0.75, 1.25, 0.02)
AT_ONCE, EVENLY, SLOWLY = (1e-9, 0.015), (0.03, 0.06, 0.12, 0.24), (0.03, 0.06, 0.12, 0.24)
FALLEN = 0.7
FEWEST_BEFORE = 3
# Iteratively reweighted least squares gives least absolute deviations: its rounds, and the smallest
# deviation that a weight is taken of.
ROUNDS, LEAST_AWAY = 4, 0.02
# A stall counts as no slower than this logarithm below the window's median.
DEEPEST = 1.5
# Times, as shares of the whole, at which an exponential decay is looked for: first, last, how many.
# The least logarithms of its likelihood ratio to a step and to a straight line. Its fall as a
# logarithm: a drive keeps a quarter of its speed when it is hot, and writes that collection limits
# fall further.
MOMENTS = (0.03, 0.85, 32)
SURE_OF_STEP, SURE_OF_STRAIGHT = 27.0, 14.0
# Stairs are the reading where they are likelier than a decay by this logarithm of the ratio.
STAIRS_BETTER = 14.0
LEAST_FALL, MOST_FALL = 0.15, 1.45
# Two equal stretches before it, in shares of the moment, and how far apart they may be beside it:
# long ones, or shorter ones where another plateau has ended not long before.
BEFORE = (((0.2, 0.4), (0.5, 0.7), 0.25), ((0.45, 0.57), (0.58, 0.7), 0.07))
# Firmware that holds a temperature does so to the end: of this number of later bins at most this
# share is back above the middle of the fall. A wave comes back.
LATER, SHARE_BACK = 60, 0.1


@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """An exponential decay: the fall in logarithms of speed, and the logarithms of its likelihood
    ratio to a step, to a straight line and to stairs."""

    fall: float
    over_step: float
    over_straight: float
    over_stairs: float


@dataclass(frozen=True, kw_only=True)
class Stairs:
    """Levels that a fill was read as: the bytes at which each ends, and bytes a second."""

    ends: Floats
    speeds: Floats

    def at(self, places: Floats) -> Floats:
        """The speed at places in bytes."""
        stair = np.searchsorted(self.ends[:-1], places, side="right")
        return np.asarray(self.speeds[stair])


def decays_s(curve: Curve, stairs: Stairs | None = None) -> float | None:
    """About when the speed, which held a level, decays exponentially to a lower one, in seconds; by
    as much as heat makes a drive slower, and for good. `stairs`: what else the fill may be."""
    decays = []
    for moment_s in (np.geomspace(*MOMENTS) * curve.total_s).tolist():
        decay = relaxation(curve, moment_s, stairs)
        if decay is None or not _is_sure(decay):
            continue
        if any(
            _change_of(curve, moment_s * np.array(stretches)) <= most * decay.fall
            for *stretches, most in BEFORE
        ) and not _recovers(curve, moment_s, decay.fall):
            decays.append((decay, moment_s))
    best = max(decays, key=lambda pair: pair[0].over_straight, default=None)
    if best is None or not LEAST_FALL <= best[0].fall <= MOST_FALL:
        return None
    return float(best[1])


def relaxation(curve: Curve, moment_s: float, stairs: Stairs | None = None) -> Relaxation | None:
    """The best exponential decay around a time, compared with a step, a straight line and
    `stairs`."""
    end_s = min(ENDS * moment_s, curve.total_s)
    if end_s - moment_s < LEAST_PAST * moment_s:
        return None
    first, last = np.searchsorted(curve.time_at, (BEGINS * moment_s, end_s))
    count = min(BINS, int(last - first))
    if count < FEWEST_BINS:
        return None
    edges = np.linspace(BEGINS * moment_s, end_s, count + 1)
    values = np.log(np.maximum(np.diff(_bytes_to(curve, edges)) / np.diff(edges), 1.0))
    deepest = float(np.median(values)) - DEEPEST
    values = np.maximum(values, deepest)
    at = (edges[1:] + edges[:-1]) / 2 / moment_s
    step, straight, slowly = (_best(law, values) for law in _laws(at))
    if slowly is None or step is None or slowly[1] <= 0:
        return None
    least = np.log(max(slowly[0], 1e-9))
    over_stairs = np.inf
    if stairs is not None:
        speeds = stairs.at(_bytes_to(curve, (edges[1:] + edges[:-1]) / 2))
        levels = np.maximum(np.log(np.maximum(speeds, 1.0)), deepest)
        over_stairs = count * float(np.log(np.abs(values - levels).sum() + 1e-9) - least)
    return Relaxation(
        fall=slowly[1],
        over_step=count * float(np.log(max(step[0], 1e-9)) - least),
        over_straight=np.inf if straight is None else count * float(np.log(straight[0]) - least),
        over_stairs=over_stairs,
    )


def _bytes_to(curve: Curve, seconds: Floats) -> Floats:
    return np.interp(seconds, curve.time_at, curve.bytes_at)


def _laws(at: Floats) -> tuple[Floats, Floats, Floats]:
    """For a step, a straight line and a decay: the remaining share of the fall at these times, one
    row for each start time and duration."""
    past = (at[None, :] - PLACES[:, None]).clip(0.0)
    step, slowly = (
        np.concatenate([np.exp(-past / lasts) for lasts in lengths])
        for lengths in (AT_ONCE, SLOWLY)
    )
    straight = np.concatenate([np.clip(1 - past / lasts, 0.0, 1.0) for lasts in EVENLY])
    return step, straight, slowly


def _best(rows: Floats, values: Floats) -> tuple[float, float] | None:
    """The smallest sum of absolute deviations of one shape, and its fall; none where the window
    holds most of no fall."""
    rows = rows[(rows.min(axis=1) <= FALLEN) & ((rows >= 1.0).sum(axis=1) >= FEWEST_BEFORE)]
    if rows.size == 0:
        return None
    weights: NDArray[np.float64] = np.ones_like(rows)
    for _ in range(ROUNDS):
        total = weights.sum(axis=1)
        middle_x = (weights * rows).sum(axis=1) / total
        middle_y = (weights * values).sum(axis=1) / total
        x, y = rows - middle_x[:, None], values - middle_y[:, None]
        spread = np.maximum((weights * x * x).sum(axis=1), 1e-12)
        falls = (weights * x * y).sum(axis=1) / spread
        away = np.abs(y - falls[:, None] * x)
        weights = 1 / np.maximum(away, LEAST_AWAY)
    sums = away.sum(axis=1)
    least = int(sums.argmin())
    return max(float(sums[least]), 1e-9), float(falls[least])


def _change_of(curve: Curve, stretches_s: Floats) -> float:
    """By how much the rates of two equally long stretches differ, in their logarithm."""
    done = np.interp(stretches_s, curve.time_at, curve.bytes_at)
    first, last = np.maximum(np.diff(done)[:, 0], 1.0)
    return abs(float(np.log(first / last)))


def _recovers(curve: Curve, moment_s: float, fall: float) -> bool:
    """True where the speed comes back after it has decayed."""
    before_s = moment_s * np.array(BEFORE[0][1])
    (done,) = np.diff(np.interp(before_s, curve.time_at, curve.bytes_at))
    middle = float(np.log(max(done, 1.0) / np.diff(before_s)[0])) - fall / 2
    edges = np.linspace(moment_s, curve.total_s, LATER + 1)
    later = np.diff(np.interp(edges, curve.time_at, curve.bytes_at)) / np.diff(edges)
    back = np.log(np.maximum(later, 1.0)) > middle
    fallen = int(np.argmin(back))
    return bool(back[fallen:].mean() > SHARE_BACK)


def _is_sure(decay: Relaxation) -> bool:
    no_steps = decay.over_step >= SURE_OF_STEP and decay.over_stairs > -STAIRS_BETTER
    return no_steps and decay.over_straight >= SURE_OF_STRAIGHT
