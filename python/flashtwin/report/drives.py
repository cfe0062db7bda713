"""The runs of a page as its drives, each with a name of its own, and what their batteries show.

Invariants: no two drives of a page have the same name, whatever the runs are called; every finding
of every run belongs to one battery of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from flashtwin.batteries.base.present import (
    Column,
    Counterpart,
    Fact,
    Place,
    Plateau,
    Present,
    Section,
    Subject,
    Tile,
    present_of,
)
from flashtwin.charts.cells import Grid
from flashtwin.charts.curves import FEWEST_POINTS, PAGE_POINTS, Curve, Phase, curves_of
from flashtwin.charts.tables import Table
from flashtwin.model.findings import Findings
from flashtwin.model.series import Series
from flashtwin.runs.listing import settings_of, unique_names, with_settings
from flashtwin.runs.rundir import Run

# What a page draws: beyond that it takes minutes to make and does not open in a browser. A curve
# more would have fewer than `FEWEST_POINTS`.
MOST_DRIVES = 32
MOST_CURVES = PAGE_POINTS // FEWEST_POINTS
KINDS = {
    "twin": "simulated drive",
    "file": "file on a real drive",
    "files": "files on a real drive",
}


@dataclass(frozen=True, kw_only=True)
class Drive:
    """One run of the page. `name` is unique on it."""

    index: int
    name: str
    run: Run
    kind: str
    capacity_bytes: int
    state: str
    identity: dict[str, Any] = field(default_factory=dict)
    findings: Findings = field(default_factory=Findings)

    @property
    def long_name(self) -> str | None:
        """What the spec calls it, where that says more than the name."""
        text = self.identity.get("name")
        return str(text) if text and str(text) != self.name else None

    @property
    def full_name(self) -> str:
        """Its name for people: its label; the spec's name without its remarks in brackets, with
        what was set of it; of a file the drive underneath, where that says what it is."""
        plain = str(self.run.target.get("name"))
        if self.run.is_simulated and self.name in (plain, with_settings(plain, self.run)):
            name = (self.long_name or self.name).partition(" (")[0]
            scale = [f"scale {text}" for text in settings_of(self.run, ("--scale",))]
            return ", ".join([name, *settings_of(self.run), *scale])
        device = self.run.host.get("device")
        under = self.run.host.get("device_model") or (f"disk {device}" if device else None)
        return f"{under} (file {self.name})" if under and self.kind == "file" else self.name

    @property
    def kind_name(self) -> str:
        return KINDS.get(self.kind, self.kind)

    @cached_property
    def uses(self) -> dict[str, dict[str, Any]]:
        """What the manifest says of each battery that the run was asked for."""
        rows = self.run.manifest.get("batteries")
        if not isinstance(rows, list):
            return {}
        return {str(row.get("name")): row for row in rows if isinstance(row, dict)}

    def subject(self, battery: str) -> Subject | None:
        """What a battery left in the run; none where it was not run."""
        findings = Findings(finding for finding in self.findings if finding.battery == battery)
        steps = [step for step in self.run.steps if step.battery == battery]
        if battery not in self.uses and not findings and not steps:
            return None
        settings = self.uses.get(battery, {}).get("parameters")
        can = self.run.target.get("can")
        return Subject(
            index=self.index,
            name=self.name,
            battery=battery,
            findings=findings,
            labels=tuple(step.label for step in steps if step.duration_ns),
            refused=tuple(step.label for step in steps if step.not_possible),
            whole=not isinstance(can, dict) or can.get("whole_drive") is not False,
            settings=settings if isinstance(settings, dict) else {},
        )

    def series_of(self, phase: Phase) -> list[Series]:
        """What the host saw in the steps of a phase, in their order."""
        labels = (phase.label, *phase.goes_on)
        steps = [step for step in self.run.steps if step.label in labels and step.kind == "run"]
        return [self.run.series(step.step) for step in steps]


@dataclass(frozen=True, kw_only=True)
class BatterySection:
    """A battery on a page: how it is shown, and what it left in which drives."""

    battery: str
    present: Present
    subjects: tuple[Subject, ...]

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        return self._section.tables

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        return self._section.grids

    @cached_property
    def facts(self) -> list[Fact]:
        return list(self.present.facts(self.subjects))

    @cached_property
    def _section(self) -> Section:
        return self.present.section(self.subjects)


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The drives of a page, and everything that their batteries hand over."""

    drives: tuple[Drive, ...]
    batteries: tuple[BatterySection, ...]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Contents:
        """The runs as drives, in the order given; batteries in the order of appearance."""
        names = unique_names(runs)
        drives = tuple(_drive(index, names[index], run) for index, run in enumerate(runs))
        return cls._of_drives(drives)

    @classmethod
    def _of_drives(cls, drives: tuple[Drive, ...]) -> Contents:
        section = [_section(name, drives) for name in _batteries(drives)]
        return cls(drives=drives, batteries=tuple(section))

    def drawn(self) -> Contents:
        """The first drives, with all that is drawn of them: as many as a page has room for."""
        count, curves = 0, 0
        for drive in self.drives[:MOST_DRIVES]:
            curves += len(self.phases[drive.index])
            if count and curves > MOST_CURVES:
                break
            count += 1
        return self if count == len(self.drives) else self._of_drives(self.drives[:count])

    @cached_property
    def phases(self) -> dict[int, dict[str, Phase]]:
        """The phases of each drive by their steps' labels, in the order of the run."""
        by_drive: dict[int, dict[str, Phase]] = {drive.index: {} for drive in self.drives}
        for section in self.batteries:
            for subject in section.subjects:
                phases = {phase.label: phase for phase in section.present.phases(subject)}
                by_drive[subject.index].update(phases)
        return by_drive

    @cached_property
    def curves(self) -> list[Curve]:
        """All curves of all drives, without those in which nothing was done."""
        return [
            curve
            for drive in self.drives
            for step in drive.run.steps
            if (phase := self.phases[drive.index].get(step.label)) and step.kind == "run"
            for curve in curves_of(drive.index, phase, *drive.series_of(phase))
        ]

    @property
    def tables(self) -> list[Table]:
        """Findings of all batteries, but for those in grids."""
        return [table for section in self.batteries for table in section.tables]

    @property
    def grids(self) -> list[Grid]:
        """Grids of cells of all batteries."""
        return [grid for section in self.batteries for grid in section.grids]

    @property
    def facts(self) -> list[Fact]:
        """The sentences of all batteries."""
        return [fact for section in self.batteries for fact in section.facts]

    def places(self) -> Iterator[tuple[Drive, Place]]:
        """The edges in curves that findings name."""
        for section in self.batteries:
            for subject in section.subjects:
                for place in section.present.places(subject):
                    yield self.drives[subject.index], place

    def plateaus(self) -> Iterator[tuple[Drive, Plateau]]:
        """The stretches of curves over which their speed is written."""
        for section in self.batteries:
            for subject in section.subjects:
                for plateau in section.present.plateaus(subject):
                    yield self.drives[subject.index], plateau

    def counterparts(self, drive: Drive) -> Iterator[Counterpart]:
        """What the findings of a drive are about inside a twin."""
        for present, subject in self._shown(drive):
            yield from present.counterparts(subject)

    def tiles(self, drive: Drive) -> list[Tile]:
        """The numbers beside a drive's name."""
        return [tile for present, subject in self._shown(drive) for tile in present.tiles(subject)]

    def alone(self, drive: Drive) -> str:
        """What the first battery with something to say puts first about a drive; one that ranks it
        goes before one that only has words, such as whether it meets its ratings."""
        return next(filter(None, (at.alone(of) for at, of in self._ranking_first(drive))), "")

    def brief(self, drive: Drive) -> str:
        """What `alone` says, for a line that has room for little."""
        return next(filter(None, (at.brief(of) for at, of in self._ranking_first(drive))), "")

    def _ranking_first(self, drive: Drive) -> list[tuple[Present, Subject]]:
        return sorted(self._shown(drive), key=lambda shown: not any(shown[0].columns(shown[1])))

    def _shown(self, drive: Drive) -> Iterator[tuple[Present, Subject]]:
        """What each battery left in a drive, and how it is shown."""
        for section in self.batteries:
            for subject in section.subjects:
                if subject.index == drive.index:
                    yield section.present, subject

    def columns(self) -> list[dict[int, Column]]:
        """The columns by which drives are ranked, each with a finding by drive; empty ones are
        left out."""
        ranked: list[dict[int, Column]] = []
        for section in self.batteries:
            by_title: dict[str, dict[int, Column]] = {}
            for subject in section.subjects:
                for column in section.present.columns(subject):
                    if column.finding is not None and column.finding.value is not None:
                        by_title.setdefault(column.title, {})[subject.index] = column
            ranked += by_title.values()
        return ranked


def _section(battery: str, drives: Sequence[Drive]) -> BatterySection:
    subjects = [drive.subject(battery) for drive in drives]
    return BatterySection(
        battery=battery,
        present=present_of(battery),
        subjects=tuple(subject for subject in subjects if subject is not None),
    )


def _batteries(drives: Sequence[Drive]) -> list[str]:
    """Every battery that a run was asked for, or has steps or findings of."""
    names: dict[str, None] = {}
    for drive in drives:
        names.update(dict.fromkeys(drive.uses))
        names.update(dict.fromkeys(step.battery for step in drive.run.steps))
        names.update(dict.fromkeys(finding.battery for finding in drive.findings))
    return list(names)


def _drive(index: int, name: str, run: Run) -> Drive:
    target = run.target
    identity = target.get("identity")
    capacity = target.get("capacity_bytes")
    return Drive(
        index=index,
        name=name,
        run=run,
        kind=str(target.get("kind", "drive")),
        capacity_bytes=capacity if isinstance(capacity, int) else 0,
        state=run.state,
        identity=identity if isinstance(identity, dict) else {},
        findings=Findings(run.findings),
    )
