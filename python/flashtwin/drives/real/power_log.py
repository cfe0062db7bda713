"""The CSV that a watt meter's program writes while a drive is measured, on this machine's clock.

A row holds when it was written and the watts since the row before; its columns are known by their
names (`_TIMES`, `_WATTS`, or volts and amperes). Times are seconds since 1970 (or ms, us, ns, by
their size) or dates with a time of day, local where they name no zone. Only whole lines are read,
and only what was added since the last look. Invariants: a line that cannot be read is told by its
number; nothing waits for a meter longer than `PATIENCE_S`; the file is only read.
"""

from __future__ import annotations

import csv
import math
import os
import re
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from flashtwin import inputs
from flashtwin.errors import USAGE, FlashtwinError, shortened

# How long a step's end waits for the reading that covers it.
PATIENCE_S = 0.5
_POLL_S = 0.05
# A clock that differs by more than this, or a file that is older, is worth a word.
_APART_S = 2.0
# A meter was silent where two rows lie further apart than this many usual gaps.
_SILENT = 3.0
# No drive draws more; below zero a meter may read a little when nothing flows.
_MOST_W, _LEAST_W = 1000.0, -0.5
_MOST_LINE = 4096
_TIMES = frozenset(("time", "timestamp", "date", "datetime", "unix", "epoch", "clock", "at", "t"))
_WATTS = frozenset(("power", "watt", "watts", "w", "p"))
_VOLTS = frozenset(("voltage", "volt", "volts", "v", "u"))
_AMPERES = frozenset(("current", "ampere", "amperes", "amp", "amps", "a", "i"))
_PREFIXES = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "k": 1e3}
_UNIT = re.compile(r"([muµk]?)(w|v|a|watts?|volts?|amps?|amperes?)")
# Seconds since 1970 of this century, and what else computers count.
_EPOCH_S = (9e8, 5e9)
_EPOCHS = (1.0, 1e-3, 1e-6, 1e-9)
_FORMS = "seconds since 1970, or dates such as 2026-05-01T12:00:01.5"


class Reading(NamedTuple):
    """Watts from `begin_ns` to `end_ns`, in nanoseconds since 1970."""

    begin_ns: int
    end_ns: int
    watts: float


class _Columns(NamedTuple):
    """Where the time stands, and the columns whose product is watts, with the unit of each."""

    sign: str
    comma: bool
    time: int
    factors: tuple[tuple[int, float], ...]


class PowerLog:
    """A CSV that grows. `ahead_s`: by how much its clock is ahead of this machine's."""

    def __init__(self, path: Path, *, ahead_s: float = 0.0) -> None:
        self.path, self._ahead_s = path, ahead_s
        self._at = self._line = 0
        self._columns: _Columns | None = None
        self._last_ns: int | None = None
        self._usual_ns = 0
        self._readings: list[Reading] = []
        self._broken = ""

    def form(self) -> dict[str, Any]:
        """As JSON values, for a later process."""
        return {"path": str(self.path.absolute()), "ahead_s": self._ahead_s}

    @staticmethod
    def of(form: object) -> PowerLog | None:
        """The log of a form, where its file is still there."""
        if not isinstance(form, dict) or not Path(str(form.get("path"))).is_file():
            return None
        return PowerLog(Path(form["path"]), ahead_s=float(form.get("ahead_s", 0.0)))

    def opened(self) -> list[str]:
        """Read what is there; raises where a line is wrong. The answer says how the clocks stand
        to one another."""
        self._read()
        if self._broken:
            raise FlashtwinError(
                self._broken,
                hint="--power reads a CSV with a time and watts in each line; take the line out",
                exit_code=USAGE,
            )
        # Readings from before the drive was opened are of no step.
        self._readings = []
        if self._last_ns is None:
            return [f"{self.path} holds no reading yet"]
        old_s = (time.time_ns() - self._last_ns) / 1e9
        newest = f"the newest reading of {self.path.name} is {abs(old_s):.1f} s"
        if old_s < -_APART_S:
            return [f"{newest} ahead of this machine's clock; --power-ahead says by how much it is"]
        if old_s > _APART_S:
            return [f"{newest} old: either nothing is written to it or its clock is behind"]
        return [f"{newest} {'old' if old_s >= 0 else 'ahead'} by this machine's clock"]

    def within(self, begin_ns: int, end_ns: int) -> tuple[list[Reading], str]:
        """The readings that end after one moment and begin before another, and a note on what is
        wrong with them, if something is."""
        until_s = time.monotonic() + PATIENCE_S
        while not self._broken:
            self._read()
            there = self._last_ns is not None and self._last_ns >= end_ns
            if there or time.monotonic() >= until_s:
                break
            time.sleep(_POLL_S)
        readings = [row for row in self._readings if row.end_ns > begin_ns]
        # Readings that end before this step does are of no later one.
        self._readings = [row for row in readings if row.end_ns > end_ns]
        return [row for row in readings if row.begin_ns < end_ns], self._broken

    def _read(self) -> None:
        """Take the whole lines that were added; a wrong one ends the reading."""
        handle = inputs.open_regular(os.fspath(self.path))
        with open(handle, "rb") as file:
            if os.fstat(handle).st_size < self._at:
                self._broken = f"{self.path} was cut short while it was read"
                return
            file.seek(self._at)
            for line in file:
                if not line.endswith(b"\n"):
                    # A line without an end is being written, unless it can be no line at all.
                    if len(line) > _MOST_LINE:
                        self._broken = f"{self.path}, line {self._line + 1}: longer than a line is"
                    return
                self._at += len(line)
                self._line += 1
                try:
                    self._take(_text(line).strip())
                except ValueError as error:
                    self._broken = f"{self.path}, line {self._line}: {error}"
                    return

    def _take(self, line: str) -> None:
        if not line or line.startswith("#"):
            return
        if self._columns is None:
            self._columns = _columns_of(line)
            return
        columns = self._columns
        cells = _cells(line, columns.sign)
        end_ns = _moment_ns(_cell(cells, columns.time), columns) - round(self._ahead_s * 1e9)
        watts = math.prod(
            _number(_cell(cells, at), columns) * factor for at, factor in columns.factors
        )
        if not _LEAST_W <= watts <= _MOST_W:
            raise ValueError(f"{watts:g} W is what no drive draws")
        before_ns, self._last_ns = self._last_ns, end_ns
        if before_ns is None:
            return
        took_ns = end_ns - before_ns
        if took_ns <= 0:
            raise ValueError("its time is not after that of the line before")
        if self._usual_ns and took_ns > _SILENT * self._usual_ns:
            took_ns = self._usual_ns
        else:
            self._usual_ns = took_ns
        self._readings.append(Reading(end_ns - took_ns, end_ns, max(watts, 0.0)))


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None


def _columns_of(line: str) -> _Columns:
    """The columns by the names in the first line."""
    sign = max(",;\t", key=line.count)
    names = [_name(cell) for cell in _cells(line, sign)]
    times = [at for at, (words, _) in enumerate(names) if _TIMES & words]
    named = shortened(", ".join(cell.strip() for cell in _cells(line, sign)), 80)
    if not times:
        raise ValueError(f"no column is a time among {named}: call one timestamp")
    names[times[0]] = frozenset(), 1.0
    watts, volts, amperes = (_of_kind(names, kind) for kind in (_WATTS, _VOLTS, _AMPERES))
    if len(watts) > 1:
        raise ValueError(f"several columns are watts among {named}: leave one")
    if not watts and not (len(volts) == len(amperes) == 1):
        raise ValueError(
            f"no column is watts among {named}: call one power_w, or one voltage_v and one"
            " current_a"
        )
    factors = tuple(watts or [*volts, *amperes])
    return _Columns(sign=sign, comma=sign != ",", time=times[0], factors=factors)


def _of_kind(
    names: Sequence[tuple[frozenset[str], float]], kind: frozenset[str]
) -> list[tuple[int, float]]:
    """The columns of a quantity with their factors: those that bear its name, else its unit."""
    columns = [(at, words & kind, factor) for at, (words, factor) in enumerate(names)]
    by_name = [
        (at, factor) for at, words, factor in columns if any(len(each) > 1 for each in words)
    ]
    return by_name or [(at, factor) for at, words, factor in columns if words]


def _name(cell: str) -> tuple[frozenset[str], float]:
    """The words of a column's name, with the unit among them as one of its kind."""
    words = re.findall(r"[a-zµ]+", cell.lower())
    factor = 1.0
    for word in words[-1:] if len(words) > 1 else words:
        if match := _UNIT.fullmatch(word):
            factor = _PREFIXES[match[1]]
            words = [*words, match[2]]
    return frozenset(words), factor


def _cells(line: str, sign: str) -> Sequence[str]:
    return next(csv.reader([line], delimiter=sign), [])


def _cell(cells: Sequence[str], at: int) -> str:
    if at >= len(cells):
        raise ValueError(f"it has {len(cells)} columns and not {at + 1}")
    return cells[at].strip()


def _number(text: str, columns: _Columns) -> float:
    plain = text.replace(",", ".") if columns.comma else text
    if re.fullmatch(r"[+-]?[0-9]{1,15}(\.[0-9]{0,15})?([eE][+-]?[0-9]{1,2})?", plain) is None:
        raise ValueError(f"{shortened(text, 30)!r} is not a number")
    return float(plain)


def _moment_ns(text: str, columns: _Columns) -> int:
    """Nanoseconds since 1970."""
    try:
        number = _number(text.replace(" ", ""), columns)
    except ValueError:
        return _date_ns(text)
    for unit in _EPOCHS:
        if _EPOCH_S[0] <= number * unit <= _EPOCH_S[1]:
            # As whole seconds and the rest: a float of nanoseconds has lost its last digits.
            seconds, _, rest = text.replace(",", ".").partition(".")
            scale = round(unit * 1e9)
            return int(seconds) * scale + round(float(f"0.{rest or 0}") * scale)
    raise ValueError(f"{shortened(text, 30)!r} is on no clock that is known here: write {_FORMS}")


def _date_ns(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        raise ValueError(f"{shortened(text, 30)!r} is not a time: write {_FORMS}") from None
    # Without a zone it is the local time, which is what a meter's program writes.
    seconds = moment.replace(microsecond=0).timestamp()
    return int(seconds) * 10**9 + moment.microsecond * 1000
