"""Times in the cells of a table: seconds in a unit, hh:mm:ss, dates with a time of day, epochs.

A time of day that goes back by more than half a day is one past midnight. Of a date that can be
read day first or month first (03/04/2026) the reading counts in which the file is shorter: the
other one has a month between two samples.

Invariants: seconds since the first cell of the file for dates and times of day, the number itself
times its unit otherwise; a cell of another form than the first is refused by its line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

import numpy as np

from flashtwin.errors import shortened
from flashtwin.study.infer.read.cells import Numbers, is_number
from flashtwin.study.infer.samples import Floats, OpenError, UnreadableError

UNITS = {
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1e-9),
    **dict.fromkeys(("us", "usec", "µs", "microseconds"), 1e-6),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sek", "sekunden"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "minuten"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
}
DAY_S = 86_400.0
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_TIME = (
    r"(?P<h>[0-9]{1,3}):(?P<m>[0-5][0-9]):(?P<s>[0-5][0-9]|60)(?:[.,](?P<f>[0-9]{1,9}))?"
    r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?(?:\s*(?P<zone>Z|UTC|[+-][0-9]{2}:?[0-9]{2}))?"
)
_DATE = (
    r"(?:(?P<y>[0-9]{4})[-/.](?P<mo>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})"
    r"|(?P<a>[0-9]{1,2})(?P<sign>[-/.])(?P<b>[0-9]{1,2})(?:[-/.](?P<ab_y>[0-9]{4}|[0-9]{2}))?"
    r"|(?P<word_d>[0-9]{1,2})[- /](?P<word>[A-Za-z]{3})[a-z]*(?:[- /](?P<word_y>[0-9]{4}))?"
    r"|(?P<first_word>[A-Za-z]{3})[a-z]*[- /](?P<first_d>[0-9]{1,2}))"
)
_FORMS = re.compile(rf"(?:{_DATE}(?:[T,]?\s*|\s+)(?=[0-9]{{1,2}}:))?{_TIME}", re.ASCII)
_SHORT = re.compile(r"[0-9]{1,2}:[0-9]{2}(?:[.,][0-9]+)?")
# Seconds since 1970 of this century, and the units in which a computer counts them.
_EPOCH_S = (9e8, 5e9)
_EPOCHS = (1.0, 1e-3, 1e-6, 1e-9)
FORMS = "seconds, hh:mm:ss, or dates such as 2026-05-01 12:00:01"


def is_time(text: str) -> bool:
    """Whether a cell is a time of day or a date with one."""
    return len(text) <= 48 and _FORMS.fullmatch(text) is not None


class Clock:
    """The times of one file, in blocks of cells."""

    def __init__(self, numbers: Numbers, factor: float | None, name: str) -> None:
        self._numbers, self._factor, self._name = numbers, factor, name
        self._orders = ["day first", "month first"]
        self._first_day: dict[str, int] = {}
        self._begin: float | None = None
        self._midnights = 0
        self._last = -np.inf
        self._of_day: bool | None = None

    def seconds(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        """The cells in seconds."""
        if self._of_day is None:
            self._of_day = not is_number(cells[0]) and ":" in cells[0]
        if self._of_day:
            return self._since_begin(self._times(cells, lines))
        values = self._numbers.column(cells, lines, self._name)
        if self._factor is None:
            self._factor = self._epoch(float(values[0]))
            self._begin = float(values[0])
        seconds: Floats = (values - (self._begin or 0.0)) * self._factor
        return seconds

    def _epoch(self, value: float) -> float:
        low, high = _EPOCH_S
        for factor in _EPOCHS:
            if low <= value * factor < high:
                return factor
        raise OpenError(
            f"has a time without a unit: {self._name}",
            f"name its unit in the header, for example second or time_ms, or say it with "
            f"--time-column '{self._name}=s'",
        )

    def _since_begin(self, seconds: Floats) -> Floats:
        if self._begin is None:
            self._begin = float(seconds[0])
        since: Floats = seconds - self._begin
        return since

    def _times(self, cells: Sequence[str], lines: Sequence[int]) -> Floats:
        matches = [self._match(cell, line) for cell, line in zip(cells, lines, strict=True)]
        seconds = np.array([_of_day_s(match) for match in matches])
        if not _has_date(matches[0]):
            return self._past_midnight(seconds)
        readings = {}
        for order in self._orders:
            days = self._days(matches, order)
            if days is not None:
                readings[order] = days * DAY_S + seconds
        if not readings:
            raise UnreadableError(
                f"has a date that does not exist from line {lines[0]} on", f"write {FORMS}"
            )
        spans = {order: float(np.abs(at - at[0]).max()) for order, at in readings.items()}
        shortest = min(spans.values())
        self._orders = [order for order in readings if spans[order] == shortest]
        reading: Floats = readings[self._orders[0]]
        return reading

    def _match(self, cell: str, line: int) -> re.Match[str]:
        match = _FORMS.fullmatch(cell) if len(cell) <= 48 else None
        if match is None:
            hint = f"write {FORMS}"
            if _SHORT.fullmatch(cell):
                hint = f"it may be hours and minutes or minutes and seconds: {hint}"
            raise UnreadableError(
                f"{shortened(cell, 40)!r} in line {line} ({self._name}) is no time that infer "
                "reads",
                hint,
            )
        return match

    def _past_midnight(self, seconds: Floats) -> Floats:
        previous = np.concatenate(([self._last], seconds[:-1]))
        midnights = self._midnights + np.cumsum(seconds < previous - DAY_S / 2)
        self._midnights, self._last = int(midnights[-1]), float(seconds[-1])
        result: Floats = seconds + midnights * DAY_S
        return result

    def _days(self, matches: Sequence[re.Match[str]], order: str) -> Floats | None:
        """Days since the first date of the file; none where a date does not exist."""
        known: dict[tuple[str | None, ...], int] = {}
        days = np.empty(len(matches))
        for at, match in enumerate(matches):
            key = match.group("y", "mo", "d", "a", "b", "ab_y", "word_d", "word", "first_word")
            key = (*key, match["first_d"], match["word_y"])
            if key not in known:
                day = _day(match, order)
                if day is None:
                    return None
                known[key] = day
            days[at] = known[key]
        first = self._first_day.setdefault(order, int(days[0]))
        return days - first


def _has_date(match: re.Match[str]) -> bool:
    return any(match[name] is not None for name in ("y", "a", "word", "first_word"))


def _of_day_s(match: re.Match[str]) -> float:
    hours = int(match["h"])
    if match["half"]:
        hours = hours % 12 + (12 if match["half"] in "pP" else 0)
    seconds = hours * 3600.0 + int(match["m"]) * 60 + int(match["s"])
    if match["f"]:
        seconds += float(f"0.{match['f']}")
    zone = match["zone"]
    if zone and zone[0] in "+-":
        away = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        seconds -= away if zone[0] == "+" else -away
    return seconds


def _day(match: re.Match[str], order: str) -> int | None:
    """A date as a number of days; without a year it is one that has a 29th of February."""
    if match["y"]:
        year, month, day = (int(match[name]) for name in ("y", "mo", "d"))
    elif match["a"]:
        first, second = int(match["a"]), int(match["b"])
        day_first = order == "day first" or match["sign"] == "."
        day, month = (first, second) if day_first else (second, first)
        year = int(match["ab_y"] or 2024)
        year += 2000 if year < 100 else 0
    else:
        word = (match["word"] or match["first_word"]).lower()
        if word not in _MONTHS:
            return None
        month, day = _MONTHS.index(word) + 1, int(match["word_d"] or match["first_d"])
        year = int(match["word_y"] or 2024)
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return None
