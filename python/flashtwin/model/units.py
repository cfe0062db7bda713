"""Sizes, times and counts as people type them, and back.

Decimal prefixes are powers of 1000 and binary ones (KiB, MiB, GiB) of 1024; a bare "4G" could be
either, so it is refused. Results are exact integers of bytes; times are seconds as floats.
"""

from __future__ import annotations

import re
from decimal import Decimal

_NUMBER = r"([0-9]{1,40}(?:\.[0-9]{1,40})?)"
_SIZE = re.compile(rf"{_NUMBER}\s*([A-Za-z]*)")
_WHOLE = re.compile(r"-?[0-9]{1,20}")
_DECIMAL_NUMBER = re.compile(
    r"-?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?"
)
_TIME = re.compile(rf"{_NUMBER}\s*([A-Za-z]*)")
_SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12} | {
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
_TIMES = {"ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
_AGE = re.compile(rf"{_NUMBER}\s*([mhdw])")
_AGES = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
# A hundred years: dates do not go back for ever.
MOST_AGE_S = 100 * 365.25 * 86_400
# A drive's clock counts nanoseconds in 64 bits, and a battery may ask for several such times.
MOST_S = 87_600 * 3600.0
_BINARY = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_DECIMAL = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def parse_whole(text: str) -> int:
    """A whole number in plain digits; raises `ValueError` with what to write instead."""
    if not _WHOLE.fullmatch(text):
        raise ValueError("write a whole number of at most 20 digits")
    return int(text)


def parse_number(text: str) -> Decimal:
    """A number such as 24, 0.5 or 1e-3; raises `ValueError` with what to write instead."""
    if not _DECIMAL_NUMBER.fullmatch(text):
        raise ValueError("write it like 24, 2.4 or 1e-3")
    return Decimal(text)


def parse_size(text: str) -> int:
    """Bytes; raises `ValueError` with what to write instead."""
    match = _SIZE.fullmatch(text.strip())
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


def show_size(size: int) -> str:
    """The shortest exact spelling: 1 GiB, 4 GB, 12345 B."""
    exact = [
        f"{size // factor}{unit}"
        for unit, factor in (*_BINARY, *_DECIMAL)
        if size and size % factor == 0
    ]
    return min([*exact, f"{size}B"], key=len)


def parse_seconds(text: str) -> float:
    """Seconds from "600", "10m", "1.5h" or "500ms"."""
    match = _TIME.fullmatch(text.strip())
    unit = match[2].lower() if match else ""
    if not match or (unit and unit not in _TIMES):
        raise ValueError("write a time such as 30s, 10m, 1h or 500ms; a bare number is seconds")
    seconds = float(Decimal(match[1]) * Decimal(str(_TIMES[unit or "s"])))
    if seconds > MOST_S:
        raise ValueError("a time is at most 10 years, 87600h")
    return seconds


def parse_age(text: str) -> float:
    """Seconds of 12h, 30d or 4w, as people say how old something is."""
    match = _AGE.fullmatch(text.strip().lower())
    if not match:
        raise ValueError("write 12h, 30d or 4w")
    return float(match[1]) * _AGES[match[2]]


def show_age(seconds: float) -> str:
    """How long ago something was, in its largest unit."""
    for unit, of in sorted(_AGES.items(), key=lambda row: -row[1]):
        if seconds >= of:
            return f"{seconds / of:.0f}{unit} ago"
    return "just now"


def show_number(value: float) -> str:
    """The shortest text that is read as the same number, without an exponent."""
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def shortest(value: float) -> str:
    """So that reading it gives the same number."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def show_seconds(seconds: float) -> str:
    """600 as 10m, 0.5 as 500ms; what is read again is the same number."""
    if seconds >= 60 and seconds % 60 == 0:
        unit, of = ("h", 3600) if seconds % 3600 == 0 else ("m", 60)
        return f"{show_number(seconds / of)}{unit}"
    if 0 < seconds < 1:
        short = show_number(float(f"{seconds * 1000:.12g}"))
        if float(Decimal(short) * Decimal("0.001")) == seconds:
            return f"{short}ms"
    return f"{show_number(seconds)}s"


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
