"""hdtune: an HD-Tune-like transfer rate along the drive, or along its first gigabytes.

Trust P/M: one request of 64 KiB after another in order over the range of addresses, written or
read; short stroke limits the range (the 545s review: 4 GB, which shows the cache's end); then the
access time of reads anywhere. The tool may skip addresses to be done sooner; here the range is
moved whole. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin.batteries.base import along, meaning
from flashtwin.batteries.base.along import WAYS, Stretch
from flashtwin.batteries.base.loads import check_fits
from flashtwin.batteries.base.parameter import (
    BLOCK,
    SECONDS,
    SIZE,
    choice,
    decimal,
    or_word,
    parameter,
    several,
)
from flashtwin.batteries.base.registry import Battery, Clause, Part, host_ns
from flashtwin.model.step import Fill, Job, Mark, Purge, Rest, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.along import Way
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "hdtune"
KIB = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the HD-Tune-like test."""

    ways: tuple[Way, ...] = parameter(
        WAYS, several(choice(*WAYS), "ways"), "written, read, or both, in this order"
    )
    size: int | None = parameter(
        None, or_word("whole", SIZE), "the range, from the first address on; less is a short stroke"
    )
    block: int = parameter(64 * KIB, BLOCK, "the size of a request")
    rest_s: float = parameter(60.0, SECONDS, "rest between writing and reading")
    host_us: float = parameter(
        20.0, decimal(0, 10_000), "the host's own time a command, in us (twins only)"
    )


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """Erase; write the range, rest, read it, and reads anywhere in it."""
    check_fits(NAME, [along.load_of("read", parameters.block)], info)
    yield Purge(label=f"{NAME}/purge")
    if "write" not in parameters.ways:
        yield Fill(label=f"{NAME}/fill", size=_job(parameters, info, "read").size)
    for way in parameters.ways:
        if way == "read":
            yield Rest(label=f"{NAME}/rest", seconds=parameters.rest_s)
        job = _job(parameters, info, way)
        yield Run(label=f"{NAME}/{way}", jobs=(job,), sample_s=along.sample_s(job.size or 0))
        yield Mark(label=f"{NAME}/{way}/found")
    yield Run(label=f"{NAME}/access", jobs=(_access(parameters, info),))


def _job(parameters: Parameters, info: DriveInfo, way: Way) -> Job:
    load = along.load_of(way, parameters.block)
    job = load.job(info, size=parameters.size, seconds=0.0, host_ns=host_ns(parameters, info))
    return replace(job, runtime_s=None)


def _access(parameters: Parameters, info: DriveInfo) -> Job:
    return along.ACCESS.job(
        info,
        size=parameters.size,
        seconds=along.ACCESS_S,
        host_ns=host_ns(parameters, info),
    )


def conclude(record: Record) -> list[Finding]:
    """What is told of each stretch, and the access time."""
    findings: list[Finding] = []
    for way in record.parameters.ways:
        job = _job(record.parameters, record.info, way)
        stretch = Stretch(battery=NAME, label=f"{NAME}/{way}", way=way, job=job)
        findings += stretch.findings(record)
    return findings + along.access_findings(record, NAME, f"{NAME}/access")


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """Writing, then reading what was written, then the access time."""
    titles = {way: f"{way} along the range" for way in parameters.ways}
    before = (titles["write"],) if "write" in titles else ()
    rows = [
        Part(
            title=title,
            labels=(f"{NAME}/{way}", *((f"{NAME}/rest",) if way == "read" else ())),
            needs=before if way == "read" else (),
            begins=True,
        )
        for way, title in titles.items()
    ]
    return [*rows, Part(title="access time", labels=(f"{NAME}/access",), needs=before)]


BATTERY = Battery(
    name=NAME,
    title="HD-Tune-like: the rate along the range in blocks of 64 KiB, written and read",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.hdtune.present",
    meanings=partial(meaning.read, Path(along.__file__).with_suffix(".toml")),
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
