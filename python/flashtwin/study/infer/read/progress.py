"""The progress of `dd status=progress` and of `pv`, as it is written over and over on one line.

dd tells bytes and seconds since it began. pv tells bytes, its time and its rate, in any of its
forms: the default, -b, -t, -r, and the bare numbers of -n with -b and -t. Where pv tells time and
rate, that is read, since of its bytes it shows three digits.

Invariants: the time between lines that bear none is said with --interval; a percentage is no
number of bytes, and is refused.
"""

from __future__ import annotations

import re
from array import array

import numpy as np

from flashtwin.study.infer.read.cells import number_of
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.series import Builder
from flashtwin.study.infer.read.source import SKETCHED, Source
from flashtwin.study.infer.samples import FEWEST, Floats, OpenError, Samples, UnreadableError

PV = "pv -n -b -t"
_DD = re.compile(
    r"\s*([0-9]+) [^\W\d]+ (?:\([^)]{1,60}\) )?[^\d,(]{0,40}?,? ?"
    r"([0-9]+(?:[.,][0-9]+)?(?:e[+-]?[0-9]+)?) ?s(?:ec\w*)?\b"
)
_AMOUNT = r"([0-9]+(?:[.,][0-9]+)?) ?([kKMGTPE]?i?)B"
_SIZE = re.compile(rf"(?<![\[\w.]){_AMOUNT}(?!\s*/s)(?![\w/])")
_RATE = re.compile(rf"\[\s*{_AMOUNT}/s\s*\]")
_TIMER = re.compile(r"(?<![\d:])(?:([0-9]+):)?([0-9]+):([0-9]{2}):([0-9]{2})(?![\d:])")
_NUMERIC = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)(?:\s+([0-9]+(?:\.[0-9]+)?))?\s*")
_POWERS = {sign: power for power, sign in enumerate(" kMGTPE")}


def _beginnings(source: Source) -> list[str]:
    """The first lines, as much of each as a line of progress has."""
    return [line[:SKETCHED] for line in source.first_lines[:60]]


def recognise_dd(source: Source) -> bool:
    """Lines of bytes that were copied in seconds."""
    return sum(_DD.match(line) is not None for line in _beginnings(source)) >= 2


def recognise_pv(source: Source) -> bool:
    """Most lines have a size, a time or a rate as pv shows them."""
    lines = [line for line in _beginnings(source) if line.strip()]
    shown = [line for line in lines if _RATE.search(line) or _is_bare(line)]
    return len(lines) >= 2 and len(shown) * 2 > len(lines)


def _is_bare(line: str) -> bool:
    """A line of a size, a time or both, and nothing else."""
    rest = _TIMER.sub("", _SIZE.sub("", line, count=1), count=1)
    rest = re.sub(r"\[[=> <+\-]*\]|[0-9]+%|ETA.*", "", rest)
    return rest != line and not rest.strip()


def recognise_numbers(source: Source) -> bool:
    """One bare number a line, or two with blanks between."""
    lines = [line for line in _beginnings(source) if line.strip()]
    return len(lines) >= 2 and all(_NUMERIC.fullmatch(line) for line in lines[:-1])


def read_dd(source: Source, _: Choices) -> Samples:
    """The bytes of dd over its seconds."""
    totals = _Totals()
    for _number, text in source.lines():
        line = text[:SKETCHED]
        match = _DD.match(line)
        if match is not None:
            totals.add(number_of(match[2].replace(",", ".")), number_of(match[1]))
    return totals.samples("bytes and seconds of dd")


def read_numbers(source: Source, choices: Choices) -> Samples:
    """The bare numbers of pv -n."""
    totals, rows, largest = _Totals(), 0, 0.0
    interval_s = choices.interval_s
    for number, text in source.lines():
        line = text[:SKETCHED]
        match = _NUMERIC.fullmatch(line)
        if match is None:
            if not line.strip():
                continue
            raise UnreadableError(
                f"{line[:40]!r} in line {number} is no bare number", f"as of {PV}; remove the line"
            )
        rows += 1
        first, second = number_of(match[1]), number_of(match[2]) if match[2] else None
        done = first if match[2] is None else second
        largest = max(largest, done or 0.0)
        if match[2] is None:
            totals.add(None if interval_s is None else rows * interval_s, first)
        else:
            totals.add(first, second)
        if totals.untimed and rows > 4096:
            break
    if largest <= 100:
        raise UnreadableError(
            "has bare percentages, as pv -n prints them, and no bytes", f"measure with {PV}"
        )
    return totals.samples("bytes of pv -n", untimed="has bare numbers as of pv -n without a time")


def read_pv(source: Source, choices: Choices) -> Samples:
    """The progress of pv."""
    totals, rates, rows = _Totals(), _Rates(), 0
    powers_of_ten = False
    for _number, text in source.lines():
        line = text[:SKETCHED]
        rate, timer = _RATE.search(line), _TIMER.search(line)
        size = _SIZE.search(_RATE.sub("", line))
        if rate is None and size is None and timer is None:
            continue
        rows += 1
        seconds = _seconds(timer)
        if choices.interval_s is not None:
            seconds = rows * choices.interval_s
        if rate is not None:
            powers_of_ten = powers_of_ten or _is_decimal(rate)
            rates.add(seconds, _bytes(rate))
        if size is not None:
            powers_of_ten = powers_of_ten or _is_decimal(size)
            totals.add(seconds, _bytes(size))
    notes = []
    if powers_of_ten:
        notes.append("pv's kB and MB are taken as 1,000 and 1,000,000 bytes (--si)")
    untimed = "has the progress of pv without its time"
    if rates.rows * 2 > rows and (not rates.untimed or totals.rows == 0):
        return rates.samples("rate and time of pv", notes, untimed)
    if totals.rows == 0:
        raise UnreadableError("has pv's time alone (-t)", f"measure with {PV}")
    return totals.samples("bytes and time of pv", notes=notes, untimed=untimed)


def _seconds(match: re.Match[str] | None) -> float | None:
    if match is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 86_400 + hours * 3600 + minutes * 60 + seconds


def _is_decimal(match: re.Match[str]) -> bool:
    return bool(match[2]) and not match[2].endswith("i")


def _bytes(match: re.Match[str]) -> float:
    value = number_of(match[1].replace(",", ".")) or 0.0
    power = _POWERS[(match[2].rstrip("i") or " ").replace("K", "k")]
    return float(value * (1000.0 if _is_decimal(match) else 1024.0) ** power)


class _Rows:
    """Times and values of lines, the last of those at one time."""

    def __init__(self) -> None:
        self.seconds, self.values = array("d"), array("d")
        self.rows, self.untimed = 0, False

    def add(self, seconds: float | None, value: float | None) -> None:
        """One line."""
        if value is None:
            return
        self.rows += 1
        if seconds is None:
            self.untimed = True
            return
        if self.seconds and seconds == self.seconds[-1]:
            self.values[-1] = value
            return
        if self.seconds and seconds < self.seconds[-1]:
            raise UnreadableError(
                "has times that go back, as of several runs",
                "hand over one file a run, with --join",
            )
        self.seconds.append(seconds)
        self.values.append(value)

    def _columns(self, untimed: str) -> tuple[Floats, Floats]:
        if self.untimed:
            raise OpenError(
                untimed, f"say how far apart its lines are with --interval, or measure with {PV}"
            )
        if len(self.seconds) < FEWEST:
            raise UnreadableError(
                f"has {len(self.seconds)} lines of progress", f"at least {FEWEST} are needed"
            )
        return np.array(self.seconds), np.array(self.values)


class _Totals(_Rows):
    def samples(
        self, columns: str, *, notes: list[str] | None = None, untimed: str = ""
    ) -> Samples:
        """Bytes since the start as a series."""
        end, done = self._columns(untimed)
        if end[0] == 0:
            end, done, first = end[1:], done[1:], done[0]
        else:
            first = 0.0
        size = np.diff(done, prepend=first)
        if np.any(size < 0):
            raise UnreadableError(
                "has bytes that become fewer, as of several runs",
                "hand over one file a run, with --join",
            )
        builder = Builder()
        builder.begin(0.0)
        builder.add(builder.lengths(end), size)
        return builder.samples(columns, notes=notes or [])


class _Rates(_Rows):
    def samples(self, columns: str, notes: list[str], untimed: str) -> Samples:
        """Rates of the intervals before each line as a series."""
        end, rate = self._columns(untimed)
        if end[0] == 0:
            end, rate = end[1:], rate[1:]
        builder = Builder()
        builder.begin(0.0)
        builder.timed(end, rate)
        return builder.samples(columns, notes=notes)
