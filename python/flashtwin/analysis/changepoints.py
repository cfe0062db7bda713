"""Change points of a throughput series: where its level changes for good, whatever caused it.

What: the exact minimum, over all ways to cut the series, of a robust misfit plus a penalty a cut.
Why robust: stalls and single odd samples are normal in a drive's log. Each sample's misfit is
capped, so that a short excursion costs less than the two cuts that would make a segment of it, and
only what lasts becomes one. Why on logarithms: a drive's scatter is a share of its speed, so a
plateau at 81 and one at 461 MB/s are judged alike.

How: a dynamic programme over samples and a fine grid of levels, V(i, l) = misfit(i, l) +
min(V(i-1, l), min over all levels of V(i-1) + penalty): samples times levels steps, exact on the
grid, whose step is half of the smallest noise assumed. Long series are first cut into bins of equal
bytes; whoever needs the place of a change finer than a sample asks `edges.locate` with the
original samples.

Invariants: boundaries are strictly increasing and interior; the same series gives the same ones (no
random draw); nothing here knows what is being measured.

Source of the numbers: a cap of 3 standard deviations and a penalty of a few log n are those of the
literature on robust change points (Fearnhead and Rigaill 2019); `EFFECT`, the smallest difference
that this project calls another plateau, and the other limits are choices.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from flashtwin.analysis.curve import Curve, Floats, Ints
from flashtwin.analysis.quantiles import median, quantile

EFFECT = 1.10
CAP = 9.0
PENALTY = 3.0
LEVELS = 512
NOISE_LEAST = 0.02
STALLED = 0.02
MAD_TO_SIGMA = 1.4826
NORMAL_95 = 1.645
NORMAL_QUARTER = 0.3186
BLOCK = 10
SLOWEST = 16.0
LEAST_BLOCKS = 8
# A stair is flat where it steps by less than such a share of the largest fall; such a share of all
# steps makes a staircase.
FLAT, FLAT_SHARE = 0.05, 0.3
MOVED = 4
# Values whose distances from all levels are taken together: a megabyte of them.
AT_ONCE = 256


def noise(values: Floats) -> float:
    """Standard deviation of the noise between neighbouring values (from the MAD of differences)."""
    if values.size < 2:
        return 0.0
    steps = np.diff(values)
    return float(MAD_TO_SIGMA * median(np.abs(steps - median(steps))) / np.sqrt(2.0))


def calm(values: Floats) -> float:
    """Noise of the calmest quarter of the steps: that of the samples between teeth and stalls."""
    if values.size < 2:
        return 0.0
    return quantile(np.abs(np.diff(values)), 0.25) / float(NORMAL_QUARTER * np.sqrt(2.0))


def slowness(values: Floats) -> float:
    """How much more block means scatter than those of independent values would: 1, or more.

    From differences between neighbouring blocks, so that the few changes of level do not count.
    """
    block = min(values.size // 20, BLOCK)
    single = noise(values)
    if block < 2 or single <= 0:
        return 1.0
    count = values.size // block
    means = values[: count * block].reshape(count, block).mean(axis=1)
    return float(np.clip(block * (noise(means) / single) ** 2, 1.0, SLOWEST))


def wander(values: Floats, block: int) -> float:
    """How far the means of so many neighbouring values are apart from each other, as a rule.

    The few blocks that hold a change of level do not count, since half of them decide. Nor do those
    of a staircase, which is flat between its falls: waves rise as far as they fall, and what rises
    is what counts there.
    """
    block = max(1, min(block, values.size // LEAST_BLOCKS))
    count = values.size // block
    means = values[: count * block].reshape(count, block).mean(axis=1)
    steps, usual = np.diff(means), noise(means)
    is_flat = np.abs(steps) <= FLAT * float(-steps.min(initial=0.0))
    if is_flat.mean() < FLAT_SHARE:
        return usual
    rises = steps[steps > 0]
    up = float(MAD_TO_SIGMA * median(rises) / np.sqrt(2.0)) if rises.size else 0.0
    return min(usual, up)


def logs(rate: Floats) -> Floats:
    """Logarithms of rates; what is as good as stalled (below 2 % of the usual) counts alike."""
    moving = rate[rate > 0]
    if moving.size == 0:
        return np.zeros_like(rate)
    result: Floats = np.log(np.maximum(rate, STALLED * median(moving)))
    return result


def boundaries(rate: Floats, *, least: int = 2, penalty: float = PENALTY) -> Ints:
    """Indices at which a new segment begins, without 0 and n; `least` samples a segment or more."""
    if rate.size < 2 * least:
        return np.zeros(0, dtype=np.int64)
    values = logs(rate)
    # Samples of a slow wave are correlated, so each counts for less than an independent sample.
    spread = np.maximum(_noise_around(values) * np.sqrt(slowness(values)), NOISE_LEAST)
    cuts = _nearer(values, _cuts(values, spread, penalty * float(np.log(rate.size))))
    return _without_short(values, cuts, least)


def _noise_around(values: Floats) -> Floats:
    """Noise near each sample: plateaus of one fill may scatter very differently."""
    everywhere = noise(values)
    reach = 50
    if values.size <= 2 * reach:
        return np.full(values.size, everywhere)
    steps = np.abs(np.diff(values))
    # One figure a stretch of `reach` samples, from that stretch and both its neighbours.
    count = values.size // reach
    middles = (np.arange(count) + 0.5) * reach
    windows = [steps[max(0, int(m) - 75) : int(m) + 75] for m in middles]
    local = MAD_TO_SIGMA / np.sqrt(2.0) * np.array([median(window) for window in windows])
    at_each = np.interp(np.arange(values.size), middles, local)
    return np.asarray(np.maximum(at_each, 0.5 * everywhere), dtype=np.float64)


def _cuts(values: Floats, spread: Floats, penalty: float) -> Ints:
    """The cheapest cuts: see the module's text for the recursion."""
    low, high = float(values.min()), float(values.max())
    count = int(np.clip((high - low) / (0.5 * NOISE_LEAST), 1, LEVELS - 1)) + 1
    levels = np.linspace(low, high, count)
    stays = np.ones((values.size, count), dtype=np.bool_)
    origin = np.zeros(values.size, dtype=np.int64)
    best = np.zeros(count)
    for first in range(0, values.size, AT_ONCE):
        misfits = _misfits(values[first : first + AT_ONCE], spread[first : first + AT_ONCE], levels)
        for index, misfit in enumerate(misfits, start=first):
            cheapest = int(best.argmin())
            origin[index] = cheapest
            change = best[cheapest] + penalty
            np.less_equal(best, change, out=stays[index])
            np.minimum(best, change, out=best)
            best += misfit
    return _traced(stays, origin, int(best.argmin()))


def _misfits(values: Floats, spread: Floats, levels: Floats) -> Floats:
    """Of each value from each level."""
    away = (levels - values[:, None]) / spread[:, None]
    result: Floats = np.minimum(away * away, CAP)
    return result


def _traced(stays: np.ndarray[tuple[int, int], np.dtype[np.bool_]], origin: Ints, at: int) -> Ints:
    """Walk back from the cheapest end and collect the places where the level was left."""
    cuts: list[int] = []
    for index in range(origin.size - 1, 0, -1):
        if not stays[index, at]:
            cuts.append(index)
            at = int(origin[index])
    return np.array(cuts[::-1], dtype=np.int64)


def _nearer(values: Floats, cuts: Ints) -> Ints:
    """Cuts moved by a few samples that lie past the level of the other side.

    A capped misfit leaves open to which side a sample belongs that is far from both.
    """
    edges = [0, *(int(cut) for cut in cuts), int(values.size)]
    for at in range(1, len(edges) - 1):
        first, cut, last = edges[at - 1 : at + 2]
        left, right = median(values[first:cut]), median(values[cut:last])
        # On each side of the cut, what lies past the other side's level belongs there.
        falls = 1.0 if left > right else -1.0
        while cut < min(edges[at] + MOVED, last - 1) and falls * (values[cut] - left) >= 0:
            cut += 1
        while cut > max(edges[at] - MOVED, first + 1) and falls * (values[cut - 1] - right) <= 0:
            cut -= 1
        edges[at] = cut
    return np.array(edges[1:-1], dtype=np.int64)


def _without_short(values: Floats, cuts: Ints, least: int) -> Ints:
    """Join each segment of fewer than `least` samples to the neighbour whose level is nearer."""
    edges = [0, *(int(cut) for cut in cuts), int(values.size)]
    while len(edges) > 2:
        lengths = np.diff(edges)
        shortest = int(lengths.argmin())
        if lengths[shortest] >= least:
            break
        level = [median(values[a:b]) for a, b in pairwise(edges)]
        before = abs(level[shortest] - level[shortest - 1]) if shortest > 0 else np.inf
        after = abs(level[shortest] - level[shortest + 1]) if shortest + 1 < len(level) else np.inf
        del edges[shortest if before <= after else shortest + 1]
    return np.array(edges[1:-1], dtype=np.int64)


def merged(curve: Curve, cuts: Ints, *, effect: float = EFFECT) -> Ints:
    """Cuts without those whose sides differ by less than `effect`; the least different go first.

    A side's level is bytes over time, so a joined segment is judged anew by all that it holds.
    """
    edges = np.concatenate(([0], cuts, [len(curve)]))
    while edges.size > 2:
        level = np.diff(curve.bytes_at[edges]) / np.diff(curve.time_at[edges])
        contrast = np.abs(np.diff(np.log(np.maximum(level, 1e-9))))
        least = int(contrast.argmin())
        if contrast[least] >= np.log(effect):
            break
        edges = np.delete(edges, least + 1)
    return edges[1:-1].astype(np.int64)


def smallest_visible(curve: Curve, *, contrast: float = 1.25, penalty: float = PENALTY) -> float:
    """Bytes that a first plateau `contrast` times faster than the rest must hold to be seen.

    For a series without an end of a first plateau: all scatter upwards then stands against one.
    """
    if len(curve) < 2 or curve.total_bytes <= 0:
        return curve.total_bytes
    values = logs(curve.rate)
    middle, high = quantile(values, 0.5), quantile(values, 0.95)
    upward_scatter = float(high - middle) / NORMAL_95
    spread = max(noise(values) * float(np.sqrt(slowness(values))), upward_scatter, NOISE_LEAST)
    gain = min((np.log(contrast) / spread) ** 2, CAP)
    if gain <= 0:
        return curve.total_bytes
    samples = np.floor(penalty * np.log(len(curve)) / gain) + 1
    usual = median(curve.rate[curve.rate > 0]) * median(curve.dt)
    return float(min(max(samples, 2.0) * usual * contrast, curve.total_bytes))
