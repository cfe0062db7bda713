"""A life by jumps: a load's steady state repeated until the rated cycles are used up.

The firmware repeats a stretch without simulating it (`_core.Twin.repeat`), up to the next goal or
until its law changes: a superblock of the cache is used up, data that the load leaves alone has to
be refreshed. Then the drive is simulated again: until what was due is done, and for a stage
that says what it does from there on. How far two neighbouring stages differ is the most that the
jump between them may have got wrong (`Life.jump_error`).

Invariant: what a drive shows at a moment of its life, it shows after it was jumped there. Where its
law changes all the time, jumps are short, and their number or the copy's work (`stretch`) ends
before its life: the rest of it goes by the wear of the last stage, and the answer says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from msgspec import Struct, convert

from flashtwin import _core
from flashtwin.load.stretch import Counts, Host
from flashtwin.load.words import Aged, Cycles, Stage
from flashtwin.model.histogram import percentiles_of, summed
from flashtwin.model.step import Result

# Nobody plans further: a drive that lasts longer lasts "more than" that.
MOST_YEARS = 100.0
YEAR_DAYS = 365.25
# The share of a life that a jump goes, at first and at least: jumps get shorter where two stages
# differ in what a byte costs by more than `UNLIKE`, and longer again where they are `ALIKE`.
LONGEST, SHORTEST = 0.25, 0.03
UNLIKE, ALIKE = 0.1, 0.02
# Capacities by which a drive is renewed in a stage, and at most before it, until nothing is
# refreshed.
SEEN, SETTLED = 0.25, 0.25
_P99 = 99.0


class Life(Struct, frozen=True, kw_only=True):
    """A copy's life. `end_years`: until its rated cycles are used up, none where nothing wears;
    `ended`: it took no writes any more; `aged`: after the years that were asked about; `wear`: the
    share that each mode of its cells has in what is used; `repeated_bytes`: of the host's, those
    that were repeated and not simulated; `jump_error`: the share of the years that jumps may have
    got wrong; `drift_p99`: the most that the waits of writes at 99 % of two neighbouring stages
    differ by; `refused`: why nothing was repeated."""

    stages: list[Stage]
    end_years: float | None
    ended: bool = False
    aged: Aged | None = None
    wear: dict[str, float] = {}
    repeated_bytes: int = 0
    jump_error: float = 0.0
    drift_p99: float = 0.0
    refused: str | None = None


@dataclass(frozen=True, kw_only=True)
class Until:
    """Host bytes of a copy until the moment that is asked about, in a year, and at most."""

    asked: float
    a_year: float
    scale: int

    @property
    def most(self) -> float:
        """More than anybody plans for."""
        return self.a_year * MOST_YEARS


@dataclass(frozen=True, kw_only=True)
class Jumps:
    """How a life is lived: by `most` jumps at most, and until the copy's work comes to `work`, in
    the unit of `stretch`; each has a stage after it, with the load's reads or without them.
    `brief`: the drive is not looked at after the years that were asked about."""

    most: int
    work: float
    brief: bool
    reads: bool


def live(host: Host, first: Stage, stretch: _core.Stretch, until: Until, plan: Jumps) -> Life:
    """Let a drive in its steady state live on."""
    if host.twin.repeat_refusal is not None:
        return Life(stages=[first], end_years=None, refused=host.twin.repeat_refusal)
    return _Living(host, first, stretch, until, plan).run()


class _Living:
    """A life as it goes on. `_ends` has the host's bytes and the share of the rated life that is
    used at the end of each jump."""

    def __init__(
        self, host: Host, first: Stage, stretch: _core.Stretch, until: Until, plan: Jumps
    ) -> None:
        self._host, self._twin, self._until, self._plan = host, host.twin, until, plan
        self._stretch = stretch
        self._stages = [first]
        self._counts = Counts.of(self._twin)
        self._ends = [(0, 0.0), (self._counts.host, self._counts.used)]
        self._reach = LONGEST
        self._repeated = 0
        self._aged: Aged | None = None

    def run(self) -> Life:
        ended = False
        for number in range(self._plan.most):
            goal = self._next_goal()
            is_done = number > 0 and self._host.work >= self._plan.work
            if goal is None or ended or is_done:
                break
            self._jump(goal)
            ended = not self._stage()
        end_years = self._end_years()
        return Life(
            stages=self._stages,
            end_years=end_years,
            ended=ended,
            # A drive that ended earlier is shown as far as it lived.
            aged=self._aged or self._now(),
            wear=_by_mode(self._lived()["cycles"]),
            repeated_bytes=self._repeated,
            jump_error=jump_error(self._stages, end_years),
            drift_p99=_drift([float(stage.write_p99_ns or 0) for stage in self._stages]),
        )

    def _wear(self) -> float:
        """Of a byte from the host, over the last jumps: a short one has too few erases to tell.
        Before the first jump it is that of the first stage, as a new drive's free superblocks are
        written without an erase."""
        if len(self._ends) == 2:
            return self._stages[0].wear / self._until.a_year
        host, used = self._ends[-1]
        least = host * (1 - SHORTEST)
        host_before, used_before = next(
            (end for end in reversed(self._ends) if end[0] <= least), self._ends[0]
        )
        return (used - used_before) / max(host - host_before, 1)

    def _next_goal(self) -> float | None:
        """The host's bytes at the end of the next jump; none where there is nothing more to see."""
        goals = []
        if self._aged is None and not self._plan.brief:
            goals.append(min(self._until.asked, self._until.most))
        host, used, wear = self._counts.host, self._counts.used, self._wear()
        if used < 1 and wear > 0 and host < self._until.most:
            end = host + (1 - used) / wear
            # A goal just before the end would leave a last jump of next to nothing.
            goals.append(min(end * 1.001, self._until.most, host + end * self._reach))
        return min(goals, default=None)

    def _jump(self, goal: float) -> None:
        """Repeat the last stage up to a goal, or as far as the law of the drive allows."""
        written = self._stretch.written_bytes
        times = max(round((goal - self._counts.host) / written), 0)
        self._repeated += self._twin.simulation.repeat(self._stretch, times, 0, written) * written
        self._counts = Counts.of(self._twin)
        if self._aged is None and self._counts.host + written > self._until.asked:
            self._aged = self._now()
        self._ends.append((self._counts.host, self._counts.used))

    def _stage(self) -> bool:
        """Simulate what is due, and a stage; false where the drive takes no writes any more."""
        if self._go(SETTLED, is_settled=True) is None:
            return False
        before = self._counts
        results = self._go(SEEN, reads=self._plan.reads)
        if results is None:
            return False
        self._stretch = self._twin.simulation.since(before.mark)
        self._stages.append(stage(before, self._counts, results, self._until.a_year))
        change = _change(*self._stages[-2:])
        if change > UNLIKE:
            self._reach = max(self._reach / 2, SHORTEST)
        elif change < ALIKE:
            self._reach = min(self._reach * 2, LONGEST)
        return True

    def _go(
        self, capacities: float, *, is_settled: bool = False, reads: bool = False
    ) -> list[Result] | None:
        """Give the drive its load until some capacities renewed it, or until it refreshes nothing;
        none where it takes no writes any more."""
        results, begin = [], self._counts
        enough = capacities * self._twin.info.capacity_bytes
        while True:
            last = self._counts
            results.append(self._host.go_on(reads=reads))
            self._counts = Counts.of(self._twin)
            if self._counts.host == last.host:
                return None
            is_quiet = is_settled and _refreshed(last, self._counts) < 1
            if is_quiet or self._counts.renewed(begin) >= enough:
                return results

    def _end_years(self) -> float | None:
        """Until the rated cycles are used up, by the last jump's wear where none went there."""
        host, used = self._ends[-1]
        for (host_before, used_before), (host_after, used_after) in pairwise(self._ends):
            if used_before < 1 <= used_after:
                share = (1 - used_before) / (used_after - used_before)
                return (host_before + share * (host_after - host_before)) / self._until.a_year
        wear = self._wear()
        return (host + (1 - used) / wear) / self._until.a_year if wear > 0 else None

    def _lived(self) -> dict[str, Any]:
        return self._twin.simulation.lived(self._until.scale)

    def _now(self) -> Aged:
        """The drive as its owner sees it now."""
        lived = self._lived()
        smart = dict(lived["smart"])
        # A real drive does not tell what a twin knows beyond it.
        del smart["flashtwin"]
        return Aged(
            years=self._counts.host / self._until.a_year,
            used=self._counts.used,
            spare_percent=lived["spare_percent"],
            read_only=lived["read_only"],
            cycles=convert(lived["cycles"], dict[str, Cycles]),
            smart=smart,
        )


def stage(before: Counts, after: Counts, results: Sequence[Result], a_year: float) -> Stage:
    """What was shown between two counts; `a_year`: bytes of the host in one."""
    bins = summed(row["write"]["lat_hist"] for result in results for row in result.fio)
    host = after.host - before.host
    return Stage(
        years=after.host / a_year,
        used=after.used,
        waf=(after.programmed - before.programmed) / host,
        wear=(after.used - before.used) / host * a_year,
        refresh=_refreshed(before, after) / host,
        write_p99_ns=percentiles_of(bins, [_P99])[_P99] if bins else None,
    )


def jump_error(stages: Sequence[Stage], end_years: float | None) -> float:
    """How much longer or shorter a life would be, had each jump of it gone by the law at its other
    end. What was not followed is one more jump, whose other end is taken to differ as the last one
    did; a jump beyond the life's end, to the years that were asked about, is none of it."""
    last = stages[-1].years
    end = last if end_years is None else min(end_years, MOST_YEARS)
    steps = [
        (min(after.years, end) - before.years, _change(before, after))
        for before, after in pairwise(stages)
        if before.years < end
    ]
    rest = max(end - last, 0.0) * (steps[-1][1] if steps else 0.0)
    return (sum(years * change for years, change in steps) + rest) / end


def _refreshed(before: Counts, after: Counts) -> int:
    return after.by_cause["refresh"] - before.by_cause["refresh"]


def _change(before: Stage, after: Stage) -> float:
    """By what two stages differ in what a byte costs: in wear, or in programmed bytes."""
    return max(
        abs(now - then) / max(now, then, 1e-9)
        for now, then in ((after.waf, before.waf), (after.wear, before.wear))
    )


def _by_mode(cycles: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The share of each mode in the rated life that is used."""
    used = {mode: row["superblocks"] * row["mean"] / row["rated"] for mode, row in cycles.items()}
    total = sum(used.values())
    return {mode: part / total for mode, part in used.items() if part} if total else {}


def _drift(values: Sequence[float]) -> float:
    steps = [abs(after - before) for before, after in pairwise(values)]
    mean = fmean(values)
    return max(steps, default=0.0) / mean if mean and math.isfinite(mean) else 0.0
