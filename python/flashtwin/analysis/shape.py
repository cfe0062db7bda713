"""The whole shape of a fill: its first plateau, where that ends, and all plateaus after it.

What: `first_plateau` says whether the first plateau ends for good, `edges` where exactly. A fill
whose first plateau does not end is one plateau. The rest is cut into bins of equal bytes, wide
enough that a saw-tooth or a stall averages out, and the bins into segments by the same robust
change points as the whole. Then, on bytes: a segment between two of one level is an excursion and
belongs to no plateau if it is a dip less than half as long as these on average, or a burst (the
cache is armed a second time) less than half as long as the shorter, or shorter than `BURST_SHARE`;
bursts that recur count in the speed of their plateau; short stretches below and above a level that
they come to belong to it; five or more segments that go up and down in turn are one saw-tooth; a
boundary that is a slope and no step is dropped. What stays are plateaus, and each boundary between
them is placed anew on the original samples.

Invariants: `edge` is there if and only if the verdict is "edge"; the head covers the fill from 0 to
the edge, or all of it; plateaus lie one after another and cover the fill but for the intervals of
their edges; their speed is measured on whole samples of their own, excursions and heat left out.

Source of the numbers: choices of this project; with 200 bins a plateau of 1.5 % of the rest shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from flashtwin.analysis import interruptions, returns
from flashtwin.analysis.bursts import DIP_S
from flashtwin.analysis.changepoints import EFFECT, boundaries, calm, logs, merged
from flashtwin.analysis.curve import Curve, Ints, in_equal_bytes
from flashtwin.analysis.edges import Edge, locate
from flashtwin.analysis.estimate import Estimate, speed
from flashtwin.analysis.first_plateau import FirstPlateau, explained_by_line, first_plateau, is_step
from flashtwin.analysis.quantiles import median
from flashtwin.analysis.relaxation import Stairs, decays_s
from flashtwin.analysis.returns import Return
from flashtwin.analysis.steady_state import Pieces, settled

BINS = 200
SAME = 1.15
EXCURSION = 0.5
TEETH = 5
# So many bursts in one plateau are no exception there.
RECURRING = 4
# A burst shorter than this share of what follows the first plateau is none of its own.
BURST_SHARE = 0.04
# A low has ramps of so much of its length; a speed wants so many samples outside of all lows.
RAMP, FEWEST_COOL, COOL_SHARE = 0.25, 8, 0.2
FEWEST_PAST_LOW = 3

Marks = np.ndarray[tuple[int], np.dtype[np.bool_]]

# A first plateau that ends by less than this factor may be a part of a cache, where a larger drop
# follows: by this factor at least, and by more than the square of the small one.
SMALL_DROP, CLIFF = 1.5, 2.0


@dataclass(frozen=True, kw_only=True)
class Excursion:
    """A stretch in mid-plateau at another speed; bytes since the fill began, bytes a second."""

    start: float
    end: float
    rate: float
    faster: bool


@dataclass(frozen=True, kw_only=True)
class Plateau:
    """A stretch at one speed, in bytes since the fill began.

    `teeth` are its extremes if it swings, `drift` its first and last fifth if it drifts.
    """

    start: float
    end: float
    speed: Estimate
    excursions: tuple[Excursion, ...] = ()
    teeth: tuple[float, float] | None = None
    drift: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Stages:
    """Plateaus in order, and the edges between them (one fewer)."""

    plateaus: tuple[Plateau, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How the fill begins, its first plateau with its end, and what follows.

    `stalls` are those that were left out: bytes since the fill began, and seconds. `rise` is where
    the first plateau becomes faster, in bytes, if it does. `burst`: bytes, seconds and rate of a
    beginning that is faster and was read as a burst into memory. `without_burst` is the other
    reading of a first plateau that may be such a burst: the bytes at which the next one ends, all
    of them if it has no end. `quiet` is the series without stalls and lone dips.
    """

    first_plateau: FirstPlateau
    head: Plateau
    edge: Edge | None
    rest: Stages = Stages(plateaus=(), edges=())
    stalls: tuple[tuple[float, float], ...] = ()
    rise: float | None = None
    burst: tuple[float, float, float] | None = None
    without_burst: float | None = None
    returns: tuple[Return, ...] = ()
    quiet: Curve = field(repr=False, compare=False)

    @property
    def plateaus(self) -> tuple[Plateau, ...]:
        """All plateaus in order."""
        return (self.head, *self.rest.plateaus)

    @cached_property
    def decay_s(self) -> float | None:
        """About when the speed decays exponentially for good, in seconds, if it does."""
        ends = np.array([plateau.end for plateau in self.plateaus])
        speeds = np.array([plateau.speed.value for plateau in self.plateaus])
        return decays_s(self.quiet, Stairs(ends=ends, speeds=speeds))

    @property
    def cliff(self) -> Edge | None:
        """A far larger drop than that at the end of the first plateau, where that is small: a cache
        that becomes slower as it fills may end there."""
        rates = [plateau.speed.value for plateau in self.plateaus]
        drops = [before / max(after, 1.0) for before, after in pairwise(rates)]
        if len(drops) < 2 or drops[0] > SMALL_DROP:
            return None
        at = int(np.argmax(drops))
        if drops[at] < max(CLIFF, drops[0] ** 2) or min(drops[:at]) < 1.0:
            return None
        return self.rest.edges[at - 1]

    @property
    def slower(self) -> Plateau | None:
        """The first plateau that stays below the second one to the end of the fill."""
        rest = self.rest.plateaus
        for index, plateau in enumerate(rest[1:], start=1):
            if all(later.speed.value * EFFECT <= rest[0].speed.value for later in rest[index:]):
                return plateau
        return None


@dataclass(frozen=True, kw_only=True)
class _Stage:
    """Bins [first, last) of one plateau to be, the pieces of them at its level, what was found."""

    first: int
    last: int
    pieces: tuple[tuple[int, int], ...]
    out: tuple[tuple[int, int], ...] = ()
    teeth: tuple[float, float] | None = None
    sloped: bool = False


# The shapes of the last series that were read, by a digest of the series.
_REMEMBERED = 64
_read: dict[bytes, Shape] = {}


def shape_of(recorded: Curve, *, memory_bytes: float = math.inf) -> Shape:
    """The shape of a series that has bytes in it, read without stalls and lone dips.

    `memory_bytes`: the most that RAM may have taken, the host's or the drive's own. The last shapes
    are remembered: what a run tells while it goes on is asked again when it is closed, and by its
    report.
    """
    key = blake2b(
        recorded.dt.tobytes() + recorded.size.tobytes() + str(memory_bytes).encode()
    ).digest()
    shape = _read.get(key)
    if shape is None:
        shape = _read[key] = _shape_of(recorded, memory_bytes)
        if len(_read) > _REMEMBERED:
            # Of threads that read at once, another one may have dropped it.
            _read.pop(next(iter(_read)), None)
    return shape


def _shape_of(recorded: Curve, memory_bytes: float) -> Shape:
    """As `shape_of`, and nothing remembered."""
    quiet = interruptions.calm(recorded)
    cool, lows = returns.lifted(quiet.curve)
    shape = _shape(cool, first_plateau(cool, memory_bytes=memory_bytes), _hot(cool, lows))
    at = shape.first_plateau.rise
    rise = None if at is None else float(cool.bytes_at[at])
    later = shape.first_plateau.without_burst
    begins = [low.end for low in lows if low.start == 0.0]
    return replace(
        shape,
        quiet=quiet.curve,
        stalls=quiet.stalls,
        rise=begins[0] if begins else rise,
        burst=_burst(cool, shape.first_plateau.burst),
        without_burst=None if later is None else float(cool.bytes_at[later]),
        returns=(*_long(quiet.bursts), *(low for low in lows if low.start > 0.0)),
    )


def _burst(curve: Curve, samples: int) -> tuple[float, float, float] | None:
    """Bytes, seconds and rate of so many samples at the beginning."""
    if samples == 0:
        return None
    return float(curve.bytes_at[samples]), float(curve.time_at[samples]), curve.mean(0, samples)


def _long(lows: tuple[Return, ...]) -> tuple[Return, ...]:
    """Those that last longer than a dip."""
    return tuple(low for low in lows if (low.end - low.start) / low.rate > DIP_S)


def _hot(curve: Curve, lows: tuple[Return, ...]) -> Marks:
    """Samples within a low or its ramps: read as if cool they tell places, and no speed."""
    marks = np.zeros(len(curve), dtype=np.bool_)
    for low in lows:
        ramp = 0.0 if low.start == 0.0 else RAMP * (low.end - low.start)
        first, last = np.searchsorted(curve.bytes_at, (low.start - ramp, low.end + ramp))
        marks[max(int(first) - 1, 0) : int(last)] = True
    return marks


def _measured(curve: Curve, pieces: Pieces, hot: Marks, relative_noise: float) -> Estimate | None:
    """Speed of the samples that are a plateau's own; of all of them where few are left."""
    level = settled(curve, pieces, relative_noise)
    index = np.concatenate([np.arange(a, b) for a, b in level]) if level else np.zeros(0, int)
    cool = index[~hot[index]]
    if cool.size >= max(FEWEST_COOL, COOL_SHARE * index.size):
        groups = np.split(cool, np.flatnonzero(np.diff(cool) > 1) + 1)
        level = [(int(group[0]), int(group[-1]) + 1) for group in groups]
    return speed(curve, level)


def _shape(curve: Curve, start: FirstPlateau, hot: Marks) -> Shape:
    relative_noise = calm(logs(curve.rate))
    if start.verdict == "edge":
        edge = _first_edge(curve, _past_the_last_low(start, hot), relative_noise)
        head = _head(curve, start, edge.before, edge.place.value, hot, relative_noise)
        return Shape(
            first_plateau=start,
            head=head,
            edge=edge,
            rest=_stages(curve, edge.after, hot, relative_noise),
            quiet=curve,
        )
    head = _head(curve, start, len(curve), curve.total_bytes, hot, relative_noise)
    # What stands out within the one plateau, for the notes.
    within = _stages(curve, 0, hot, relative_noise).plateaus
    excursions = tuple(excursion for plateau in within for excursion in plateau.excursions)
    fifth = curve.total_bytes / 5
    ends = curve.mean_between(0.0, fifth), curve.mean_between(4 * fifth, curve.total_bytes)
    drift = ends if start.verdict == "gradual" else None
    head = replace(head, excursions=excursions, drift=drift)
    return Shape(first_plateau=start, head=head, edge=None, quiet=curve)


def _past_the_last_low(start: FirstPlateau, hot: Marks) -> FirstPlateau:
    """Where enough is left of the first plateau past its last low, its end is judged by that alone:
    a stretch that was read as if cool is evener than the drive."""
    lows = np.flatnonzero(hot[start.first : start.cut])
    if lows.size == 0 or start.cut - start.first - int(lows[-1]) <= FEWEST_PAST_LOW:
        return start
    return replace(start, first=start.first + int(lows[-1]) + 1)


def _first_edge(curve: Curve, start: FirstPlateau, relative_noise: float) -> Edge:
    """The drop; where it goes down in short steps the interval reaches to the last of them."""
    if start.end == start.cut:
        return locate(curve, start.first, start.cut, start.last, relative_noise)
    top = locate(curve, start.first, start.cut, start.end, relative_noise)
    foot = max(float(curve.bytes_at[start.end]), top.place.high or 0.0)
    return Edge(
        place=Estimate(value=top.place.value, low=top.place.low, high=foot),
        before=top.before,
        after=max(top.after, start.end),
        paused=top.paused,
        between=max(top.between, start.end - start.cut),
    )


def _head(
    curve: Curve,
    start: FirstPlateau,
    last: int,
    end: float,
    hot: Marks,
    relative_noise: float,
) -> Plateau:
    """The first plateau without its dips."""
    pieces, begin = [], start.burst
    for first, after in start.dips:
        pieces.append((begin, first))
        begin = after
    measured = _measured(curve, [*pieces, (begin, last)], hot, relative_noise)
    fallback = Estimate(value=curve.mean_between(0.0, end), low=None, high=None)
    return Plateau(start=0.0, end=end, speed=measured or fallback)


def _stages(curve: Curve, first: int, hot: Marks, relative_noise: float) -> Stages:
    """Plateaus from the sample `first` to the end."""
    start, samples = float(curve.bytes_at[first]), len(curve) - first
    if samples < 1 or curve.total_bytes <= start:
        return Stages(plateaus=(), edges=())
    count = int(np.clip(samples // 3, min(samples, 30), BINS))
    bins = in_equal_bytes(curve, start, curve.total_bytes, count)
    cuts = merged(bins, boundaries(bins.rate, least=3 if count >= 60 else 2))
    stages = _without_excursions(bins, _initial(cuts, count))
    stages = _with_bursts(bins, _settled_down(bins, stages))
    stages = _without_slopes(bins, _without_teeth(bins, stages))
    edges = _placed(curve, bins, stages, first, relative_noise)
    while (index := _without_room(edges)) is not None:
        stages = _taken_in(bins, stages, index)
        edges = _placed(curve, bins, stages, first, relative_noise)
    plateaus = tuple(
        _plateau(curve, bins, stage, index, edges, first, hot, relative_noise)
        for index, stage in enumerate(stages)
    )
    return Stages(plateaus=plateaus, edges=edges)


def _initial(cuts: Ints, count: int) -> list[_Stage]:
    edges = [0, *(int(cut) for cut in cuts), count]
    return [_Stage(first=a, last=b, pieces=((a, b),)) for a, b in pairwise(edges)]


def _level(bins: Curve, stage: _Stage) -> float:
    size = sum(float(bins.bytes_at[b] - bins.bytes_at[a]) for a, b in stage.pieces)
    time = sum(float(bins.time_at[b] - bins.time_at[a]) for a, b in stage.pieces)
    return size / time if time > 0 else 0.0


def _apart(first: float, second: float) -> float:
    """How many times one level is the other, the larger over the smaller."""
    return max(first, second) / max(min(first, second), 1e-9)


def _joined(left: _Stage, right: _Stage, *, out: _Stage | None = None) -> _Stage:
    """Two neighbours as one, or two around an excursion."""
    middle = () if out is None else ((out.first, out.last),)
    return _Stage(
        first=left.first,
        last=right.last,
        pieces=left.pieces + right.pieces,
        out=left.out + middle + right.out,
        teeth=left.teeth or right.teeth,
        sloped=left.sloped or right.sloped,
    )


def _without_excursions(bins: Curve, stages: list[_Stage]) -> list[_Stage]:
    """Short stretches between two of one level are taken out, the shortest first."""
    while True:
        candidates = [
            (stages[i].last - stages[i].first, i)
            for i in range(1, len(stages) - 1)
            if _is_excursion(bins, stages[i - 1], stages[i], stages[i + 1])
        ]
        if not candidates:
            return stages
        _, at = min(candidates)
        joined = _joined(stages[at - 1], stages[at + 1], out=stages[at])
        stages = [*stages[: at - 1], joined, *stages[at + 2 :]]


def _is_excursion(bins: Curve, left: _Stage, middle: _Stage, right: _Stage) -> bool:
    lengths = left.last - left.first, right.last - right.first
    # A long burst, half as long as the shorter of them, is a plateau: the cache is used once more.
    faster = _level(bins, middle) > _level(bins, left)
    plateau = faster and middle.last - middle.first >= BURST_SHARE * len(bins)
    around = min(lengths) if plateau else sum(lengths) / 2
    alike = _apart(_level(bins, left), _level(bins, right)) < SAME
    return alike and middle.last - middle.first <= EXCURSION * around


def _with_bursts(bins: Curve, stages: list[_Stage]) -> list[_Stage]:
    """Faster stretches that recur are how the drive works past its cache, and count in its speed.

    The last of them may be cut short by the end of the plateau, and then stands on its own.
    """
    result: list[_Stage] = []
    for stage in stages:
        level = _level(bins, stage)
        faster = [(a, b) for a, b in stage.out if bins.mean(a, b) > level]
        if result and stage.last == len(bins) and _is_last_burst(bins, result[-1], stage):
            result[-1] = _joined(result[-1], stage)
        elif len(faster) >= RECURRING:
            rates = [bins.mean(a, b) for a, b in faster]
            span = ((stage.first, stage.last),)
            teeth = (level, median(np.array(rates)))
            result.append(replace(stage, pieces=span, out=(), teeth=teeth))
        else:
            result.append(stage)
    return result


def _is_last_burst(bins: Curve, before: _Stage, last: _Stage) -> bool:
    """Whether the fill ends in a burst: faster than before, and shorter than a plateau is."""
    short = last.last - last.first < BURST_SHARE * len(bins)
    return short and _level(bins, last) > _level(bins, before)


def _settled_down(bins: Curve, stages: list[_Stage]) -> list[_Stage]:
    """Short stretches below and above a level, before it, that have its mean belong to it.

    A drive that begins to fold falls too low and makes up for it before it comes to its pace.
    """
    for at in range(len(stages) - 1, 1, -1):
        level = _level(bins, stages[at])
        for first in range(max(at - TEETH + 1, 0), at - 1):
            run = stages[first:at]
            span = _Stage(
                first=run[0].first, last=run[-1].last, pieces=((run[0].first, run[-1].last),)
            )
            levels = [_level(bins, stage) for stage in run]
            both = min(levels) * SAME < level < max(levels) / EFFECT
            short = span.last - span.first <= EXCURSION * (stages[at].last - stages[at].first)
            if both and short and _apart(_level(bins, span), level) < SAME:
                joined = _joined(span, stages[at])
                return _settled_down(bins, [*stages[:first], joined, *stages[at + 1 :]])
    return stages


def _without_teeth(bins: Curve, stages: list[_Stage]) -> list[_Stage]:
    """Five or more segments up and down in turn, of like length, become one plateau with teeth."""
    levels = [_level(bins, stage) for stage in stages]
    turns = np.sign(np.diff(levels))
    start = 0
    while start + TEETH <= len(stages):
        end = start + 1
        while end < len(stages) and (end == start + 1 or turns[end - 1] == -turns[end - 2]):
            end += 1
        if end - start >= TEETH:
            run = stages[start:end]
            span = (run[0].first, run[-1].last)
            teeth = (min(levels[start:end]), max(levels[start:end]))
            sawtooth = _Stage(first=span[0], last=span[1], pieces=(span,), teeth=teeth)
            return [*stages[:start], sawtooth, *_without_teeth(bins, stages[end:])]
        start += 1
    return stages


def _without_slopes(bins: Curve, stages: list[_Stage]) -> list[_Stage]:
    """Neighbours that pass into each other little by little are one stretch that drifts."""
    at = 0
    while at + 1 < len(stages):
        left, right = stages[at], stages[at + 1]
        if _parts_at_once(bins, left, right):
            at += 1
        else:
            drifting = replace(_joined(left, right), sloped=True)
            stages = [*stages[:at], drifting, *stages[at + 2 :]]
            at = max(at - 1, 0)
    return stages


def _parts_at_once(bins: Curve, left: _Stage, right: _Stage) -> bool:
    if left.teeth is not None or right.teeth is not None:
        return _apart(_level(bins, left), _level(bins, right)) >= EFFECT
    if is_step(bins, left.first, left.last, right.last):
        return True
    around = Curve(dt=bins.dt[left.first : right.last], size=bins.size[left.first : right.last])
    return not explained_by_line(around, np.array([left.last - left.first]))


def _placed(
    curve: Curve, bins: Curve, stages: list[_Stage], first: int, relative_noise: float
) -> tuple[Edge, ...]:
    """Each boundary on the original samples: once roughly, once more with that as the cut."""
    start = float(curve.bytes_at[first])
    edges = []
    for left, right in pairwise(stages):
        places = start + bins.bytes_at[[left.first, left.last, right.last]]
        low, cut, high = (int(np.searchsorted(curve.bytes_at, place)) for place in places)
        cut, high = min(cut, len(curve) - 1), min(high, len(curve))
        rough = locate(curve, low, cut, high, relative_noise)
        cut = int(np.searchsorted(curve.bytes_at, rough.place.value, side="right"))
        edges.append(locate(curve, low, min(max(cut, low + 1), high - 1), high, relative_noise))
    return tuple(edges)


def _without_room(edges: tuple[Edge, ...]) -> int | None:
    """A stage whose end, on the original samples, is not behind its beginning."""
    places = [edge.place.value for edge in edges]
    return next((at for at in range(1, len(places)) if places[at] <= places[at - 1]), None)


def _taken_in(bins: Curve, stages: list[_Stage], index: int) -> list[_Stage]:
    """The stage becomes a part of the neighbour whose level is nearer to its own."""
    level = _level(bins, stages[index])
    before, after = (_apart(level, _level(bins, stages[at])) for at in (index - 1, index + 1))
    left = index - 1 if before <= after else index
    return [*stages[:left], _joined(stages[left], stages[left + 1]), *stages[left + 2 :]]


def _plateau(
    curve: Curve,
    bins: Curve,
    stage: _Stage,
    index: int,
    edges: tuple[Edge, ...],
    first: int,
    hot: Marks,
    relative_noise: float,
) -> Plateau:
    """The plateau between its edges, measured on its own whole samples."""
    origin = float(curve.bytes_at[first])
    begin = edges[index - 1].after if index > 0 else first
    finish = edges[index].before if index < len(edges) else len(curve)
    out = [
        (origin + float(bins.bytes_at[a]), origin + float(bins.bytes_at[b])) for a, b in stage.out
    ]
    pieces = _outside(curve, begin, finish, out)
    measured = _measured(curve, pieces, hot, relative_noise)
    measured = measured or Estimate(value=_level(bins, stage), low=None, high=None)
    third = max((stage.last - stage.first) // 5, 1)
    ends = (bins.mean(stage.first, stage.first + third), bins.mean(stage.last - third, stage.last))
    return Plateau(
        start=edges[index - 1].place.value if index > 0 else origin,
        end=edges[index].place.value if index < len(edges) else curve.total_bytes,
        speed=measured,
        excursions=tuple(_excursion(curve, start, end, measured.value) for start, end in out),
        teeth=stage.teeth,
        drift=ends if stage.sloped else None,
    )


def _excursion(curve: Curve, start: float, end: float, usual: float) -> Excursion:
    rate = curve.mean_between(start, end)
    return Excursion(start=start, end=end, rate=rate, faster=rate > usual)


def _outside(
    curve: Curve, begin: int, finish: int, out: list[tuple[float, float]]
) -> list[tuple[int, int]]:
    """Sample ranges from `begin` to `finish` without those that touch an excursion."""
    pieces: list[tuple[int, int]] = []
    for start, end in out:
        a = int(np.searchsorted(curve.bytes_at, start, side="right")) - 1
        b = int(np.searchsorted(curve.bytes_at, end, side="left"))
        pieces.append((begin, min(a, finish)))
        begin = max(begin, b)
    return [(a, b) for a, b in [*pieces, (begin, finish)] if b > a]
