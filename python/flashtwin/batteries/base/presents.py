"""How batteries that share their form are shown: synthetic traces, tools that go along the drive,
grids of SNIA's tests, latency over sizes.

Each is made by the function `present` of the module whose form it is (`base.traces`,
`base.series_pages`, `base.pts`), when a page is made: this module imports charts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from flashtwin.batteries.base import edges, registry
from flashtwin.batteries.base.grid import GridPresent
from flashtwin.batteries.base.present import Claim, Column, Present, Ranked, Section, Subject
from flashtwin.charts import tables
from flashtwin.charts.cells import Cell, Grid, Metric
from flashtwin.charts.curves import Phase
from flashtwin.model.finding import Finding
from flashtwin.model.text import plain
from flashtwin.model.units import parse_size, readable_size, show_size

if TYPE_CHECKING:
    from flashtwin.batteries.base.declaration import CurveRow, Page
    from flashtwin.batteries.base.series_pages import Way
    from flashtwin.batteries.base.traces import Traces


class DeclaredPresent(Present):
    """What a battery.toml says of a page (`base.declaration`)."""

    def __init__(self, battery: str, page: Page) -> None:
        self.battery, self.title, self.curves = battery, page.title, page.curves
        self.ranked = [
            Ranked(
                title=row.title,
                name=row.name,
                variant=row.variant,
                better=row.better,
                tile=row.tile,
                claim=Claim() if row.claim is None else Claim(**structs.asdict(row.claim)),
            )
            for row in page.ranked
        ]

    def phases(self, subject: Subject) -> list[Phase]:
        """The curves in their order; of a parameter's values those of the run."""
        return subject.phases(phase for row in self.curves for phase in self._of(row, subject))

    def _of(self, row: CurveRow, subject: Subject) -> Iterator[Phase]:
        values: Sequence[Any] = ("",)
        if row.each:
            parameters: Any = subject.parameters(registry.get(self.battery).parameters)
            values = getattr(parameters, row.each)
        for value in values:
            yield Phase(
                label=f"{self.battery}/{row.label.format(value)}",
                group=f"{self.battery}/{row.group.format(value)}" if row.group else self.battery,
                group_title=row.group_title.format(value) or self.title,
                name=row.name.format(value),
                title=row.title.format(value),
            )


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


class AlongPresent(Present):
    """Writing and reading along the drive, each a curve and a mean; `moved` names what the tool
    goes through."""

    def __init__(self, battery: str, *, title: str, moved: str, ways: Sequence[Way]) -> None:
        self.battery, self.title, self.moved, self.ways = battery, title, moved, ways
        self.ranked = [
            Ranked(
                title=f"{title} {way}",
                name="mean",
                variant=way,
                tile=f"{title} write / read",
                claim=Claim(alone=f"{way}s {{}} from end to end"),
            )
            for way in ways
        ]

    def phases(self, subject: Subject) -> list[Phase]:
        """Writing and reading, each by itself."""
        return subject.phases(
            Phase(
                label=f"{self.battery}/{way}",
                group=f"{self.battery}/{way}",
                group_title=f"{self.title} {way}",
                name=way,
                title=f"{way.capitalize()} {self.moved}",
            )
            for way in self.ways
        )


class PtsPresent(GridPresent):
    """Cells of the steady rounds of a test of SNIA's, from reads alone to writes alone."""

    def __init__(self, battery: str, *, title: str, ranked: Ranked) -> None:
        self.battery, self.title, self.ranked = battery, title, [ranked]

    def ways_of(self, subjects: Sequence[Subject]) -> dict[str, str]:
        """Titles of the ways of all cells, from reads alone to writes alone."""
        cells = [finding for subject in subjects for finding in subject.findings if finding.is_cell]
        names = {finding.name.partition(".")[0] for finding in cells}
        shares = sorted((int(way[3:]) for way in names if _is_mix(way)), reverse=True)
        return {
            "read": "Read",
            **{f"mix{share}": f"{share} % read" for share in shares},
            "write": "Write",
        }

    def cell(self, name: str) -> Cell:
        """Cells have no scale in common."""
        return Cell(id=name, title=name)


def _is_mix(way: str) -> bool:
    return way.startswith("mix") and way[3:].isdigit()


class KneePresent(Present):
    """Latency over sizes, and the size from which on it grows (`base.edges`). `request` says of
    what the latency is; a finding `size` has `unit_bytes` bytes a unit."""

    def __init__(self, battery: str, *, title: str, request: str, unit_bytes: float) -> None:
        self.battery, self.title, self.request = battery, title, request
        self.unit_bytes = unit_bytes
        claim = Claim(alone=f"has a {title[:1].lower()}{title[1:]} of {{}}")
        self.ranked = [Ranked(title=title, name=edges.SIZE, claim=claim)]

    def section(self, subjects: Sequence[Subject]) -> Section:
        """The chart, and a table of what it says."""
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
        table = (tables.table(self.title, "", rest),) if any(rest.values()) else ()
        if not cells:
            return Section(tables=table)
        drawn = Grid(
            id=self.battery,
            title=self.title,
            cells=tuple(_cell(size) for size in sorted({size for _, size in cells})),
            ways={"all": self.request},
            metrics=(
                Metric(id="latency", title="Latency", unit="us", column="latency_us", drawn="size"),
            ),
            values={
                (index, show_size(size), "all", "latency"): finding
                for (index, size), finding in cells.items()
            },
            knees=self._knees(subjects),
        )
        return Section(tables=table, grids=(drawn,))

    def _knees(self, subjects: Sequence[Subject]) -> dict[int, tuple[float, str]]:
        """Where each drive's latency begins to grow."""
        sizes = {subject.index: subject.finding(edges.SIZE, "") for subject in subjects}
        return {
            index: (finding.number * self.unit_bytes, plain(finding))
            for index, finding in sizes.items()
            if finding is not None and finding.number
        }


def _size_of(finding: Finding) -> int:
    """The size that a cell is of: its step is named by it, also where its variant is `all`, which
    is another size on each drive."""
    assert finding.evidence is not None, "a cell rests on its step"
    return parse_size(finding.evidence.label.rpartition("/")[2].partition("-")[0])


def _cell(size: int) -> Cell:
    return Cell(id=show_size(size), title=readable_size(size, binary=True), size_bytes=size)
