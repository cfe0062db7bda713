"""hdtune: an HD-Tune-like transfer rate along the drive, or along its first gigabytes.

Trust P/M: one request of 64 KiB after another in order over the range of addresses, written or
read; short stroke limits the range (the 545s review: 4 GB, which shows the cache's end); then the
access time of reads anywhere. The tool may skip addresses to be done sooner; here the range is
moved whole. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base import series_pages
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import check_fits
from flashtwin.batteries.base.registry import host_ns
from flashtwin.model.step import Job, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.batteries.base.series_pages import Way
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "hdtune"
KIB = 1 << 10


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase; write the range, rest, read it, and reads anywhere in it."""
    check_fits(NAME, [series_pages.load_of("read", parameters.block)], info)
    size = _job(parameters, info, "read").size
    yield from series_pages.steps(
        NAME, parameters, lambda way: _job(parameters, info, way), size or 0
    )
    yield Run(label=f"{NAME}/access", jobs=(_access(parameters, info),))


def _job(parameters: Any, info: DriveInfo, way: Way) -> Job:
    load = series_pages.load_of(way, parameters.block)
    job = load.job(info, size=parameters.size, seconds=0.0, host_ns=host_ns(parameters, info))
    return replace(job, runtime_s=None)


def _access(parameters: Any, info: DriveInfo) -> Job:
    return series_pages.ACCESS.job(
        info,
        size=parameters.size,
        seconds=series_pages.ACCESS_S,
        host_ns=host_ns(parameters, info),
    )


def conclude(record: Record) -> list[Finding]:
    """What is told of each way, and the access time."""
    parameters, info = record.parameters, record.info
    return series_pages.findings(NAME, record, lambda way: _job(parameters, info, way))


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=partial(series_pages.parts, NAME, "along the range"),
)
