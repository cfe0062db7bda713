"""The forms of batteries: what those do that differ in their loads and words alone.

A battery of a form says its loads and what is its own, and takes from the form how it measures,
concludes, forecasts and is divided (`functions`, by the names of `Battery`). `Grid`: cells of
loads one after another. `InRounds`: loads in rounds until one of them is steady. `OverTime`: loads
that are kept up, each a curve. Others are `series_pages.Along`, tools that go along the drive, and
`traces.Traces`, synthetic traces of programs.

Invariants: what is asked for and what is concluded follow from the same loads, labels and
parameters, so that a stored run is concluded as a live one; a form goes to other processes, so its
functions have names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from flashtwin.analysis.steady import Window, window_of
from flashtwin.batteries.base import pts
from flashtwin.batteries.base.loads import (
    KIB,
    Load,
    Teller,
    check_fits,
    load_cell,
    over_time,
    prepared,
    scattered,
    time_findings,
)
from flashtwin.batteries.base.registry import (
    PREPARATION,
    Forecast,
    Part,
    prepared_parts,
    with_mark,
)
from flashtwin.batteries.base.rounds import Rounds
from flashtwin.batteries.base.sweep import highest
from flashtwin.model.finding import Better
from flashtwin.model.step import Mark, Rest, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job
    from flashtwin.model.target import DriveInfo


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Loads one after another on a drive that was prepared once, each a cell of a grid.

    `loads` in their order; those with the same `row` stand together and are a row of the grid, a
    sweep over the depth. `row` is the label of the row's steps below the battery's, `cell` that of
    a load below the row's, and a row's part is called as the row. A mark stands behind each cell,
    or with `mark_rows` behind each row. With `rests` the parameter `rest_s` says how long the drive
    rests between the preparation and the loads.
    """

    battery: str
    loads: Callable[[Any], Iterable[Load]]
    row: Callable[[Load], str]
    cell: Callable[[Load], str]
    mark_rows: bool = False
    rests: bool = False

    def functions(self) -> dict[str, Any]:
        """What the battery does, by the names of `Battery`."""
        return {"measure": self.measure, "conclude": self.conclude, "parts": self.parts}

    def label(self, load: Load) -> str:
        """The step of a load."""
        return f"{self.battery}/{self.row(load)}/{self.cell(load)}"

    def measure(self, parameters: Any, info: DriveInfo) -> Steps:
        """Prepare once; then every cell, a row after the other."""
        check_fits(self.battery, list(self.loads(parameters)), info)
        yield from prepared(f"{self.battery}/prepare", parameters.fills)
        if self.rests and parameters.rest_s > 0:
            yield Rest(label=f"{self.battery}/prepare/rest", seconds=parameters.rest_s)
        for load in self.loads(parameters):
            step = over_time(self.label(load), load.job_for(parameters, info, size=parameters.size))
            if not self.mark_rows:
                yield from with_mark(step)
                continue
            answer = yield step
            if isinstance(answer, Result) and load.depth == parameters.depths[-1]:
                yield Mark(label=f"{step.label}/found")

    def conclude(self, record: Record) -> list[Finding]:
        """Every cell that ran; of each row that is whole the highest rate and the depth it
        needs."""
        findings: list[Finding] = []
        depths = sorted(record.parameters.depths)
        sweeps = groupby(self.loads(record.parameters), key=partial(replace, depth=0))
        for _, loads in sweeps:
            rates = []
            for load in loads:
                cells = load_cell(record, self.battery, load, self.label(load), load.way_name)
                findings += cells
                unit = "IOPS" if load.random else "MB/s"
                rates += [(load, cell) for cell in cells if cell.unit == unit]
            rates.sort(key=lambda cell: cell[0].depth)
            if [load.depth for load, _ in rates] == depths:
                findings += highest(rates, rates[0][0].way_name)
        return findings

    def parts(self, parameters: Any, info: DriveInfo) -> list[Part]:
        """The preparation, then each row: a depth alone says little."""
        rows = dict.fromkeys(map(self.row, self.loads(parameters)))
        return prepared_parts(self.battery, {row: row for row in rows})


@dataclass(frozen=True, kw_only=True)
class InRounds:
    """Loads in rounds until one of them is steady, as the tests of SNIA's PTS have them.

    `rounds_of` are the rounds of a run, one after another, each on a drive that is prepared anew;
    `steady` is the title of what is steady, {} its access, in requests a second, MB/s or us.
    `job_of` makes a load's job of the one over the range with all threads. `told` are the findings
    of a load in the last rounds, by default a cell of a grid.
    """

    battery: str
    rounds_of: Callable[[Any], Iterable[Rounds]]
    steady: str
    unit: str = "IOPS"
    better: Better = "higher"
    job_of: Callable[[Job], Job] | None = None
    told: Callable[[Record, Rounds, Load], list[Finding]] | None = None

    def functions(self) -> dict[str, Any]:
        """What the battery does, by the names of `Battery`."""
        return {
            "measure": self.measure,
            "conclude": self.conclude,
            "departs": pts.departs,
            "parts": self.parts,
            "estimate": self.estimate,
        }

    def measure(self, parameters: Any, info: DriveInfo) -> Steps:
        """Purge and fill; then rounds until they are steady."""
        for rounds in self._checked(parameters, info):
            yield from self._prepared(parameters, rounds)
            yield from rounds.steps(partial(self.job, parameters, info))

    def _checked(self, parameters: Any, info: DriveInfo) -> list[Rounds]:
        """All rounds; refused where a target does not hold their blocks."""
        of_run = list(self.rounds_of(parameters))
        for rounds in of_run:
            jobs = [(load, self.job(parameters, info, load)) for load in rounds.loads]
            loads = [replace(load, block_bytes=job.block_bytes) for load, job in jobs]
            check_fits(self.battery, loads, info)
        return of_run

    def _prepared(self, parameters: Any, rounds: Rounds) -> Iterator[Any]:
        """A stream is prepared with its own blocks, random requests with 128 KiB."""
        block = 128 * KIB if rounds.tracked.random else rounds.tracked.block_bytes
        return prepared(f"{rounds.battery}/prepare", parameters.fills, block_bytes=block)

    def job(self, parameters: Any, info: DriveInfo, load: Load) -> Job:
        """The job of a load in a round."""
        size = int(info.capacity_bytes * getattr(parameters, "range_percent", 100) / 100)
        threads = getattr(parameters, "threads", 1)
        job = load.job_for(parameters, info, size=size, threads=threads)
        return job if self.job_of is None else self.job_of(job)

    def estimate(self, parameters: Any, info: DriveInfo) -> Forecast:
        """The usual rounds of each, and as many as there may be."""
        forecasts = [
            rounds.forecast(
                partial(self.job, parameters, info), list(self._prepared(parameters, rounds))
            )
            for rounds in self._checked(parameters, info)
        ]
        return Forecast(
            expected=[step for forecast in forecasts for step in forecast.expected],
            most=[step for forecast in forecasts for step in forecast.most or ()],
        )

    def conclude(self, record: Record) -> list[Finding]:
        """Whether the rounds are steady, and each load over the last five of them."""
        findings: list[Finding] = []
        for rounds in self.rounds_of(record.parameters):
            values = rounds.values_of(record)
            if not values:
                continue
            window = window_of(values)
            of_rounds = self.steadiness(rounds, values, window)
            for load in rounds.loads:
                if self.told is not None:
                    of_rounds += self.told(record, rounds, load)
                else:
                    of_rounds += cell(record, self.battery, rounds, load)
            findings += pts.marked(of_rounds, values, window)
        return findings

    def steadiness(
        self, rounds: Rounds, values: Sequence[float], window: Window | None
    ) -> list[Finding]:
        """The tracked value and the figures of both criteria."""
        load = rounds.tracked
        return pts.steadiness(
            self.battery,
            rounds.label(len(values), load),
            values,
            window,
            title=self.steady.format(load.access),
            unit=self.unit,
            better=self.better,
            scale=load.block_bytes / 1e6 if self.unit == "MB/s" else 1.0,
            variant="" if rounds.battery == self.battery else load.access,
        )

    def parts(self, parameters: Any, info: DriveInfo) -> list[Part]:
        """The preparation, then round after round; of several rounds each by itself."""
        parts: list[Part] = []
        for rounds in self.rounds_of(parameters):
            _, _, name = rounds.battery.rpartition("/")
            title = PREPARATION if rounds.battery == self.battery else f"{name} {PREPARATION}"
            parts += pts.round_parts(rounds.battery, parameters.rounds, title)
        return parts


def cell(record: Record, battery: str, rounds: Rounds, load: Load) -> list[Finding]:
    """A load over the last rounds as a cell of a grid."""
    label = rounds.label(len(rounds.values_of(record)), load)
    return pts.cell(battery, load, rounds.window(record, load), label)


@dataclass(frozen=True, kw_only=True)
class OverTime:
    """Loads that are kept up, each told over time.

    `anew`: each begins on a drive that is prepared and has rested for itself; otherwise all follow
    one another on a drive that was prepared and then written at random.
    """

    battery: str
    loads: Mapping[str, Load]
    titles: Mapping[str, str]
    anew: bool

    def functions(self) -> dict[str, Any]:
        """What the battery does, by the names of `Battery`."""
        return {"measure": self.measure, "conclude": self.conclude, "parts": self.parts}

    def _label(self, kind: str) -> str:
        return f"{self.battery}/{kind}/load" if self.anew else f"{self.battery}/{kind}"

    def measure(self, parameters: Any, info: DriveInfo) -> Steps:
        """Prepare the drive once, or before each load; keep the loads up."""
        check_fits(self.battery, [self.loads[kind] for kind in parameters.kinds], info)
        if not self.anew:
            stem = f"{self.battery}/prepare"
            yield from prepared(stem, parameters.fills)
            yield from scattered(f"{stem}/random", info, parameters.random_percent)
        for kind in parameters.kinds:
            if self.anew:
                stem = f"{self.battery}/{kind}"
                yield from prepared(stem, parameters.fills)
                if parameters.rest_s:
                    yield Rest(label=f"{stem}/rest", seconds=parameters.rest_s)
            job = self.loads[kind].job_for(parameters, info)
            yield from with_mark(over_time(self._label(kind), job))

    def conclude(self, record: Record) -> list[Finding]:
        """Each load over time."""
        return [
            finding
            for kind in record.parameters.kinds
            for finding in time_findings(
                record,
                Teller.of(record, self.battery, self._label(kind), self.titles[kind], kind),
                self.loads[kind],
            )
        ]

    def parts(self, parameters: Any, info: DriveInfo) -> list[Part]:
        """Each load; one that is cut short still tells its first stretch."""
        kinds: tuple[str, ...] = parameters.kinds
        if self.anew:
            stems = {kind: (f"{self.battery}/{kind}",) for kind in kinds}
            return [Part(title=kind, labels=stems[kind], begins=True) for kind in kinds]
        return prepared_parts(self.battery, {kind: self.titles[kind] for kind in kinds})
