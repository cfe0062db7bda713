"""Numbers in fio's spelling: at most so many characters, a prefix, and a unit.

A number with more digits than fit is divided by 1000 or 1024 until it does not have them; what room
is left goes to decimals: 65536 bytes in four characters are `64.0KiB`, 4096 are `4096B`.
"""

from __future__ import annotations

from dataclasses import dataclass

BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
DECIMAL = ("", "k", "M", "G", "T", "P")


def short(value: float, *, room: int = 4, binary: bool = False, unit: str = "") -> str:
    """A number in `room` characters with its prefix and unit."""
    step = 1024 if binary else 1000
    names = BINARY if binary else DECIMAL
    whole, power, left = int(value), 0, 0
    while len(str(whole)) > room and power + 1 < len(names):
        # What an earlier division left is gone, as in fio: 16,150,528 are 16.1 M.
        whole, left = divmod(whole, step)
        power += 1
    decimals = room - len(str(whole)) - 1
    if not power:
        text = str(whole)
    elif decimals > 0:
        text = f"{whole + left / step:.{decimals}f}"
    else:
        text = str(whole + (left >= step / 2))
    return f"{text}{names[power]}{unit}"


@dataclass(frozen=True, kw_only=True)
class Units:
    """Sizes and rates: in how many digits, which prefixes come first, bytes or bits a second."""

    room: int = 4
    binary: bool = True
    bits: bool = False

    def size(self, count: float, *, other: bool = False) -> str:
        """Bytes: `39.1MiB`; `other`: with the other prefixes, `41.0MB`."""
        return short(count, room=self.room, binary=self.binary != other, unit="B")

    def rate(self, bytes_s: float, *, other: bool = False) -> str:
        """Bytes or bits a second."""
        # fio takes the fraction of a byte away before it counts bits.
        value, unit = (int(bytes_s) * 8, "bit/s") if self.bits else (bytes_s, "B/s")
        return short(value, room=self.room, binary=self.binary != other, unit=unit)

    def both(self, bytes_s: float) -> str:
        """`19.5MiB/s (20.5MB/s)`."""
        return f"{self.rate(bytes_s)} ({self.rate(bytes_s, other=True)})"


USUAL = Units()


def size(value: float) -> str:
    """Bytes by 1024: `39.1MiB`."""
    return USUAL.size(value)


def size_decimal(value: float) -> str:
    """Bytes by 1000: `41.0MB`."""
    return USUAL.size(value, other=True)
