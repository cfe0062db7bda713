"""The shape of a fall in speed: a step, a straight line, or an exponential decay to a lower level.

What: firmware that holds a temperature throttles in proportion to how far the drive is above it.
The speed then decays exponentially to its new level, with the time constant of the drive's thermal
mass. A limiter, the end of a cache or one throttling step shows as a step. The three shapes are
fitted to the logarithm of speed in a window around a given time by least absolute deviations, over
a grid of start times and durations. Two shapes are compared by the logarithm of their likelihood
ratio (Laplace distributed residuals, scale from the fit).

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


@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """An exponential decay: the fall in logarithms of speed, and the logarithms of its likelihood
    ratio to a step and to a straight line."""

    fall: float
    over_step: float
    over_straight: float


def relaxation(curve: Curve, moment_s: float) -> Relaxation | None:
    """The best exponential decay around a time, compared with the other two shapes."""
    end_s = min(ENDS * moment_s, curve.total_s)
    if end_s - moment_s < LEAST_PAST * moment_s:
        return None
    first, last = np.searchsorted(curve.time_at, (BEGINS * moment_s, end_s))
    count = min(BINS, int(last - first))
    if count < FEWEST_BINS:
        return None
    edges = np.linspace(BEGINS * moment_s, end_s, count + 1)
    values = np.log(np.maximum(np.diff(_bytes_to(curve, edges)) / np.diff(edges), 1.0))
    values = np.maximum(values, float(np.median(values)) - DEEPEST)
    at = (edges[1:] + edges[:-1]) / 2 / moment_s
    step, straight, slowly = (_best(law, values) for law in _laws(at))
    if slowly is None or step is None or slowly[1] <= 0:
        return None
    least = np.log(max(slowly[0], 1e-9))
    return Relaxation(
        fall=slowly[1],
        over_step=count * float(np.log(max(step[0], 1e-9)) - least),
        over_straight=np.inf if straight is None else count * float(np.log(straight[0]) - least),
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
