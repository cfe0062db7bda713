"""A finding as people read it: the same digits, units and intervals on a terminal, in Python, in a
notebook and on a page.

A share is told in %, microseconds from a thousand on in ms, and less than a watt in mW. What is
within ± is an estimate; the range of a few runs and a bound are told by their ends, because their
middle says nothing, and so is an estimate that is far from the middle of its interval: no
probability is 99.9 ± 0.6 %.
Invariant: an interval is rounded outwards, so the one told never is narrower than the one found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from flashtwin.model.units import decimals, fixed, readable_number, readable_seconds, significant

if TYPE_CHECKING:
    from flashtwin.model.finding import Finding, Interval

MISSING = "\u2013"
NOT_SEEN, CANNOT_TELL = "not seen", "cannot tell"
DIGITS = 4
# Of a number in a sentence; tables have more.
SENTENCE_DIGITS = 3
# An end of an interval that is this many times as far away as the other is told by itself.
LOPSIDED = 3.0
# A value this near to its lower bound is told by the bound alone.
NEAR = 1.002
AT_LEAST = "\u2265"
# A float has up to 309 digits before its point.
_PRECISION = 400


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A value, how far it is known ("± 0.01", "(124 to 258)") and its unit; `beside` says it
    another way, or how small what was not seen would have to be."""

    value: str
    spread: str | None = None
    unit: str = ""
    beside: str | None = None

    @classmethod
    def of(cls, finding: Finding) -> Shown:
        if isinstance(finding.value, str):
            return cls(value=finding.value, unit=finding.unit)
        if finding.value is None:
            return cls(value=CANNOT_TELL if _cannot_tell(finding) else MISSING)
        factor, unit = scale(finding.unit, finding.value)
        value, interval = finding.value * factor, _scaled(finding.interval, factor)
        if value == 0 and interval is not None and interval.means == "bound" and interval.high:
            return cls(value=NOT_SEEN, beside=f"< {upwards(interval.high)} {unit}")
        shown, spread = with_interval(value, interval, rounded=unit == "%")
        return cls(value=shown, spread=spread, unit=unit, beside=_beside(finding.unit, value))

    @property
    def text(self) -> str:
        """All of it in one line."""
        if self.value == NOT_SEEN:
            return f"{self.value} ({self.beside})"
        return " ".join(filter(None, (self.value, self.spread, self.unit)))


def scale(unit: str, value: float) -> tuple[float, str]:
    """What a value is multiplied with, and the unit that it then has for a reader."""
    if unit == "fraction":
        return 100.0, "%"
    if unit == "us":
        return (0.001, "ms") if abs(value) >= 1000 else (1.0, "µs")
    if unit == "W" and 0 < abs(value) < 1:
        return 1000.0, "mW"
    return 1.0, unit


def plain(finding: Finding) -> str:
    """The value and its unit alone."""
    if finding.number is None:
        missing = CANNOT_TELL if _cannot_tell(finding) else MISSING
        return finding.value if isinstance(finding.value, str) else missing
    factor, unit = scale(finding.unit, finding.number)
    return f"{readable_number(finding.number * factor, DIGITS)} {unit}".rstrip()


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[str] = (),
    measured: Callable[[str], int] = len,
) -> str:
    """Columns as wide as their longest text, for what `print` shows of a list. Those of the heads
    in `right` end at the right; `measured` says how many cells of a terminal a text takes."""
    lines = [heads, *rows]
    widths = [max(map(measured, column)) for column in zip(*lines, strict=True)]
    to_the_right = [head in right for head in heads]

    def line_of(row: Sequence[str]) -> str:
        cells = []
        for text, wide, is_right in zip(row, widths, to_the_right, strict=True):
            blanks = " " * (wide - measured(text))
            cells.append(blanks + text if is_right else text + blanks)
        return "   ".join(cells).rstrip()

    head, *others = map(line_of, lines)
    return "\n".join([head, "\u2500" * (sum(widths) + 3 * len(widths) - 3), *others])


def listed(texts: Sequence[str]) -> str:
    """Words in a sentence: a, b and c."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)


def quantity(value: float, unit: str, digits: int = DIGITS) -> str:
    """A value without an interval, in the unit that a reader takes."""
    factor, shown_unit = scale(unit, value)
    return f"{significant(value * factor, digits)} {shown_unit}".rstrip()


def within_sentence(finding: Finding) -> str:
    """A value as a sentence has it: 36 min 5 s and not 2,165 s, 50.1 mW, a ratio without a unit."""
    beside = Shown.of(finding).beside if finding.unit == "s" else None
    number, unit = finding.number or 0.0, "" if finding.unit == "x" else finding.unit
    return beside or quantity(number, unit, SENTENCE_DIGITS)


def _cannot_tell(finding: Finding) -> bool:
    return (finding.note or "").startswith(CANNOT_TELL)


def with_interval(
    value: float, interval: Interval | None, *, rounded: bool = False
) -> tuple[str, str | None]:
    """(value, how far it is known) with the same places; none where nothing is known of that.
    `rounded`: the value is told without places where it is not known to one (78 ± 9 %)."""
    alone = readable_number(value, DIGITS)
    if interval is None:
        return alone, None
    low = interval.low or 0.0
    if interval.means == "bound" and interval.high is None and 0 < low <= value <= low * NEAR:
        return f"{AT_LEAST} {_rounded(low, decimals(low, DIGITS), ROUND_FLOOR)}", None
    if interval.means != "estimate":
        return alone, _ends(value, interval)
    sides = [abs(side - value) for side in (interval.low, interval.high) if side is not None]
    half = max(sides, default=0.0)
    if half == 0:
        return alone, None
    if len(sides) == 2 and half > LOPSIDED * min(sides):
        # A value has no more places than what is known of it.
        places = min(decimals(half, 1), decimals(value, DIGITS) if value else 3)
        return fixed(value, places), _ends(value, interval, places)
    # Two digits of an uncertainty are enough, and four of a value.
    places = min(decimals(half, 2), decimals(value, DIGITS) if value else 3)
    if rounded and half >= 1:
        places = min(places, 0)
    return fixed(value, places), f"± {_rounded(half, places, ROUND_CEILING)}"


def range_of(finding: Finding) -> str:
    """From the low to the high end of its interval, with the unit: 124 to 258 MB/s."""
    low, high = finding.low, finding.high
    assert low is not None and high is not None, f"{finding.id} is open on a side"
    factor, unit = scale(finding.unit, high)
    ends = (significant(side * factor, 3) for side in (low, high))
    return f"{' to '.join(ends)} {unit}".rstrip()


def upwards(value: float) -> str:
    """A value with two significant digits, rounded up: for an upper bound."""
    return _rounded(value, decimals(value, 2), ROUND_CEILING)


def _ends(value: float, interval: Interval, places: int | None = None) -> str | None:
    """The two ends with as many places as the value; none where both equal the value."""
    if places is None:
        places = decimals(value, DIGITS) if value else 3
    low, high = (
        None if side is None or not math.isfinite(side) else _rounded(side, places, rounding)
        for side, rounding in ((interval.low, ROUND_FLOOR), (interval.high, ROUND_CEILING))
    )
    if low is None or high is None:
        bound = f"at least {low}" if low else f"at most {high}"
        return f"({bound})" if low or high else None
    same = interval.low == interval.high
    return None if same or low == high else f"({low} to {high})"


def _rounded(value: float, places: int, rounding: str) -> str:
    exact = Context(prec=_PRECISION, rounding=rounding)
    # A value that only a float's last bits keep from its round self is that.
    near = Decimal(repr(float(f"{value:.12g}")))
    return fixed(float(near.quantize(Decimal(1).scaleb(-places), context=exact)), places)


def _scaled(interval: Interval | None, factor: float) -> Interval | None:
    if interval is None:
        return None
    low, high = (None if side is None else side * factor for side in (interval.low, interval.high))
    return replace(interval, low=low, high=high)


def _beside(unit: str, value: float) -> str | None:
    return readable_seconds(value) if unit == "s" and value >= 100 else None
