"""servers: three loads of servers, a quarter of an hour each, on a drive in steady random use.

The templates of the 545s review, run with Iometer (trust P): a web server (4 KiB random, depth 32,
80 % reads), a data warehouse (8 KiB random, depth 128, 60 % reads), streaming media (64 KiB
sequential, depth 128, 90 % reads). The review does not say in which state the drive was; that it
was not erased between them is assumed, as its rates say so. Here the drive is erased, written twice
in order and once at random, and the three run back to back. The host's time a command is a prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.loads import (
    KIB,
    Load,
    check_fits,
    fills_before,
    load_over_time,
    over_time,
    prepared,
    random_percent,
    scattered,
)
from flashtwin.batteries.base.meaning import shared
from flashtwin.batteries.base.parameter import (
    SECONDS,
    choice,
    host_time,
    parameter,
    several,
)
from flashtwin.batteries.base.registry import (
    Battery,
    Clause,
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


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the server loads."""

    kinds: tuple[str, ...] = parameter(
        tuple(LOADS), several(choice(*LOADS), "server loads"), "the loads, in their order"
    )
    seconds: float = parameter(900.0, SECONDS, "how long each load is kept up")
    fills: int = fills_before(2)
    random_percent: float = random_percent()
    host_us: float = host_time(5.0)


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
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


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """The preparation, then each load."""
    return prepared_parts(NAME, {kind: TITLES[kind] for kind in parameters.kinds})


BATTERY = Battery(
    name=NAME,
    title="web server, data warehouse and streaming media, a quarter of an hour each",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.servers.present",
    meanings=shared("over_time"),
    presets={"short": {"seconds": "120s", "random_percent": "20"}},
    follows=(
        Clause(
            says="web: 4 KiB random, depth 32, 80 % reads; warehouse: 8 KiB random, depth 128, 60 %"
            " reads; streaming: 64 KiB sequential, depth 128, 90 % reads; 15 minutes each",
            source="the 545s review, with Iometer (P)",
        ),
        Clause(
            says="the state of the drive before them is not told",
            source="the 545s review (P)",
            here="erased, twice the capacity in order, once the capacity at random in 4 KiB; then"
            " back to back",
        ),
        Clause(
            says="mean latencies are over time, not over requests",
            source="inferred from the review's figures (M)",
            here="both are told: latency and latency.time",
        ),
    ),
)
