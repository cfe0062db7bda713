"""How a table is laid out: what separates its columns, where its header is, what stands before it.

Columns are separated by tabs, semicolons, bars, commas or blanks. The header is the first line that
has as many cells as the line after it, which has numbers where the header has names. Comments
(`#`, `//`) and titles before it are passed over; a comment right before the numbers may be the
header itself, as gnuplot's files have it. A second line of units belongs to the header.

Invariants: every row has as many cells as the header; another one is refused with its line and what
its separator seems to be.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flashtwin.errors import shortened
from flashtwin.study.infer.read.cells import is_number
from flashtwin.study.infer.read.clock import is_time
from flashtwin.study.infer.read.header import unit_of
from flashtwin.study.infer.read.source import HEAD_BYTES, Source, too_long
from flashtwin.study.infer.samples import FEWEST, UnreadableError

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", " ": "blanks"}
COMMENTS = ("#", "//", "%")
# A header stands within so many lines; a block of rows has so many lines or characters.
HEADER_WITHIN = 40
BLOCK_LINES, BLOCK_SIGNS = 1 << 11, 1 << 17
EXAMPLE = "a CSV needs a header, such as second,write_MB_s"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The separator, the names of the columns, and the line of the header."""

    separator: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, kw_only=True)
class Block:
    """Rows that follow one another, and the lines where they stand."""

    rows: list[list[str]]
    lines: list[int]


def split(texts: Sequence[str], separator: str) -> list[list[str]]:
    """The cells of lines; raises `ValueError` where one of them is no row."""
    if separator == " ":
        return [text.split() for text in texts]
    try:
        rows = list(csv.reader(texts, delimiter=separator, skipinitialspace=separator != "\t"))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if len(rows) != len(texts):
        raise ValueError("a quote is not closed")
    if any(" " in text for text in texts):
        rows = [[cell.strip() for cell in row] for row in rows]
    return rows


def layout_of(source: Source) -> Layout:
    """How the table of a file is laid out."""
    lines = _numbered(source)
    declared = re.fullmatch(r"sep=(.)", lines[0][1].strip()) if lines else None
    if declared:
        lines = lines[1:]
    if len(lines) < FEWEST and len(source.head) < HEAD_BYTES // 2:
        have = f"has {len(lines)} row{'' if len(lines) == 1 else 's'}"
        raise UnreadableError(have, f"at least {FEWEST} samples are needed")
    separators = [declared[1]] if declared and declared[1] in SEPARATORS else list(SEPARATORS)
    for separator in separators:
        layout = _with(separator, lines)
        if layout is not None:
            return layout
    alone = _alone(lines)
    if alone is not None:
        return alone
    _refuse_endless(source)
    raise _why_none(lines, separators)


def _alone(lines: Sequence[tuple[int, str]]) -> Layout | None:
    """The layout of a single column: a name, and a number in each line after it."""
    rows = [(number, text) for number, text in lines if not text.lstrip().startswith(COMMENTS)]
    if len(rows) < FEWEST or _has_values([rows[0][1].strip()]):
        return None
    if not all(is_number(text.strip()) for _, text in rows[1:]):
        return None
    number, name = rows[0]
    return Layout(separator="\t", names=(name.strip(),), line=number)


def _refuse_endless(source: Source) -> None:
    """Refuse a line that fills most of the beginning, where a header and its rows should stand."""
    last = source.first_lines[-1]
    if len(last) > HEAD_BYTES // 4:
        raise too_long(len(source.first_lines), HEAD_BYTES // 4)


def _numbered(source: Source) -> list[tuple[int, str]]:
    """The lines of the beginning that are not empty; the last one is whole."""
    lines = source.first_lines
    finished = lines[:-1] if len(source.head) >= HEAD_BYTES // 2 else lines
    numbered = [(number, line) for number, line in enumerate(finished, 1) if line.strip()]
    return [(number, line) for number, line in numbered if not _is_rule(line)]


# Below a header in Markdown, and around it in what databases print: |---|:--:| or +----+----+.
_RULE = re.compile(r"[\s|+]*:?(--+|==+):?([\s|+]+:?(--+|==+):?)*[\s|+]*")


def _is_rule(text: str) -> bool:
    return _RULE.fullmatch(text) is not None


def _with(separator: str, lines: Sequence[tuple[int, str]]) -> Layout | None:
    """The layout with this separator, if there is one."""
    comment = None
    for at, (number, text) in enumerate(lines[:HEADER_WITHIN]):
        after = lines[at + 1 : at + 3]
        if text.lstrip().startswith(COMMENTS):
            comment = (number, text.lstrip().lstrip("#/% "))
            continue
        cells = _cells(text, separator)
        if cells is None or len(cells) < 2:
            comment = None
            continue
        if _has_values(cells):
            header = None if comment is None else _cells(comment[1], separator)
            if header is None or len(header) != len(cells) or _has_values(header):
                return None
            return Layout(separator=separator, names=tuple(header), line=number - 1)
        if _fits(text, after[:1], separator):
            return Layout(separator=separator, names=tuple(cells), line=number)
        if _fits(text, after[1:], separator) and after[0][1].count(separator):
            units = _cells(after[0][1], separator)
            if units is not None and len(units) == len(cells) and any(map(_is_unit, units)):
                names = [
                    f"{name} [{unit.strip('[]()')}]"
                    for name, unit in zip(cells, units, strict=True)
                ]
                return Layout(separator=separator, names=tuple(names), line=after[0][0])
    return None


def _is_unit(cell: str) -> bool:
    return unit_of(cell.strip("[]()")) is not None


def _cells(text: str, separator: str) -> list[str] | None:
    """The cells of one line without empty ones at its end."""
    try:
        cells = split([text], separator)[0]
    except ValueError:
        return None
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _fits(header: str, after: Sequence[tuple[int, str]], separator: str) -> bool:
    """Whether a line is the header of the line after it."""
    cells = _cells(header.lstrip("#/% "), separator)
    row = _cells(after[0][1], separator) if after else None
    if cells is None or row is None or len(cells) < 2 or _has_values(cells):
        return False
    # Cells at the end of the first row may be empty, as of counters that have no value yet.
    commas = after[0][1].count(separator) + 1 if separator != " " else len(row)
    return _has_values(row) and len(row) <= len(cells) <= commas


def _has_values(cells: Sequence[str]) -> bool:
    return any(is_number(cell) or is_time(cell) for cell in cells)


def _why_none(lines: Sequence[tuple[int, str]], separators: Sequence[str]) -> UnreadableError:
    """Why no separator makes a table of the lines."""
    rows = [(number, text) for number, text in lines if not text.lstrip().startswith(COMMENTS)]
    if not rows:
        return UnreadableError("has comments alone", EXAMPLE)
    for separator in separators:
        header = _cells(rows[0][1], separator)
        if header is None or len(header) < 2:
            continue
        if _has_values(header):
            return UnreadableError(
                f"has no header and {len(header)} columns, separated by {SEPARATORS[separator]}",
                f"a fio log has 4 or more, separated by commas; {EXAMPLE}",
            )
        if len(rows) > 1:
            number, text = rows[1]
            cells = _cells(text, separator) or []
            if len(cells) == len(header):
                return UnreadableError(
                    f"has no number in line {number}: {shortened(text, 60)!r}", EXAMPLE
                )
            return wrong_count(number, text, cells, header, separator)
    return UnreadableError(
        f"is no table that infer knows: its first line is {shortened(rows[0][1], 60)!r}",
        f"{EXAMPLE}; flashtwin infer --help lists what is read",
    )


def wrong_count(
    number: int, text: str, cells: Sequence[str], names: Sequence[str], separator: str
) -> UnreadableError:
    """A row of another length than the header's."""
    why = (
        f"has {len(cells)} cell{'' if len(cells) == 1 else 's'} in line {number}, where the header "
        f"has {len(names)}, separated by {SEPARATORS[separator]}"
    )
    if separator == "," and len(cells) > len(names) and all(map(is_number, cells)):
        return UnreadableError(
            why,
            "a comma before a fraction is taken for a separator: write 450.5, or separate the "
            "columns by semicolons",
        )
    others = [
        word
        for sign, word in SEPARATORS.items()
        if sign not in (separator, " ") and len(_cells(text, sign) or []) == len(names)
    ]
    if others:
        return UnreadableError(
            why, f"this line seems to be separated by {others[0]}: use one separator"
        )
    return UnreadableError(why, "remove the row, or write what was measured in each column")


def blocks(source: Source, layout: Layout) -> Iterator[Block]:
    """The rows of a table."""
    for texts, lines in batches(source, after=layout.line):
        yield _block(texts, lines, layout)


def batches(source: Source, *, after: int = 0) -> Iterator[tuple[list[str], list[int]]]:
    """Lines behind the line `after` and their numbers, without empty ones and comments: as many at
    a time as may be in memory together."""
    texts: list[str] = []
    lines: list[int] = []
    signs = 0
    for number, text in source.lines():
        if number <= after or not text or text.isspace():
            continue
        # A row begins with a digit nearly always.
        if not "0" <= text[0] <= "9" and (text.lstrip().startswith(COMMENTS) or _is_rule(text)):
            continue
        texts.append(text)
        lines.append(number)
        signs += len(text)
        if len(texts) == BLOCK_LINES or signs > BLOCK_SIGNS:
            yield texts, lines
            texts, lines, signs = [], [], 0
    if texts:
        yield texts, lines


def _block(texts: list[str], lines: list[int], layout: Layout) -> Block:
    width = len(layout.names)
    try:
        rows = split(texts, layout.separator)
    except ValueError:
        rows = [_row(text, number, layout) for text, number in zip(texts, lines, strict=True)]
    others = set(map(len, rows)) != {width}
    for at, row in enumerate(rows if others else ()):
        if len(row) != width:
            while len(row) > width and not row[-1]:
                row.pop()
            # Without its last separators a row is what it is with them.
            if len(row) == width - 1 and not layout.names[-1]:
                row.append("")
            if len(row) != width:
                raise wrong_count(lines[at], texts[at], row, layout.names, layout.separator)
    return Block(rows=rows, lines=lines)


def _row(text: str, number: int, layout: Layout) -> list[str]:
    try:
        return split([text], layout.separator)[0]
    except ValueError as error:
        raise UnreadableError(
            f"has a line {number} that is no row: {error}", "close the quote, or remove it"
        ) from None
