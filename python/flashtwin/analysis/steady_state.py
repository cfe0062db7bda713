"""The samples of a plateau that tell its speed.

What: two kinds of samples lie within a plateau and say nothing about its level. At the beginning of
a fill a host may need seconds to come up to speed, or a buffer may take the first bytes faster.
And a few dips, beside an edge or in a plateau of ten samples, weigh much. `settled` leaves
out both.

Why not a median: a drive that works in turns has the mean of them as its speed. So a dip is left
out only where it is rare: in few groups of few samples, and a small part of the plateau. A sample
that is faster stays: a drive whose cells come back in bursts has some for good.

Invariants: samples stay in their order and at least one stays; a level that nothing interrupts
keeps all of its samples.

Source of the numbers: choices, those of `returns` (a slow start) and `first_plateau` (a burst).
"""

from __future__ import annotations

import numpy as np

from flashtwin.analysis.changepoints import MAD_TO_SIGMA, noise
from flashtwin.analysis.curve import Curve, Floats, Ints
from flashtwin.analysis.quantiles import median

Pieces = list[tuple[int, int]]

FEWEST = 5
APART = 1.08
CLEAR = 4.0
SLOW_S, SLOW_SHARE = 30.0, 0.3
BURST_S, BURST_HIGH = 3.0, 1.6
LOOKED_AT = 200
ODD, SIGMAS, LEAST_SCATTER = 1.1, 5.0, 0.01
ODD_GROUPS, ODD_SAMPLES, ODD_SHARE = 4, 4, 0.25


def settled(curve: Curve, pieces: Pieces, relative_noise: float) -> Pieces:
    """The pieces without odd samples, and without the start where they begin with the fill's."""
    ranges = [np.arange(a, b, dtype=np.int64) for a, b in pieces if b > a]
    if not ranges:
        return pieces
    index = np.concatenate(ranges)
    if index[0] == 0:
        index = index[_start(curve, index, relative_noise) :]
    if index.size >= FEWEST:
        index = index[~_odd(np.log(np.maximum(curve.rate[index], 1e-9)))]
    groups = np.split(index, np.flatnonzero(np.diff(index) > 1) + 1)
    return [(int(group[0]), int(group[-1]) + 1) for group in groups]


def _start(curve: Curve, index: Ints, relative_noise: float) -> int:
    """How many samples at the beginning are slower, or faster, than the level after them."""
    values = np.log(np.maximum(curve.rate[index[:LOOKED_AT]], 1e-9))
    # A drive that swings past its cache need not do so in it.
    relative_noise = min(relative_noise, noise(values)) if values.size >= FEWEST else relative_noise
    best, skipped = float(np.abs(values - median(values)).sum()), 0
    for count in range(1, values.size):
        seconds = float(curve.dt[index[:count]].sum())
        if seconds > SLOW_S:
            break
        first, later = values[:count], values[count:]
        level, after = median(first), median(later)
        apart = max(np.log(APART), CLEAR * relative_noise)
        misfit = float(np.abs(first - level).sum() + np.abs(later - after).sum())
        if misfit + apart >= best or abs(after - level) < apart:
            continue
        written = curve.size[index[:count]].sum(), curve.size[index[count:]].sum()
        slow = level < after and written[1] >= SLOW_SHARE * written[0]
        burst = after < level < after + np.log(BURST_HIGH) and seconds <= BURST_S
        if slow or (burst and written[1] >= written[0]):
            # A sample on the way from one level to the other belongs to neither.
            between = count + 1 < values.size and abs(values[count] - after) > apart
            best, skipped = misfit + apart, count + int(between)
    return skipped


def _odd(values: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Values far below all others, where they are few."""
    below = median(values) - values
    scatter = max(MAD_TO_SIGMA * median(np.abs(below)), LEAST_SCATTER)
    odd: np.ndarray[tuple[int], np.dtype[np.bool_]] = below > max(SIGMAS * scatter, np.log(ODD))
    marks = np.concatenate(([False], odd, [False]))
    edges = np.flatnonzero(marks[1:] != marks[:-1])
    lengths = edges[1::2] - edges[::2]
    rare = lengths.size <= ODD_GROUPS and int(odd.sum()) <= ODD_SHARE * values.size
    if not rare or (lengths > ODD_SAMPLES).any():
        return np.zeros_like(odd)
    return odd
