"""Findings as a grid of cells: each has its cell as variant, and its way and metric as name.

A finding called `read`, `read.latency` or `read.iops` is the speed, latency or rate of the cell
that is its variant. Findings with other names, or without a value, stand in the battery's tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from flashtwin.batteries.base.present import Present, Section, Subject
from flashtwin.charts import tables
from flashtwin.charts.cells import Cell, Grid, Key, Metric
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings

SPEED = "speed"
METRICS = (
    Metric(id=SPEED, title="Speed", unit="MB/s", column="MB_per_s", drawn="tile"),
    Metric(id="iops", title="Rate", unit="IOPS", column="iops", drawn="depth"),
    Metric(id="latency", title="Latency", unit="us", column="latency_us", drawn="dots"),
)


def place_of(name: str, ways: Mapping[str, str]) -> tuple[str, str] | None:
    """The way and the metric in a finding's name; none where the finding is no cell."""
    way, _, metric = name.partition(".")
    metric = metric or SPEED
    known = any(metric == row.id for row in METRICS)
    return (way, metric) if way in ways and known else None


def grid(
    battery: str,
    title: str,
    subjects: Sequence[Subject],
    ways: Mapping[str, str],
    cell_of: Callable[[str], Cell],
    metrics: tuple[Metric, ...] = METRICS,
) -> Grid | None:
    """The cells of all drives; none where no drive has one. `ways` has their titles, in order."""
    values: dict[Key, Finding] = {}
    for subject in subjects:
        for finding in subject.findings:
            place = place_of(finding.name, ways)
            if place is not None and finding.number is not None:
                values[subject.index, finding.variant, *place] = finding
    if not values:
        return None
    cells = dict.fromkeys(cell for _, cell, _, _ in values)
    used = {way for _, _, way, _ in values}
    return Grid(
        id=battery,
        title=title,
        cells=tuple(cell_of(name) for name in cells),
        ways={way: title for way, title in ways.items() if way in used},
        metrics=metrics,
        values=values,
    )


def others(subject: Subject, ways: Mapping[str, str]) -> Subject:
    """The subject with only the findings that are in no cell of the grid."""
    rest = [
        finding
        for finding in subject.findings
        if place_of(finding.name, ways) is None or finding.number is None
    ]
    return replace(subject, findings=Findings(rest))


class GridPresent(Present):
    """A battery whose findings are a grid of cells, with a table of those that are in none."""

    battery = ""
    ways: Mapping[str, str] = {}
    metrics: tuple[Metric, ...] = METRICS

    def cell(self, name: str) -> Cell:
        """The cell that a variant is."""
        return Cell(id=name, title=name, kind=name)

    def ways_of(self, subjects: Sequence[Subject]) -> Mapping[str, str]:
        """The ways of all cells with their titles, in order."""
        return self.ways

    def section(self, subjects: Sequence[Subject]) -> Section:
        """The grid, and the table."""
        ways = self.ways_of(subjects)
        rest = {subject.index: tuple(others(subject, ways).findings) for subject in subjects}
        cells = grid(self.battery, self.title, subjects, ways, self.cell, self.metrics)
        return Section(
            tables=(tables.table(self.title, "", rest),) if any(rest.values()) else (),
            grids=() if cells is None else (cells,),
        )


class DepthsPresent(GridPresent):
    """Cells of one access at several depths, used to read, to write and in mixes."""

    def ways_of(self, subjects: Sequence[Subject]) -> dict[str, str]:
        """Reads, writes, then mixes by their share of reads."""
        cells = [finding for subject in subjects for finding in subject.findings if finding.is_cell]
        ways = {finding.name.partition(".")[0] for finding in cells}
        mixes = sorted(way for way in ways if way.startswith("mix"))
        return {"read": "Read", "write": "Write"} | {
            way: f"{way.removeprefix('mix')} % read" for way in mixes
        }

    def cell(self, name: str) -> Cell:
        """Cells of one access and block size share a scale."""
        access, _, depth = name.partition("-Q")
        return Cell(
            id=name, title=f"{access} Q{depth}", kind=access, depth=int(depth) if depth else None
        )
