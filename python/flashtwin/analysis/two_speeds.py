"""A fill that goes at two speeds in turns, by the clock: a drive that is hot and cool in turn.

What: firmware that throttles at an upper temperature and lets the drive go at a lower one makes it
fast and slow in turn. All slow stretches have one share of the speed beside them, last equally
long, and so do the fast ones between them. The first fast stretch is longer, because the drive
warms up from rest. The drive's own speed may fall meanwhile, where its cache ends. `cooled` gives
the samples of the slow stretches the time that they would have taken at the drive's own speed.

How: the speed over bins of equal time is cut into levels (`changepoints`), as coarsely as elsewhere
and then finer, because a stretch of few bins is worth no level of its own. Each fall between two of
them is tried as the one that heat makes: every level is read as fast, or as slow by that much, so
that the drive's own speed changes as seldom as possible (a dynamic programme over the levels). Of
the readings whose stretches are as said above, the one with the fewest changes counts. Coarse bins,
which average a drive's own saw-tooth out, come first; fine ones show short turns.

Why in seconds: a journal or a cache that takes data again goes by bytes, and its stretches change
in seconds where the speed does. Others make turns by the clock too: a journal's low takes a small
share of the time, a stall leaves next to nothing, and a cache that takes data again is fast for a
small share of the time and at first for many times as long. What a host does every minute, or at
another round period of its scheduler, comes at that period whatever the drive does meanwhile; a
mass that warms and cools has a period of its own, which is a round one by chance only.

Invariants: pure; at least two slow stretches, and none at the very beginning; the drive's own speed
is no higher in the turns than before them; `cooled` keeps all bytes, in their order and number.

Source of the numbers: choices; drives were looked at whose insides are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flashtwin.analysis.changepoints import boundaries, logs
from flashtwin.analysis.curve import Curve, Floats, Ints
from flashtwin.analysis.quantiles import median, medians_around

# Bins of equal time, coarse and fine; the fewest; the fewest of a level.
COARSE, FINE, FEWEST, LEAST = 400, 1600, 30, 2
# Costs of a level (`changepoints.boundaries`): short stretches are worth no more than the least.
PENALTIES = (3.0, 1.0)
# The least fall, as a factor; levels within this share of a fall, or this logarithm, are one.
LEAST_FALL, SAME, SAME_LOG = 1.15, 0.2, 0.08
# Costs of a reading: a change of the drive's own speed, one between fast and slow, and a speed
# that differs from the last by as much as may be one.
CHANGE, TURN, UNLIKE = 1.0, 0.3, 0.1
# Stretches of one kind last equally long within a share, or bins; all, or all but a share of them.
EQUALLY, BINS_OFF, OTHERS = 0.3, 1.5, (0.0, 0.2)
# Within a stretch the speed changes by less than this share of a fall: a saw-tooth's does not. Told
# of stretches of six bins or more, of the halves without their outer bins.
LEVEL, OF_HALVES = 0.3, 6
# A drive warms up for longer from rest, by this factor, than from where it was let go.
LONGER = 1.5
# The drive's own speed changes so often at most, and in such a share of the turns.
CHANGES, CHANGES_SHARE = 3, 0.1
# Fewer turns than this are few, and by chance where the first stretch is this many times as long as
# the others: a drive that heats up by 40 degrees and lets go 2 below takes no longer.
FEW, TOO_LATE = 5, 30.0
# A drive that goes at less than this share of its speed stalls; where the slower speed takes less
# than such a share of the turns' time a journal writes.
STALLED, JOURNAL = 0.1, 0.16
# The faster of both speeds is brief where it takes less than such a share; less than the latter
# where the drive's own speed fell as the turns began.
BRIEFLY_FAST, BRIEFLY_PAST_AN_END = 0.3, 0.4
# Turns with a brief fast speed begin early where the first stretch is fewer times as long as the
# others, and these take such a share: a cache takes at first many times what it takes again. The
# latter holds long after the first plateau, whose time the first stretch has in it.
EARLY, LEAST_FAST, EARLY_PAST = 3.5, 0.1, 10.0
# A drive that works in turns past its cache does so from its end on, or within this many of its
# fast stretches.
FROM_THERE = 1.25
# Periods that schedulers are set to, in seconds. Turns have one of them where their period is known
# to this share of it, and is the same within that.
ROUND_S, ROUND_WITHIN = (5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600), 0.01
# Samples on each side of one whose median is the speed near the end of a stretch.
BESIDE = 2
# The looks of a fill that goes at two speeds in turns.
TURNS = "two speeds in turns"
BRIEF, BRIEF_EARLY = f"{TURNS}, briefly fast", f"{TURNS}, briefly fast, from early on"
PAST, GO_ON = f"{TURNS} past the first plateau", f"{TURNS} past another plateau's end"
IN_FEW, BY_CLOCK = "two speeds in few turns", f"{TURNS}, at a round period"
LOOKS = (TURNS, BRIEF, BRIEF_EARLY, PAST, GO_ON, IN_FEW, BY_CLOCK)


@dataclass(frozen=True, kw_only=True)
class TwoSpeeds:
    """The turns of a fill.

    `depth` is the slow speed over the fast one; `slow_s` has the first and the last second of each
    slow stretch. `own`: the drive's own speed in each bin of `bin_s`, in bytes a second. `is_past`:
    that had fallen long before the first slow stretch began; `is_moved`: it fell as that began, or
    shortly before. `goes_on`: it fell between two slow stretches, which have the same share of both
    speeds. `fast`: the share of the time that the fast stretches take of the turns. `warm_up`: how
    many times as long as a later fast stretch the first one is. `period_s`: from the beginning of
    one slow stretch to that of the next. `turns` counts all changes between fast and slow.
    """

    depth: float
    slow_s: tuple[tuple[float, float], ...]
    own: Floats
    bin_s: float
    is_past: bool
    is_moved: bool
    goes_on: bool
    fast: float
    warm_up: float
    period_s: float
    turns: int

    @property
    def may_be_heats(self) -> bool:
        """No journal's or stalls', and not a few late in the fill by chance."""
        is_none = self.depth < STALLED or self.fast > 1 - JOURNAL
        return not is_none and (self.turns >= FEW or self.warm_up < TOO_LATE)

    @property
    def look(self) -> str:
        """Which of `LOOKS` the turns have."""
        return BY_CLOCK if self._is_round() else self.kind

    @property
    def kind(self) -> str:
        """Which of `LOOKS` they have whatever their period: a cache that takes data again makes
        turns too."""
        if self._may_be_a_caches():
            is_early = self.warm_up < EARLY and self.fast >= LEAST_FAST and not self.is_moved
            return BRIEF_EARLY if is_early and self.turns >= FEW else BRIEF
        if self.turns < FEW:
            return IN_FEW
        if self.goes_on:
            return GO_ON
        return PAST if self.is_past else TURNS

    def _is_round(self) -> bool:
        """True where the period surely is one that a scheduler is set to."""
        known_s = self.bin_s / max(len(self.slow_s) - 1, 1)
        if known_s > ROUND_WITHIN * self.period_s:
            return False
        return any(abs(self.period_s / each - 1) <= ROUND_WITHIN for each in ROUND_S)

    def _may_be_a_caches(self) -> bool:
        """True where the fast stretches are brief, but for turns that begin long after the first
        plateau: there a cache keeps no ratio, and takes little after a long time."""
        is_early = self.turns >= FEW and self.warm_up < EARLY_PAST
        if self.is_past and (self.goes_on or is_early):
            return False
        return self.fast < (BRIEFLY_PAST_AN_END if self.is_moved else BRIEFLY_FAST)


def two_speeds(curve: Curve) -> TwoSpeeds | None:
    """The turns of a fill at two speeds; none where it is no such fill."""
    if len(curve) < FEWEST:
        return None
    counts = sorted({min(len(curve), most) for most in (COARSE, FINE)})
    cut = [
        (curve.total_s / count, *_cut(curve, count, penalty))
        for penalty in PENALTIES
        for count in counts
    ]
    for others in OTHERS:
        for bin_s, values, cuts in cut:
            turns = _in_levels(values, cuts, bin_s, others)
            if turns is not None and turns.may_be_heats:
                return turns
    return None


def cooled(curve: Curve, turns: TwoSpeeds) -> Curve:
    """The curve as if the drive had not been slow: within a slow stretch time is shorter by one
    factor, and near its ends samples come up to the drive's own speed."""
    middle_s = (curve.time_at[:-1] + curve.time_at[1:]) / 2
    at = np.clip((middle_s / turns.bin_s).astype(np.int64), 0, turns.own.size - 1)
    share = np.clip(medians_around(curve.rate, 2 * BESIDE + 1) / turns.own[at], turns.depth, 1.0)
    share = np.minimum(np.maximum(share, curve.rate / turns.own[at]), 1.0)
    factor = np.ones(len(curve))
    near_s = BINS_OFF * turns.bin_s
    for begin_s, end_s in turns.slow_s:
        reached = (middle_s > begin_s - near_s) & (middle_s < end_s + near_s)
        inside = (middle_s > begin_s + near_s) & (middle_s < end_s - near_s)
        factor = np.where(reached, share, factor)
        factor = np.where(inside, turns.depth, factor)
    return Curve(dt=curve.dt * factor, size=curve.size)


def _cut(curve: Curve, count: int, penalty: float) -> tuple[Floats, list[int]]:
    """Logarithms of speed in bins of equal time, and those at which levels begin and end."""
    edges = np.linspace(0.0, curve.total_s, count + 1)
    done = np.interp(edges, curve.time_at, curve.bytes_at)
    rate = np.diff(done) / np.diff(edges)
    cuts = boundaries(rate, least=LEAST, penalty=penalty)
    return logs(rate), [0, *(int(cut) for cut in cuts), count]


def _in_levels(
    values: Floats, cuts: Sequence[int], bin_s: float, others: float
) -> TwoSpeeds | None:
    """The cheapest reading of the levels between `cuts` as turns."""
    levels = np.array([median(values[a:b]) for a, b in pairwise(cuts)])
    falls = -np.diff(levels)
    readings = []
    for fall in np.unique(np.round(falls[falls > np.log(LEAST_FALL)], 3)):
        cost, slow = _reading(levels, float(fall))
        stretches = _stretches(cuts, slow)
        turns = len(stretches) - 1
        changes = (cost - TURN * turns) / CHANGE
        is_rare = changes <= max(CHANGES, CHANGES_SHARE * turns)
        if (
            is_rare
            and _as_heat_does(stretches, others)
            and _are_level(values, stretches, fall)
            and not _rises(levels, cuts, slow, float(fall))
        ):
            readings.append((cost, float(fall), slow))
    if not readings:
        return None
    _, fall, slow = min(readings, key=lambda reading: reading[0])
    return _told(levels, cuts, slow, fall, bin_s)


def _rises(levels: Floats, cuts: Sequence[int], slow: Sequence[bool], fall: float) -> bool:
    """True if the drive's own speed is higher in the turns than right before them. Heat makes no
    drive faster; a cache that takes data again late in a fill does."""
    own = np.repeat(levels + fall * np.array(slow), np.diff(cuts))
    first = cuts[slow.index(True)]
    before, later = own[:first][-(own.size - first) :], own[first:]
    return median(later) - median(before) > max(SAME_LOG, SAME * fall)


def _told(
    levels: Floats, cuts: Sequence[int], slow: Sequence[bool], fall: float, bin_s: float
) -> TwoSpeeds:
    """The turns of a reading."""
    stretches = _stretches(cuts, slow)
    fast, slower = (median(lasts) for lasts in _lasts(stretches))
    own = levels + fall * np.array(slow)
    tolerance = max(SAME_LOG, SAME * fall)
    first = slow.index(True)
    # Bins from where the drive's own speed fell to the first turn.
    falls = [cuts[at] for at in range(1, first + 1) if own[at] < own[at - 1] - tolerance]
    since = cuts[first] - falls[-1] if falls else np.inf
    return TwoSpeeds(
        depth=float(np.exp(-fall)),
        slow_s=tuple((a * bin_s, b * bin_s) for a, b in stretches[1::2]),
        own=np.exp(np.repeat(own, np.diff(cuts))),
        bin_s=bin_s,
        is_past=bool(falls) and since > FROM_THERE * fast,
        is_moved=since <= FROM_THERE * fast,
        goes_on=bool(np.ptp(own[np.array(slow)]) > tolerance),
        fast=fast / (fast + slower),
        warm_up=stretches[0][1] / fast,
        period_s=_period(np.array([a for a, _ in stretches[1::2]])) * bin_s,
        turns=len(stretches) - 1,
    )


def _period(begins: Ints) -> float:
    """From one beginning to the next, by least squares; up to half of them may be missing between
    others."""
    steps = np.diff(begins)
    after = np.append(0.0, np.cumsum(np.round(steps / median(steps))))
    slope, _ = np.polyfit(after, begins, 1)
    return float(slope)


def _reading(levels: Floats, fall: float) -> tuple[float, list[bool]]:
    """The cheapest way to read each level as fast or, by `fall`, as slow; it begins fast."""
    own = np.stack([levels, levels + fall])
    tolerance = max(SAME_LOG, SAME * fall)
    costs, ways = np.array([0.0, np.inf]), []
    for at in range(1, levels.size):
        away = np.abs(own[None, :, at] - own[:, at - 1, None])
        steps = np.where(away > tolerance, CHANGE, UNLIKE * away / tolerance) + TURN * (
            1 - np.eye(2)
        )
        total = costs[:, None] + steps
        ways.append(total.argmin(axis=0))
        costs = total.min(axis=0)
    state = int(costs.argmin())
    states = [state]
    for way in reversed(ways):
        state = int(way[state])
        states.append(state)
    return float(costs.min()), [bool(slow) for slow in reversed(states)]


def _stretches(cuts: Sequence[int], slow: Sequence[bool]) -> list[tuple[int, int]]:
    """First and last bin of the stretches of a reading, fast and slow in turn, the first fast."""
    starts = [at for at in range(len(slow)) if at == 0 or slow[at] != slow[at - 1]]
    return list(pairwise([*(cuts[at] for at in starts), cuts[-1]]))


def _lasts(stretches: Sequence[tuple[int, int]]) -> tuple[Floats, Floats]:
    """Bins of the fast stretches and of the slow ones, without the first and the last."""
    lasts = np.array([b - a for a, b in stretches], dtype=np.float64)
    return lasts[2:-1:2], lasts[1:-1:2]


def _as_heat_does(stretches: Sequence[tuple[int, int]], others: float) -> bool:
    """True if stretches of each kind last equally long, as on a drive that is hot and cool in turn.
    A share `others` of them may not; the end of the fill may cut the last one off."""
    if len(stretches) < 4:
        return False
    fast, slower = _lasts(stretches)
    begins, ends = (stretches[at][1] - stretches[at][0] for at in (0, -1))
    of_last = fast if len(stretches) % 2 else slower
    return (
        _unequal(fast) <= others
        and _unequal(slower) <= others
        and ends <= (1 + EQUALLY) * median(of_last) + BINS_OFF
        and begins >= LONGER * median(fast)
    )


def _are_level(values: Floats, stretches: Sequence[tuple[int, int]], fall: float) -> bool:
    """True if the speed neither rises nor falls within a stretch, as a rule. The first stretch is
    left out: a cache may end in it."""
    for kind in (stretches[1::2], stretches[2::2]):
        inner = [values[a + 1 : b - 1] for a, b in kind if b - a >= OF_HALVES]
        changes = np.array([_change(part) for part in inner])
        if changes.size and abs(median(changes)) > LEVEL * fall:
            return False
    return True


def _change(values: Floats) -> float:
    """From the first half to the second."""
    first, second = np.array_split(values, 2)
    return float(second.mean() - first.mean())


def _unequal(lasts: Floats) -> float:
    """The share of stretches that do not last as long as the usual one."""
    usual = median(lasts)
    return float((np.abs(lasts - usual) > max(EQUALLY * usual, BINS_OFF)).mean())
