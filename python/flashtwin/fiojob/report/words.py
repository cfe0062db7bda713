"""Numbers in fio's spelling: at most so many characters, a prefix, and a unit.

A number with more digits than fit is divided by 1000 or 1024 until it does not have them; what room
is left goes to decimals: 65536 bytes in four characters are `64.0KiB`, 4096 are `4096B`.
"""

from __future__ import annotations

BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
DECIMAL = ("", "k", "M", "G", "T", "P")


def short(value: float, *, room: int = 4, binary: bool = False, unit: str = "") -> str:
    """A number in `room` characters with its prefix and unit."""
    step = 1024 if binary else 1000
    names = BINARY if binary else DECIMAL
    whole, power, part = int(value), 0, 0.0
    while len(str(whole)) > room and power + 1 < len(names):
        # What an earlier division left is gone, as in fio: 16,150,528 are 16.1 M.
        part = whole % step / step
        whole //= step
        power += 1
    decimals = room - len(str(whole)) - 1
    rounded = f"{whole + part:.{decimals}f}" if power and decimals > 0 else f"{whole + part:.0f}"
    return f"{rounded}{names[power]}{unit}"


def size(value: float) -> str:
    """Bytes by 1024: `39.1MiB`."""
    return short(value, binary=True, unit="B")


def size_decimal(value: float) -> str:
    """Bytes by 1000: `41.0MB`."""
    return short(value, unit="B")


def rate(bytes_s: float) -> str:
    """`19.5MiB/s (20.5MB/s)`."""
    return f"{size(bytes_s)}/s ({size_decimal(bytes_s)}/s)"
