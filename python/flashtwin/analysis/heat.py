"""Heat that goes on past the end of a plateau: which segments are hot, at which plateau's level.

What: `returns` believes lows between highs of one level. Where heat goes on when a plateau ends,
the low at the end has no high after it, the next plateau may begin hot, and the fill may end hot.
Once heat is known by lows that recur, the segments of the fill are read anew with a state for it: a
dynamic programme explains them by as few plateaus as it can, each segment at its plateau's level,
hot (between the level and the depth of the known lows, and no longer than these), or a burst.

Why: a plateau is for good and costs most; a low that fits those already known costs little.

Invariants: no segment is hot that is longer or deeper than the known lows allow; the same segments
give the same reading.

Source of the numbers: choices. Costs are in units of one low; a change of the plateau costs three.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.curve import Floats
from flashtwin.analysis.quantiles import distinct

SAME = 1.12
BELOW = 0.93
# A low at an end may hold the ramps of both sides, which others lost to their highs; a dip in a low
# holds at most such a share of it.
LONGER, DIP = 1.2, 0.15
NEW_PLATEAU, LOW, RAMP_ALONE, BURST = 3.0, 1.0, 2.0, 2.0
# What a burst costs a share of the fill, and a segment beside its level a share and a logarithm.
BURST_SHARE, MISFIT = 100.0, 10.0
# A low ends with highs, so another of its plateau does not follow at once; where the plateau ends
# in mid-low it goes on, and has been paid for.
_BESIDE = {"hot": 3.0, "change-hot": -1.0}


@dataclass(frozen=True, kw_only=True)
class Known:
    """The lows that are known: logarithm of their depth, and the bytes and seconds of the longest.

    Where a plateau is faster the same time takes more bytes.
    """

    depth: float
    longest: float
    longest_s: float


@dataclass(frozen=True, kw_only=True)
class Hot:
    """Segments [first, last) that are hot, and the logarithm of the level they would have cool."""

    first: int
    last: int
    level: float


@dataclass(frozen=True, kw_only=True)
class _Step:
    """The cheapest way to a state: its cost, the segment and the level that it came from."""

    cost: float
    came_from: tuple[int, int]
    state: str


def hot_segments(level: Floats, size: Floats, known: Known) -> list[Hot]:
    """The segments that are hot in the cheapest reading of all of them."""
    values = np.log(np.maximum(level, 1e-9))
    levels = distinct(np.concatenate((values, values - known.depth)))
    path = _cheapest(values, size, levels, known)
    return [
        Hot(first=first, last=last, level=_cool_level(values, path, at))
        for at, (first, last, state, _) in enumerate(path)
        if state == "hot"
    ]


_Path = list[tuple[int, int, str, int]]


def _cheapest(values: Floats, size: Floats, levels: Floats, known: Known) -> _Path:
    """The reading, as stretches: first and last segment, state, index of the plateau's level."""
    count, total = values.size, float(size.sum())
    steps: list[list[_Step | None]] = [[None] * levels.size for _ in range(count + 1)]
    steps[0] = [_Step(cost=0.0, came_from=(0, at), state="start") for at in range(levels.size)]
    for first in range(count):
        _with_changes(steps[first], first)
        for at, here in enumerate(steps[first]):
            if here is None:
                continue
            for last, state, cost in _ways(values, size, first, float(levels[at]), known, total):
                if state == "hot":
                    cost += _BESIDE.get(here.state, 0.0)
                there = steps[last][at]
                if there is None or here.cost + cost < there.cost:
                    came_from = (first, at)
                    steps[last][at] = _Step(cost=here.cost + cost, came_from=came_from, state=state)
    return _traced(steps)


def _with_changes(steps: list[_Step | None], first: int) -> None:
    """Each level that is cheaper reached by an end of another plateau here."""
    reached = [(step.cost, at) for at, step in enumerate(steps) if step is not None]
    cheapest, origin = min(reached)
    before = steps[origin]
    state = "change-hot" if before is not None and before.state == "hot" else "change"
    for at, step in enumerate(steps):
        if first > 0 and (step is None or step.cost > cheapest + NEW_PLATEAU):
            steps[at] = _Step(cost=cheapest + NEW_PLATEAU, came_from=(first, origin), state=state)


def _ways(
    values: Floats, size: Floats, first: int, level: float, known: Known, total: float
) -> list[tuple[int, str, float]]:
    """What the segments from `first` on can be at a level: the end, the state, and its cost."""
    away = abs(float(values[first]) - level)
    ways = [(first + 1, "burst", BURST + BURST_SHARE * float(size[first]) / total)]
    if away <= np.log(SAME):
        ways.append((first + 1, "cool", MISFIT * away * float(size[first]) / total))
    last, written, seconds, deep, shallow = first, 0.0, 0.0, 0.0, 0.0
    while last < values.size:
        value, written = float(values[last]) - level, written + float(size[last])
        deeper = value < known.depth - np.log(SAME) and size[last] > DIP * known.longest
        if deeper or value > np.log(BELOW):
            break
        seconds += float(size[last] / np.exp(values[last]))
        if written > LONGER * known.longest and seconds > LONGER * known.longest_s:
            break
        deep += float(size[last]) if value <= known.depth / 2 else 0.0
        shallow += abs(value - known.depth) * float(size[last]) / total
        last += 1
        cost = LOW if 2 * deep >= written else RAMP_ALONE
        ways.append((last, "hot", cost + shallow))
    return ways


def _traced(steps: list[list[_Step | None]]) -> _Path:
    """Walk back from the cheapest end."""
    ends = [(step.cost, at) for at, step in enumerate(steps[-1]) if step is not None]
    place, at = len(steps) - 1, min(ends)[1]
    path: _Path = []
    while place > 0:
        step = steps[place][at]
        assert step is not None, "a path leads from a state that was reached to one that was"
        before, came_from = step.came_from
        if step.state not in ("change", "change-hot"):
            path.append((before, place, step.state, at))
        place, at = before, came_from
    return path[::-1]


def _cool_level(values: Floats, path: _Path, at: int) -> float:
    """The level of the cool segments of the same plateau on both sides, as far as there are any."""
    around = []
    for step in (-1, 1):
        index = at + step
        while 0 <= index < len(path) and path[index][3] == path[at][3]:
            if path[index][2] == "cool":
                around.append(float(values[path[index][0]]))
                break
            index += step
    return float(np.mean(around)) if around else np.nan
