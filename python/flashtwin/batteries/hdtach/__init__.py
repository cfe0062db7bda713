"""hdtach: an HD-Tach-like test: zones across the whole drive, written, then read.

Trust P/M: the tool moves zones spread over all addresses and takes the mean; how many and how large
they are is general knowledge (its long test has zones of 32 MB). 1,000 of them write more than most
caches hold. Zones are a strided job of fio's, so a twin and real fio go through the same ones. The
host's time a command is a prior: 20 us, which is what the 545s review's 466 MB/s read ask for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base import series_pages
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.registry import host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.fio_job import Fio, Strides
from flashtwin.model.step import Job, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.batteries.base.series_pages import Way
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "hdtach"
KIB, MIB = 1 << 10, 1 << 20
FEWEST_ZONES = 8


@dataclass(frozen=True, kw_only=True)
class Zones:
    """The zones of a target: whole requests, and fewer where it holds no more."""

    count: int
    bytes: int
    apart: int

    @staticmethod
    def of(parameters: Any, info: DriveInfo) -> Zones:
        """Those asked for; as many as fit."""
        size = parameters.zone // parameters.block * parameters.block
        count = min(parameters.zones, info.capacity_bytes // max(size, 1))
        if size == 0 or count < FEWEST_ZONES:
            raise FlashtwinError(
                f"{NAME}: {info.name} holds fewer than {FEWEST_ZONES} zones, or a zone is smaller"
                " than a request",
                hint=f"set {NAME}:zone to 1MiB, or measure a larger target",
                exit_code=USAGE,
            )
        apart = info.capacity_bytes // count // parameters.block * parameters.block
        return Zones(count=count, bytes=size, apart=apart)


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase; write all zones, rest, read them, and reads anywhere."""
    zones = Zones.of(parameters, info)
    range_bytes = zones.count * zones.apart // MIB * MIB
    yield from series_pages.steps(
        NAME, parameters, lambda way: _job(parameters, info, way), range_bytes
    )
    access = series_pages.ACCESS.job(
        info, size=None, seconds=series_pages.ACCESS_S, host_ns=host_ns(parameters, info)
    )
    yield Run(label=f"{NAME}/access", jobs=(access,))


def _job(parameters: Any, info: DriveInfo, way: Way) -> Job:
    zones = Zones.of(parameters, info)
    return Job(
        name=way,
        rw=way,
        block_bytes=parameters.block,
        size=zones.count * zones.apart,
        io_bytes=zones.count * zones.bytes,
        host_ns=host_ns(parameters, info),
        fio=Fio(
            strides=Strides(size=zones.bytes, range=zones.bytes, skip=zones.apart - zones.bytes)
        ),
    )


def conclude(record: Record) -> list[Finding]:
    """What is told of each way, and the access time."""
    parameters, info = record.parameters, record.info
    return series_pages.findings(NAME, record, lambda way: _job(parameters, info, way))


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """Fewer zones than asked for."""
    size = max(parameters.zone // parameters.block * parameters.block, 1)
    count = info.capacity_bytes // size
    if count < parameters.zones:
        return [f"{count} zones, which are all of the target, instead of {parameters.zones}"]
    return []


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
    parts=partial(series_pages.parts, NAME, "of zones"),
)
