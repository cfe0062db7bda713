"""Numbers and findings as text: sensible digits, one unit, no more precision than there is.

MB and GB are powers of 1000; MiB/s is given beside MB/s in tables and tooltips because the
reviewers whose numbers people compare with do not say which they mean. Invariant: an interval is
rounded outwards, so the one printed never is narrower than the one found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal

from flashtwin.model.finding import Finding
from flashtwin.model.units import decimals, readable_seconds

MISSING = "\u2013"
# Templates use it.
MIB_PER_MB = 1e6 / (1 << 20)
SIGNIFICANT = 4


def significant(value: float, digits: int = 3) -> str:
    """So many significant digits, thousands apart by a thin space, trailing zeros kept."""
    if not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    return fixed(value, decimals(value, digits))


def mbs(value: float) -> str:
    """MB/s within a sentence; the unit never begins a line."""
    return f"{significant(value)}\u00a0MB/s"


def gb(value: float) -> str:
    """GB within a sentence; the unit never begins a line."""
    return f"{significant(value)}\u00a0GB"


def clock(seconds: float) -> str:
    """Minutes and seconds, hours before them where there are some: 36:05, 1:02:03; below a minute
    with a digit more."""
    if seconds < 60:
        return f"{significant(seconds, 3)}\u00a0s"
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def fixed(value: float, places: int) -> str:
    """So many places after the point."""
    return f"{value:,.{max(places, 0)}f}".replace(",", "\u202f").replace("-", "\u2212")


def with_interval(value: float, low: float | None, high: float | None) -> tuple[str, str | None]:
    """(value, ± half of the interval) with the same places; none where there is no interval."""
    half = _half(value, low, high)
    if half is None or half == 0:
        return significant(value, SIGNIFICANT), None
    # Two digits of an uncertainty are enough, and four of a value.
    places = min(decimals(half, 2), decimals(value, SIGNIFICANT) if value else 3)
    places = max(places, 0)
    return fixed(value, places), _up(half, places)


def upwards(value: float) -> str:
    """Two significant digits, rounded up: for a bound."""
    return _up(value, decimals(value, 2))


def compact(values: object, digits: int = 5) -> list[float | int | None]:
    """An array as JSON numbers of so many significant digits; what is not finite is none."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    known = np.isfinite(array)
    sizes = np.abs(np.where(known & (array != 0), array, 1.0))
    places = digits - 1 - np.floor(np.log10(sizes))
    # Powers of ten of whole numbers are exact, so the quotients have no more digits than asked for.
    up, down = 10.0 ** np.clip(places, 0, 300), 10.0 ** np.clip(-places, 0, 300)
    rounded = np.where(known, np.round(np.where(known, array, 0.0) / down * up) / up * down, 0.0)
    whole = (rounded == np.floor(rounded)) & (np.abs(rounded) < 1e15)
    rows = zip(rounded.tolist(), whole.tolist(), known.tolist(), strict=True)
    return [(int(value) if plain else value) if there else None for value, plain, there in rows]


def _half(value: float, low: float | None, high: float | None) -> float | None:
    """The larger side of the interval."""
    sides = [abs(side - value) for side in (low, high) if side is not None]
    return max(sides) if sides else None


def _up(value: float, places: int) -> str:
    # A float has up to 309 digits before its point.
    exact = Context(prec=400, rounding=ROUND_CEILING)
    up = Decimal(value).quantize(Decimal(1).scaleb(-places), context=exact)
    return fixed(float(up), places)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A value for reading: a share in %, long microseconds in ms; `beside` says it another way."""

    value: str
    interval: str | None
    unit: str
    beside: str | None = None

    @classmethod
    def of(cls, finding: Finding) -> Shown:
        if isinstance(finding.value, str):
            return cls(value=finding.value, interval=None, unit=finding.unit)
        if finding.value is None:
            return cls(value=MISSING, interval=None, unit="")
        factor, unit = _scale(finding, finding.value)
        low, high = (
            None if side is None else side * factor for side in (finding.low, finding.high)
        )
        if finding.value == 0 and not low and high:
            most = f"at most {upwards(high)} {unit}"
            return cls(value="0", interval=None, unit=unit, beside=most)
        value, interval = with_interval(finding.value * factor, low, high)
        return cls(
            value=value, interval=interval, unit=unit, beside=_beside(finding, finding.value)
        )


def _scale(finding: Finding, value: float) -> tuple[float, str]:
    if finding.unit == "fraction":
        return 100.0, "%"
    if finding.unit == "us":
        return (0.001, "ms") if value >= 10_000 else (1.0, "µs")
    return 1.0, finding.unit


def _beside(finding: Finding, value: float) -> str | None:
    if finding.unit == "s" and value >= 100:
        return readable_seconds(value)
    return None
