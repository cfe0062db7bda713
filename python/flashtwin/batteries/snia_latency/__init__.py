"""snia_latency: single random requests in rounds until steady, as SNIA's PTS 2.0 has its latency.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P). Purge; WIPC, everything written twice in order in 128 KiB; then rounds of
8, 4 and 0.5 KiB by 100, 65 and 0 % reads, a minute each, one thread at queue depth 1, until the
mean latency of 4 KiB writes is steady by both criteria (`analysis.steady`), 25 rounds at most.
Means are those of the last five rounds, the highest latency that of all their requests. The host's
time a command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.analysis.steady import window_of
from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, Load, check_fits, prepared
from flashtwin.batteries.base.registry import Forecast, Part, host_ns
from flashtwin.batteries.base.rounds import Rounds, way_of
from flashtwin.model.finding import Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.step import Job, JobTotals
    from flashtwin.model.target import DriveInfo

NAME = "snia_latency"
READS = (100, 65, 0)
BLOCKS = (8 * KIB, 4 * KIB, 512)
TRACKED = Load(random=True, block_bytes=4 * KIB, read_percent=0, depth=1)


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Purge and WIPC; then rounds until they are steady."""
    rounds = _rounds(parameters)
    check_fits(NAME, rounds.loads, info)
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    yield from rounds.steps(lambda load: _job(parameters, info, load))


def _rounds(parameters: Any) -> Rounds:
    return Rounds(
        battery=NAME,
        loads=[
            Load(random=True, block_bytes=block, read_percent=reads, depth=1)
            for reads in READS
            for block in BLOCKS
        ],
        tracked=TRACKED,
        value=pts.latency_us,
        most=parameters.rounds,
    )


def _job(parameters: Any, info: DriveInfo, load: Load) -> Job:
    size = int(info.capacity_bytes * parameters.range_percent / 100)
    return load.job(info, size=size, seconds=parameters.seconds, host_ns=host_ns(parameters, info))


def estimate(parameters: Any, info: DriveInfo) -> Forecast:
    """Five rounds where it is steady from the first, and as many as there may be."""
    rounds = _rounds(parameters)
    before = list(prepared(f"{NAME}/prepare", parameters.fills))
    return rounds.forecast(lambda load: _job(parameters, info, load), before)


def conclude(record: Record) -> list[Finding]:
    """Mean and highest latency of each cell, and whether the rounds are steady."""
    rounds = _rounds(record.parameters)
    values = rounds.values_of(record)
    if not values:
        return []
    window = window_of(values)
    findings = pts.steadiness(
        NAME,
        rounds.label(len(values), TRACKED),
        values,
        window,
        title="4 KiB random writes, steady mean latency",
        unit="us",
        better="lower",
    )
    for load in rounds.loads:
        last, label = rounds.window(record, load), rounds.label(len(values), load)
        findings += [*pts.cell(NAME, load, last, label), *_highest(load, last, label)]
    return pts.marked(findings, values, window)


def _highest(load: Load, window: Sequence[JobTotals], label: str) -> list[Finding]:
    """The slowest request of a cell in the last five rounds."""
    if not window:
        return []
    way = way_of(load)
    return [
        Finding(
            battery=NAME,
            name=f"{way}.highest",
            variant=load.access,
            title=f"{pts.cell_title(load)}, slowest request",
            value=max(totals.latency_max_ns for totals in window) / 1000,
            unit="us",
            better="lower",
            beside=way,
            evidence=Evidence(battery=NAME, label=label, axis="cell", start=0.0, end=0.0),
        )
    ]


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The preparation, then round after round."""
    return pts.round_parts(NAME, parameters.rounds)


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=pts.departs,
    parts=parts,
    estimate=estimate,
)
