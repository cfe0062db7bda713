"""Findings of several drives side by side: a table a battery and variant, a column a drive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from flashtwin.cli import terminal
from flashtwin.model import units

if TYPE_CHECKING:
    from rich.console import RenderableType

    from flashtwin.model.finding import Finding

Columns = Mapping[str, Mapping[str, "Finding"]]


def tables(by_drive: Mapping[str, Sequence[Finding]]) -> list[RenderableType]:
    """A table for each group, then the notes that the numbers point to."""
    columns = {
        name: {finding.id: finding for finding in findings} for name, findings in by_drive.items()
    }
    notes: dict[str, int] = {}
    made: list[RenderableType] = []
    for group, rows in _groups(columns).items():
        shared = _shared(columns, rows)
        mark = f" [{_number(shared, notes)}]" if shared else ""
        table = terminal.table(["", *columns], title=f"\n{group}{mark}", right=list(columns))
        for name in rows:
            cells = [_text(column, name, notes, shared) for column in columns.values()]
            title = next(column[name].title for column in columns.values() if name in column)
            table.add_row(*(terminal.cell(text) for text in (_short(title), *cells)))
        made.append(table)
    made += [terminal.cell(f"[{number}] {text}") for text, number in notes.items()]
    return made


def value(finding: Finding) -> str:
    """Value ± half of the interval, and the unit; "-" where there is none.

    Both have the four digits of the value; the half is rounded up, so that what is printed never
    is narrower than what was found.
    """
    if isinstance(finding.value, str):
        return finding.value
    number = finding.number
    if number is None:
        return "-"
    half = _half(finding, number)
    if not half:
        return f"{units.readable_number(number)} {finding.unit}".rstrip()
    decimals = units.decimals(number)
    step = 10.0**-decimals
    above = math.ceil(half / step - 1e-9) * step
    return f"{number:.{decimals}f} ± {above:.{decimals}f} {finding.unit}".rstrip()


def plain(finding: Finding) -> str:
    """The value and its unit without the interval."""
    shown = (
        finding.value if isinstance(finding.value, str) else units.readable_number(finding.value)
    )
    return f"{shown} {finding.unit}".rstrip()


def _half(finding: Finding, number: float) -> float | None:
    """The larger half of an interval that may be lopsided."""
    sides = [abs(side - number) for side in (finding.low, finding.high) if side is not None]
    return max(sides) if sides else None


def _shared(columns: Columns, rows: Sequence[str]) -> str | None:
    """The note that every finding of a group has: it is said once, at the group's heading."""
    notes = {column[name].note for column in columns.values() for name in rows if name in column}
    return notes.pop() if len(rows) > 1 and len(notes) == 1 else None


def _number(note: str, notes: dict[str, int]) -> int:
    return notes.setdefault(note, len(notes) + 1)


def _text(
    column: Mapping[str, Finding], name: str, notes: dict[str, int], shared: str | None
) -> str:
    """A finding with those that belong to it: the latency of a score, say."""
    finding = column.get(name)
    if finding is None:
        return ""
    own = [other for other in column.values() if _is_beside(other, finding)]
    text = ", ".join([value(finding), *(_beside(other, finding) for other in own)])
    if finding.note and finding.note != shared:
        text += f" [{_number(finding.note, notes)}]"
    return text


def _beside(other: Finding, of: Finding) -> str:
    """What is told beside a finding; of the same unit it needs its name: the most, and the mean."""
    text = plain(other)
    return text if other.unit != of.unit else f"{other.name.removeprefix(f'{of.name}.')} {text}"


def _is_beside(other: Finding, of: Finding) -> bool:
    return other.beside == of.name and (other.battery, other.variant) == (of.battery, of.variant)


def _groups(columns: Columns) -> dict[str, list[str]]:
    """Ids under their battery and variant (cells of a grid together), as they first appear."""
    groups: dict[str, list[str]] = {}
    for column in columns.values():
        for name, finding in column.items():
            variant = "" if finding.is_cell else finding.variant
            rows = groups.setdefault(f"{finding.battery} {variant}".rstrip(), [])
            shown_beside = any(_is_beside(finding, other) for other in column.values())
            if name not in rows and not shown_beside:
                rows.append(name)
    return groups


def _short(title: str) -> str:
    """The group's heading says the pattern already."""
    return title.partition(" [")[0]
