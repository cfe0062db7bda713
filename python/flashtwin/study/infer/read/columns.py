"""Which columns of a table are read: the rate of writes or the bytes, and the time.

Of rates that of writes counts; of times one whose name says so before one that has only a unit of
time. A date beside a time of day makes one time of both.

Invariants: of two columns that may be the one, none is taken: the message names both, and the
option that decides. What was typed counts before what the names say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.clock import is_time
from flashtwin.study.infer.read.header import Column, column_of, unit_of
from flashtwin.study.infer.samples import NoWritesError, OpenError, UnreadableError

_OF_DRIVE = re.compile(r"drive|disk|ssd|nvme|composite", re.IGNORECASE)
_OF_OTHERS = re.compile(
    r"cpu|gpu|core|memory|vrm|package|board|chipset|pch|system|ambient", re.IGNORECASE
)
# Bytes of a kbit, an Mbit, a Gbit and a Tbit.
_BITS = (125.0, 125e3, 125e6, 125e9)
_NAME_UNIT = "name its unit in the header, for example {}"
_TIME_OPTION = "say which with --time-column NAME, or --time-column NAME=ms for its unit"
_RATE_OPTION = "say which with --rate-column NAME, or --rate-column NAME=MB/s for its unit"


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The columns that are read. `amount`: bytes, since the start or of each row. `date` stands
    before a time of day that is in a column of its own; `reads` is a rate of reads beside, `depth`
    the queue depth of each row."""

    rate: Column | None
    amount: Column | None
    time: Column | None
    date: Column | None
    degrees: Column | None
    reads: Column | None
    depth: Column | None
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The columns in words."""
        columns = [column for column in (self.date, self.time, self.rate) if column is not None]
        if self.amount is not None:
            columns.insert(0 if self.time is None else len(columns), self.amount)
        return " and ".join(_with_unit(column) for column in columns)


def _with_unit(column: Column) -> str:
    """A column's name, and its unit where somebody may take it for another."""
    if column.kind == "requests" and column.factor is not None:
        return f"{column.name} (requests of {column.factor:,.0f} bytes)"
    if column.kind != "rate":
        return column.name
    if column.factor in _BITS:
        return f"{column.name} (bits)"
    if column.factor == 1024.0**2 and "i" not in column.name.lower().split("/")[0]:
        return f"{column.name} (of 1,048,576 bytes, as iostat counts)"
    return column.name


def chosen_of(names: Sequence[str], first_row: Sequence[str], choices: Choices) -> Chosen:
    """The columns to read of those with these names."""
    columns = [column_of(at, name) for at, name in enumerate(names)]
    rate = _rate(columns, choices)
    time, date = _time(columns, first_row, choices, taken=rate)
    amount = None
    if rate is None or (time is None and choices.interval_s is None):
        amount = _amount(columns, alone=rate is None)
    if rate is None and amount is None:
        raise _why_no_rate(columns)
    if time is None and choices.interval_s is None and (rate is None or amount is None):
        raise UnreadableError(
            f"has no column with a time or with bytes: {', '.join(filter(None, names))}",
            f"{_NAME_UNIT.format('second, time_ms or GB')}, or say with --interval how far apart "
            "the rows are",
        )
    degrees, notes = _degrees(columns)
    reads = [column for column in columns if column.kind == "rate" and column.direction == "read"]
    depths = [column for column in columns if column.kind == "depth"]
    return Chosen(
        rate=rate,
        amount=amount,
        time=time,
        date=date,
        degrees=degrees,
        reads=reads[0] if len(reads) == 1 and (rate is None or reads[0].at != rate.at) else None,
        depth=depths[0] if len(depths) == 1 else None,
        notes=notes,
    )


def _rate(columns: Sequence[Column], choices: Choices) -> Column | None:
    if choices.rate_column is not None:
        return replace(_typed(columns, choices.rate_column, "--rate-column"), kind="rate")
    rates = [column for column in columns if column.kind == "rate"]
    writes = [column for column in rates if column.direction == "write"]
    either = [column for column in rates if column.direction == "any"]
    candidates = _instances(writes or either)
    if not candidates:
        requests = [column for column in columns if column.kind == "requests"]
        writing = [column for column in requests if column.direction == "write"] or [
            column for column in requests if column.direction == "any"
        ]
        if choices.block_bytes is not None and len(writing) == 1:
            return replace(writing[0], factor=float(choices.block_bytes))
        return None
    if len(candidates) > 1:
        raise OpenError(f"has several rates: {_names(candidates)}", _RATE_OPTION)
    column = candidates[0]
    if column.open_unit is not None:
        raise OpenError(
            f"has a rate of which {column.open_unit}: {column.name}",
            f"write MB/s or Mbit/s, or say it with --rate-column '{column.name}=MB/s'",
        )
    return column


def _instances(columns: list[Column]) -> list[Column]:
    """Of a counter of Windows for one disk and for all of them, that of the disk."""
    single = [column for column in columns if "(_Total)" not in column.name]
    return single if len(columns) == 2 and len(single) == 1 else columns


def _time(
    columns: Sequence[Column], first_row: Sequence[str], choices: Choices, *, taken: Column | None
) -> tuple[Column | None, Column | None]:
    """The time, and the date where that is in a column of its own."""
    if choices.time_column is not None:
        return _typed(columns, choices.time_column, "--time-column"), None
    if choices.interval_s is not None:
        return None, None
    times = [column for column in columns if column.kind == "time" and column is not taken]
    candidates = [column for column in times if column.strong] or times
    if not candidates:
        # Cells with a date need no heading that says what they are.
        rows = zip(columns, first_row, strict=False)
        candidates = [column for column, cell in rows if column is not taken and is_time(cell)]
    if len(candidates) == 2:
        date, clock = candidates
        together = f"{first_row[date.at]} {first_row[clock.at]}"
        if is_time(first_row[clock.at]) and not is_time(first_row[date.at]) and is_time(together):
            return clock, date
    if len(candidates) > 1:
        raise OpenError(f"has several times: {_names(candidates)}", _TIME_OPTION)
    return (candidates[0] if candidates else None), None


def _amount(columns: Sequence[Column], *, alone: bool) -> Column | None:
    """The bytes: against a rate those since the start, alone those of each row or since then."""
    sizes = [column for column in columns if column.kind == "bytes"]
    candidates = [column for column in sizes if column.strong] or sizes
    if len(candidates) > 1:
        raise OpenError(
            f"has several columns of bytes: {_names(candidates)}",
            "keep the one to read" if not alone else "say which with --rate-column NAME",
        )
    if candidates and candidates[0].open_unit is not None:
        raise OpenError(
            f"has bytes of which {candidates[0].open_unit}: {candidates[0].name}",
            "write GB or Gbit in the header",
        )
    return candidates[0] if candidates else None


def _why_no_rate(columns: Sequence[Column]) -> UnreadableError:
    names = _names(columns)
    if any(column.kind == "requests" for column in columns):
        return OpenError(
            f"has requests a second and no rate: {names}",
            "say with --block-size how large a request is, for example --block-size 128k",
        )
    if any(column.kind == "rate" and column.direction == "read" for column in columns):
        return NoWritesError(f"has rates of reads alone: {names}", "infer reads what was written")
    return UnreadableError(
        f"has no column with a rate: {names}",
        f"{_NAME_UNIT.format('write_MB_s or MiB/s')}, or say it with --rate-column NAME=MB/s",
    )


def _typed(columns: Sequence[Column], typed: str, option: str) -> Column:
    """A column by its name or number, with the unit that was typed behind it."""
    column, unit = _by_name(columns, typed), None
    if column is None and "=" in typed:
        name, _, unit = typed.rpartition("=")
        column = _by_name(columns, name)
    if column is None:
        raise UnreadableError(
            f"has no column {typed} ({option}): {_names(columns)}",
            "write a name of the header, or the number of a column from 1 on",
        )
    factor = column.factor if unit is None else unit_of(unit)
    if unit is not None and factor is None:
        raise UnreadableError(
            f"is to be read with {option} {typed}, and {unit} is no unit",
            "units are s, ms, us, ns, min, h, and B/s, MB/s, MiB/s, Mbit/s and the like",
        )
    if factor is None and option == "--rate-column":
        raise OpenError(
            f"has no unit in the name of {column.name}", f"write {option} '{column.name}=MB/s'"
        )
    return replace(column, factor=factor, open_unit=None)


def _by_name(columns: Sequence[Column], typed: str) -> Column | None:
    named = [column for column in columns if column.name == typed]
    if len(named) == 1:
        return named[0]
    if typed.isascii() and typed.isdigit() and 0 < int(typed[:6]) <= len(columns):
        return columns[int(typed[:6]) - 1]
    if len(named) > 1:
        numbers = ", ".join(str(column.at + 1) for column in named)
        raise OpenError(
            f"has the name {typed} {len(named)} times", f"write the column's number: {numbers}"
        )
    return None


def _degrees(columns: Sequence[Column]) -> tuple[Column | None, tuple[str, ...]]:
    """The temperature of the drive, and why none of several counts."""
    warm = [column for column in columns if column.kind == "degrees"]
    own = [column for column in warm if _OF_DRIVE.search(column.name)] or [
        column for column in warm if not _OF_OTHERS.search(column.name)
    ]
    if len(own) == 1:
        return own[0], ()
    return None, ("several temperatures: none of them is read",) if len(own) > 1 else ()


def _names(columns: Sequence[Column]) -> str:
    """Columns in a message: their names, and their numbers where a name comes twice."""
    names = [column.name for column in columns]
    twice = len(set(names)) < len(names)
    shown = [f"{c.name} (column {c.at + 1})" if twice else c.name for c in columns]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:12], f"… {len(shown)} in all"])
