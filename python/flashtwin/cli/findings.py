"""Findings of several drives side by side: a table a battery and variant, a column a drive.

Cells of a grid (CrystalDiskMark's) make a block for each unit instead, a row a cell, with what was
done in it side by side. Notes stand under the tables, each once, on as many lines as they take.

Invariant: nothing is wider than the terminal; drives that do not fit beside each other stand under
each other.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from flashtwin.cli import terminal
from flashtwin.model import text
from flashtwin.model.shares import Shares, bar, shares_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from flashtwin.model.finding import Finding

Columns = Mapping[str, Mapping[str, "Finding"]]
# Characters beyond which a row's title wraps; cells of a grid have three digits.
TITLE, GRID_DIGITS = 32, 3
BETWEEN = 2
# The range of a cell's runs is told where it is wider than this share of the value.
WIDE = 0.1


def tables(by_drive: Mapping[str, Sequence[Finding]]) -> list[RenderableType]:
    """A table for each group, then the notes to which its numbers refer."""
    shares = {name: shares_of(findings) for name, findings in by_drive.items()}
    of_shares = {
        share.finding.id for of in shares.values() for rows in of.values() for share in rows
    }
    columns = {
        name: {finding.id: finding for finding in findings if finding.id not in of_shares}
        for name, findings in by_drive.items()
    }
    notes: dict[str, int] = {}
    parts: list[RenderableType] = []
    for group, ids in _groups(columns).items():
        shared = _shared(columns, ids)
        mark = f" [{_number(shared, notes)}]" if shared else ""
        if _is_grid(columns, ids):
            parts += [terminal.cell(line) for line in _grid(columns, f"{group}{mark}", ids)]
        else:
            parts += _tables(columns, f"{group}{mark}", ids, notes, shared, shares)
    if notes:
        parts.append(terminal.cell(""))
    parts += [terminal.cell(_wrapped(number, note)) for note, number in notes.items()]
    return parts


def value(finding: Finding) -> str:
    """Value, interval and unit in a line."""
    return text.Shown.of(finding).text


def plain(finding: Finding) -> str:
    """The value and its unit without the interval."""
    return text.plain(finding)


def _groups(columns: Columns) -> dict[str, list[str]]:
    """Ids under their battery and variant (cells of a grid together), as they first appear."""
    groups: dict[str, list[str]] = {}
    for column in columns.values():
        for name, finding in column.items():
            variant = "" if finding.is_cell else finding.variant
            rows = groups.setdefault(f"{finding.battery} {variant}".rstrip(), [])
            if name not in rows:
                rows.append(name)
    return groups


def _first(columns: Columns, name: str) -> Finding:
    return next(column[name] for column in columns.values() if name in column)


# --------------------------------------------------------------------------------------- notes


def _note(finding: Finding) -> str:
    return finding.note or ""


def _shared(columns: Columns, ids: Sequence[str]) -> str:
    """The note that all findings of a group have in common: it stands once, at the group's
    heading."""
    notes = {_note(column[name]) for column in columns.values() for name in ids & column.keys()}
    return notes.pop() if len(ids) > 1 and len(notes) == 1 else ""


def _number(note: str, notes: dict[str, int]) -> int:
    return notes.setdefault(note, len(notes) + 1)


def _wrapped(number: int, note: str) -> str:
    """A note under the tables, on as many lines as it takes."""
    head = f"[{number}] "
    indent = " " * len(head)
    return textwrap.fill(
        f"{head}{note}",
        terminal.width(),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


# --------------------------------------------------------------------------------- a row a finding


def _tables(
    columns: Columns,
    heading: str,
    ids: Sequence[str],
    notes: dict[str, int],
    shared: str,
    shares: Mapping[str, Shares],
) -> Iterator[RenderableType]:
    titles, rows = [], []
    for name in ids:
        titles.append(_title(columns, name))
        rows.append([_cell(column.get(name), notes, shared) for column in columns.values()])
        if any(name in of for of in shares.values()):
            titles.append("  how probable")
            rows.append([bar(shares[drive].get(name, ())) for drive in columns])
    widths = [max(map(len, cells)) for cells in zip(list(columns), *rows, strict=True)]
    room = terminal.width() - min(max(map(len, titles)), TITLE)
    for first, last in _fitting(widths, room):
        names = list(columns)[first:last]
        table = terminal.table(["", *names], title=f"\n{heading}", right=names)
        for title, cells in zip(titles, rows, strict=True):
            table.add_row(*(terminal.cell(text) for text in (title, *cells[first:last])))
        yield table


def _fitting(widths: Sequence[int], room: int) -> Iterator[tuple[int, int]]:
    """The first and last column of each table, so that each fits; at least one column."""
    first, used = 0, 0
    for at, width in enumerate(widths):
        if at > first and used + width + BETWEEN > room:
            yield first, at
            first, used = at, 0
        used += width + BETWEEN
    yield first, len(widths)


def _title(columns: Columns, name: str) -> str:
    """A finding's title without the pattern, which the group's heading has. Where the titles of
    drives differ, what they have in common."""
    titles = {column[name].title for column in columns.values() if name in column}
    return min(titles, key=len).partition(" [")[0]


def _cell(finding: Finding | None, notes: dict[str, int], shared: str) -> str:
    if finding is None:
        return ""
    note = finding.note or ""
    mark = f" [{_number(note, notes)}]" if note and note != shared else ""
    return value(finding) + mark


# ------------------------------------------------------------------------------------ a row a cell


def _is_grid(columns: Columns, ids: Sequence[str]) -> bool:
    findings = [_first(columns, name) for name in ids]
    return all(finding.is_cell for finding in findings) and any(
        finding.beside for finding in findings
    )


def _grid(columns: Columns, heading: str, ids: Sequence[str]) -> Iterator[str]:
    """A block for each unit: first that of the main findings, then those beside them."""
    findings = [_first(columns, name) for name in ids]
    for unit in dict.fromkeys(finding.unit for finding in findings):
        of_unit = [finding for finding in findings if finding.unit == unit]
        ways = list(dict.fromkeys(finding.beside or finding.name for finding in of_unit))
        cells = list(dict.fromkeys(finding.variant for finding in of_unit))
        title = "latency" if unit == "us" else unit
        yield from _block(columns, f"{heading}, {title}", unit, ways, cells)
    remarks = [*_ranges(columns, ids), *_unusual(columns, ids)]
    yield from ["", *remarks] if remarks else []


def _block(
    columns: Columns, heading: str, unit: str, ways: Sequence[str], cells: Sequence[str]
) -> Iterator[str]:
    by_place = {
        drive: {
            (finding.variant, finding.beside or finding.name): _score(finding)
            for finding in column.values()
            if finding.is_cell and finding.unit == unit
        }
        for drive, column in columns.items()
    }
    texts = [text for places in by_place.values() for text in places.values()]
    wide = max(len(text) for text in (*texts, *ways)) + BETWEEN
    title = max(map(len, cells))
    # A drive's name stands over its columns.
    groups = [max(wide * len(ways), len(drive) + BETWEEN) for drive in columns]
    for first, last in _fitting([width - BETWEEN for width in groups], terminal.width() - title):
        yield f"\n{heading}"
        drives = list(zip(columns, groups, strict=True))[first:last]
        yield " " * title + "".join(f"{drive:>{width}}" for drive, width in drives)
        head = "".join(f"{way:>{wide}}" for way in ways)
        yield " " * title + "".join(f"{head:>{width}}" for _, width in drives)
        for cell in cells:
            row = [
                "".join(f"{by_place[drive].get((cell, way), ''):>{wide}}" for way in ways)
                for drive, _ in drives
            ]
            padded = zip(row, drives, strict=True)
            yield f"{cell:<{title}}" + "".join(f"{text:>{width}}" for text, (_, width) in padded)


def _score(finding: Finding) -> str:
    if finding.number is None:
        return text.MISSING
    score = text.quantity(finding.number, finding.unit, GRID_DIGITS)
    # The heading says the unit of rates; times are in two.
    return score if finding.unit == "us" else score.removesuffix(f" {finding.unit}")


def _ranges(columns: Columns, ids: Sequence[str]) -> Iterator[str]:
    """A line for each score whose runs differ much."""
    for finding, of in _scores(columns, ids):
        if _wide(finding):
            yield f"{finding.title}: {text.range_of(finding)} over its runs{of}"


def _unusual(columns: Columns, ids: Sequence[str]) -> Iterator[str]:
    """A line for each score with another note than most scores, for example that requests
    failed."""
    notes = Counter(_note(finding) for finding, _ in _scores(columns, ids))
    usual = notes.most_common(1)[0][0] if notes else ""
    for finding, of in _scores(columns, ids):
        if _note(finding) != usual:
            yield f"{finding.title}: {(finding.note or '')}{of}"


def _scores(columns: Columns, ids: Sequence[str]) -> Iterator[tuple[Finding, str]]:
    """The main findings, each with its drive's name where there are several drives."""
    for drive, column in columns.items():
        for name in ids:
            if (finding := column.get(name)) and not finding.beside:
                yield finding, f", {drive}" if len(columns) > 1 else ""


def _wide(finding: Finding) -> bool:
    low, high, number = finding.low, finding.high, finding.number
    return bool(number and low is not None and high is not None and high - low > WIDE * number)
