"""The section of a page that sets runs against the first of them: findings, curves, latencies.

The numbers are those of `comparison`; here they become text, charts and small pictures. The charts
are those of the report, over the same axis, so they zoom with it: the curves of both runs over one
another, and under them by how many % the other one is faster at each place. The pictures are drawn
as paths and not by the scripts: each curve in outline, and each finding with its interval on a
scale of its own. Invariant: every run is counted, however many there are; of those that the page
draws, what differs significantly is on it, whatever else is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flashtwin.charts import figures, numbers
from flashtwin.charts.curves import Phase, path
from flashtwin.charts.numbers import compact, steps
from flashtwin.model import units
from flashtwin.model.text import Shown
from flashtwin.report.drives import Contents, Drive

if TYPE_CHECKING:
    from flashtwin.model.finding import Finding
    from flashtwin.runs.compare.compare import Comparison, Pair
    from flashtwin.runs.compare.curves import CurvePair
    from flashtwin.runs.compare.latencies import LatencyPair
    from flashtwin.runs.compare.measures import Measure

# Of the box in which intervals are drawn, and of a value of a set-up.
BARS, MARGIN, LONGEST = 90, 5, 80
QUIET = ("same", "no value", "not measured")
VERDICTS = {
    "better": "better",
    "worse": "worse",
    "differs": "differs",
    "appeared": "found here only",
    "vanished": "not found here",
    "not measured": "not measured here",
    "unclear": "cannot be told",
}


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A value and its interval, in pixels of a box that holds those of both runs."""

    y: int
    at: float
    low: float
    high: float
    drive: Drive


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A value in which the set-ups differ, as each run has it."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """A finding that is not the same; `heading` is what its table is called, with its pattern."""

    id: str
    heading: str
    title: str
    pattern: str
    base: str
    other: str
    percent: str
    beyond: str
    verdict: str
    failed: bool
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CurveRow:
    """A curve of both runs: the differences as text, and the two lines as paths in one box."""

    name: str
    percent: str
    typical: str
    largest: str
    base: str
    other: str


@dataclass(frozen=True, kw_only=True)
class LatencyRow:
    """Percentiles of both runs in a row each: (name, first run, other run, shift)."""

    name: str
    cells: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """The first drive against another one."""

    number: int
    base: Drive
    other: Drive
    phases: tuple[str, ...]
    changes: tuple[Change, ...]
    same: int
    curves: tuple[CurveRow, ...]
    latencies: tuple[LatencyRow, ...]
    failures: int

    @property
    def headed(self) -> list[tuple[str, list[Change]]]:
        """The findings, by the headings of their tables."""
        rows: dict[str, list[Change]] = {}
        for change in self.changes:
            rows.setdefault(change.heading, []).append(change)
        return list(rows.items())


def counted(
    comparison: Comparison, every: Contents
) -> list[tuple[Drive, list[tuple[str, int]], int]]:
    """How many findings of each run are better, worse and so on, in that order, also of runs that
    the page does not draw; the last count is of those that are the same. Then how many are beyond
    their limits."""
    rows = []
    for _, pair, drive in _pairs(comparison, every):
        failed = {failure.measure.id for failure in pair.failures}
        there = Counter[str](measure.verdict for measure in _changed(pair, failed))
        counts = [(word, there[verdict]) for verdict, word in VERDICTS.items() if there[verdict]]
        same = sum(measure.verdict == "same" for measure in pair.measures)
        rows.append((drive, [*counts, ("the same", same)], len(failed)))
    return rows


def _changed(pair: Pair, failed: set[str]) -> list[Measure]:
    return [
        measure for measure in pair.measures if measure.verdict not in QUIET or measure.id in failed
    ]


def sections_of(comparison: Comparison, contents: Contents) -> list[Section]:
    """A section for each pair that is drawn, in the order of the runs."""
    return [
        _section(number, pair, contents, drive)
        for number, pair, drive in _pairs(comparison, contents)
    ]


def setups_of(comparison: Comparison, count: int) -> list[Setup]:
    """The values in which the set-ups differ, of the first `count` runs. A hash is shown only where
    nothing else explains the difference."""
    rows = comparison.setups.rows
    spelled = any(row.section == "spec" for row in rows)
    return [
        Setup(
            key=f"{row.section} {row.key}",
            values=_readable(row.values)[:count],
        )
        for row in rows
        if not (spelled and (row.section, row.key) == ("target", "hash"))
    ]


def _readable(values: Sequence[str | None]) -> tuple[str, ...]:
    """Values as people write them: long counts of bytes in larger units, where they still differ
    then, and no long text."""
    # JSON writes null for what a run does not know.
    known = [numbers.MISSING if text in (None, "null") else text for text in values]
    texts = units.readable_sizes([text or numbers.MISSING for text in known])
    return tuple(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026" for text in texts)


def same_findings(comparison: Comparison) -> frozenset[str]:
    """The ids of findings that are equal in all runs."""
    verdicts: dict[str, set[str]] = {}
    for pair in comparison.pairs:
        for measure in pair.measures:
            verdicts.setdefault(measure.id, set()).add(measure.verdict)
    return frozenset(name for name, known in verdicts.items() if known <= {"same", "no value"})


def payload(comparison: Comparison, contents: Contents) -> list[dict[str, Any]]:
    """The differences of the curves in columns, for the page: `percent` up to each of `gb`."""
    return [
        {
            "pair": number,
            "drive": drive.index,
            "group": phase.group,
            "phase": phase.name,
            "direction": curve.direction,
            "gb": steps(np.append(0.0, curve.gb)),
            "percent": compact((curve.other / curve.base - 1) * 100, 4),
        }
        for number, pair, drive in _pairs(comparison, contents)
        for curve, phase in _drawn(pair, contents)
    ]


def panels(comparison: Comparison, contents: Contents, phases: Sequence[str]) -> dict[str, Any]:
    """The two charts of each pair that has curves, by the ids of their places."""
    charts: dict[str, Any] = {}
    base = contents.drives[0]
    for number, pair, drive in _pairs(comparison, contents):
        if not _drawn(pair, contents):
            continue
        sides = [base, drive]
        spec = figures.throughput(sides, phases, "gb")
        common = {"drives": [side.index for side in sides], "pair": number}
        charts[f"both-{number}"] = {"kind": "throughput", "axis": "gb", "spec": spec, **common}
        description = f"{drive.name} against {base.name} in % over data written"
        spec = figures.deltas(sides, phases, description)
        charts[f"delta-{number}"] = {"kind": "delta", "axis": "gb", "spec": spec, **common}
    return charts


def _pairs(comparison: Comparison, contents: Contents) -> Iterator[tuple[int, Pair, Drive]]:
    """The pairs of the drives that the contents have, which may be fewer than were compared."""
    pairs = zip(comparison.pairs, contents.drives[1:], strict=False)
    return ((number, pair, drive) for number, (pair, drive) in enumerate(pairs, 1))


def _drawn(pair: Pair, contents: Contents) -> list[tuple[CurvePair, Phase]]:
    """The curves that the page draws; cells of a grid have bars instead."""
    phases = contents.phases[contents.drives[0].index]
    return [(curve, phases[curve.label]) for curve in pair.curves if curve.label in phases]


def _section(number: int, pair: Pair, contents: Contents, other: Drive) -> Section:
    base = contents.drives[0]
    failed = {failure.measure.id for failure in pair.failures}
    headings = _headings(contents)
    return Section(
        number=number,
        base=base,
        other=other,
        phases=tuple(sorted({phase.name for _, phase in _drawn(pair, contents)})),
        changes=tuple(
            _change(measure, headings.get(measure.id), measure.id in failed, base, other)
            for measure in _changed(pair, failed)
        ),
        same=sum(measure.verdict == "same" for measure in pair.measures),
        curves=tuple(map(_curve, pair.curves)),
        latencies=tuple(map(_latency, pair.latencies)),
        failures=len(failed),
    )


def _headings(contents: Contents) -> dict[str, str]:
    """What the table or grid of each finding is called, with the pattern as a reader knows it."""
    of_tables = {
        finding.id: ", ".join(filter(None, (table.title, table.pattern)))
        for table in contents.tables
        for part in table.parts
        for row in part.rows
        for finding in row.findings.values()
    }
    of_grids = {
        finding.id: grid.title for grid in contents.grids for finding in grid.values.values()
    }
    return of_tables | of_grids


def _change(
    measure: Measure, heading: str | None, failed: bool, base: Drive, other: Drive
) -> Change:
    variant = measure.finding.variant
    cell = variant.replace("-", " ")
    return Change(
        id=measure.id,
        heading=heading or measure.finding.battery,
        title=measure.title,
        # A heading with a pattern, and a title with its cell, have said it.
        pattern="" if ", " in (heading or "") or cell in measure.title else variant,
        base=_value(measure.base),
        other=_value(measure.other),
        percent=signed(measure.percent),
        beyond=numbers.MISSING
        if measure.beyond is None
        else f"{numbers.significant(measure.beyond, 2)} %",
        verdict=VERDICTS.get(measure.verdict, measure.verdict),
        failed=failed,
        bars=tuple(_bars([(measure.base, base), (measure.other, other)])),
    )


def _bars(sides: Sequence[tuple[Finding | None, Drive]]) -> list[Bar]:
    """Both values with their intervals, from the least to the largest of their ends."""
    there = [
        (finding, finding.number, drive)
        for finding, drive in sides
        if finding is not None and finding.number is not None
    ]
    ends = [
        end
        for finding, value, _ in there
        for end in (value, finding.low, finding.high)
        if end is not None
    ]
    if not ends or min(ends) == max(ends):
        return []
    scale = (BARS - 2 * MARGIN) / (max(ends) - min(ends))

    def place(value: float) -> float:
        return round(MARGIN + (value - min(ends)) * scale, 1)

    return [
        Bar(
            y=7 + 10 * row,
            at=place(value),
            low=place(value if finding.low is None else finding.low),
            high=place(value if finding.high is None else finding.high),
            drive=drive,
        )
        for row, (finding, value, drive) in enumerate(there)
    ]


def _value(finding: Finding | None) -> str:
    if finding is None:
        return numbers.MISSING
    return Shown.of(finding).text


def signed(percent: float | None) -> str:
    """A difference in %, with its sign and no more digits than it deserves."""
    if percent is None:
        return numbers.MISSING
    if abs(percent) < 0.005:
        return "0 %"
    sign = "+" if percent > 0 else ""
    return f"{sign}{numbers.fixed(percent, 1 if abs(percent) >= 1 else 2)} %"


def _curve(curve: CurvePair) -> CurveRow:
    top = float(max(curve.base.max(), curve.other.max()))
    return CurveRow(
        name=curve.name,
        percent=signed(curve.percent),
        typical=signed(curve.typical),
        largest=f"{signed(curve.largest)} at {numbers.significant(curve.at_gb)} GB",
        base=path(curve.gb / curve.gb[-1], curve.base / top),
        other=path(curve.gb / curve.gb[-1], curve.other / top),
    )


def _latency(pair: LatencyPair) -> LatencyRow:
    cells = [
        (
            f"p{share:g}",
            f"{numbers.significant(pair.base[share] / 1000)} µs",
            f"{numbers.significant(pair.other[share] / 1000)} µs",
            signed(pair.shift(share)),
        )
        for share in pair.base
    ]
    return LatencyRow(name=f"{pair.label}, {pair.direction}", cells=tuple(cells))
