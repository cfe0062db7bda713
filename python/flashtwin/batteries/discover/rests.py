"""When a drive begins to fold in idle time, and how long it takes, by single reads after rests.

A rest that is shorter than the one after which folding begins leaves no trace: the reads after it
take as long as those before it. After a longer one reads wait for programs under way, and data
that was folded is read from slower cells. So a ladder of ever longer rests, with reads between
them, brackets when folding begins, and no data has to be written again on the way up: a read starts
the drive's idle time anew. A second ladder of small steps between the last two makes the bracket
narrow. Then a cache that was written full is left alone for about half of the time that folding it
should take: which part of it is read from slower cells says how fast it is folded.

Invariants: pure; what is asked next follows from the answers so far, so that a resumed run asks the
same. A rung counts where the same rest shows it twice: a host's stall does not last. On a host on
which reads before a rest scatter as widely, reads after it have to be slower than nine in ten of
those, four times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from flashtwin.analysis.estimate import Estimate
from flashtwin.batteries.discover.places import APART, REGIONS, folded_share

Stage = Literal["coarse", "fine", "part"]
STAGES: tuple[Stage, ...] = get_args(Stage)

# Rests of the first ladder in seconds; the second has so many steps between two of the first.
SHORTEST_S, FACTOR, FINE = 0.02, 1.6, 5
COARSE = tuple(float(f"{SHORTEST_S * FACTOR**step:.3g}") for step in range(31))
# Reads between two rests.
READS = 32
# Reads take so much longer once folding has begun, and longer than such a share of those before a
# rest. A rest has to show it so often; more often on a host whose reads scatter more than that, or
# where a shorter rest showed it and did not when it was repeated.
BEGUN, SCATTER = 1.2, 0.9
OFTEN, OFTEN_NOISY = 2, 4
# The part of a cache that is to be folded for its speed to be known, and how often it is tried.
LEAST_FOLDED, MOST_FOLDED, TRIES = 0.15, 0.9, 4
# The first try rests for this share of the time that folding should take, and later ones for a
# share of that or a multiple.
FIRST_PART, SHORTER, LONGER = 0.5, 0.35, 2.5
# What is left of noise in the share that is folded: half of a region, or this much of it.
SHARE_NOISE = 0.08


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A rest with the mean latencies of reads before and after it; `levels`: of each region.

    `rest_s` is how long it was; `asked_s` how long it was to be, none where nobody knows any more:
    on a busy host a rest that is repeated is as much longer as two of a ladder are apart.
    """

    stage: Stage
    rest_s: float
    before_ns: float
    after_ns: float
    levels: tuple[float, ...] = ()
    asked_s: float | None = None

    @property
    def length_s(self) -> float:
        """Its place on a ladder."""
        return self.rest_s if self.asked_s is None else self.asked_s


def stage_of(word: str) -> Stage:
    """The stage that a step's label ends with."""
    return next(stage for stage in STAGES if stage == word)


@dataclass(frozen=True, kw_only=True)
class Next:
    """A rest to be tried; `anew`: on a cache that is written full again before."""

    stage: Stage
    rest_s: float
    anew: bool


@dataclass(frozen=True, kw_only=True)
class Folding:
    """What the rests showed, in seconds: when folding begins, how long a full cache takes then.

    `begin` is none where no rest up to `longest_s` changed anything, and at most its value, from 0
    on, where the shortest one did. `scatter`: nine in ten reads
    before a rest take up to so many times as long as those in the middle.
    """

    begin: Estimate | None
    takes: Estimate | None
    longest_s: float
    scatter: float = 1.0


def following(rungs: Sequence[Rung], expected_s: float, longest_s: float) -> Next | None:
    """The rest to try next; `expected_s`: how long folding a full cache should take. Before folding
    has begun no rest is longer than `longest_s`."""
    for stage in STAGES[:2]:
        tried = [rung.length_s for rung in rungs if rung.stage == stage]
        allowed = tuple(rest_s for rest_s in COARSE if rest_s <= longest_s)
        lengths = allowed if stage == "coarse" else _fine(rungs)
        reached, repeat = _climbed(rungs, stage)
        if tried and _counting(_groups(rungs))[1]:
            return Next(stage=stage, rest_s=tried[-1], anew=True)
        if repeat:
            return Next(stage=stage, rest_s=tried[-1], anew=False)
        if reached is None and len(_lengths(rungs, stage)) < len(lengths):
            rest_s = lengths[len(_lengths(rungs, stage))]
            return Next(stage=stage, rest_s=rest_s, anew=not tried)
        if reached is None and stage == "coarse":
            return None
    return _part(rungs, expected_s)


def _part(rungs: Sequence[Rung], expected_s: float) -> Next | None:
    begin = folding(rungs).begin
    parts = [rung for rung in rungs if rung.stage == "part"]
    if begin is None or begin.high is None or len(parts) >= TRIES:
        return None
    if not parts:
        rest_s = begin.high + FIRST_PART * expected_s
    else:
        share, beyond = _share(parts[-1], rungs), parts[-1].rest_s - begin.high
        if LEAST_FOLDED <= share <= MOST_FOLDED:
            return None
        rest_s = begin.high + beyond * (LONGER if share < LEAST_FOLDED else SHORTER)
    return Next(stage="part", rest_s=float(f"{rest_s:.4g}"), anew=True)


def _same(rest_s: float, other_s: float) -> bool:
    """Whether two rests are one length, tried twice: lengths of a ladder are further apart."""
    return abs(rest_s / other_s - 1) <= 0.01


def _groups(rungs: Sequence[Rung]) -> list[list[Rung]]:
    """Rungs that try one rest again and again, together."""
    groups: list[list[Rung]] = []
    for rung in rungs:
        last = groups[-1][-1] if groups else None
        if last is not None and last.stage == rung.stage and _same(rung.length_s, last.length_s):
            groups[-1].append(rung)
        else:
            groups.append([rung])
    return groups


def _counting(groups: Sequence[Sequence[Rung]]) -> tuple[list[Sequence[Rung]], bool]:
    """The rungs of each length that count; whether the last has to be tried on data that is written
    anew. That is so where reads before the first rest of a length took as long as if folding had
    begun, as they do after an interruption; that rest does not count."""
    counting: list[Sequence[Rung]] = []
    stale = False
    for group in groups:
        before = [tries[0].before_ns for tries in counting]
        late = bool(before) and group[0].before_ns >= BEGUN * float(np.median(before))
        stale = late and len(group) == 1
        counting.append(group[1:] if late and not stale else group)
    return counting, stale


def _before(rungs: Sequence[Rung]) -> list[float]:
    """How long reads took before each length's first rest. Before one that is repeated some data
    may be folded."""
    counting, _ = _counting(_groups(rungs))
    return [tries[0].before_ns for tries in counting]


def _lengths(rungs: Sequence[Rung], stage: Stage) -> list[float]:
    """The lengths that were tried, a repeated one once; two neighbours are never equal."""
    return [group[0].rest_s for group in _groups(rungs) if group[0].stage == stage]


def _cached_ns(rungs: Sequence[Rung]) -> float:
    """How long reads of cached data take where nothing else goes on."""
    return float(np.median([rung.before_ns for rung in rungs])) if rungs else 0.0


def _climbed(rungs: Sequence[Rung], stage: Stage) -> tuple[int | None, bool]:
    """Which of the lengths showed folding often enough, if one did; whether the last has to be
    tried again."""
    counting, _ = _counting(_groups(rungs))
    # What was found of the reads before a rest is not changed by later ones.
    before = [tries[0].before_ns for tries in counting]
    shown: list[list[bool]] = []
    often = OFTEN
    for at, tries in enumerate(counting):
        if tries[0].stage == stage:
            least = BEGUN * float(np.median(before[: at + 1]))
            scatter = float(np.quantile(before[: at + 1], SCATTER))
            alarms = any(True in flags for flags in shown)
            often = OFTEN_NOISY if alarms or scatter > least else OFTEN
            shown.append([rung.after_ns >= max(least, scatter) for rung in tries])
            if len(tries) >= often and all(shown[-1][:often]):
                return len(shown) - 1, False
    return None, bool(shown) and all(shown[-1]) and len(shown[-1]) < often


def _scatter(rungs: Sequence[Rung]) -> float:
    before = _before(rungs)
    return float(np.quantile(before, SCATTER) / np.median(before)) if before else 1.0


def _bracket(rungs: Sequence[Rung]) -> tuple[float, float] | None:
    """The longest rest of the first ladder without folding, and the shortest with it."""
    reached, _ = _climbed(rungs, "coarse")
    if reached is None:
        return None
    lengths = _lengths(rungs, "coarse")
    return (lengths[reached - 1] if reached else 0.0), lengths[reached]


def _fine(rungs: Sequence[Rung]) -> tuple[float, ...]:
    ends = _bracket(rungs)
    if ends is None or not ends[0]:
        return ()
    steps = np.geomspace(ends[0], ends[1], FINE + 1)[1:-1]
    return tuple(float(f"{step:.4g}") for step in steps)


def folding(rungs: Sequence[Rung]) -> Folding:
    """What the rests showed."""
    ends = _bracket(rungs)
    longest = max((rung.rest_s for rung in rungs), default=0.0)
    if ends is None:
        return Folding(begin=None, takes=None, longest_s=longest, scatter=_scatter(rungs))
    low, high = ends
    reached, _ = _climbed(rungs, "fine")
    lengths = _lengths(rungs, "fine")
    if reached is not None:
        low, high = (lengths[reached - 1] if reached else low), lengths[reached]
    elif lengths:
        low = lengths[-1]
    begin = Estimate(value=float(np.sqrt(low * high)) or high, low=low, high=high)
    return Folding(begin=begin, takes=_takes(rungs, begin), longest_s=longest)


def _share(part: Rung, rungs: Sequence[Rung]) -> float:
    return folded_share(part.levels, min(_cached_ns(rungs), part.before_ns))


def _misread(rungs: Sequence[Rung]) -> float:
    """The share of readings that the host makes look as if they were of slower cells."""
    before = np.array(_before(rungs))
    return float(np.mean(before > APART * np.median(before)))


def _takes(rungs: Sequence[Rung], begin: Estimate) -> Estimate | None:
    """How long a full cache is folded, by the part of it that was."""
    assert begin.low is not None and begin.high is not None, "a bracket has two ends"
    for part in reversed([rung for rung in rungs if rung.stage == "part"]):
        share = _share(part, rungs)
        if LEAST_FOLDED <= share <= MOST_FOLDED:
            noise = 0.5 / REGIONS + SHARE_NOISE * share + _misread(rungs)
            ends = [
                (part.rest_s - start) / min(max(share + off, 0.05), 1.0)
                for start in (begin.low, begin.high)
                for off in (-noise, noise)
            ]
            middle = (part.rest_s - begin.value) / share
            return Estimate(value=middle, low=min(ends), high=max(ends))
    return None


def full(folding: Folding, size: float = 1.0) -> Estimate | None:
    """The rest after which a cache `size` times as large as what was written is back."""
    begin, takes = folding.begin, folding.takes
    if begin is None or takes is None:
        return None
    assert begin.low is not None and begin.high is not None, "a bracket has two ends"
    assert takes.low is not None and takes.high is not None, "so has what it bounds"
    # The sooner folding began, the longer it took for the same share: ends of both do not add up.
    middle = begin.value + size * takes.value
    low = min(begin.high + size * takes.low, middle)
    high = max(begin.low + size * takes.high, middle)
    return Estimate(value=middle, low=low, high=high)
