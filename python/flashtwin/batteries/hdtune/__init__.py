"""hdtune: an HD-Tune-like transfer rate along the drive, or along its first gigabytes.

Trust P/M: one request of 64 KiB after another in order over the range of addresses, written or
read; short stroke limits the range (the 545s review: 4 GB, which shows the cache's end); then the
access time of reads anywhere. The tool may skip addresses to be done sooner; here the range is
moved whole. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from flashtwin.batteries.base import meaning, series_pages
from flashtwin.batteries.base.loads import check_fits
from flashtwin.batteries.base.parameter import (
    BLOCK,
    SECONDS,
    SIZE,
    host_time,
    or_word,
    parameter,
)
from flashtwin.batteries.base.registry import Battery, Clause, host_ns
from flashtwin.model.step import Job, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.batteries.base.series_pages import Way
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "hdtune"
KIB = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the HD-Tune-like test."""

    ways: tuple[Way, ...] = series_pages.ways()
    size: int | None = parameter(
        None, or_word("whole", SIZE), "the range, from the first address on; less is a short stroke"
    )
    block: int = parameter(64 * KIB, BLOCK, "the size of a request")
    rest_s: float = parameter(60.0, SECONDS, "rest between writing and reading")
    host_us: float = host_time(20.0)


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """Erase; write the range, rest, read it, and reads anywhere in it."""
    check_fits(NAME, [series_pages.load_of("read", parameters.block)], info)
    size = _job(parameters, info, "read").size
    yield from series_pages.steps(
        NAME, parameters, lambda way: _job(parameters, info, way), size or 0
    )
    yield Run(label=f"{NAME}/access", jobs=(_access(parameters, info),))


def _job(parameters: Parameters, info: DriveInfo, way: Way) -> Job:
    load = series_pages.load_of(way, parameters.block)
    job = load.job(info, size=parameters.size, seconds=0.0, host_ns=host_ns(parameters, info))
    return replace(job, runtime_s=None)


def _access(parameters: Parameters, info: DriveInfo) -> Job:
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


BATTERY = Battery(
    name=NAME,
    title="HD-Tune-like: the rate along the range in blocks of 64 KiB, written and read",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=partial(series_pages.parts, NAME, "along the range"),
    present=partial(series_pages.present, NAME, title="HD-Tune-like", moved="along the range"),
    meanings=meaning.shared("series_pages"),
    presets={
        "545s": {"size": "4GB", "ways": "write"},
        "short": {"size": "4GB"},
        "read": {"ways": "read"},
    },
    follows=(
        Clause(
            says="the rate along the whole range, written or read, in blocks of 64 KiB, one request"
            " after another",
            source="HD Tune (P), block size by default (M)",
            here="the whole range is moved; the drive is erased first and written before it is"
            " read",
        ),
        Clause(says="short stroke: 4 GB", source="the 545s review (P)", here="preset 545s"),
        Clause(
            says="access time: reads anywhere in the range",
            source="HD Tune (M)",
            here="4 KiB for 5 s",
        ),
    ),
)
