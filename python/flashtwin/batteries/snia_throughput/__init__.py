"""snia_throughput: streams in order until steady, as SNIA's PTS 2.0 has its throughput test.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P). For 1024 KiB and then for 128 KiB: purge; everything written twice in order with
that block; then rounds of a minute of reads and a minute of writes, one thread at queue depth 32,
until the writes are steady by both criteria (`analysis.steady`), 25 rounds at most. The result is
the mean of the last five rounds. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.analysis.steady import WINDOW, window_of
from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Load, check_fits, prepared
from flashtwin.batteries.base.registry import PREPARATION, Forecast, Part, host_ns
from flashtwin.batteries.base.rounds import Rounds

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job, Step
    from flashtwin.model.target import DriveInfo

NAME = "snia_throughput"
# Reads and writes alone; the writes decide.
SHARES = (100, 0)


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Each block size from a purge on."""
    for block in parameters.blocks:
        check_fits(NAME, [_load(parameters, block, 0)], info)
    for block in parameters.blocks:
        rounds = _rounds(parameters, block)
        yield from _prepared(parameters, rounds, block)
        yield from rounds.steps(lambda load: _job(parameters, info, load))


def _prepared(parameters: Any, rounds: Rounds, block: int) -> Steps:
    yield from prepared(f"{rounds.battery}/prepare", parameters.fills, block_bytes=block)


def _load(parameters: Any, block: int, reads: int) -> Load:
    return Load(random=False, block_bytes=block, read_percent=reads, depth=parameters.depth)


def _rounds(parameters: Any, block: int) -> Rounds:
    loads = [_load(parameters, block, reads) for reads in SHARES]
    return Rounds(
        battery=f"{NAME}/{loads[-1].access.lower()}",
        loads=loads,
        tracked=loads[-1],
        value=pts.rate,
        most=parameters.rounds,
    )


def _job(parameters: Any, info: DriveInfo, load: Load) -> Job:
    size = int(info.capacity_bytes * parameters.range_percent / 100)
    return load.job(info, size=size, seconds=parameters.seconds, host_ns=host_ns(parameters, info))


def estimate(parameters: Any, info: DriveInfo) -> Forecast:
    """Five rounds where it is steady from the first, and as many as there may be."""
    expected: list[Step] = []
    most: list[Step] = []
    for block in parameters.blocks:
        rounds = _rounds(parameters, block)
        for steps, number in ((expected, WINDOW), (most, parameters.rounds)):
            steps += _prepared(parameters, rounds, block)
            steps += rounds.expected(lambda load: _job(parameters, info, load), number)
    return Forecast(expected=expected, most=most)


def conclude(record: Record) -> list[Finding]:
    """Each stream over its last five rounds, and whether they are steady."""
    findings: list[Finding] = []
    for block in record.parameters.blocks:
        rounds = _rounds(record.parameters, block)
        values = rounds.values_of(record)
        if not values:
            continue
        window = window_of(values)
        access = rounds.tracked.access
        of_block = pts.steadiness(
            NAME,
            rounds.label(len(values), rounds.tracked),
            values,
            window,
            title=f"{access} writes, steady",
            unit="MB/s",
            scale=block / 1e6,
            variant=access,
        )
        for load in rounds.loads:
            label = rounds.label(len(values), load)
            of_block += pts.cell(NAME, load, rounds.window(record, load), label)
        findings += pts.marked(of_block, values, window)
    return findings


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """For each block size the preparation, then round after round."""
    parts: list[Part] = []
    for block in parameters.blocks:
        stem = _rounds(parameters, block).battery
        title = f"{stem.rpartition('/')[2]} {PREPARATION}"
        parts += pts.round_parts(stem, parameters.rounds, title)
    return parts


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=pts.departs,
    parts=parts,
    estimate=estimate,
)
