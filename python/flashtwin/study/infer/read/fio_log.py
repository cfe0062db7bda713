"""A log of fio: milliseconds, a value, the direction (0 read, 1 write, 2 trim), the block size.

The file's name says which value: NAME_bw.1.log has KiB/s, the others latencies or requests a
second. With log_avg_msec a row is the mean of an interval and its block size is 0; without it every
request has a row, whose block size says what was written: those are added up by time, whatever
the value is.

Invariants: a hole in the times is a time in which nothing was written; a log of latencies is
refused, one of requests a second wants a block size; rows of zeros at the end, which old versions
of fio write, are left out with a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.quantiles import median
from flashtwin.study.infer.read.cells import Numbers, is_number
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.layout import COMMENTS, batches, split
from flashtwin.study.infer.read.series import Builder, Doubled, Requests
from flashtwin.study.infer.read.source import SKETCHED, Source
from flashtwin.study.infer.samples import (
    FEWEST,
    Floats,
    NoWritesError,
    OpenError,
    Samples,
    UnreadableError,
)

READ, WRITE = 0, 1
_KIND = re.compile(r"[_.\-](bw|iops|lat|clat_hist|clat|slat)(?=[_.\-]|$)", re.IGNORECASE)
_ROW = re.compile(r"\s*[0-9]+\s*,\s*[0-9.]+(?:e\+?[0-9]+)?\s*,\s*[0-9]+\s*(?:,.*)?")
_LATENCIES = {"lat": "latencies", "clat": "latencies", "slat": "times to submit"}
_BW_LOG = "hand over the log of --write_bw_log=NAME --log_avg_msec=500"
# Rows evenly apart, whose rate is so many times their block size over the interval, are means.
EVEN, MEANS = 0.1, 20.0


def kind_of(name: str) -> str | None:
    """Which log of fio a name belongs to: bw, iops, lat, clat, slat, clat_hist."""
    kinds = _KIND.findall(name)
    return kinds[-1].lower() if kinds else None


def recognise(source: Source) -> bool:
    """Rows of at least three whole numbers, without a header."""
    lines = [line[:SKETCHED] for line in source.first_lines[:8] if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith(COMMENTS)]
    if not lines or not _ROW.fullmatch(lines[0]):
        return False
    return len(lines[0].split(",")) >= 4 or kind_of(source.name) is not None


def read(source: Source, choices: Choices) -> Samples:
    """The writes of a log."""
    kind = kind_of(source.name) or "bw"
    if kind == "clat_hist":
        raise UnreadableError("is fio's log of histograms of latencies, by its name", _BW_LOG)
    log = _Log(kind, choices)
    for block in _blocks(source):
        log.add(block)
    return log.samples()


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Rows of a log as columns."""

    ms: Floats
    value: Floats
    direction: Floats
    block: Floats

    def only(self, which: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> _Rows:
        return _Rows(
            ms=self.ms[which],
            value=self.value[which],
            direction=self.direction[which],
            block=self.block[which],
        )


def _blocks(source: Source) -> Iterator[_Rows]:
    numbers, width = Numbers("point"), None
    for texts, lines in batches(source):
        width = _width(texts, lines, width)
        yield _rows(texts, lines, numbers, width)


def _width(texts: Sequence[str], lines: Sequence[int], width: int | None) -> int:
    """Cells of a row, the same in all of a log."""
    for text, line in zip(texts, lines, strict=True):
        cells = text.count(",") + 1
        if width is None:
            width = cells
        if cells != width or not 3 <= width <= 9:
            raise UnreadableError(
                f"has {cells} cell{'' if cells == 1 else 's'} in line {line}, where a row of this "
                f"log has {width}",
                "a log of fio has whole numbers, separated by commas: remove the row",
            )
    assert width is not None, "a block has rows"
    return width


def _rows(texts: list[str], lines: list[int], numbers: Numbers, width: int) -> _Rows:
    try:
        cells = split(texts, ",")
    except ValueError as error:
        raise UnreadableError(
            f"has a line from {lines[0]} on that is no row: {error}", "remove it"
        ) from None
    short = next((i for i, row in enumerate(cells) if len(row) != width), None)
    if short is not None:
        raise UnreadableError(f"has a line {lines[short]} that is no row", "remove it")
    # With log_window_value=both a mean and a maximum stand before the direction.
    both = (
        width >= 7
        and all(float(row[3]) in (0, 1, 2) for row in cells[:FEWEST] if is_number(row[3]))
        and not all(float(row[2]) in (0, 1, 2) for row in cells if is_number(row[2]))
    )
    names = ("time", "value", "direction", "block size")
    places = (0, 1, 3, 4) if both else (0, 1, 2, 3)
    columns = [
        numbers.column([row[at] for row in cells], lines, name)
        if at < width
        else np.zeros(len(cells))
        for name, at in zip(names, places, strict=True)
    ]
    odd = np.flatnonzero(~np.isin(columns[2], (0, 1, 2)))
    if odd.size:
        raise UnreadableError(
            f"has the direction {cells[odd[0]][places[2]]} in line {lines[odd[0]]}, and fio knows "
            "0, 1 and 2",
            "without a header a file is taken for a log of fio: a CSV needs one, such as "
            "second,write_MB_s",
        )
    return _Rows(ms=columns[0], value=columns[1], direction=columns[2], block=columns[3])


class _Log:
    """A log as it is read."""

    def __init__(self, kind: str, choices: Choices) -> None:
        self._kind, self._choices = kind, choices
        self._builder = Builder()
        self._doubled = Doubled() if choices.doubled else None
        self._requests: Requests | None = None
        self._single: bool | None = None
        self._writes = self._zeros = self._rows = 0
        self._reads = False

    def add(self, rows: _Rows) -> None:
        """Rows that follow those before."""
        empty = (rows.ms == 0) & (rows.value == 0) & (rows.block == 0)
        if self._rows == 0:
            # A log may begin with a row of an interval of which nothing is known.
            begun = int(np.argmax(~empty)) if not empty.all() else empty.size
            empty[:begun] = begun > 1
        self._rows += rows.ms.size
        if self._zeros and not empty.all():
            raise UnreadableError("has rows of zeros between its samples", "remove these rows")
        if empty.any():
            first = int(np.argmax(empty))
            if not empty[first:].all():
                raise UnreadableError("has rows of zeros between its samples", "remove these rows")
            self._zeros += int(empty.sum())
            rows = rows.only(~empty)
        self._reads = self._reads or bool(np.any(rows.direction == READ))
        writes = rows.only(rows.direction == WRITE)
        if writes.ms.size:
            self._writes += writes.ms.size
            self._add_writes(writes)

    def _add_writes(self, rows: _Rows) -> None:
        if self._single is None:
            self._single = _are_single(rows)
            self._check_kind()
        if self._single:
            if self._requests is None:
                self._requests = Requests()
            self._requests.add(rows.ms, rows.block)
            return
        factor = 1024.0 if self._kind == "bw" else float(self._choices.block_bytes or 0)
        if self._doubled is not None:
            self._doubled.add(rows.ms * 1e-3, rows.value * factor)
        else:
            # fio writes no row of an interval without bytes, and the next row is of its own
            # interval alone (`__add_samples` of its stat.c).
            self._builder.timed(rows.ms * 1e-3, rows.value * factor, skips_idle=True)

    def _check_kind(self) -> None:
        """Whether the writes can be read of a log of this kind."""
        if self._single and self._choices.doubled:
            raise UnreadableError(
                "is a log of single requests, whose times come twice for that: --doubled would "
                "add up their rates",
                "leave --doubled away",
            )
        if self._kind in _LATENCIES and not (self._single and self._kind != "slat"):
            values = _LATENCIES[self._kind]
            raise UnreadableError(
                f"is fio's log of {values} (_{self._kind}.), by its name, and of no rate", _BW_LOG
            )
        if self._kind == "iops" and not self._single and self._choices.block_bytes is None:
            raise OpenError(
                "is fio's log of requests a second (_iops.), by its name, and of no rate",
                f"say with --block-size how large a request is, or {_BW_LOG}",
            )

    def samples(self) -> Samples:
        """All of it."""
        notes = []
        if self._zeros:
            plural = "" if self._zeros == 1 else "s"
            notes.append(f"{self._zeros} row{plural} of zeros at the end: left out")
        if self._writes < FEWEST:
            why = f"has {self._writes} samples of writes"
            kind = NoWritesError if self._writes == 0 and self._reads else UnreadableError
            raise kind(why, "infer reads what was written")
        if self._requests is not None:
            columns = "time in ms and block sizes of single requests (fio), writes only"
            return self._requests.samples(columns, notes=notes, reads=self._reads)
        if self._doubled is not None:
            self._doubled.into(self._builder)
        unit = "bandwidth in KiB/s"
        if self._kind == "iops":
            unit = f"requests a second of {self._choices.block_bytes:,} bytes"
        columns = f"time in ms, {unit} (fio), writes only"
        return self._builder.samples(columns, notes=notes, reads=self._reads)


def _are_single(rows: _Rows) -> bool:
    """Whether rows are of single requests, and no means of intervals that bear a block size."""
    if not np.any(rows.block > 0):
        return False
    if rows.ms.size < 2:
        return True
    steps = np.diff(rows.ms)
    usual = median(steps)
    even = usual > 0 and bool(np.all(np.abs(steps - usual) <= EVEN * usual))
    meant = rows.value * 1024.0 * usual * 1e-3
    return not (even and median(meant) > MEANS * median(rows.block))
