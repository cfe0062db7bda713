"""Findings side by side: the batteries' tables, with what a reader gets on a click.

Invariants: every finding of every run is on the page once, but for the probabilities of answers,
which are one bar without those next to nothing; what has no value shows why. The text
that explains a finding is the catalogue's, the same that `flashtwin explain` prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from flashtwin.batteries.base.meaning import Meaning
from flashtwin.batteries.base.registry import meaning_of
from flashtwin.charts.tables import Table
from flashtwin.model.finding import Finding
from flashtwin.model.shares import Share, shares_of, told
from flashtwin.model.text import MISSING, Shown
from flashtwin.report.drives import Drive
from flashtwin.report.truth import Truth

Truths = Mapping[tuple[int, str], Truth]
NO_TRUTHS: Truths = MappingProxyType({})


# Folds of a table, as their summaries call them.
SAME, NOT_FOUND = "The same in all runs", "Not found"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One finding of one drive as it stands in a table."""

    drive: int
    id: str
    value: str
    spread: str | None
    unit: str
    beside: str | None
    missing: bool
    note: str | None
    note_number: int | None
    truth: Truth | None = None
    # Of a choice, how probable each answer is, the most probable first.
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Row:
    """A finding of all drives; a drive that has none has no cell. `same`: it is equal in all."""

    title: str
    cells: tuple[Cell | None, ...]
    same: bool = False

    @property
    def fold(self) -> str:
        """The fold in which it stands: of those that are the same, or that no drive has; "" for
        none."""
        if self.same:
            return SAME
        texts = [cell.value for cell in self.cells if cell is not None]
        return NOT_FOUND if all(text == MISSING for text in texts) else ""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Rows under a heading of their own, "" for none."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Card:
    """A table, and the notes that its numbers point to."""

    title: str
    pattern: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
    # The drives of which the truth stands in columns of its own.
    with_truth: frozenset[int] = frozenset()

    @property
    def columns(self) -> int:
        """The number of columns of the table, that of the row names included."""
        drives = max((len(row.cells) for part in self.parts for row in part.rows), default=0)
        return 1 + drives + 2 * len(self.with_truth)

    @property
    def folds(self) -> dict[str, int]:
        """How many rows stand in each fold, those that stand open first."""
        count = Counter(row.fold for part in self.parts for row in part.rows)
        return {fold: count[fold] for fold in ("", NOT_FOUND, SAME) if count[fold]}


def card(
    table: Table,
    drives: Sequence[Drive],
    same: frozenset[str] = frozenset(),
    truths: Truths = NO_TRUTHS,
) -> Card:
    """A battery's table for the page; `same` are the ids of findings that are equal in all."""
    notes: dict[str, int] = {}
    shares = {drive.index: shares_of(drive.findings) for drive in drives}
    # They stand in the bar of their choice, and in no row of their own.
    in_bars = {share.finding.id for of in shares.values() for rows in of.values() for share in rows}

    def cell(drive: Drive, finding: Finding | None) -> Cell | None:
        shown = _cell(drive.index, finding, notes, truths)
        of_choice = () if finding is None else shares[drive.index].get(finding.id, ())
        return shown and replace(shown, shares=tuple(told(of_choice)))

    parts = [
        Part(
            title=part.title,
            rows=tuple(
                Row(
                    title=row.title,
                    cells=tuple(cell(drive, row.findings.get(drive.index)) for drive in drives),
                    same=all(finding.id in same for finding in row.findings.values()),
                )
                for row in part.rows
                if not in_bars.issuperset(finding.id for finding in row.findings.values())
            ),
        )
        for part in table.parts
    ]
    there = {
        cell.drive
        for part in parts
        for row in part.rows
        for cell in row.cells
        if cell is not None and cell.truth is not None
    }
    return Card(
        title=table.title,
        pattern=table.pattern,
        parts=tuple(parts),
        notes=tuple(notes),
        with_truth=frozenset(there),
    )


def by_title(cards: Sequence[Card]) -> list[list[Card]]:
    """The cards by title: of tables with one title a reader sees one pattern at a time."""
    titles: dict[str, list[Card]] = {}
    for card in cards:
        titles.setdefault(card.title, []).append(card)
    return list(titles.values())


def payload(drives: Sequence[Drive]) -> list[dict[str, object]]:
    """What a click on a value shows, by drive: the whole interval, the note, the evidence."""
    return [{finding.id: _details(finding) for finding in drive.findings} for drive in drives]


def meanings_of(drives: Sequence[Drive]) -> list[Meaning]:
    """The explanations of what is on the page, each once."""
    meanings = [meaning_of(finding) for drive in drives for finding in drive.findings]
    return list(dict.fromkeys(meaning for meaning in meanings if meaning is not None))


def _cell(
    drive: int, finding: Finding | None, notes: dict[str, int], truths: Truths = NO_TRUTHS
) -> Cell | None:
    if finding is None:
        return None
    value_text = Shown.of(finding)
    number = notes.setdefault(finding.note, len(notes) + 1) if finding.note else None
    return Cell(
        drive=drive,
        id=finding.id,
        value=value_text.value,
        spread=value_text.spread,
        unit=value_text.unit,
        beside=value_text.beside,
        missing=finding.value is None,
        note=finding.note,
        note_number=number,
        truth=truths.get((drive, finding.id)),
    )


def _details(finding: Finding) -> dict[str, object]:
    evidence = finding.evidence
    meaning = meaning_of(finding)
    return {
        "title": finding.title,
        "value": finding.value,
        "low": finding.low,
        "high": finding.high,
        "unit": finding.unit,
        "note": finding.note,
        "stem": finding.stem,
        "means": None if meaning is None else meaning.id,
        "evidence": evidence
        and {
            "label": evidence.label,
            "axis": evidence.axis,
            "start": evidence.start,
            "end": evidence.end,
        },
    }
