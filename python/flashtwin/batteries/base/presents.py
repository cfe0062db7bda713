"""How batteries are shown that share their form: what a battery.toml says of a page, and synthetic
traces.

Made when a page is made: this module imports charts. A battery whose page needs more than its
battery.toml can say has a module `present` with a class below `DeclaredPresent`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Self

from msgspec import structs

from flashtwin.batteries.base import edges, registry
from flashtwin.batteries.base.grid import METRICS, grid, others, with_mixes
from flashtwin.batteries.base.page import CurveRow, GridRow, Page, page_of
from flashtwin.batteries.base.present import Claim, Column, Present, Ranked, Section, Subject
from flashtwin.charts import tables
from flashtwin.charts.cells import Cell, Grid, Metric
from flashtwin.charts.curves import Phase
from flashtwin.model.finding import Finding
from flashtwin.model.text import plain
from flashtwin.model.units import parse_size, readable_size, show_size

if TYPE_CHECKING:
    from flashtwin.batteries.base.traces import Traces


class DeclaredPresent(Present):
    """What a battery.toml says of a page (`base.page`)."""

    def __init__(self, battery: str, page: Page) -> None:
        self.battery, self.title, self.page = battery, page.title, page
        self.ranked = [
            Ranked(**(structs.asdict(row) | {"claim": Claim(**structs.asdict(row.claim))}))
            for row in page.ranked
        ]

    @classmethod
    def beside(cls, module: str) -> Self:
        """That of the battery.toml beside a module, which passes its `__file__`."""
        return cls(*page_of(module))

    def section(self, subjects: Sequence[Subject]) -> Section:
        """Tables of the findings, but for those of a grid or of a chart over sizes."""
        if self.page.grid is not None:
            return self._of_grid(self.page.grid, subjects)
        return self._over_sizes(subjects) if self.page.over_sizes else super().section(subjects)

    def _of_grid(self, row: GridRow, subjects: Sequence[Subject]) -> Section:
        ways: Mapping[str, str] = row.ways
        if row.mixes:
            ways = with_mixes(ways, row.mixes, subjects)
        metrics: tuple[Metric, ...] = METRICS
        if row.drawn is not None:
            drawn = structs.asdict(row.drawn)
            metrics = tuple(replace(metric, drawn=drawn[metric.id]) for metric in METRICS)
        cells = grid(
            self.battery, self.title, subjects, ways, lambda name: _cell(row, name), metrics
        )
        rest = {subject.index: tuple(others(subject, ways).findings) for subject in subjects}
        return self._section(rest, cells)

    def _section(self, rest: Mapping[int, Sequence[Finding]], drawn: Grid | None) -> Section:
        table = tables.table(self.title, "", rest) if any(rest.values()) else None
        return Section(
            tables=() if table is None else (table,), grids=() if drawn is None else (drawn,)
        )

    def _over_sizes(self, subjects: Sequence[Subject]) -> Section:
        """Latency over sizes with the size from which on it grows (`base.edges`), and a table of
        what that says."""
        cells = {
            (subject.index, _size_of(finding)): finding
            for subject in subjects
            for finding in subject.findings
            if finding.name == edges.LATENCY
        }
        rest = {
            subject.index: tuple(f for f in subject.findings if f.name != edges.LATENCY)
            for subject in subjects
        }
        latency = Metric(
            id="latency", title="Latency", unit="us", column="latency_us", drawn="size"
        )
        begins = {subject.index: subject.finding(edges.SIZE, "") for subject in subjects}
        drawn = Grid(
            id=self.battery,
            title=self.title,
            cells=tuple(
                Cell(id=show_size(size), title=readable_size(size, binary=True), size_bytes=size)
                for size in sorted({size for _, size in cells})
            ),
            ways={"all": self.page.over_sizes},
            metrics=(latency,),
            values={
                (index, show_size(size), "all", latency.id): finding
                for (index, size), finding in cells.items()
            },
            knees={
                index: (finding.number * float(parse_size(f"1{finding.unit}")), plain(finding))
                for index, finding in begins.items()
                if finding is not None and finding.number
            },
        )
        return self._section(rest, drawn if cells else None)

    def phases(self, subject: Subject) -> Sequence[Phase]:
        """The curves in their order; of a parameter's values those of the run."""
        return subject.phases(phase for row in self.page.curves for phase in self._of(row, subject))

    def _of(self, row: CurveRow, subject: Subject) -> Iterator[Phase]:
        values: Sequence[tuple[Any, str]] = (("", ""),)
        if row.each:
            of = registry.get(self.battery).parameters
            values = list(_typed(of, row.each, subject.parameters(of)))
        after = f"{self.battery}/{row.goes_on}/"
        for value, typed in values:
            label, name, title, group, group_title = (
                text.format(value, typed=typed)
                for text in (row.label, row.name, row.title, row.group, row.group_title)
            )
            yield Phase(
                label=f"{self.battery}/{label}",
                group=f"{self.battery}/{group}" if group else self.battery,
                group_title=group_title or self.title,
                name=name,
                title=title,
                goes_on=tuple(
                    label for label in subject.labels if row.goes_on and label.startswith(after)
                ),
            )


def _typed(of: type[Any], name: str, parameters: Any) -> Iterator[tuple[Any, str]]:
    """The values of a parameter, each also as it is typed."""
    (kind,) = (field.metadata["kind"] for field in fields(of) if field.name == name)
    return ((value, kind.show((value,))) for value in getattr(parameters, name))


def _cell(row: GridRow, name: str) -> Cell:
    """The cell that a variant is, by the first row that fits it."""
    for cell in row.cells:
        match = re.fullmatch(cell.fits, name)
        if match:
            parts = match.groupdict()
            return Cell(
                id=name,
                title=cell.title.format(**parts),
                kind=cell.kind.format(**parts),
                depth=int(parts["depth"]) if "depth" in parts else None,
            )
    return Cell(id=name, title=name)


def _size_of(finding: Finding) -> int:
    """The size that a cell is of: its step is named by it, also where its variant is `all`, which
    is another size on each drive."""
    assert finding.evidence is not None, "a cell rests on its step"
    return parse_size(finding.evidence.label.rpartition("/")[2].partition("-")[0])


class TracesPresent(Present):
    """Synthetic traces: a row a part, and the score that ranks drives."""

    def __init__(self, traces: Traces) -> None:
        self.traces, self.title = traces, traces.title

    def section(self, subjects: Sequence[Subject]) -> Section:
        """The whole first, then every part."""
        totals = {subject.index: _of(subject, part=False) for subject in subjects}
        parts = {subject.index: _of(subject, part=True) for subject in subjects}
        named = [(self.title, totals), (f"{self.title}, parts", parts)]
        return Section(
            tables=tuple(
                tables.table(title, "", columns)
                for title, columns in named
                if any(columns.values())
            )
        )

    def columns(self, subject: Subject) -> list[Column]:
        """The score; of those without one the time of the first part."""
        if self.traces.scoring != "time":
            score = subject.finding("score", "")
            claim = Claim(
                than=f"scores {{}} higher in {self.title} traces",
                most=f"scores highest in {self.title} traces",
                alone=f"scores {{}} in {self.title} traces",
                what=f"the score in {self.title} traces",
            )
            title = f"{self.title} score"
            return [Column(title=title, finding=score, better="higher", claim=claim)]
        first = self.traces.mixes[0]
        return [
            Column(
                title=first.title,
                finding=subject.finding("part.time", first.name),
                better="lower",
                claim=Claim(alone=f"needs {{}} for {first.title}"),
            )
        ]


def _of(subject: Subject, *, part: bool) -> tuple[Finding, ...]:
    return tuple(
        finding for finding in subject.findings if finding.name.startswith("part.") is part
    )
