"""iometer: Iometer's sweeps over the queue depth, on a drive prepared as the 545s review did.

The review (trust P): after a secure erase and 128 KiB sequential writes of twice the capacity, 128
KiB sequential and 4 KiB random requests, written and read, at queue depth 1 to 128, a minute each.
Over which range is not told: its random writes are faster than the drive keeps up over all of it,
so a test file of 1 GB is likely; preset 545s has that, by default it is the whole drive.

Loads are typed as Iometer's access specifications are: block size, share of reads, share at random,
`4k-67r-100x`. `icf` writes its files, and reads them, which may ask for more. The host's time a
command is a prior: 5 us.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.forms import Grid
from flashtwin.batteries.base.loads import Load
from flashtwin.batteries.base.parameter import Kind
from flashtwin.model.units import parse_block, show_block

NAME = "iometer"


@dataclass(frozen=True, kw_only=True)
class Access:
    """One access specification, spelled 4k-67r-100x: size, % of reads, % at random (0 or 100)."""

    block_bytes: int
    read_percent: int
    random: bool

    def __str__(self) -> str:
        block = show_block(self.block_bytes)
        return f"{block}-{self.read_percent}r-{100 if self.random else 0}x"

    @staticmethod
    def of(load: Load) -> Access:
        """The specification of a load."""
        return Access(
            block_bytes=load.block_bytes, read_percent=load.read_percent, random=load.random
        )

    def at(self, depth: int) -> Load:
        """The load at a queue depth."""
        return Load(
            random=self.random,
            block_bytes=self.block_bytes,
            read_percent=self.read_percent,
            depth=depth,
        )


def parse_access(text: str) -> Access:
    """`4k-67r-100x`; raises `ValueError` with what to write instead."""
    match = re.fullmatch(r"([0-9]+[km]?)-([0-9]{1,3})r-(0|100)x", text.strip().lower())
    if not match:
        raise ValueError("write BLOCK-READSr-RANDOMx, RANDOM 0 or 100, for example 4k-67r-100x")
    block, reads = parse_block(match[1]), int(match[2])
    if not 512 <= block <= 64 << 20 or block % 512:
        raise ValueError("a block is a multiple of 512, from 512 to 64m")
    if reads > 100:
        raise ValueError("a share of reads is from 0 to 100 %")
    return Access(block_bytes=block, read_percent=reads, random=match[3] == "100")


ACCESS = Kind(name="an access specification", parse=parse_access, plain=str)


def loads_of(parameters: Any) -> Iterator[Load]:
    """Each specification at every depth."""
    return (access.at(depth) for access in parameters.access for depth in parameters.depths)


def row_of(load: Load) -> str:
    """The specification, whose sweep over the depth belongs together."""
    return str(Access.of(load))


def cell_of(load: Load) -> str:
    """The queue depth."""
    return f"q{load.depth}"


FORM = Grid(battery=NAME, loads=loads_of, row=row_of, cell=cell_of, rests=True)

BATTERY = declared(
    __name__,
    kinds={"access": ACCESS},
    configuration="flashtwin.batteries.iometer.icf",
    **FORM.functions(),
)
