"""Numbers in the cells of a table: ASCII digits, a point or a comma before the fraction.

One sign separates fractions in a whole file. A comma may also group thousands: a cell that can be
read both ways ("3,000") is decided by another one of the file that cannot, or by the user.

Invariants: what Python takes for a number and nobody writes in a log (1_000, nan, inf, digits of
other scripts, more than `MOST_SIGNS` characters) is none; every refusal names the line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from flashtwin.errors import shortened
from flashtwin.study.infer.samples import Floats, OpenError, UnreadableError

MOST_SIGNS = 64
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_PLAIN = re.compile(r"[0-9.]+")
_COMMA = re.compile(r"[+-]?(?:[0-9]*|[0-9]{1,3}(?:\.[0-9]{3})+),[0-9]+(?:[eE][+-]?[0-9]{1,4})?")
_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_POINTS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_MORE = "write the numbers alone, in one unit, and that in the header"


def is_number(text: str) -> bool:
    """Whether a cell is a number, with a point or a comma."""
    return len(text) <= MOST_SIGNS and any(
        form.fullmatch(text) for form in (_NUMBER, _COMMA, _GROUPS)
    )


def number_of(text: str) -> float | None:
    """A number with a point, none where the text is no finite one."""
    if len(text) > MOST_SIGNS or not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if np.isfinite(value) else None


class Numbers:
    """The numbers of one file, whose cells share the sign before a fraction."""

    def __init__(self, decimal: str | None) -> None:
        self._comma = None if decimal is None else decimal == "comma"

    def column(self, cells: Sequence[str], lines: Sequence[int], name: str) -> Floats:
        """The cells of a column as numbers from 0 on; `lines` are where they stand."""
        values = self.any_column(cells, lines, name)
        below = np.flatnonzero(values < 0)
        if below.size:
            raise _no_number(cells[below[0]], lines[below[0]], name)
        return values

    def any_column(self, cells: Sequence[str], lines: Sequence[int], name: str) -> Floats:
        """As `column`, below 0 too."""
        if self._comma is not True and _PLAIN.fullmatch("".join(cells)):
            values = _plain(cells)
            if values is not None:
                return values
        if self._comma is None and any("," in cell for cell in cells):
            self._decide(cells, lines, name)
        return np.array(
            [self._value(cell, line, name) for cell, line in zip(cells, lines, strict=True)]
        )

    def _decide(self, cells: Sequence[str], lines: Sequence[int], name: str) -> None:
        """Whether a comma stands before a fraction, of the cells that have one."""
        with_comma = [(cell, line) for cell, line in zip(cells, lines, strict=True) if "," in cell]
        comma = [
            at for at in with_comma if _COMMA.fullmatch(at[0]) and not _GROUPS.fullmatch(at[0])
        ]
        groups = [
            at for at in with_comma if _GROUPS.fullmatch(at[0]) and not _COMMA.fullmatch(at[0])
        ]
        if comma and groups:
            (first, line), (second, other) = comma[0], groups[0]
            raise UnreadableError(
                f"has {first!r} in line {line} and {second!r} in line {other}: a comma before a "
                "fraction, and one between thousands",
                "write all numbers one way",
            )
        if not comma and not groups:
            cell, line = next((at for at in with_comma if _GROUPS.fullmatch(at[0])), with_comma[0])
            if not _GROUPS.fullmatch(cell):
                raise _no_number(cell, line, name)
            raise OpenError(
                f"has {cell!r} in line {line}, which may be a fraction or thousands",
                "say which with --decimal comma or --decimal point",
            )
        self._comma = bool(comma)

    def _value(self, cell: str, line: int, name: str) -> float:
        text = cell
        if len(cell) <= MOST_SIGNS:
            if self._comma and "," in cell and _COMMA.fullmatch(cell):
                text = cell.replace(".", "").replace(",", ".")
            elif self._comma and re.fullmatch(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+", cell):
                text = cell.replace(".", "")
            elif self._comma and "." in cell:
                raise UnreadableError(
                    f"has {cell!r} in line {line}, where other numbers have a comma before the "
                    "fraction",
                    "write all numbers one way",
                )
            elif not self._comma and _GROUPS.fullmatch(cell):
                text = cell.replace(",", "")
        value = number_of(text)
        if value is None:
            raise _no_number(cell, line, name)
        return value


def _plain(cells: Sequence[str]) -> Floats | None:
    """Digits and points alone, which is what nearly every file has."""
    if max(map(len, cells)) > MOST_SIGNS:
        return None
    try:
        values = np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _no_number(cell: str, line: int, name: str) -> UnreadableError:
    """Why a cell is none, with what is most likely meant by it."""
    lead = cell.strip().partition(" ")[0]
    why = f"{shortened(cell, 40)!r} in line {line} ({name}) is not a number from 0 on"
    if "_" in cell and number_of(cell.replace("_", "")) is not None:
        return UnreadableError(why, "write the digits without _")
    if is_number(cell.strip()) and not cell.strip().startswith("-"):
        return UnreadableError(why, "the number is too large for any drive: check the row")
    if is_number(lead):
        return UnreadableError(why, _MORE)
    if ":" in cell:
        return UnreadableError(why, "a time of day stands in the column of the time alone")
    if _POINTS.fullmatch(cell):
        return UnreadableError(why, "write thousands without points")
    return UnreadableError(why, "remove the row, or write what was measured")
