"""dispersion: over an hour of one load at queue depth 32, a point a second.

What the 545s review did with Iometer to see how even a drive is (trust P): after a secure erase and
128 KiB sequential writes of twice the capacity, 4000 s each of 4 KiB random writes, 4 KiB random
reads, 128 KiB sequential writes and 128 KiB sequential reads at queue depth 32. Here each kind
begins on a drive prepared anew. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import (
    KIB,
    Load,
    check_fits,
    load_over_time,
    over_time,
    prepared,
)
from flashtwin.batteries.base.registry import Part, host_ns, with_mark
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


def measure(parameters: Any, info: DriveInfo) -> Steps:
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


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """Each kind by itself; one that is cut short still tells its first stretch."""
    return [Part(title=kind, labels=(f"{NAME}/{kind}",), begins=True) for kind in parameters.kinds]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
)
