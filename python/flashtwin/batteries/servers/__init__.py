"""servers: three loads of servers, a quarter of an hour each, on a drive in steady random use.

The templates of the 545s review, run with Iometer (trust P): a web server (4 KiB random, depth 32,
80 % reads), a data warehouse (8 KiB random, depth 128, 60 % reads), streaming media (64 KiB
sequential, depth 128, 90 % reads). The review does not say in which state the drive was; that it
was not erased between them is assumed, as its rates say so. Here the drive is erased, written twice
in order and once at random, and the three run back to back. The host's time a command is a prior.
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
    scattered,
)
from flashtwin.batteries.base.registry import (
    Part,
    host_ns,
    prepared_parts,
    with_mark,
)

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "servers"
LOADS = {
    "web": Load(random=True, block_bytes=4 * KIB, read_percent=80, depth=32),
    "warehouse": Load(random=True, block_bytes=8 * KIB, read_percent=60, depth=128),
    "streaming": Load(random=False, block_bytes=64 * KIB, read_percent=90, depth=128),
}
TITLES = {"web": "Web server", "warehouse": "Data warehouse", "streaming": "Streaming media"}
PREPARE = f"{NAME}/prepare"


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Prepare the drive once; then the loads back to back."""
    check_fits(NAME, [LOADS[kind] for kind in parameters.kinds], info)
    yield from prepared(PREPARE, parameters.fills)
    yield from scattered(f"{PREPARE}/random", info, parameters.random_percent)
    for kind in parameters.kinds:
        job = LOADS[kind].job(
            info, size=None, seconds=parameters.seconds, host_ns=host_ns(parameters, info)
        )
        yield from with_mark(over_time(f"{NAME}/{kind}", job))


def conclude(record: Record) -> list[Finding]:
    """What is told of each load over time."""
    findings: list[Finding] = []
    for kind in record.parameters.kinds:
        label, load = f"{NAME}/{kind}", LOADS[kind]
        findings += load_over_time(record, NAME, load, label, variant=kind, title=TITLES[kind])
    return findings


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The preparation, then each load."""
    return prepared_parts(NAME, {kind: TITLES[kind] for kind in parameters.kinds})


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
)
