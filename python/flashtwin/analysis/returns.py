"""Stretches at which a fill is slower for a while and then as fast as before: heat, a limiter.

What: a plateau that ends does not come back, and what comes back was no end of a plateau. The
series is cut into segments; a run of segments below one level, after which that level is there
again, is a return. Returns of one level follow each other in a chain. A chain is believed when it
is deeper than the scatter, its highs lie level, and enough was written at them after the first
fall: a cache that takes data again now and then writes most of its bytes slowly, a hot drive most
of them fast. `lifted` gives the samples of each
return the time that they would have taken at the level, their own noise kept, so that plateaus and
their ends can be read as if it had stayed cool.

Invariants: all bytes stay, in their order and number; only time changes, and only within returns.

Source of the numbers: choices. Drives throttle by a half or less (`DEEPEST`), for less than a
seventh of a fill at a time; what slows them more for little of the time is a journal's burst or a
limiter (`DEEPEST_BRIEF`, `BRIEF`). A host may be limited for the first half an hour.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flashtwin.analysis import heat
from flashtwin.analysis.changepoints import MAD_TO_SIGMA, boundaries, logs, merged, slowness
from flashtwin.analysis.curve import Curve, Floats, Ints, pool_size, pooled
from flashtwin.analysis.quantiles import distinct, median, medians_around, quantile
from flashtwin.analysis.two_speeds import GO_ON, PAST, TwoSpeeds, cooled, two_speeds

FEWEST = 40
SAME = 1.12
BELOW = 0.93
DEEPEST = 0.3
DEEPEST_BRIEF, BRIEF = 0.1, 0.25
LONGEST_SHARE = 0.15
AGAIN = 0.6
AGAIN_ALONE = 1.0
SMOOTH = 9
CLEAR, KNOWN = 3.0, 4.0
# Samples of a segment whose scatter is more than that of its edges.
EDGELESS = 6
# A stretch of at most such a share of a fill beside a level may be a ramp.
RAMP_SHARE = 0.01
# Lows of few samples: their usual samples and share of a fill, the share of the bytes between them,
# how near these are to a level before, and how many segments back that is.
COARSE_SAMPLES, COARSE_SHARE = 9, 0.004
COARSE_HIGH, COARSE_SAME, COARSE_BACK = 0.4, 0.08, 3
LEVEL, PEAKED = 0.3, 0.15
BURSTS_MOST = 1.5
# Samples at the beginning that are looked at one by one.
HEAD = 600
# A slow start: seconds and a share of the fill at most, how slow, and what the level holds of it.
START_S, START_MOST, SLOWEST_START, START_SHARE = 1800.0, 0.25, 0.2, 0.3
ESTABLISHED = 2


@dataclass(frozen=True, kw_only=True)
class Return:
    """A slower stretch in bytes since the fill began, its speed and the level around it."""

    start: float
    end: float
    rate: float
    level: float


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """Segments: their edges in bytes, bytes, seconds and level of each; how far samples are from
    them, how many neighbours are alike, how far each segment goes down and its middle lies above
    its ends, and the bytes of a usual sample that has any."""

    edges: Floats
    size: Floats
    seconds: Floats
    level: Floats
    scatter: float
    alike: float
    falls: Floats
    peaks: Floats
    sample_bytes: float


def lifted(curve: Curve) -> tuple[Curve, tuple[Return, ...]]:
    """The curve without returns, and what they were."""
    if len(curve) < FEWEST:
        return curve, ()
    turns = two_speeds(curve)
    if turns is not None and turns.is_past and turns.kind in (PAST, GO_ON):
        # From the first plateau on a cache that takes data again would do so too, and late in a
        # fill it does so a few times.
        others, lows = _lifted(cooled(curve, turns))
        return others, (*_slow(curve, turns), *lows)
    return _lifted(curve)


def _slow(curve: Curve, turns: TwoSpeeds) -> list[Return]:
    """The slow stretches of a fill at two speeds in turns."""
    ends_s = np.array(turns.slow_s)
    starts, ends = np.interp(ends_s, curve.time_at, curve.bytes_at).T
    rates = (ends - starts) / (ends_s[:, 1] - ends_s[:, 0])
    return [
        Return(start=start, end=end, rate=rate, level=rate / turns.depth)
        for start, end, rate in np.column_stack((starts, ends, rates)).tolist()
    ]


def _lifted(curve: Curve) -> tuple[Curve, tuple[Return, ...]]:
    """The curve without returns of which most is fast, and what they were."""
    parts = _parts(curve)
    chains = _chains(parts)
    returns = [_return(parts, a, b) for chain in chains for a, b in chain]
    carried = _carried_on(parts, chains, returns)
    # A dip within heat is part of it.
    returns = [low for low in returns if not any(_is_within(low, hot) for hot in carried)]
    head = Curve(dt=curve.dt[:HEAD], size=curve.size[:HEAD])
    returns += _slow_start(_parts(head), curve.total_bytes) or _slow_start(parts, curve.total_bytes)
    if not returns:
        return curve, ()
    dt = curve.dt.copy()
    smooth = _smooth(curve.rate)
    for low in returns:
        _lift(curve, smooth, dt, low)
    for low in carried:
        # Beside these another plateau may begin, which is no ramp of the low.
        _lift(curve, smooth, dt, low, ramps=False)
    return Curve(dt=dt, size=curve.size), (*returns, *carried)


def _parts(curve: Curve) -> _Parts:
    bins = pooled(curve, pool_size(curve))
    cuts: Ints = merged(bins, boundaries(bins.rate))
    at = np.concatenate(([0], cuts, [len(bins)])).astype(np.int64)
    at = distinct(np.concatenate((at, *_within(bins, at)))).astype(np.int64)
    size, time = np.diff(bins.bytes_at[at]), np.diff(bins.time_at[at])
    values = logs(bins.rate)
    # A segment that is one long stall has no bytes; its level then is the least that `logs` tells.
    level = np.maximum(np.log(np.maximum(size, 1e-9) / time), values.min())
    lengths = np.diff(at)
    away = np.abs(values - np.repeat(level, lengths))
    # Samples at the edges of a short segment hold some of what is beside it.
    inner = np.repeat(lengths >= EDGELESS, lengths)
    scatter = MAD_TO_SIGMA * median(away[inner] if inner.any() else away)
    return _Parts(
        edges=bins.bytes_at[at],
        size=size,
        seconds=time,
        level=size / time,
        scatter=scatter,
        alike=slowness(values),
        falls=np.array([_fall(values[a:b]) for a, b in pairwise(at.tolist())]),
        peaks=np.array([_peak(values[a:b]) for a, b in pairwise(at.tolist())]),
        sample_bytes=median(bins.size[bins.size > 0]),
    )


def _within(bins: Curve, edges: Ints) -> list[Ints]:
    """Edges of lows within a segment that goes up and down in a few samples, which no change point
    resolves: where the level of the segment before it is there again and again, for long."""
    level = np.diff(bins.bytes_at[edges]) / np.diff(bins.time_at[edges])
    # The segments just before may be a low and one that holds lows too.
    return [
        first + _coarse(bins, first, last, level[max(at - COARSE_BACK, 0) : at + 1])
        for at, (first, last) in enumerate(pairwise(edges[1:].tolist()))
    ]


def _coarse(bins: Curve, first: int, last: int, levels: Floats) -> Ints:
    """Edges of the lows of a segment below one of some levels, counted from its first sample."""
    rate, size = bins.rate[first:last], bins.size[first:last]
    none = np.zeros(0, dtype=np.int64)
    lowest, top = quantile(rate, 0.1), quantile(rate, 0.75)
    near = levels[(levels > 0) & (np.abs(levels - top) <= COARSE_SAME * levels)]
    if near.size == 0:
        return none
    share, lowest = rate / near[-1], lowest / float(near[-1])
    bound = (1 + lowest) / 2
    high = share >= bound
    if bound > BELOW or lowest < DEEPEST or size[high].sum() < COARSE_HIGH * size.sum():
        return none
    # A sample beside a low that holds some of it belongs to it.
    beside = np.convolve(~high, np.ones(3))[1:-1] > 0
    low = ~high | (beside & (share < BELOW))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], low, [False]))))
    if edges.size == 0:
        return none
    shares = np.add.reduceat(np.append(size, 0.0), edges)[::2] / bins.total_bytes
    is_fine = median(np.diff(edges)[::2].astype(np.float64)) > COARSE_SAMPLES
    # A drive that works in turns past its cache has shorter ones.
    is_heat = median(shares) >= COARSE_SHARE and float(shares.max()) <= LONGEST_SHARE
    return edges if is_heat and not is_fine else none


def _fall(values: Floats) -> float:
    """How far a segment goes down from its first third to its last, without its edges."""
    inner = values[1:-1] if values.size > 4 else values
    third = max(inner.size // 3, 1)
    return float(median(inner[:third]) - median(inner[-third:]))


def _peak(values: Floats) -> float:
    """How far the middle third of a segment lies above its outer ones, without its edges."""
    inner = values[1:-1]
    third = inner.size // 3
    if third < 2:
        return 0.0
    ends = median(inner[:third]) + median(inner[-third:])
    return float(median(inner[third:-third]) - ends / 2)


def _chains(parts: _Parts) -> list[list[tuple[int, int]]]:
    """Returns by chain: the segments before and after each; those of one level together."""
    chains: list[list[tuple[int, int]]] = []
    at = 0
    while at + 2 < parts.level.size:
        back = _back(parts, at)
        if back is None:
            at += 1
            continue
        chain = chains[-1] if chains and chains[-1][-1][1] == at else []
        if not chain:
            chains.append(chain)
        chain.append((at, back))
        at = back
    believed: list[list[tuple[int, int]]] = []
    for chain in chains:
        # Where the plateau before was hot already, a low at its end is heat too.
        hot = bool(believed) and 2 <= chain[0][0] - believed[-1][-1][1] <= 3
        if _believed(parts, chain) and (hot or not _rises_again(parts, chain)):
            believed.append(chain)
    return believed


def _back(parts: _Parts, at: int) -> int | None:
    """The segment at which the level of this one is there again, after a short time below it."""
    level = float(parts.level[at])
    first = at + 1
    if _is_short(parts, first) and level / SAME <= parts.level[first] <= level:
        first += 1
    if parts.level[first] * SAME >= level:
        return None
    low = 0.0
    for index in range(first, parts.level.size):
        rate = float(parts.level[index])
        if level / SAME <= rate <= level * SAME:
            climbs = _is_short(parts, index) and rate <= parts.level[index + 1] <= level * SAME
            return index + int(climbs)
        low += float(parts.size[index])
        if rate > level or low > LONGEST_SHARE * float(parts.edges[-1]):
            return None
    return None


def _is_short(parts: _Parts, at: int) -> bool:
    """Whether a segment that another one follows may be a ramp."""
    return at + 1 < parts.level.size and parts.size[at] <= RAMP_SHARE * parts.edges[-1]


def _believed(parts: _Parts, chain: list[tuple[int, int]]) -> bool:
    low = sum(float(parts.size[a + 1 : b].sum()) for a, b in chain)
    high = sum(float(parts.size[b]) for _, b in chain)
    deepest = [float(parts.level[a + 1 : b].min() / parts.level[a]) for a, b in chain]
    # A dip or a stall within one of several lows makes that one deeper.
    deep = quantile(np.array(deepest), 0.25)
    enough = high >= (AGAIN if len(chain) > 1 else AGAIN_ALONE) * low
    # A journal or a limiter may leave less than heat does, and takes less of the time.
    least = DEEPEST if _seconds(parts, chain) > BRIEF else DEEPEST_BRIEF
    if deep < least or not enough:
        return False
    depth = -float(np.log(_depth(parts, chain)))
    # The highs of a saw-tooth fall all the way, or rise and fall; those of heat lie level.
    falls = abs(median(np.array([parts.falls[b] for _, b in chain])))
    peaks = median(np.array([parts.peaks[b] for _, b in chain]))
    level = falls <= LEVEL * depth and peaks <= PEAKED * depth
    # The level of a long low is known better than a sample's, unless these are alike.
    samples = float(parts.size[chain[0][0] + 1 : chain[0][1]].sum()) / parts.sample_bytes
    known = float(np.clip(samples / (EDGELESS * parts.alike), 1.0, KNOWN)) ** 0.5
    return depth >= CLEAR * parts.scatter / known and level


def _seconds(parts: _Parts, chain: list[tuple[int, int]]) -> float:
    """Seconds in the lows of a chain over those in its highs."""
    low = sum(float(parts.seconds[a + 1 : b].sum()) for a, b in chain)
    return low / sum(float(parts.seconds[b]) for _, b in chain)


def _rises_again(parts: _Parts, chain: list[tuple[int, int]]) -> bool:
    """Whether the chain's low is where the plateau before it ended: then its highs are bursts.

    Such a drive folds and takes data again in turn, and works so for good; its bursts do not hold
    most of the data. What was hot already when the plateau before it ended goes on so.
    """
    first = chain[0][0]
    if first < 2:
        return False
    low, depth = float(parts.level[first - 1]), _depth(parts, chain)
    alike = _same(low, depth * float(parts.level[first]))
    in_lows = sum(float(parts.size[a + 1 : b].sum()) for a, b in chain)
    in_highs = sum(float(parts.size[b]) for _, b in chain)
    rises = alike and parts.level[first - 2] > SAME * parts.level[first]
    return bool(rises and in_highs < BURSTS_MOST * in_lows)


def _depth(parts: _Parts, chain: list[tuple[int, int]]) -> float:
    """The usual speed of the chain's lows as a share of its level."""
    shares = [_return(parts, a, b).rate / float(parts.level[a]) for a, b in chain]
    return median(np.array(shares))


def _same(first: float, second: float) -> bool:
    return second / SAME <= first <= second * SAME


def _carried_on(
    parts: _Parts, chains: list[list[tuple[int, int]]], returns: list[Return]
) -> list[Return]:
    """Lows like the known ones where heat goes on past the end of a plateau, or of the fill."""
    pairs = [pair for chain in chains for pair in chain]
    if len(pairs) < ESTABLISHED:
        return []
    slowest = [max(float(parts.level[a + 1 : b].min()), 1e-9) for a, b in pairs]
    deepest = [np.log(low / parts.level[a]) for low, (a, _) in zip(slowest, pairs, strict=True)]
    longest = max(float(parts.size[a + 1 : b].sum()) for a, b in pairs) + parts.sample_bytes
    longest_s = max(float(parts.seconds[a + 1 : b].sum()) for a, b in pairs)
    known = heat.Known(depth=median(np.array(deepest)), longest=longest, longest_s=longest_s)
    # What is known counts as one cool stretch at the level of its highs.
    starts, level = _collapsed(parts, chains)
    size = np.diff(np.append(parts.edges[starts], parts.edges[-1]))
    lows = []
    for hot in heat.hot_segments(level, size, known):
        first, last = starts[hot.first], [*starts, parts.level.size][hot.last]
        inside = slice(first, last)
        seconds = float(parts.seconds[inside].sum())
        start, end = float(parts.edges[first]), float(parts.edges[last])
        rate = float(parts.size[inside].sum()) / seconds
        carried = Return(start=start, end=end, rate=rate, level=float(np.exp(hot.level)))
        others = [low for low in returns if not _is_within(low, carried)]
        overlaps = any(low.start < end and start < low.end for low in others)
        # What precedes all else is a host's slow start, and no heat.
        if first > 0 and not np.isnan(hot.level) and not overlaps:
            lows.append(carried)
    return lows


def _is_within(low: Return, longer: Return) -> bool:
    return longer.start <= low.start and low.end <= longer.end


def _collapsed(parts: _Parts, chains: list[list[tuple[int, int]]]) -> tuple[list[int], Floats]:
    """First segment and level of each stretch: a chain is one, every other segment its own."""
    ends = {chain[0][0]: chain[-1][1] for chain in chains}
    starts: list[int] = []
    levels: list[float] = []
    at = 0
    while at < parts.level.size:
        starts.append(at)
        last = ends.get(at, at)
        # The last high is nearest to what follows.
        levels.append(float(parts.level[last]))
        at = last + 1
    return starts, np.array(levels)


def _slow_start(parts: _Parts, total_bytes: float) -> list[Return]:
    """What precedes the first plateau's own level: a host that comes up to speed, or a limiter.

    The level is that of the last segment, in the first minutes and the first quarter of the fill,
    that is faster than all before it and holds a fair share of what was written until it began.
    """
    best = 0
    for at in range(1, parts.level.size):
        rate, end = float(parts.level[at]), float(parts.edges[at])
        before = parts.level[:at]
        seconds = float(parts.seconds[:at].sum())
        if seconds > START_S or end > START_MOST * total_bytes:
            break
        slower = bool((before < BELOW * rate).all() and (before > SLOWEST_START * rate).all())
        if slower and parts.size[at] >= START_SHARE * end:
            best = at
    if best == 0:
        return []
    end, level = float(parts.edges[best]), float(parts.level[best])
    rate = end / float(parts.seconds[:best].sum())
    return [Return(start=0.0, end=end, rate=rate, level=level)]


def _return(parts: _Parts, before: int, after: int) -> Return:
    inside = slice(before + 1, after)
    return Return(
        start=float(parts.edges[before + 1]),
        end=float(parts.edges[after]),
        rate=float(parts.size[inside].sum() / parts.seconds[inside].sum()),
        level=float(np.sqrt(parts.level[before] * parts.level[after])),
    )


def _lift(curve: Curve, smooth: Floats, dt: Floats, low: Return, *, ramps: bool = True) -> None:
    """Shorten the time of the samples of one return, and of its ramps, by what they lack."""
    first, last = np.searchsorted(curve.bytes_at, (low.start, low.end))
    first, last = max(int(first) - 1, 0), min(int(last), len(curve))
    reach = max((last - first) // 4, 2) if ramps else 0
    core = first, last
    if low.start == 0.0:
        # What follows may be shorter than the median, which then tells what is past it.
        reach, smooth = 0, _smooth(curve.rate[:last])
    # A sample of a high is none of a ramp, though most of those around it are low.
    ramp = np.maximum(smooth, curve.rate[: smooth.size])
    while first > max(core[0] - reach, 0) and ramp[first - 1] < BELOW * low.level:
        first -= 1
    while last < min(core[1] + reach, len(curve)) and ramp[last] < BELOW * low.level:
        last += 1
    pace = ramp[first:last].copy()
    if core[1] - core[0] <= SMOOTH:
        # Of a low of few samples the median tells the level beside it.
        pace = curve.rate[first:last]
    else:
        # Of a drive that works in bursts the median tells too little: its pace is their mean.
        inside = slice(core[0] - first, core[1] - first)
        pace[inside] = np.maximum(smooth[core[0] : core[1]], _mean_around(curve, *core))
    share = np.clip(pace / low.level, 0.0, 1.0)
    dt[first:last] *= np.maximum(share, 1e-3)


def _mean_around(curve: Curve, first: int, last: int) -> Floats:
    """Bytes over time around each sample of a stretch, of the stretch alone, without its ends."""
    at = np.arange(first, last)
    begin = np.clip(at - SMOOTH // 2, first + 1, last - 2)
    end = np.clip(at + SMOOTH // 2 + 1, begin + 1, last - 1)
    seconds = curve.time_at[end] - curve.time_at[begin]
    result: Floats = (curve.bytes_at[end] - curve.bytes_at[begin]) / seconds
    return result


def _smooth(rate: Floats) -> Floats:
    return medians_around(rate, SMOOTH)
