"""What a page shows of CrystalDiskMark: the grid of its cells, and where drives differ most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flashtwin.batteries.base.present import Claim, Column, Fact, Present, Section, Subject
from flashtwin.batteries.crystaldiskmark import PROFILES
from flashtwin.batteries.crystaldiskmark.score import DIRECTIONS
from flashtwin.charts import numbers
from flashtwin.charts.cells import Cell, Grid, Key, Metric
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings

WAYS = {"read": "Read", "write": "Write", "mix": "Mixed"}
SPEED = "speed"
METRICS = (
    Metric(id=SPEED, title="Speed", unit="MB/s", column="MB_per_s", drawn="tile"),
    Metric(id="iops", title="Rate", unit="IOPS", column="iops", drawn="depth"),
    Metric(id="latency", title="Latency", unit="us", column="latency_us", drawn="dots"),
)
# Way and metric of a finding by its name.
NAMES = {
    way if metric.id == SPEED else f"{way}.{metric.id}": (way, metric.id)
    for way in DIRECTIONS
    for metric in METRICS
}
KNOWN = {str(cell): cell for cells in PROFILES.values() for cell in cells}
SINGLE = "RND4K-Q1T1"
# Drives that differ by less are the same for a reader.
WORTH_SAYING = 1.1


class CrystalDiskMarkPresent(Present):
    """Cells by read, write and mix."""

    title = "CrystalDiskMark"

    def section(self, subjects: Sequence[Subject]) -> Section:
        """The grid, and a table of what is no cell of it."""
        rest = [_without_cells(subject) for subject in subjects]
        others = [subject for subject in rest if subject.findings]
        cells = grid(subjects)
        return Section(
            tables=super().section(others).tables if others else (),
            grids=() if cells is None else (cells,),
        )

    def facts(self, subjects: Sequence[Subject]) -> list[Fact]:
        """The cell in which drives differ most."""
        cells = grid(subjects)
        if cells is None or len(subjects) < 2:
            return []
        names = {subject.index: subject.name for subject in subjects}
        widest: tuple[float, str, list[tuple[float, str]]] | None = None
        for cell, way in cells.places():
            speeds = [
                (finding.number, names[drive])
                for drive in names
                if (finding := cells.values.get((drive, cell.id, way, SPEED))) and finding.number
            ]
            if len(speeds) > 1:
                ratio = max(speeds)[0] / min(speeds)[0]
                if widest is None or ratio > widest[0]:
                    widest = (ratio, f"{cell.title} {way}", speeds)
        return [] if widest is None else [_difference(*widest)]

    def columns(self, subject: Subject) -> list[Column]:
        """Single requests of 4 KiB, which is what most programs wait for."""
        return [
            Column(
                title=f"4 KiB QD1 {way}",
                finding=subject.finding(way, SINGLE),
                better="higher",
                tile="4 KiB QD1 read / write",
                claim=Claim(
                    than=f"{way}s 4\u00a0KiB {{}} faster", most=f"{way}s 4\u00a0KiB fastest"
                ),
            )
            for way in ("read", "write")
        ]


def grid(subjects: Sequence[Subject]) -> Grid | None:
    """The cells of all drives; none where no drive has one."""
    values: dict[Key, Finding] = {}
    for subject in subjects:
        for finding in subject.findings:
            if finding.name in NAMES and finding.number is not None:
                way, metric = NAMES[finding.name]
                values[subject.index, finding.variant, way, metric] = finding
    if not values:
        return None
    cells = dict.fromkeys(cell for _, cell, _, _ in values)
    used = {way for _, _, way, _ in values}
    return Grid(
        id="crystaldiskmark",
        title=CrystalDiskMarkPresent.title,
        cells=tuple(_cell(name) for name in cells),
        ways={way: title for way, title in WAYS.items() if way in used},
        metrics=METRICS,
        values=values,
    )


def _cell(name: str) -> Cell:
    """Cells of one access and block size share a scale."""
    known = KNOWN.get(name)
    if known is None:
        return Cell(id=name, title=name, kind=name)
    depth = known.depth * known.threads
    return Cell(id=name, title=known.title, kind=known.access, depth=depth)


def _without_cells(subject: Subject) -> Subject:
    rest = [
        finding
        for finding in subject.findings
        if finding.name not in NAMES or finding.number is None
    ]
    return replace(subject, findings=Findings(rest))


def _difference(ratio: float, where: str, speeds: Sequence[tuple[float, str]]) -> Fact:
    if ratio < WORTH_SAYING:
        return Fact(text="In CrystalDiskMark they differ by less than 10 % in every cell.")
    high, low = max(speeds), min(speeds)
    return Fact(
        text=f"In CrystalDiskMark they differ most in {where}: {numbers.mbs(high[0])} ({high[1]}) "
        f"against {numbers.mbs(low[0])} ({low[1]}), {numbers.significant(ratio, 2)} times."
    )


PRESENT = CrystalDiskMarkPresent()
