"""The log of dm-log-writes: what was written to a device, in order.

Its format is the kernel's (drivers/md/dm-log-writes.c): a sector with the head, then for each entry
a sector with where, how much and which flags, and behind it the sectors that were written.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
_HEAD, _ENTRY = struct.Struct("<QQQI"), struct.Struct("<QQQQ")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A write, a TRIM, a flush, or a mark, by its flags; `offset` and `size` are bytes."""

    offset: int
    size: int
    flags: int
    data: bytes


def entries(path: Path) -> Iterator[Entry]:
    """The entries of a log, a mark's text as its data."""
    with path.open("rb") as log:
        magic, version, count, sector = _HEAD.unpack(log.read(_HEAD.size))
        assert (magic, version) == (MAGIC, 1), "no log of dm-log-writes"
        log.seek(sector)
        for _ in range(count):
            head = log.read(sector)
            where, sectors, flags, length = _ENTRY.unpack_from(head)
            size = sectors * sector
            data = b"" if flags & (DISCARD | MARK) else log.read(size)
            if flags & MARK:
                data = head[_ENTRY.size : _ENTRY.size + length]
            yield Entry(offset=where * sector, size=size, flags=flags, data=data)
