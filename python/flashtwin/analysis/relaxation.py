"""How a speed falls about a moment: at once, evenly, or ever more slowly towards a lower one.

What: firmware that holds a temperature takes the speed back as far as the drive is too warm, so
that the speed comes to its new level as a mass comes to a temperature: exponentially. A limit, the
end of a cache or a step of the firmware is there at once. Three laws (a step, a straight fall, an
exponential one) are fitted to the logarithms of speed about a moment, each with the places and
lengths of a grid, by least absolute deviations; how much better one is than another is a logarithm
of a likelihood ratio (Laplace's distribution, its width from the fit).

Invariants: pure; nothing is told where the window has too few samples or the speed does not fall.

Source of the numbers: choices of this project, in shares of the time until the moment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtwin.analysis.curve import Curve, Floats

# The window about a moment, in shares of the time until it; the least of it that lies past it.
BEGINS, ENDS, LEAST_PAST = 0.6, 1.7, 0.1
# Bins of the window, and the fewest; a bin is no shorter than a sample.
BINS, FEWEST_BINS = 48, 12
# Where a fall may begin, how long it may take, and at least how much of it has to be in the window.
PLACES = np.arange(0.75, 1.25, 0.02)
AT_ONCE, EVENLY, SLOWLY = (1e-9, 0.015), (0.03, 0.06, 0.12, 0.24), (0.03, 0.06, 0.12, 0.24)
FALLEN = 0.7
FEWEST_BEFORE = 3
# Rounds of weights by which least squares become least deviations, and the smallest of these.
ROUNDS, LEAST_AWAY = 4, 0.02
# A stall counts as slower than the middle of the window by this logarithm.
DEEPEST = 1.5


@dataclass(frozen=True, kw_only=True)
class Relaxation:
    """An exponential fall: by how much in logarithms of speed, and the logarithms of how many times
    likelier it is than a step and than a straight fall."""

    fall: float
    over_step: float
    over_straight: float


def relaxation(curve: Curve, moment_s: float) -> Relaxation | None:
    """The exponential fall about a moment that fits best, beside the other laws."""
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
    """Of each law the shares of the fall that are still to come at these times, a row a place and
    length."""
    past = (at[None, :] - PLACES[:, None]).clip(0.0)
    step, slowly = (
        np.concatenate([np.exp(-past / lasts) for lasts in lengths])
        for lengths in (AT_ONCE, SLOWLY)
    )
    straight = np.concatenate([np.clip(1 - past / lasts, 0.0, 1.0) for lasts in EVENLY])
    return step, straight, slowly


def _best(rows: Floats, values: Floats) -> tuple[float, float] | None:
    """The least sum of deviations of a law, and its fall; none where no row has most of one."""
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
