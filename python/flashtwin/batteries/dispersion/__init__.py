"""dispersion: over an hour of one load at queue depth 32, a point a second.

What the 545s review did with Iometer to see how even a drive is (trust P): after a secure erase and
128 KiB sequential writes of twice the capacity, 4000 s each of 4 KiB random writes, 4 KiB random
reads, 128 KiB sequential writes and 128 KiB sequential reads at queue depth 32. Here each kind
begins on a drive prepared anew. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.loads import (
    KIB,
    Load,
    check_fits,
    load_over_time,
    over_time,
    prepared,
)
from flashtwin.batteries.base.meaning import shared
from flashtwin.batteries.base.parameter import (
    SECONDS,
    choice,
    host_time,
    integer,
    parameter,
    several,
)
from flashtwin.batteries.base.registry import Battery, Clause, Part, host_ns, with_mark
from flashtwin.model.step import Rest

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "dispersion"
LOADS = {
    "random-write": Load(random=True, block_bytes=4 * KIB, read_percent=0, depth=32),
    "random-read": Load(random=True, block_bytes=4 * KIB, read_percent=100, depth=32),
    "write": Load(random=False, block_bytes=128 * KIB, read_percent=0, depth=32),
    "read": Load(random=False, block_bytes=128 * KIB, read_percent=100, depth=32),
}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the dispersion battery."""

    kinds: tuple[str, ...] = parameter(
        tuple(LOADS), several(choice(*LOADS), "kinds of load"), "the loads, in their order"
    )
    seconds: float = parameter(4000.0, SECONDS, "how long each load is kept up")
    fills: int = parameter(
        2, integer(1, 9), "how often everything is written before each load, erased first"
    )
    rest_s: float = parameter(60.0, SECONDS, "rest between writing everything and the load")
    host_us: float = host_time(5.0)


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """For each kind: erase, write everything twice, rest, keep up the load."""
    check_fits(NAME, [LOADS[kind] for kind in parameters.kinds], info)
    for kind in parameters.kinds:
        yield from prepared(f"{NAME}/{kind}", parameters.fills)
        if parameters.rest_s:
            yield Rest(label=f"{NAME}/{kind}/rest", seconds=parameters.rest_s)
        job = LOADS[kind].job(
            info, size=None, seconds=parameters.seconds, host_ns=host_ns(parameters, info)
        )
        yield from with_mark(over_time(_label(kind), job))


def conclude(record: Record) -> list[Finding]:
    """What is told of each load over time."""
    findings: list[Finding] = []
    for kind in record.parameters.kinds:
        load = LOADS[kind]
        findings += load_over_time(record, NAME, load, _label(kind), variant=kind, title=load.title)
    return findings


def _label(kind: str) -> str:
    return f"{NAME}/{kind}/load"


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """Each kind by itself; one that is cut short still tells its first stretch."""
    return [Part(title=kind, labels=(f"{NAME}/{kind}",), begins=True) for kind in parameters.kinds]


BATTERY = Battery(
    name=NAME,
    title="an hour of one load at queue depth 32, a point a second, of four kinds",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.dispersion.present",
    meanings=shared("over_time"),
    presets={"short": {"seconds": "600s"}},
    follows=(
        Clause(
            says="secure erase, then 128 KiB sequential writes of twice the capacity",
            source="the 545s review (P)",
            here="before each of the four kinds",
        ),
        Clause(
            says="both written loads begin in the drive's cache",
            source="the 545s review (P)",
            here="so there was a pause before them: a minute, assumed",
        ),
        Clause(
            says="4000 s at queue depth 32 of 4 KiB random and 128 KiB sequential writes and reads;"
            " rate and latency every second",
            source="the 545s review, with Iometer (P)",
        ),
        Clause(
            says="Iometer's MB are binary",
            source="inferred from the review (M)",
            here="MB of 10^6 bytes: 260 MiB/s there are 272.6 MB/s here",
        ),
    ),
)
