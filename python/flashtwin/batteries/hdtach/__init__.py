"""hdtach: an HD-Tach-like test: zones across the whole drive, written, then read.

Trust P/M: the tool moves zones spread over all addresses and takes the mean; how many and how large
they are is general knowledge (its long test has zones of 32 MB). 1,000 of them write more than most
caches hold. Zones are a strided job of fio's, so a twin and real fio go through the same ones. The
host's time a command is a prior: 20 us, which is what the 545s review's 466 MB/s read ask for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import host_ns
from flashtwin.batteries.base.series_pages import Along, Way
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.fio_job import Fio, Strides
from flashtwin.model.step import Job

if TYPE_CHECKING:
    from flashtwin.model.target import DriveInfo

NAME = "hdtach"
MIB = 1 << 20
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
        size = _zone(parameters, info)
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


def _zone(parameters: Any, info: DriveInfo) -> int:
    """The bytes of a zone, in whole requests."""
    size: int = here(parameters, "zone", info) // parameters.block * parameters.block
    return size


def job_of(parameters: Any, info: DriveInfo, way: Way) -> Job:
    """All zones, one after another."""
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


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """Fewer zones than asked for."""
    count = info.capacity_bytes // max(_zone(parameters, info), 1)
    if count < parameters.zones:
        return [f"{count} zones, which are all of the target, instead of {parameters.zones}"]
    return []


ALONG = Along(battery=NAME, job_of=job_of, moved="of zones", fill_unit=MIB)

BATTERY = declared(__name__, departs=departs, **ALONG.functions())
