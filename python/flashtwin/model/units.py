"""Sizes, times and numbers as people type and read them: the one place for all of flashtwin.

Decimal prefixes are powers of 1000 and binary ones (KiB, MiB, GiB) of 1024; a bare "4G" could be
either, so it is refused. `parse_…` read what was typed: exact integers of bytes, seconds as floats.
`show_…` spell a value so that the same is read again (4GB, 10m); `readable_…` round it to what
somebody wants to know (4 GB, 36 min 5 s). The grammar of fio's own numbers is in `fio.language`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal

_QUANTITY = re.compile(r"([0-9]{1,40}(?:\.[0-9]{1,40})?)\s*([A-Za-z]*)")
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_DECIMAL_NUMBER = re.compile(
    r"-?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?"
)
_BINARY = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_DECIMAL = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZES = {"": 1} | {unit.lower(): of for unit, of in ({"B": 1} | _DECIMAL | _BINARY).items()}
_TIMES = {
    "us": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "m": Decimal(60),
    "min": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86_400),
    "w": Decimal(604_800),
}
# A drive's clock counts nanoseconds in 64 bits, and a battery may ask for several such times.
MOST_S = 87_600 * 3600.0
# Dates do not go back for ever.
MOST_AGE_S = 100 * 365.25 * 86_400
# Units from which on a size is easier to read in a larger one, if that is as near.
_LONG, _NEAR = {"B": 10**6, "KiB": 10**4}, 1e-3


def parse_whole(text: str) -> int:
    """A whole number in plain digits; raises `ValueError` with what to write instead."""
    if not _INTEGER.fullmatch(text):
        raise ValueError("write a whole number of at most 20 digits")
    return int(text)


def parse_number(text: str) -> Decimal:
    """A number such as 24, 0.5 or 1e-3; raises `ValueError` with what to write instead."""
    if not _DECIMAL_NUMBER.fullmatch(text):
        raise ValueError("write it like 24, 2.4 or 1e-3")
    return Decimal(text)


def parse_size(text: str) -> int:
    """Bytes; raises `ValueError` with what to write instead."""
    match = _QUANTITY.fullmatch(text.strip())
    unit = match[2].lower() if match else ""
    if match and unit in ("k", "m", "g", "t"):
        big = unit.upper() if unit != "k" else "k"
        raise ValueError(
            f"write {match[1]}{big}B for powers of 1000, {match[1]}{unit.upper()}iB for 1024"
        )
    if not match or unit not in _SIZES:
        raise ValueError("write a size such as 4GB, 512MB or 1GiB")
    size = Decimal(match[1]) * _SIZES[unit]
    if size != size.to_integral_value() or size <= 0:
        raise ValueError("a size is a whole number of bytes above 0")
    return int(size)


# Fewer years than this are told in days.
_FEW_YEARS = 0.2


def parse_seconds(text: str) -> float:
    """Seconds from "600", "10m", "1.5h", "2d" or "500ms"."""
    seconds = _seconds(text, "write a time such as 30s, 10m, 1h or 500ms; a bare number is seconds")
    if seconds > MOST_S:
        raise ValueError("a time is at most 10 years, 87600h")
    return seconds


def parse_age(text: str) -> float:
    """Seconds of 12h, 30d or 4w: how old something is. What is older is removed, so a unit has to
    be there."""
    wrong = "write 12h, 30d or 4w"
    seconds = _seconds("" if text.strip().isdecimal() else text, wrong)
    if seconds > MOST_AGE_S:
        raise ValueError(f"{wrong}, at most 100 years")
    return seconds


def _seconds(text: str, wrong: str) -> float:
    match = _QUANTITY.fullmatch(text.strip())
    unit = match[2].lower() if match else ""
    if not match or (unit and unit not in _TIMES):
        raise ValueError(wrong)
    return float(Decimal(match[1]) * _TIMES[unit or "s"])


def show_size(size: int) -> str:
    """The shortest exact spelling: 1GiB, 4GB, 12345B."""
    exact = [
        f"{size // factor}{unit}"
        for unit, factor in reversed((_DECIMAL | _BINARY).items())
        if size and size % factor == 0
    ]
    return min([*exact, f"{size}B"], key=len)


def show_number(value: float) -> str:
    """The shortest text that is read as the same number, without an exponent."""
    text = format(Decimal(repr(float(value))), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def show_seconds(seconds: float) -> str:
    """600 as 10m, 0.5 as 500ms; what is read again is the same number."""
    if seconds >= 60 and seconds % 60 == 0:
        unit, of = ("h", 3600) if seconds % 3600 == 0 else ("m", 60)
        return f"{show_number(seconds / of)}{unit}"
    if 0 < seconds < 1:
        short = show_number(float(f"{seconds * 1000:.12g}"))
        if float(Decimal(short) * _TIMES["ms"]) == seconds:
            return f"{short}ms"
    return f"{show_number(seconds)}s"


def readable_period(seconds: float) -> str:
    """The same for a reader: 10 min, 500 ms."""
    typed = show_seconds(seconds)
    number = typed.rstrip("hms")
    unit = typed.removeprefix(number)
    return f"{number} {'min' if unit == 'm' else unit}"


def fixed(value: float, places: int) -> str:
    """A number with fixed places after the point, and a comma before every three digits: 14,144."""
    return f"{value:,.{max(places, 0)}f}"


def significant(value: float, digits: int = 4) -> str:
    """A number in significant digits, zeros at the end too; a dash for what is no number."""
    if not math.isfinite(value):
        return "\u2013"
    return "0" if value == 0 else fixed(value, decimals(value, digits))


def percent(share: float, places: int = 0) -> str:
    """A share as people read it: 78 %."""
    return f"{100 * share:.{places}f} %"


def readable_number(value: float | None, digits: int = 4) -> str:
    """A number in significant digits, no exponent, no zeros at the end."""
    if value is None:
        return "-"
    text = significant(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimals(value: float, digits: int = 4) -> int:
    """How many places after the point make so many significant digits of a value, rounded."""
    exponent = int(f"{abs(value):.{digits - 1}e}".partition("e")[2])
    return max(digits - 1 - exponent, 0)


def readable_size(count: float, digits: int = 4, *, binary: bool = False) -> str:
    """Bytes as drives are sold, in powers of 1000, or in powers of 1024."""
    units = _BINARY if binary else _DECIMAL
    unit, of = next(
        ((unit, of) for unit, of in reversed(units.items()) if abs(count) >= of), ("B", 1)
    )
    return f"{readable_number(count / of, digits)} {unit}"


def readable_gb(count: float, digits: int = 3) -> str:
    """Bytes in GB, however many, so that they can be held against others."""
    return f"{readable_number(count / 1e9, digits)} GB"


def readable_mb_s(rate: float) -> str:
    """Bytes a second in MB/s, however many."""
    return f"{readable_number(rate / 1e6, 3)} MB/s"


def readable_sizes(values: Sequence[str]) -> tuple[str, ...]:
    """Values of a spec, long counts of bytes (`37499904 B`) as people say them (`37.5 MB`); as they
    are where two that differ would become the same."""
    texts = tuple(_readable_count(value) for value in values)
    return texts if len(set(texts)) == len(set(values)) else tuple(values)


def _readable_count(text: str) -> str:
    number, _, unit = text.partition(" ")
    if not (unit in _LONG and number.isdigit() and int(number) >= _LONG[unit]):
        return text
    exact = parse_size(text)
    near = readable_size(exact)
    return near if abs(parse_size(near) / exact - 1) <= _NEAR else text


def readable_setting(value: str) -> str:
    """A value as somebody typed it, with a size written as everywhere else: 12GB as 12 GB."""
    if value.strip().isdigit():
        return value
    try:
        text = readable_size(parse_size(value))
        return text if parse_size(text) == parse_size(value) else value
    except ValueError:
        return value


def readable_seconds(seconds: float) -> str:
    """A time that something took: 9.00 s, 36 min 5 s, 2 h 1 min."""
    if seconds < 100:
        return f"{seconds:.{decimals(seconds, 3)}f} s" if seconds else "0 s"
    hours, rest = divmod(round(seconds), 3600)
    minutes, remainder = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {remainder} s" if remainder else f"{minutes} min"


def unit_of_years(years: float) -> tuple[float, str]:
    """How many units a year has, and the unit in which years are shown: days below `_FEW_YEARS`."""
    return (365.25, "days") if years < _FEW_YEARS else (1.0, "years")


def readable_years(years: float) -> str:
    """Years for a reader: 4.5 years, 12 days."""
    times, unit = unit_of_years(years)
    number = readable_number(years * times, 2)
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}"


def rough_seconds(seconds: float) -> str:
    """A time that something will take, in one unit: 59 s, 10 min, 2.0 h."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def readable_age(seconds: float) -> str:
    """How long ago something was, in its largest unit."""
    for unit in ("w", "d", "h", "m"):
        if seconds >= _TIMES[unit]:
            return f"{seconds / float(_TIMES[unit]):.0f}{unit} ago"
    return "just now"


def parse_block(text: str) -> int:
    """A block as job files write it: 128k and 1m are powers of 1024."""
    match = re.fullmatch(r"([0-9]{1,18})([km]?)", text.strip().lower())
    if not match or int(match[1]) == 0:
        raise ValueError("write a block such as 4k, 128k or 1m")
    return int(match[1]) << {"": 0, "k": 10, "m": 20}[match[2]]


def show_block(size: int) -> str:
    """4096 as 4k, 1 MiB as 1m."""
    if size % (1 << 20) == 0:
        return f"{size >> 20}m"
    return f"{size >> 10}k" if size % 1024 == 0 else str(size)
