"""magician: a Samsung-Magician-like short benchmark: speed in order, rate at random.

Trust M: the program's pattern is not told. The PM871b article's figures ask for about 1.3 GB
written, which is more than that drive's cache holds; depth 32 and 128 KiB are usual for such tools.
The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, Load, check_fits, load_cell
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import Part
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.step import Mark, Purge, Run
from flashtwin.model.units import readable_size

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "magician"
SAMPLE_S = 0.05
# What is read was written before.
WAYS = ("write", "read")


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase; the pattern in order, written and read, then at random within it."""
    check_fits(NAME, loads_of(parameters), info)
    size, seconds = here(parameters, "size", info), here(parameters, "seconds", info)
    if not parameters.block <= size <= info.capacity_bytes:
        raise FlashtwinError(
            f"{NAME}: a pattern of {readable_size(size)} does not fit on {info.name}, or"
            " is smaller than a request",
            hint=f"set {NAME}:size to what is free",
            exit_code=USAGE,
        )
    yield Purge(label=f"{NAME}/purge")
    for load in loads_of(parameters):
        job = load.job_for(parameters, info, size=size, seconds=seconds)
        job = job if load.random else replace(job, runtime_s=None)
        yield Run(label=_label(load), jobs=(job,), sample_s=SAMPLE_S)
    yield Mark(label=f"{NAME}/found")


def loads_of(parameters: Any) -> list[Load]:
    """In order and at random, written and read."""
    return [
        Load(random=random, block_bytes=block, read_percent=percent, depth=parameters.depth)
        for random, block in ((False, parameters.block), (True, 4 * KIB))
        for percent in (0, 100)
    ]


def _label(load: Load) -> str:
    return f"{NAME}/{load.access}/{load.way}"


def conclude(record: Record) -> list[Finding]:
    """Speed, latency and rate of each of the four."""
    findings: list[Finding] = []
    for load in loads_of(record.parameters):
        findings += load_cell(record, NAME, load, _label(load), load.way)
    return findings


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """In order, then at random within what was written."""
    sequential, random = (f"{NAME}/{load.access}" for load in loads_of(parameters)[::2])
    return [
        Part(title="in order", labels=(sequential,)),
        Part(title="at random", labels=(random,), needs=("in order",)),
    ]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
)
