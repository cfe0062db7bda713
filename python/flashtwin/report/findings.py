"""Findings side by side: a table a battery and pattern, a row a finding, a column a drive.

Invariants: every finding of every run is on the page once; what has no value shows why. The text
that explains a finding is the catalogue's, the same that `flashtwin explain` prints.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.catalogue.explain import Meaning, explain
from flashtwin.errors import FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.report import cells, numbers
from flashtwin.report.view import Drive, pattern_title

SECOND = "second_pass."
# Findings of the passes after the first: what their ids have, and what their titles begin with.
LATER = re.compile(r"\.([a-z0-9]+)_pass\.")
LATER_TITLE = re.compile(r"^\w+ pass: ")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One finding of one drive as it stands in the table."""

    drive: int
    id: str
    value: str
    interval: str | None
    unit: str
    beside: str | None
    missing: bool
    note: str | None
    note_number: int | None


@dataclass(frozen=True, kw_only=True)
class Row:
    """A finding of all drives; a drive that has none has no cell."""

    title: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows under a heading of their own, "" for none."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Group:
    """A table, and the notes that its numbers point to."""

    id: str
    battery: str
    title: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...]


def groups_of(drives: Sequence[Drive]) -> list[Group]:
    """Tables of everything but the cells of a grid, in order of appearance."""
    ids: dict[str, list[str]] = {}
    for drive in drives:
        for finding in drive.findings:
            if cells.place_of(finding) is None:
                known = ids.setdefault(group_of(finding), [])
                if finding.id not in known:
                    known.append(finding.id)
    return [_group(group, found, drives) for group, found in ids.items()]


def group_of(finding: Finding) -> str:
    """ "fill/128k-q32" for "fill.mean[128k-q32]": what the phases of the pattern are called too."""
    pattern = "" if finding.is_cell else finding.variant
    return f"{finding.battery}/{pattern}" if pattern else finding.battery


def _group(group: str, ids: Sequence[str], drives: Sequence[Drive]) -> Group:
    by_drive = [{finding.id: finding for finding in drive.findings} for drive in drives]
    notes: dict[str, int] = {}
    parts: dict[str, list[Row]] = {}
    for name in ids:
        mine = [found.get(name) for found in by_drive]
        made = tuple(
            None if finding is None else _cell(index, finding, notes)
            for index, finding in enumerate(mine)
        )
        title = next(finding.title for finding in mine if finding is not None).partition(" [")[0]
        row = Row(title=_capital(LATER_TITLE.sub("", title)), cells=made)
        parts.setdefault(_part_of(name, ids), []).append(row)
    return Group(
        id=group,
        battery=group.partition("/")[0],
        title=pattern_title(group),
        parts=tuple(Part(title=title, rows=tuple(rows)) for title, rows in parts.items()),
        notes=tuple(notes),
    )


def _part_of(name: str, ids: Sequence[str]) -> str:
    """The passes of a fill apart from each other, where there is more than one."""
    if not any(LATER.search(one) for one in ids):
        return ""
    later = LATER.search(name)
    return f"{_capital(later[1])} pass, on the full drive" if later else "First pass, from empty"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cell(drive: int, finding: Finding, notes: dict[str, int]) -> Cell:
    shown = Shown.of(finding)
    number = notes.setdefault(finding.note, len(notes) + 1) if finding.note else None
    return Cell(
        drive=drive,
        id=finding.id,
        value=shown.value,
        interval=shown.interval,
        unit=shown.unit,
        beside=shown.beside,
        missing=finding.value is None,
        note=finding.note,
        note_number=number,
    )


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A value for reading: a share in %, long microseconds in ms; `beside` says it another way."""

    value: str
    interval: str | None
    unit: str
    beside: str | None = None

    @classmethod
    def of(cls, finding: Finding) -> Shown:
        if isinstance(finding.value, str):
            return cls(value=finding.value, interval=None, unit=finding.unit)
        if finding.value is None:
            return cls(value=numbers.MISSING, interval=None, unit="")
        factor, unit = _scale(finding, finding.value)
        low, high = (
            None if side is None else side * factor for side in (finding.low, finding.high)
        )
        if finding.value == 0 and not low and high:
            most = f"at most {numbers.upwards(high)} {unit}"
            return cls(value="0", interval=None, unit=unit, beside=most)
        value, interval = numbers.with_interval(finding.value * factor, low, high)
        return cls(
            value=value, interval=interval, unit=unit, beside=_beside(finding, finding.value)
        )


def _scale(finding: Finding, value: float) -> tuple[float, str]:
    if finding.unit == "fraction":
        return 100.0, "%"
    if finding.unit == "us":
        return (0.001, "ms") if value >= 10_000 else (1.0, "µs")
    return 1.0, finding.unit


def _beside(finding: Finding, value: float) -> str | None:
    if finding.unit == "s" and value >= 100:
        return numbers.duration(value)
    return None


@dataclass(frozen=True, kw_only=True)
class GridRow:
    """A cell and direction of CrystalDiskMark: for each drive its speed, latency and rate."""

    title: str
    direction: str
    cells: tuple[tuple[Cell | None, ...], ...]


def grid_rows(grid: cells.Grid, drives: Sequence[Drive]) -> list[GridRow]:
    """All reads, all writes, all mixes, as the battery does them."""
    rows = []
    for direction in grid.directions:
        for place in grid.cells:
            made = tuple(
                tuple(
                    _grid_cell(grid, drive.index, place.cell, direction, metric)
                    for metric in cells.METRICS
                )
                for drive in drives
            )
            if any(cell is not None for of_drive in made for cell in of_drive):
                title = cells.DIRECTIONS[direction]
                rows.append(GridRow(title=place.title, direction=title, cells=made))
    return rows


def _grid_cell(grid: cells.Grid, drive: int, cell: str, direction: str, metric: str) -> Cell | None:
    finding = grid.values.get((drive, cell, direction, metric))
    return None if finding is None else _cell(drive, finding, {})


def payload(drives: Sequence[Drive]) -> list[dict[str, object]]:
    """By drive, what a click on a value shows: the whole interval, the note, the evidence."""
    return [{finding.id: _details(finding) for finding in drive.findings} for drive in drives]


def _details(finding: Finding) -> dict[str, object]:
    evidence = finding.evidence
    meaning = meaning_of(finding.id)
    return {
        "title": finding.title.partition(" [")[0],
        "value": finding.value,
        "low": finding.low,
        "high": finding.high,
        "unit": finding.unit,
        "note": finding.note,
        "means": None if meaning is None else meaning.id,
        "group": group_of(finding),
        "evidence": evidence
        and {
            "label": evidence.label,
            "axis": evidence.axis,
            "start": evidence.start,
            "end": evidence.end,
        },
    }


def meaning_of(name: str) -> Meaning | None:
    """What the catalogue says of a finding; a newer run may have one that it does not know."""
    try:
        return explain(name)
    except FlashtwinError:
        return None


def meanings_of(drives: Sequence[Drive]) -> list[Meaning]:
    """The entries for what is on the page, each once."""
    found = [meaning_of(finding.id) for drive in drives for finding in drive.findings]
    return list(dict.fromkeys(meaning for meaning in found if meaning is not None))
