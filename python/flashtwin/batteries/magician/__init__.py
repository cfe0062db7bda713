"""magician: a Samsung-Magician-like short benchmark: speed in order, rate at random.

Trust M: the program's pattern is not told. The PM871b article's figures ask for about 1.3 GB
written, which is more than that drive's cache holds; depth 32 and 128 KiB are usual for such tools.
The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtwin.batteries.base.loads import KIB, Load, check_fits, load_cell
from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import (
    BLOCK,
    SECONDS,
    SIZE,
    host_time,
    integer,
    parameter,
)
from flashtwin.batteries.base.registry import Battery, Clause, Part, host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.step import Job, Mark, Purge, Run
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


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the Magician-like test."""

    size: int = parameter(1_300_000_000, SIZE, "the pattern, written and read in order")
    block: int = parameter(128 * KIB, BLOCK, "the size of a sequential request")
    depth: int = parameter(32, integer(1, 1024), "the queue depth")
    seconds: float = parameter(10.0, SECONDS, "how long random requests run, each way")
    host_us: float = host_time(20.0)

    @property
    def loads(self) -> tuple[Load, ...]:
        """In order and at random, written and read."""
        return tuple(
            Load(random=random, block_bytes=block, read_percent=percent, depth=self.depth)
            for random, block in ((False, self.block), (True, 4 * KIB))
            for percent in (0, 100)
        )


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """Erase; the pattern in order, written and read, then at random within it."""
    check_fits(NAME, parameters.loads, info)
    if not parameters.block <= parameters.size <= info.capacity_bytes:
        raise FlashtwinError(
            f"{NAME}: a pattern of {readable_size(parameters.size)} does not fit on {info.name}, or"
            " is smaller than a request",
            hint=f"set {NAME}:size to what is free",
            exit_code=USAGE,
        )
    yield Purge(label=f"{NAME}/purge")
    for load in parameters.loads:
        job = _job(parameters, info, load)
        yield Run(label=_label(load), jobs=(job,), sample_s=SAMPLE_S)
    yield Mark(label=f"{NAME}/found")


def _label(load: Load) -> str:
    return f"{NAME}/{load.access}/{load.way}"


def _job(parameters: Parameters, info: DriveInfo, load: Load) -> Job:
    job = load.job(
        info, size=parameters.size, seconds=parameters.seconds, host_ns=host_ns(parameters, info)
    )
    return job if load.random else replace(job, runtime_s=None)


def conclude(record: Record) -> list[Finding]:
    """Speed, latency and rate of each of the four."""
    findings: list[Finding] = []
    for load in record.parameters.loads:
        findings += load_cell(record, NAME, load, _label(load), load.way)
    return findings


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """In order, then at random within what was written."""
    sequential, random = (f"{NAME}/{load.access}" for load in parameters.loads[::2])
    return [
        Part(title="in order", labels=(sequential,)),
        Part(title="at random", labels=(random,), needs=("in order",)),
    ]


BATTERY = Battery(
    name=NAME,
    title="Magician-like: a short pattern in order and at random, written and read",
    trust="M",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.magician.present",
    meanings=beside(__file__),
    presets={"small": {"size": "256MiB"}},
    follows=(
        Clause(
            says="sequential speeds and random rates, read and written, within seconds",
            source="Samsung Magician (M)",
            here="128 KiB in order and 4 KiB at random, at queue depth 32",
        ),
        Clause(
            says="how much is written is not told",
            source="the PM871b article's figures (P)",
            here="1.3 GB, which those figures ask for; an erased drive, and random requests within"
            " the pattern",
        ),
    ),
)
