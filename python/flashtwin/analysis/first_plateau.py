"""How a fill begins: does a first plateau end for good, and between which samples?

What: the segments of the whole series are read from the left. A drop ends the first plateau when it
lasts; a drop that recovers is a dip (heat, a stall), and a speed that swings from the start tells
nothing about a cache. Rises before the first drop belong to the first plateau: some drives begin
slower than they go on.

The rules, on bytes, the axis on which a plateau has its weight:
- high is above 85 % of the level before the drop and above the middle of the drop;
- a dip: a later high stretch holds at least what was written since the drop, and at least a
  quarter of the usual high stretch before it (or ten times the dip: full speed or almost nothing);
- swinging: the fill begins high, and three or more later high stretches are half as long or longer;
  where they come evenly, steeply and are shorter the first one ends all the same: a cache that
  takes data again;
- a slope is no end: lines fitted on both sides of the cut must be half the drop apart, and a series
  that one line explains as well as all of its segments is a gradual change;
- two or three samples at the start that are faster than every later one are a first plateau;
- a beginning of seconds is read twice, as a first plateau and as a host's burst before one: what
  explains more of the series wins, and the other reading is kept;
- a small drop must be three times what means of as many samples wander anyway, and all that follows
  must as a whole be lower by `EFFECT`, and by four standard errors, than the level before the drop
  and than the mean of all before it (else waves and bursts in mid-fill would look like plateaus).

Invariants: takes a curve and nothing else; an `edge` verdict has at least one sample on each side.

Source of the numbers: choices of this project, tried on the shapes that reviewers have published
(tests/analysis has a synthetic series for each).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import hypot, inf
from typing import Literal

import numpy as np

from flashtwin.analysis.changepoints import (
    EFFECT,
    MAD_TO_SIGMA,
    PENALTY,
    boundaries,
    calm,
    logs,
    merged,
    noise,
    smallest_visible,
    wander,
)
from flashtwin.analysis.curve import Curve, Floats, Ints, pool_size, pooled
from flashtwin.analysis.estimate import Estimate, mean_error
from flashtwin.analysis.quantiles import distinct, median, medians_around

Verdict = Literal["edge", "flat", "gradual", "swings"]
HIGH = 0.85
DIP_SHARE = 0.25
DIP_TINY = 10.0
SWING_SHARE = 0.5
SWING_COUNT = 3
RECURS_SHARE = 0.01
RECURS_COUNT = 2
RECURS_MOST = 0.4
CERTAIN = 4.0
WAVE = 3.0
LARGE, SMALL = 1.5, 1.2
FEW = 20
# The least share of a fill that follows an end: a last low of heat or a dip may hold less.
LEAST_REST = 0.02
TRANSITION = 0.015
# A short first plateau may follow so many slow samples, and is then so much faster than all others.
SLOW_HEAD, CLEAR_HEAD = 4, 1.25
# An even beginning: samples, their band in scatters, the share within it, the share of the bytes
# past it that may be as fast, and how long the longest such stretch may be beside it.
EVEN_FEWEST, EVEN_SIGMAS, EVEN_SHARE, HIGH_LATER, EVEN_LONGEST = 6, 6.0, 0.9, 0.37, 0.7
# What follows an even beginning scatters this many times more.
UNEVEN, LEAST_SCATTER, LATER_NONE = 3.0, 0.01, 0.05
HEAD_POOLS, EARLY_POOLS, AROUND_POOLS = 24, 6, 12
# Highs of a cache that takes data again: the shortest beside the longest, the usual one beside the
# first plateau, how uneven they are, samples on the way up or down, and how low the lows.
AGAIN_LEAST, AGAIN_MOST, AGAIN_EVEN, AGAIN_STEEP, AGAIN_DEEP = 0.4, 0.85, 0.1, 1.5, 0.67
# A host's memory or journal takes data for half a second to ten, up to 16 times as fast as the
# drive, which may be a SATA one or a hard disk; the usual burst is the geometric mean.
BURST_S, BURST_TIMES = 10.0, 16.0
BURST_USUAL_S, BURST_FAINT = (0.5 * BURST_S) ** 0.5, 1.5
QUARTER_FASTER = 1.25
# A beginning of no more samples than this has no size.
UNRESOLVED = 3
# A cache seldom ends past such a share of a fill, where borrowed cells often have to come back: an
# end there has to explain more by this factor.
LATE, LATE_TIMES = 0.5, 16.0


@dataclass(frozen=True, kw_only=True)
class Rearming:
    """A speed that comes back each `period` bytes, `seconds` apart, for a share `duty` of them,
    `cycles` times in a row; it is `ratio` times as fast as what lies between."""

    period: Estimate
    seconds: float
    duty: float
    cycles: int
    ratio: float


@dataclass(frozen=True, kw_only=True)
class FirstPlateau:
    """The verdict; for an edge the samples [first, cut) before and [cut, last) after the drop.

    `end` is where a transition of short steps is over (equal to `cut` for a sharp drop). `dips` are
    sample ranges within the first plateau that do not belong to its level; `rise` is the sample at
    which the first plateau becomes faster, if it does; `swings` counts the high stretches. `burst`:
    the number of samples at the beginning that are faster, and read as the host's. `rearming`:
    after its end the first plateau comes back evenly, each time for less. `without_burst`: the
    sample at which the first plateau ends if all before `cut` is a host's burst, the number of
    samples if it then has no end; none where it can be no burst.
    """

    verdict: Verdict
    first: int = 0
    cut: int = 0
    end: int = 0
    last: int = 0
    dips: tuple[tuple[int, int], ...] = ()
    rise: int | None = None
    swings: int = 0
    burst: int = 0
    without_burst: int | None = None
    rearming: Rearming | None = None


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """Segments of the series: edges in samples, bytes and level of each."""

    edges: Ints
    size: Floats
    level: Floats

    @property
    def count(self) -> int:
        return int(self.size.size)


def first_plateau(curve: Curve, *, memory_bytes: float = inf) -> FirstPlateau:
    """The verdict on how the series begins, where a memory of at most `memory_bytes` may have taken
    the first data: the host's, or the drive's own where the host kept nothing back."""
    cuts = segments(curve)
    return _past_burst(curve, _short_head(curve) or _first(curve, cuts), cuts, memory_bytes)


def _first(curve: Curve, cuts: Ints) -> FirstPlateau:
    """The verdict without regard to a host's burst, of a series that has no short head."""
    read = _reading(curve, cuts, 0)
    head = _even_head(curve)
    # Where a saw-tooth follows, a change of its mean is no end of the first plateau.
    if head > 0 and (read.verdict != "edge" or _is_uneven(curve, head, read.cut)):
        last = min(len(curve), head + max(head, FEW))
        read = FirstPlateau(verdict="edge", first=0, cut=head, end=head, last=last)
    return read


def _reading(curve: Curve, cuts: Ints, begin: int) -> FirstPlateau:
    """The verdict from segments that are parted by cuts, of the series from a sample on."""
    if cuts.size == 0:
        return FirstPlateau(verdict="flat")
    edges = np.concatenate(([begin], cuts, [len(curve)])).astype(np.int64)
    size, time = np.diff(curve.bytes_at[edges]), np.diff(curve.time_at[edges])
    read = _read(curve, _Parts(edges=edges, size=size, level=size / time))
    # Of a saw-tooth past the end many segments say little more than a line; the end itself does.
    stands = read.verdict != "edge" or begin > 0 or read.rearming is not None
    line = not stands and explained_by_line(curve, cuts)
    if line and explained_by_line(curve, np.array([read.cut])):
        return FirstPlateau(verdict=_without_step(curve))
    return read


def _short_head(curve: Curve) -> FirstPlateau | None:
    """A first plateau too short for a segment: two or three samples faster than every later one.

    That two samples in particular are the fastest by chance has a probability of 2 / n^2. Before
    them a host may begin slowly for a few samples.
    """
    if len(curve) < FEW:
        return None
    for slow in range(SLOW_HEAD + 1):
        # A sample beside them may hold both levels and counts for neither side.
        begins = float(curve.rate[: max(slow - 1, 0)].max(initial=0.0))
        for count in (3, 2):
            cut = slow + count
            others = max(begins, float(curve.rate[cut + 1 :].max()))
            contrast = EFFECT if slow == 0 else CLEAR_HEAD
            if float(curve.rate[slow:cut].min()) > contrast * others:
                last = min(len(curve), cut + 1 + FEW)
                dips = ((0, slow),) if slow else ()
                rise = slow or None
                return FirstPlateau(
                    verdict="edge", first=slow, cut=cut, end=cut, last=last, dips=dips, rise=rise
                )
    return None


def _even_head(curve: Curve) -> int:
    """The samples of an even beginning whose level hardly any later stretch holds; 0 if none.

    A drive that works in turns past its cache may swing so much that no level of segments shows the
    end of an even first plateau. Its samples lie within a narrow band, and few later bytes do.
    """
    values = logs(curve.rate)
    if values.size < FEW:
        return 0
    level = median(values[:EVEN_FEWEST])
    band = max(EVEN_SIGMAS * calm(values[: 2 * EVEN_FEWEST]), float(np.log(EFFECT)))
    within = np.abs(values - level) <= band
    # The end is where most of the next samples lie outside.
    outside = np.convolve(~within, np.ones(EVEN_FEWEST), "full")[EVEN_FEWEST - 1 :]
    places = np.flatnonzero((outside > EVEN_FEWEST / 2) & ~within)
    head = int(places[0]) if places.size else 0
    if head < EVEN_FEWEST or head > values.size - FEW or not within[:head].mean() >= EVEN_SHARE:
        return 0
    later_high = float(curve.size[head:][values[head:] >= level - band].sum())
    if later_high > HIGH_LATER * (curve.total_bytes - float(curve.bytes_at[head])):
        return 0
    longest = _longest_stretch(values[head:] >= level - band, curve.size[head:])
    if longest > EVEN_LONGEST * float(curve.bytes_at[head]):
        return 0
    if not _swings_after(values, head):
        return 0
    before, after = curve.mean(0, head), curve.mean(head, len(curve))
    error = mean_error(curve.rate[head:])[0]
    return head if before - after > max(CERTAIN * error, (1 - 1 / EFFECT) * before) else 0


def _swings_after(values: Floats, head: int) -> bool:
    """Whether what follows the head goes up and down again and again, far more than the head."""
    later = values[head:]
    x = np.arange(later.size, dtype=np.float64)
    away = later - np.polyval(np.polyfit(x, later, 1), x)
    scatter = [median(np.abs(part - median(part))) for part in (values[:head], away)]
    if scatter[1] < UNEVEN * max(scatter[0], LEAST_SCATTER):
        return False
    sides = np.sign(away)[np.abs(away) > 0.5 * scatter[1]]
    return int((np.diff(sides) > 0).sum()) >= SWING_COUNT


def _longest_stretch(high: np.ndarray[tuple[int], np.dtype[np.bool_]], size: Floats) -> float:
    """Bytes of the longest stretch of high samples."""
    total = np.cumsum(np.where(high, size, 0.0))
    # What was summed when the last low sample ended.
    start = np.maximum.accumulate(np.where(high, 0.0, total))
    return float((total - start).max(initial=0.0))


def _is_uneven(curve: Curve, head: int, cut: int) -> bool:
    """Whether a first plateau that was read further holds more than its even beginning."""
    if cut <= head + max(EVEN_FEWEST, head // 4):
        return False
    level = curve.mean(0, head)
    near = np.abs(np.log(np.maximum(curve.rate[head:], 1e-9) / level)) <= np.log(EFFECT)
    sizes = curve.size[head:]
    share, later = (
        float(sizes[part][near[part]].sum() / sizes[part].sum())
        for part in (slice(0, cut - head), slice(cut - head, None))
    )
    # A level that is there again until some place and hardly after it ends at that place: heat.
    return share < HIGH_LATER and share <= 2 * later + LATER_NONE


def may_be_burst(seconds: float, rate: float, later: float) -> bool:
    """True where a beginning so long at one rate, before a later one, may be a host's."""
    return seconds <= BURST_S and later < rate <= BURST_TIMES * later


def _past_burst(curve: Curve, read: FirstPlateau, cuts: Ints, memory_bytes: float) -> FirstPlateau:
    """The better of two readings: with a beginning of seconds as the first plateau, and without it.
    What a burst brings beyond the next level lies in memory, which has to hold it.

    The one whose end explains more of the series wins. The longer the beginning is beside a usual
    burst, the more the other reading has to explain; and more where it ends late, since cells may
    come back there past a small cache. Where it has no end, a beginning that is no longer than a
    usual burst and hardly faster is one: a cache so small is faster by more. A beginning of too few
    samples to tell its size gives way to a large drop, no later than where cells may come back.
    """
    if read.verdict != "edge":
        return read
    # A cut beside the end of the beginning is that end.
    later = cuts[cuts > read.cut + 1]
    first, seconds = curve.mean(0, read.cut), float(curve.time_at[read.cut])
    level = curve.mean(read.cut, int(later[0]) if later.size else len(curve))
    if not may_be_burst(seconds, first, level) or (first - level) * seconds > memory_bytes:
        return read
    other = _reading(curve, later, read.cut)
    if other.verdict == "edge":
        is_late = float(curve.bytes_at[other.cut]) > LATE * curve.total_bytes
        times = max(seconds / BURST_USUAL_S, 1.0) * (LATE_TIMES if is_late else 1.0)
        better = _explained(curve, other.cut, read.cut) > times * _explained(curve, read.cut)
        falls = curve.mean(read.cut, other.cut) > LARGE * curve.mean(other.cut, len(curve))
        better = better or (read.cut <= UNRESOLVED and falls and not is_late)
    else:
        better = seconds <= BURST_USUAL_S and first < BURST_FAINT * level
    if better:
        return replace(other, burst=read.cut)
    return replace(read, without_burst=other.cut if other.verdict == "edge" else len(curve))


def smallest_cache(curve: Curve) -> float:
    """Bytes that a cache a quarter faster than the rest must hold to be seen as one: what change
    points resolve, and more than a usual burst of a host."""
    usual = median(curve.rate[curve.rate > 0]) if np.any(curve.rate > 0) else 0.0
    burst = float(min(QUARTER_FASTER * usual * BURST_USUAL_S, curve.total_bytes))
    return max(smallest_visible(curve, contrast=QUARTER_FASTER), burst)


def _explained(curve: Curve, cut: int, burst: int = 0) -> float:
    """How well a cut into two levels explains the logarithm of speed over bytes. The first `burst`
    samples count in neither level."""
    share = float(curve.bytes_at[cut]) / curve.total_bytes
    if not 0 < cut < len(curve):
        return 0.0
    apart = float(np.log(curve.mean(burst, cut) / max(curve.mean(cut, len(curve)), 1.0)))
    return share * (1 - share) * apart**2


def fifths(curve: Curve) -> tuple[float, float]:
    """Bytes a second of the first and of the last fifth of what was written."""
    fifth = curve.total_bytes / 5
    return curve.mean_between(0.0, fifth), curve.mean_between(4 * fifth, curve.total_bytes)


def _without_step(curve: Curve) -> Verdict:
    """Gradual or flat: whether a series without a step comes to another level at all."""
    first, last = fifths(curve)
    return "gradual" if max(first, last) > EFFECT * min(first, last) else "flat"


def segments(curve: Curve) -> Ints:
    """Cuts of the series whose sides differ by the effect size; long ones on pools of samples.

    Waves of many samples average out in a pool; what begins and ends within the first pools is
    looked for on the samples themselves.
    """
    each = pool_size(curve)
    if each == 1:
        return merged(curve, boundaries(curve.rate))
    pools = pooled(curve, each)
    end = EARLY_POOLS * each
    cuts = [cut for cut in _cuts_within(curve, 0, HEAD_POOLS * each) if cut < end]
    for place in merged(pools, boundaries(pools.rate)).tolist():
        cut = place * each
        if cut >= end or not cuts:
            around = _cuts_within(curve, cut - AROUND_POOLS * each, cut + AROUND_POOLS * each)
            cuts += around or [_refined(curve, cut, each)]
    both = distinct(np.array(cuts, dtype=np.int64))
    return merged(curve, both[(both > 0) & (both < len(curve))])


def _cuts_within(curve: Curve, first: int, last: int) -> list[int]:
    """Cuts on the samples of a window, for the penalty of a cut anywhere in the series."""
    first, last = max(first, 0), min(last, len(curve))
    window = Curve(dt=curve.dt[first:last], size=curve.size[first:last])
    penalty = PENALTY * float(np.log(len(curve)) / np.log(len(window)))
    return [
        first + cut for cut in merged(window, boundaries(window.rate, penalty=penalty)).tolist()
    ]


def _refined(curve: Curve, cut: int, each: int) -> int:
    """The sample within a pool of a cut at which two levels part best."""
    low, high = max(cut - 5 * each, 0), min(cut + 5 * each, len(curve))
    values = _tamed(logs(curve.rate[low:high]))
    at = np.arange(max(cut - each - low, 1), min(cut + each - low, values.size - 1) + 1)
    total = np.cumsum(values)
    before, after = total[at - 1] / at, (total[-1] - total[at - 1]) / (values.size - at)
    return low + int(at[np.argmax(at * (values.size - at) * (before - after) ** 2)])


def explained_by_line(curve: Curve, cuts: Ints) -> bool:
    """Whether one straight line over the bytes explains the series as well as its segments do."""
    middle = (curve.bytes_at[1:] + curve.bytes_at[:-1]) / 2
    rate = _tamed(curve.rate)
    edges = [0, *(int(cut) for cut in cuts), len(curve)]
    # A sample beside a cut may hold both levels, which would count against the steps alone.
    inner = [
        slice(a + (a > 0 and b - a > 2), b - (b < len(curve) and b - a > 2))
        for a, b in pairwise(edges)
    ]
    steps = sum(float(np.sum((rate[part] - rate[part].mean()) ** 2)) for part in inner)
    line = _residual_of_line(
        np.concatenate([middle[part] for part in inner]),
        np.concatenate([rate[part] for part in inner]),
    )
    floor = len(curve) * (1e-3 * float(rate.mean())) ** 2
    # A segment has a level and a place, a line of two numbers stands for all of them.
    extra = 2.0 * (len(edges) - 2) * float(np.log(len(curve))) / len(curve)
    return bool(np.log(line + floor) < np.log(steps + floor) + extra)


def is_step(curve: Curve, first: int, cut: int, last: int) -> bool:
    """Whether the levels part at the cut itself, and not little by little on the way to it."""
    before, after = (
        curve.rate[first : max(cut - 1, first + 1)],
        curve.rate[min(cut + 1, last - 1) : last],
    )
    drop = abs(curve.mean(first, cut) - curve.mean(cut, last))
    # A stall in a short segment makes its mean lower than its level.
    drop = min(drop, abs(float(_tamed(before).mean() - _tamed(after).mean())))
    scatter = noise(logs(curve.rate[first:last])) * max(
        curve.mean(first, cut), curve.mean(cut, last)
    )
    # So many samples that the ends of both lines are known to an eighth of the drop.
    reach = int(np.clip(8 * (8 * scatter / max(drop, 1e-9)) ** 2, 20, 2000))
    jump = abs(_end_of_line(before[-reach:], at_end=True) - _end_of_line(after[:reach], False))
    return jump >= 0.5 * drop


def _end_of_line(rate: Floats, at_end: bool) -> float:
    """Level at one end of a stretch: by a straight line, by the mean where it is too short."""
    tamed = _tamed(rate)
    if rate.size < 8:
        return float(tamed.mean())
    x = np.arange(rate.size, dtype=np.float64)
    slope, base = np.polyfit(x, tamed, 1)
    return float(base + slope * (x[-1] + 1 if at_end else -1))


def _tamed(rate: Floats) -> Floats:
    """Rates with stalls and odd samples drawn to the values around them."""
    if rate.size < 5:
        return rate
    # The first and the last sample have none past them, so that they would be their own neighbours.
    beside = rate[1:5], rate[-5:-1]
    rate = rate.copy()
    rate[[0, -1]] = [
        np.clip(end, near.min(), near.max())
        for end, near in zip(rate[[0, -1]], beside, strict=True)
    ]
    around = medians_around(rate, 5)
    away = rate - around
    reach = 5 * MAD_TO_SIGMA * median(np.abs(away)) + 1e-9
    result: Floats = around + np.clip(away, -reach, reach)
    return result


def _residual_of_line(x: Floats, y: Floats) -> float:
    scale = max(float(x[-1] - x[0]), 1.0)
    fit = np.polyfit((x - x[0]) / scale, y, 1)
    return float(np.sum((y - np.polyval(fit, (x - x[0]) / scale)) ** 2))


def _read(curve: Curve, parts: _Parts) -> FirstPlateau:
    """Segments from the left until a drop that lasts, or the end."""
    at, rise, sloped = 0, None, False
    dips: list[tuple[int, int]] = []
    highs: list[float] = []
    longest_dip = 0.0
    while at + 1 < parts.count:
        now, then = parts.level[at], parts.level[at + 1]
        if then * EFFECT > now:
            if then > now * EFFECT and not dips:
                rise = int(parts.edges[at + 1])
            at += 1
            continue
        bound = _bound(parts, at)
        runs = _runs(parts, at, bound)
        usual = float(np.mean(highs)) if highs else _high_before(parts, at, bound)
        recovered = _recovery(runs, usual, longest_dip) or _shallow(parts, at, runs)
        if recovered > 0:
            longest_dip = max(longest_dip, sum(run.size for run in runs[:recovered]))
            dips.append((int(parts.edges[at + 1]), int(parts.edges[runs[recovered - 1].last])))
            highs = [*(highs or [usual]), *(run.size for run in runs[recovered : recovered + 1])]
            at = runs[min(recovered, len(runs) - 1)].last - 1
            continue
        begins_high = not highs and usual >= 0.5 * float(parts.size[: at + 1].sum())
        if begins_high and (count := _swings(curve, parts, at, bound)) > 0:
            edge = _edge(curve, parts, at, tuple(dips), rise)
            if edge.rearming is None:
                return FirstPlateau(verdict="swings", swings=count, rise=rise)
            return edge
        if _lasts(curve, parts, at, rise, dips):
            if _steps_down(curve, parts, at):
                return _edge(curve, parts, at, tuple(dips), rise)
            sloped = True
        at += 1
    verdict = _without_step(curve) if sloped else "flat"
    return FirstPlateau(verdict=verdict, dips=tuple(dips), rise=rise)


@dataclass(frozen=True, kw_only=True)
class _Run:
    """Neighbouring segments on one side of a bound: [first, last) of the parts, their bytes."""

    high: bool
    first: int
    last: int
    size: float


def _bound(parts: _Parts, at: int) -> float:
    """The rate from which on something after the drop counts as high again."""
    level = float(parts.level[at])
    return max(HIGH * level, (level + float(parts.level[at + 1])) / 2)


def _high_before(parts: _Parts, at: int, bound: float) -> float:
    """Bytes of the high stretch that the drop after segment `at` ends."""
    total = 0.0
    while at >= 0 and parts.level[at] > bound:
        total, at = total + float(parts.size[at]), at - 1
    return total


def _runs(parts: _Parts, at: int, bound: float) -> list[_Run]:
    """What follows the drop after segment `at`, as stretches that are low or high again in turn."""
    runs: list[_Run] = []
    for index in range(at + 1, parts.count):
        high, size = bool(parts.level[index] > bound), float(parts.size[index])
        if runs and runs[-1].high == high:
            last = runs.pop()
            runs.append(_Run(high=high, first=last.first, last=index + 1, size=last.size + size))
        else:
            runs.append(_Run(high=high, first=index, last=index + 1, size=size))
    return runs


def _recovery(runs: list[_Run], usual: float, longest: float) -> int:
    """Which of the runs after a drop takes up the old speed for good; 0 if none, and no dip then.

    Short recoveries on the way there belong to the dip. What the end of the fill cuts short, the
    last dip or its recovery, is judged by the dips before; `len(runs)` stands for that end.
    """
    low = 0.0
    for index, run in enumerate(runs):
        lasting = run.size >= DIP_SHARE * usual or run.size >= DIP_TINY * low
        at_end = longest > 0 and index + 1 == len(runs)
        if run.high and run.size >= low and (lasting or at_end):
            return index
        low += run.size
    return len(runs) if low <= longest else 0


def _speed(parts: _Parts, run: _Run) -> float:
    """The mean speed of a run beside its stalls, 0 of one that is nothing else."""
    size, level = (column[run.first : run.last] for column in (parts.size, parts.level))
    goes = level > 0
    return float(size[goes].sum() / (size[goes] / level[goes]).sum()) if goes.any() else 0.0


def _shallow(parts: _Parts, at: int, runs: list[_Run]) -> int:
    """1 where a small drop recovers and a much larger one follows soon: that one is the end."""
    if len(runs) < 3 or runs[1].size < DIP_SHARE * runs[0].size:
        return 0
    low, back, later = (_speed(parts, run) for run in runs[:3])
    level = float(parts.level[at])
    returns = back * EFFECT > level and runs[2].size > runs[0].size
    return int(returns and level < LARGE * low and later * LARGE < low)


def _swings(curve: Curve, parts: _Parts, at: int, bound: float) -> int:
    """How many high stretches recur that are about as long as the first one; 0 if it is special.

    Counted on samples: what is too short for a segment of its own in mid-fill would else not count.
    """
    cut = int(parts.edges[at + 1])
    first = _high_before(parts, at, bound)
    starts, ends = _highs(curve, cut, bound)
    sizes = curve.bytes_at[ends] - curve.bytes_at[starts]
    count = int((sizes >= SWING_SHARE * first).sum())
    if count >= SWING_COUNT:
        return count
    # Heat: after a first stretch of any length the old speed comes back again and again, for long.
    again = int((sizes >= RECURS_SHARE * curve.total_bytes).sum())
    share = float(sizes.sum()) / max(curve.total_bytes - float(curve.bytes_at[cut]), 1.0)
    return again if again >= RECURS_COUNT and share >= RECURS_MOST else 0


def _highs(curve: Curve, cut: int, bound: float) -> tuple[Ints, Ints]:
    """The samples with which high stretches after a cut begin, and those after them."""
    high = np.concatenate(([False], curve.rate[cut:] > bound, [False]))
    starts, ends = np.flatnonzero(high[1:] & ~high[:-1]), np.flatnonzero(~high[1:] & high[:-1])
    return cut + starts, cut + ends


def _rearming(curve: Curve, parts: _Parts, at: int, bound: float) -> Rearming | None:
    """The period and duty of highs that a cache gives which takes data again: even in bytes, at two
    levels far apart without a slope between, and shorter than the first one, in which all of it
    was empty."""
    cut = int(parts.edges[at + 1])
    starts, ends = _highs(curve, cut, bound)
    sizes = curve.bytes_at[ends] - curve.bytes_at[starts]
    # A sample of noise parts no high, and is none.
    clear = sizes >= AGAIN_LEAST * float(sizes.max(initial=0.0))
    starts, ends, sizes = starts[clear], ends[clear], sizes[clear]
    periods = np.diff(curve.bytes_at[starts])
    first = _high_before(parts, at, bound)
    if starts.size < SWING_COUNT + 1 or median(sizes) > AGAIN_MOST * first:
        return None
    # A cache takes less than it has to free; heat leaves a drive its speed for most of the bytes.
    if float(sizes.sum()) >= RECURS_MOST * (curve.total_bytes - float(curve.bytes_at[cut])):
        return None
    # The end of the fill may cut the last one short.
    even = max(_unevenness(periods), _unevenness(sizes[:-1])) <= AGAIN_EVEN
    high, low = float(parts.level[at]), median(curve.rate[ends[0] : starts[1]])
    reach = 0.25 * (high - low)
    between = (curve.rate[cut:] > low + reach) & (curve.rate[cut:] < high - reach)
    steep = int(between.sum()) <= 2 * AGAIN_STEEP * starts.size
    if not even or not steep or low > AGAIN_DEEP * high:
        return None
    middle, reach = float(periods.mean()), float(2 * periods.std() / np.sqrt(periods.size))
    span = float(curve.time_at[starts[-1]] - curve.time_at[starts[0]])
    # Samples on the way hold both levels, which the mean divides between them.
    fast = (float(periods.sum()) - low * span) * high / (high - low)
    return Rearming(
        period=Estimate(value=middle, low=middle - reach, high=middle + reach),
        seconds=span / periods.size,
        duty=float(fast / periods.sum()),
        cycles=periods.size,
        ratio=float(high / low),
    )


def _unevenness(values: Floats) -> float:
    """How far values are from their middle, as a share of it."""
    middle = median(values)
    return median(np.abs(values - middle)) / middle if middle > 0 else np.inf


def _since_rise(curve: Curve, parts: _Parts, at: int, rise: int | None) -> int:
    """The sample from which the level before a drop is judged: after a slow start, its end.

    Where what follows the drop is as fast as what preceded the rise, that was a burst in mid-fill.
    """
    cut = int(parts.edges[at + 1])
    if rise is None or rise >= cut:
        return 0
    slow, after = curve.mean(0, rise), curve.mean(cut, len(curve))
    high_bytes = float(curve.bytes_at[cut] - curve.bytes_at[rise])
    lasting = high_bytes >= DIP_SHARE * float(curve.bytes_at[rise])
    return rise if lasting and max(slow, after) > EFFECT * min(slow, after) else 0


def _lasts(
    curve: Curve, parts: _Parts, at: int, rise: int | None, dips: list[tuple[int, int]]
) -> bool:
    """Whether all that follows is slower as a whole, and the drop more than a wave."""
    start = _since_rise(curve, parts, at, rise)
    first, cut, last = (int(edge) for edge in parts.edges[at : at + 3])
    if curve.total_bytes - float(curve.bytes_at[cut]) < LEAST_REST * curve.total_bytes:
        return False
    drop = float(parts.level[at] / max(parts.level[at + 1], 1.0))
    # A large drop is no wave, and what wanders as much are then the teeth that follow it.
    usual = wander(logs(curve.rate), min(cut - first, last - cut)) if drop < LARGE else 0.0
    if float(np.log(drop)) < WAVE * usual:
        return False
    own = np.ones(cut, dtype=np.bool_)
    for begin, end in dips:
        own[begin:end] = False
    own[: max(start, int(parts.edges[0]))] = False
    mean = float(curve.size[:cut][own].sum() / curve.dt[:cut][own].sum())
    # Without the samples at the cut, which may hold some of both. An odd sample, such as a burst
    # that the first one holds, makes no level and no error.
    sides = (
        _tamed(curve.rate[:cut][own][: max(int(own.sum()) - 1, 2)]),
        _tamed(curve.rate[min(cut + 1, len(curve) - 2) :]),
    )
    before = min(float(parts.level[at]), mean)
    after = curve.mean(cut, len(curve))
    if after * EFFECT >= before:
        return False
    error_before, error_after = (mean_error(side)[0] for side in sides)
    return before - after > CERTAIN * hypot(error_before, error_after)


def _steps_down(curve: Curve, parts: _Parts, at: int) -> bool:
    first, cut, last = (int(edge) for edge in parts.edges[at : at + 3])
    return is_step(curve, first, cut, last)


def _on_the_way(curve: Curve, parts: _Parts, at: int, after: int) -> bool:
    """Whether a short segment lies clearly between the first plateau and what the fill comes to."""
    rest = float(parts.size[at + 1 :].sum())
    if parts.size[after] >= TRANSITION * rest:
        return False
    start = float(curve.bytes_at[parts.edges[after + 1]])
    foot = curve.mean_between(start, min(start + 0.05 * rest, curve.total_bytes))
    return bool(parts.level[after] > foot + 0.2 * max(parts.level[at] - foot, 0.0))


def _edge(
    curve: Curve, parts: _Parts, at: int, dips: tuple[tuple[int, int], ...], rise: int | None
) -> FirstPlateau:
    """The drop with its neighbours; short steps on the way down count as part of the drop, but for
    a small one before a large one."""
    after = at + 1
    while after + 1 < parts.count and _on_the_way(curve, parts, at, after):
        after += 1
    level, top = parts.level, at + 1
    if after > top and level[top] * SMALL > level[at] and level[top] > LARGE * level[top + 1]:
        top += 1
    first, cut = int(parts.edges[at]), int(parts.edges[top])
    end, last = int(parts.edges[after]), int(parts.edges[after + 1])
    return FirstPlateau(
        verdict="edge",
        first=first,
        cut=cut,
        end=end,
        last=last,
        dips=dips,
        rise=rise,
        rearming=_rearming(curve, parts, at, _bound(parts, at)),
    )
