"""A curve without its interruptions: stalls, and dips of a few samples that recur.

What: a host that waits (a stall of seconds, a journal's burst) adds time and no bytes, so a place
in bytes stays true when that time is taken out again. `calm` gives an interrupted sample the time
that its bytes take at the level around it: the levels and places of a fill can then be read as if
nobody had interfered. Whoever counts (mean, duration) takes the curve as it is.

What is an interruption: samples below `STALL` of the slower of both sides' usual rates, followed by
bytes again, at most `SINGLE` stretches of at most `LONGEST_S` each: more are the drive's
own. And samples below both their neighbourhoods (`DIP` of the level, five times the scatter), a few
together that move little data, at most `MOST` of all. A drive whose rate always comes in bursts
stays as it is.

Invariants: all bytes stay, in their order; samples that are interrupted join a neighbour, those up
to the middle of a stall the one before them; a curve without interruptions comes back itself.

Source of the numbers: choices; 15 s is three times the stall of 5 s that hosts and firmwares show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashtwin.analysis import bursts
from flashtwin.analysis.changepoints import EFFECT, MAD_TO_SIGMA, STALLED
from flashtwin.analysis.curve import Curve, Floats, Ints
from flashtwin.analysis.quantiles import median, quantile
from flashtwin.analysis.returns import Return

STALL = 0.35
DIP = 0.93
MOST = 0.3
SINGLE = 4
LONGEST_S, DEAD_S = 15.0, 30.0
AROUND, WIDEST = 9, 64
# Windows that are looked at together: what they take of memory, and nothing else.
WINDOWS = 1 << 12
FEWEST = 12
SIGMAS = 5.0
DIP_SAMPLES, DIP_DATA, DEEPEST_DIP, RECUR = 3, 2.6, 0.27, 3
# Samples between places at which the scatter is taken, and around a sample in which faster ones
# may make up for slower ones.
BLOCK, REGION = 50, 100
# How many dips are expected before the first, the second and the third that is seen, so that dips
# which fall anyhow would be as late as that once in 400 fills.
LATE = (6.0, 8.5, 10.5)
# A sample is faster from so many scatters on, counts with at most such a share of the level, and
# this share of what is lacking counts as made up for.
SURPLUS_SIGMAS, SURPLUS_MOST, MADE_UP = 3.0, 0.5, 0.5
# Beside an end a dip or a burst is one of those that recur if it is as deep: down to this share of
# their usual level, since the samples of a single one scatter more than the median that it is held
# against, and up to this one over it. A burst that the end cuts short is at least so long beside
# the others; of a shorter one nobody can tell whether it is a burst or the plateau after it.
AS_DEEP, AS_SHALLOW, CUT_SHORT = 0.8, 1.25, 0.4

Marks = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True, kw_only=True)
class Calm:
    """The curve without interruptions; of each stall where it was, in bytes, and its seconds;
    bursts that recur."""

    curve: Curve
    stalls: tuple[tuple[float, float], ...]
    dips: int
    bursts: tuple[Return, ...] = ()


def calm(curve: Curve) -> Calm:
    """Take stalls and lone dips out of a curve."""
    if len(curve) < FEWEST:
        return Calm(curve=curve, stalls=(), dips=0)
    curve = _dead_as_one(curve)
    before, after = _around_stalls(curve)
    stalled = _stretches(curve.rate < STALL * np.minimum(before, after), curve)
    # Stalls that recur are the drive's own way to work, and count in its speed.
    if len(stalled) > SINGLE:
        dead = _is_dead(curve)
        stalled = [pair for pair in stalled if dead[pair[0] : pair[1]].any()]
    stalls = stalled if len(stalled) <= SINGLE else []
    without, recurring = _without_bursts(_joined(curve, before, after, stalls) if stalls else curve)
    dips = _dips(without, _longest_dip(without))
    if dips.size or recurring:
        usual_dip = _usual_dip(without, dips, recurring)
        longest = _longest_dip(without) if usual_dip is None else usual_dip.longest
        before, after = _levels(without.rate, max(AROUND, 3 * longest))
        late = _before_an_end(without, usual_dip, before, after)
        dips = dips[~_lone_at_an_end(dips, before, after)]
        dips = np.union1d(dips, late).astype(np.int64)
        usual = np.minimum(before, after)
        usual[late] = before[late]
        level = np.maximum(without.rate[dips], usual[dips])
        dt = without.dt.copy()
        dt[dips] = np.minimum(dt[dips], without.size[dips] / level)
        without = Curve(dt=dt, size=without.size)
    places = tuple(
        (float(curve.bytes_at[first]), float(curve.time_at[last] - curve.time_at[first]))
        for first, last in stalls
    )
    return Calm(curve=without, stalls=places, dips=int(dips.size), bursts=recurring)


def without_silence(curve: Curve) -> Curve:
    """The curve without its few stalls in which as good as nothing was written for a sample or
    longer. Slower samples stay: a drive makes such itself."""
    if len(curve) < FEWEST:
        return curve
    curve = _dead_as_one(curve)
    before, after = _around_stalls(curve)
    stalled = _stretches(curve.rate < STALL * np.minimum(before, after), curve)
    silent = [
        (first, last)
        for first, last in stalled
        if (curve.rate < STALLED * np.minimum(before, after))[first:last].any()
    ]
    return _joined(curve, before, after, silent) if 0 < len(silent) <= SINGLE else curve


def _around_stalls(curve: Curve) -> tuple[Floats, Floats]:
    """The usual rates before and after each sample, over longer than any stall, so that both sides
    of a sample in its middle are seen."""
    return _levels(
        curve.rate, int(np.clip(np.ceil(LONGEST_S / median(curve.dt)) + 4, AROUND, WIDEST))
    )


def _is_dead(curve: Curve) -> Marks:
    """Samples that are as good as without bytes."""
    moving = curve.rate[curve.rate > 0]
    if moving.size == 0:
        return np.zeros(len(curve), dtype=np.bool_)
    return curve.rate < STALLED * median(moving)


def _dead_as_one(curve: Curve) -> Curve:
    """Each stretch that is as good as without bytes as one sample: 20 s of silence are one stall,
    whether a host took two samples in it or a thousand."""
    dead = _is_dead(curve)
    marks = np.concatenate(([False], dead, [False]))
    edges = np.flatnonzero(marks[1:] != marks[:-1])
    ends = curve.time_at[edges]
    if not 2 <= edges.size <= 2 * SINGLE or (ends[1::2] - ends[::2]).max() > DEAD_S:
        return curve
    group = np.cumsum(~(dead & np.concatenate(([False], dead[:-1])))) - 1
    seconds, size = (
        np.bincount(group, weights=column).astype(np.float64) for column in (curve.dt, curve.size)
    )
    return Curve(dt=seconds, size=size)


def _levels(rate: Floats, around: int = AROUND) -> tuple[Floats, Floats]:
    """The usual rate before and after each sample: upper medians, since stalls only lower."""
    edge = np.full(around, np.nan)
    padded = np.concatenate((edge, rate, edge))
    windows = np.lib.stride_tricks.sliding_window_view(padded, around)
    # A block at a time: every sample stands in as many windows as one is long.
    usual = np.concatenate(
        [_usual(windows[at : at + WINDOWS]) for at in range(0, windows.shape[0], WINDOWS)]
    )
    before, after = usual[: rate.size], usual[around + 1 :]
    return np.where(np.isnan(before), after, before), np.where(np.isnan(after), before, after)


def _usual(windows: Floats) -> Floats:
    """The upper median of each window, none where nothing of it is known."""
    usual = np.full(windows.shape[0], np.nan)
    has_any = np.asarray(~np.isnan(windows).all(axis=1))
    # Half of a window may be one stall; what moves in it says the level.
    moving = np.where(
        windows > STALL * np.nanmax(np.where(has_any[:, None], windows, 0.0), axis=1)[:, None],
        windows,
        np.nan,
    )
    has_any &= ~np.isnan(moving).all(axis=1)
    usual[has_any] = _medians(moving[has_any])
    return usual


def _medians(rows: Floats) -> Floats:
    """The median of each row's numbers, of which each has one. As `np.nanmedian`, which takes four
    times as long for short rows and imports numpy's masked arrays."""
    ordered = np.sort(rows, axis=1)  # NaN is last
    count = (~np.isnan(ordered)).sum(axis=1)
    row = np.arange(count.size)
    medians: Floats = (ordered[row, (count - 1) // 2] + ordered[row, count // 2]) / 2.0
    return medians


def ranges_of(marks: Marks) -> list[tuple[int, int]]:
    """Ranges [first, last) of neighbours that are marked."""
    with_ends = np.concatenate(([False], marks, [False]))
    edges = np.flatnonzero(with_ends[1:] != with_ends[:-1])
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _stretches(low: Marks, curve: Curve) -> list[tuple[int, int]]:
    """Ranges of low samples that are short enough and end before the series does."""
    return [
        (first, last)
        for first, last in ranges_of(low)
        if last < len(curve)
        and (last - first <= 1 or float(curve.time_at[last] - curve.time_at[first]) <= LONGEST_S)
    ]


def _joined(curve: Curve, before: Floats, after: Floats, stalls: list[tuple[int, int]]) -> Curve:
    """Stalled samples, and those that hold a part of a stall, join a neighbour on their side of it.

    What was written until the stall has the level before it, the rest the level after it: a drive
    that pauses where its cache ends does so between the two.
    """
    dt, to_next, to_last = curve.dt.copy(), *np.zeros((2, len(curve)), dtype=np.bool_)
    for first, last in stalls:
        middle = first + int(curve.rate[first:last].argmin())
        for index in range(max(first - 1, 0), min(last + 1, len(curve))):
            if curve.rate[index] >= DIP * min(before[index], after[index]):
                continue
            level = before[first] if index <= middle else after[last - 1]
            dt[index] = min(dt[index], curve.size[index] / level)
            (to_last if index <= middle else to_next)[index] = True
    # What precedes the first sample that stays joins it, and what follows the last one.
    stays = ~(to_next | to_last)
    if not stays.any():
        return curve
    group = np.cumsum(stays) - 1 + to_next
    group = np.clip(group, 0, int(stays.sum()) - 1)
    seconds, size = (
        np.bincount(group, weights=column).astype(np.float64) for column in (dt, curve.size)
    )
    return Curve(dt=seconds, size=size)


def _without_bursts(curve: Curve) -> tuple[Curve, tuple[Return, ...]]:
    """The curve without bursts that recur in time, which may be longer than any dip."""
    for pool_s in bursts.POOLS_S:
        pools, each = bursts.pools_of(curve, pool_s)
        if len(pools) < bursts.FEWEST_POOLS:
            break
        seconds = median(pools.dt)
        longest = int(np.clip(np.ceil(bursts.LONGEST_S / seconds), DIP_SAMPLES, WIDEST // 3))
        dips = _dips(pools, longest, deepest=bursts.DEEPEST, most=bursts.MOST)
        before, after = _levels(pools.rate, max(AROUND, 3 * longest))
        level = np.minimum(before, after)
        spans = bursts.recurring(pools, dips, level)
        if spans:
            # At the very end there is no level after a burst.
            level[-longest:] = before[-longest:]
            levels = np.array([median(level[first:last]) for first, last in spans])
            return bursts.lifted(curve, spans, levels, each)
    return curve, ()


def _dips(curve: Curve, longest: int, *, deepest: float = DEEPEST_DIP, most: float = MOST) -> Ints:
    """Samples, at most `longest` together, far below the levels on both of their sides."""
    before, after = _levels(curve.rate, max(AROUND, 3 * longest))
    level = np.minimum(before, after)
    away = np.log(np.maximum(curve.rate, 1e-9) / np.maximum(level, 1e-9))
    scatter = _scatter_around(away)
    low = (curve.size > 0) & (curve.rate > deepest * level)
    low &= away < np.minimum(-SIGMAS * scatter, float(np.log(DIP)))
    low &= ~_made_up_for(curve, low, (level, np.maximum(before, after)), scatter)
    index = np.flatnonzero(low)
    if index.size == 0 or index.size > most * len(curve):
        return np.zeros(0, dtype=np.int64)
    groups = np.split(index, np.flatnonzero(np.diff(index) > 1) + 1)
    lone = [group for group in groups if _is_short(curve, level, group, longest)]
    # Below `STALL`, or with more samples, they have to recur: one alone may be an end.
    if len(lone) < RECUR:
        lone = [g for g in lone if g.size <= DIP_SAMPLES and (curve.rate > STALL * level)[g].all()]
    if not lone or _begins_late(np.array([group[0] for group in lone]), len(curve)):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate(lone).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class _Usual:
    """What is known of dips that recur: their share of the level, and their most samples. `fewest`
    is the least that a burst has; 0 where dips are too short to tell."""

    depth: float
    longest: int
    fewest: int = 0


def _usual_dip(curve: Curve, dips: Ints, known: tuple[Return, ...]) -> _Usual | None:
    """What the dips or the bursts of a curve have in common; none if they do not recur."""
    if known:
        shares = [low.rate / low.level for low in known]
        sample_s = median(curve.dt)
        samples = np.array([(low.end - low.start) / low.rate / sample_s for low in known])
        return _Usual(
            depth=median(np.array(shares)),
            longest=int(np.ceil(samples.max())) + 1,
            fewest=max(int(CUT_SHORT * median(samples)), 1),
        )
    if dips.size < RECUR:
        return None
    longest = _longest_dip(curve)
    before, after = _levels(curve.rate, max(AROUND, 3 * longest))
    depth = quantile((curve.rate / np.minimum(before, after))[dips], 0.1)
    return _Usual(depth=depth, longest=longest)


def _before_an_end(curve: Curve, usual: _Usual | None, before: Floats, after: Floats) -> Ints:
    """Where dips recur: those beside a drop of the level, after which the level before it is there
    once more. They are no lower than others, and the drop comes after them. A burst as deep and as
    long as the others may end with the plateau itself."""
    if usual is None:
        return np.zeros(0, dtype=np.int64)
    share = np.maximum(curve.rate, 1e-9) / np.maximum(before, 1e-9)
    away = np.log(np.maximum(curve.rate, 1e-9) / np.maximum(np.minimum(before, after), 1e-9))
    low = np.log(share) < np.minimum(-SIGMAS * _scatter_around(away), float(np.log(DIP)))
    drops = before > EFFECT * np.maximum(after, 1e-9)
    lows = []
    for at in np.flatnonzero(~low[:-1] & low[1:] & drops[1:]):
        first = last = int(at) + 1
        # The level is that before the dip: later ones are a mix of both.
        level = float(before[first])
        lowest = AS_DEEP * usual.depth * level
        while last < share.size and last - first <= usual.longest:
            if not (low[last] and curve.rate[last] >= lowest):
                break
            last += 1
        if first == last or last >= share.size:
            continue
        back = curve.rate[last] >= DIP * level
        # What is slower than any burst is past the end; the burst itself is faster than that.
        ends = 0 < usual.fewest <= last - first and curve.rate[last] < lowest
        ends = ends and median(curve.rate[first:last]) <= AS_SHALLOW * usual.depth * level
        if back or (ends and lowest > EFFECT * after[last]):
            before[first:last] = level
            lows.append(np.arange(first, last))
    return np.concatenate(lows).astype(np.int64) if lows else np.zeros(0, dtype=np.int64)


def _lone_at_an_end(dips: Ints, before: Floats, after: Floats) -> Marks:
    """Dips of one sample between two levels: which bytes belong to which nobody can tell, and
    whoever looks for the end has to see that."""
    alone = np.diff(dips, prepend=-2) > 1
    alone &= np.diff(dips, append=before.size + 1) > 1
    apart = np.abs(np.log(before / np.maximum(after, 1e-9)))[dips] > np.log(EFFECT)
    result: Marks = alone & apart
    return result


def _begins_late(places: Ints, count: int) -> bool:
    """Whether dips recur from some sample on and hardly ever before: then they are the drive's.

    A host interrupts from the beginning on; what begins when a cache is full is how the drive
    works. So many expected and so few seen has a chance of 1 in 400 where dips fall anyhow.
    """
    for seen, expected in enumerate(LATE):
        if seen >= places.size - RECUR:
            return False
        before = int(places[seen])
        rate = (places.size - seen) / (count - before)
        if before * rate >= expected:
            return True
    return False


def _scatter_around(away: Floats) -> Floats:
    """Scatter near each sample: the plateaus of one fill may scatter very differently."""
    middle = median(away)
    count = away.size // BLOCK
    if count < 4:
        return np.full(away.size, MAD_TO_SIGMA * median(np.abs(away - middle)))
    middles = (np.arange(count) + 0.5) * BLOCK
    windows = [away[max(0, int(m) - BLOCK) : int(m) + BLOCK] for m in middles]
    spread = [median(np.abs(window - median(window))) for window in windows]
    at_each = np.interp(np.arange(away.size), middles, MAD_TO_SIGMA * np.array(spread))
    return np.asarray(at_each, dtype=np.float64)


def _made_up_for(curve: Curve, low: Marks, levels: tuple[Floats, Floats], scatter: Floats) -> Marks:
    """Whether samples above the level make up for those below it, near each sample.

    A host that waits loses time. A drive that works in turns is slower, then faster: its level is
    the mean of both, and none of its samples is an interruption.
    """
    lower, upper = levels
    lacks = np.where(low, (lower - curve.rate) * curve.dt, 0.0)
    above = np.clip(curve.rate / np.maximum(upper, 1e-9) - 1.0, 0.0, SURPLUS_MOST)
    surplus = np.where(above > SURPLUS_SIGMAS * scatter, above * upper * curve.dt, 0.0)
    made_up: Marks = _sum_around(surplus) > MADE_UP * _sum_around(lacks)
    return made_up


def _sum_around(values: Floats) -> Floats:
    """Sum of the values within `REGION` samples on either side of each."""
    total = np.concatenate(([0.0], np.cumsum(values)))
    at = np.arange(values.size)
    ends = np.minimum(at + REGION + 1, values.size), np.maximum(at - REGION, 0)
    result: Floats = total[ends[0]] - total[ends[1]]
    return result


def _longest_dip(curve: Curve) -> int:
    """Samples of the longest dip: a few, or what a finely sampling host takes in `bursts.DIP_S`."""
    samples = int(np.ceil(bursts.DIP_S / median(curve.dt)))
    return int(np.clip(samples, DIP_SAMPLES, WIDEST // 3))


def _is_short(curve: Curve, level: Floats, group: Ints, longest: int) -> bool:
    """Whether a dip is short, or moved no more than the usual data of `DIP_DATA` samples.

    A burst of the journal that slows the host to a third for one sample takes three.
    """
    usual = median(curve.dt) * median(level[group])
    few = group.size <= longest
    return few or (group.size <= 2 * DIP_SAMPLES and curve.size[group].sum() <= DIP_DATA * usual)
