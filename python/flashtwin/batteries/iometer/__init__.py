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
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import (
    Load,
    check_fits,
    fills_before,
    load_cell,
    over_time,
    prepared,
)
from flashtwin.batteries.base.parameter import (
    SECONDS,
    SIZE,
    Kind,
    host_time,
    integer,
    or_word,
    parameter,
    several,
)
from flashtwin.batteries.base.registry import (
    Part,
    host_ns,
    prepared_parts,
    with_mark,
)
from flashtwin.batteries.base.sweep import highest
from flashtwin.model.units import parse_block, show_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "iometer"
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, kw_only=True)
class Access:
    """One access specification, spelled 4k-67r-100x: size, % of reads, % at random (0 or 100)."""

    block_bytes: int
    read_percent: int
    random: bool

    def __str__(self) -> str:
        block = show_block(self.block_bytes)
        return f"{block}-{self.read_percent}r-{100 if self.random else 0}x"

    def at(self, depth: int) -> Load:
        """The load at a queue depth."""
        return Load(
            random=self.random,
            block_bytes=self.block_bytes,
            read_percent=self.read_percent,
            depth=depth,
        )

    @property
    def way(self) -> str:
        """What its findings are called: read, write, mix67."""
        return self.at(1).way_name


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
SWEEPS = tuple(
    Access(block_bytes=block, read_percent=reads, random=random)
    for block, random in ((128 << 10, False), (4 << 10, True))
    for reads in (100, 0)
)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the sweeps."""

    access: tuple[Access, ...] = parameter(
        SWEEPS,
        several(ACCESS, "access specifications"),
        "the loads: block size, % of reads, % at random, each at every depth",
    )
    depths: tuple[int, ...] = parameter(
        DEPTHS, several(integer(1, 1024), "whole numbers from 1 to 1024"), "the queue depths"
    )
    seconds: float = parameter(60.0, SECONDS, "how long each load runs at each depth")
    size: int | None = parameter(
        None, or_word("whole", SIZE), "the range that is tested, from the beginning of the target"
    )
    fills: int = fills_before(2)
    host_us: float = host_time(5.0)


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """Prepare once; then each load from the lowest depth to the highest."""
    check_fits(NAME, [access.at(1) for access in parameters.access], info)
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    for access, load in _cells(parameters):
        job = load.job(
            info,
            size=parameters.size,
            seconds=parameters.seconds,
            host_ns=host_ns(parameters, info),
        )
        yield from with_mark(over_time(_label(access, load), job))


def _cells(parameters: Parameters) -> Iterator[tuple[Access, Load]]:
    for access in parameters.access:
        for depth in parameters.depths:
            yield access, access.at(depth)


def _label(access: Access, load: Load) -> str:
    return f"{NAME}/{access}/q{load.depth}"


def conclude(record: Record) -> list[Finding]:
    """Every cell that ran; of each load whose sweep is whole the highest rate and its depth."""
    findings: list[Finding] = []
    for access in record.parameters.access:
        cells: list[Finding] = []
        rates: list[tuple[Load, Finding]] = []
        for depth in record.parameters.depths:
            load = access.at(depth)
            of_cell = load_cell(record, NAME, load, _label(access, load), access.way)
            unit = "IOPS" if access.random else "MB/s"
            rates += [(load, cell) for cell in of_cell if cell.unit == unit]
            cells += of_cell
        findings += cells
        if len(rates) == len(record.parameters.depths):
            findings += highest(rates, access.way)
    return findings


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """The preparation, then each load's sweep: a depth alone says little."""
    return prepared_parts(NAME, {str(access): str(access) for access in parameters.access})


BATTERY = declared(
    __name__,
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    configuration="flashtwin.batteries.iometer.icf",
)
