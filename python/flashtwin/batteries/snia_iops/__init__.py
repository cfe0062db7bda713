"""snia_iops: random requests in rounds until steady, as SNIA's PTS 2.0 has its IOPS test.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P). Purge; WIPC, everything written twice in order in 128 KiB; then rounds of 7
shares of reads by 8 block sizes, a minute each, until 4 KiB writes are steady by both criteria
(`analysis.steady`), 25 rounds at most. A cell's result is its mean over the last five rounds.
Client: 2 threads at queue depth 16 over 75 % of the range; enterprise: 4 at 32 over all of it. The
host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.analysis.steady import window_of
from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, Load, check_fits, prepared
from flashtwin.batteries.base.parameter import Kind
from flashtwin.batteries.base.registry import Forecast, Part, host_ns
from flashtwin.batteries.base.rounds import Rounds
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.units import parse_block, show_block

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job
    from flashtwin.model.target import DriveInfo

NAME = "snia_iops"
READS = (100, 95, 65, 50, 35, 5, 0)
BLOCKS = tuple(int(kib * KIB) for kib in (1024, 128, 64, 32, 16, 8, 4, 0.5))
TRACKED_BYTES = 4 * KIB


def _block(text: str) -> int:
    block = parse_block(text)
    if not 512 <= block <= 4 << 20 or block % 512:
        raise ValueError("a block is a multiple of 512, from 512 to 4m")
    return block


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Purge and WIPC; then rounds until they are steady."""
    rounds = _rounds(parameters)
    _check(rounds, info)
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    yield from rounds.steps(lambda load: _job(parameters, info, load))


def _check(rounds: Rounds, info: DriveInfo) -> None:
    if rounds.tracked not in rounds.loads:
        raise FlashtwinError(
            f"{NAME}: writes of 4 KiB decide when the rounds are steady, and no cell has them",
            hint="put 0 among the reads and 4k among the blocks",
            exit_code=USAGE,
        )
    check_fits(NAME, rounds.loads, info)


def _rounds(parameters: Any) -> Rounds:
    def load(reads: int, block: int) -> Load:
        return Load(random=True, block_bytes=block, read_percent=reads, depth=parameters.depth)

    return Rounds(
        battery=NAME,
        loads=[load(reads, block) for reads in parameters.reads for block in parameters.blocks],
        tracked=load(0, TRACKED_BYTES),
        value=pts.rate,
        most=parameters.rounds,
    )


def _job(parameters: Any, info: DriveInfo, load: Load) -> Job:
    size = int(info.capacity_bytes * parameters.range_percent / 100)
    job = load.job(info, size=size, seconds=parameters.seconds, host_ns=host_ns(parameters, info))
    return replace(job, threads=parameters.threads)


def estimate(parameters: Any, info: DriveInfo) -> Forecast:
    """Five rounds where it is steady from the first, and as many as there may be."""
    rounds = _rounds(parameters)
    _check(rounds, info)
    before = list(prepared(f"{NAME}/prepare", parameters.fills))
    return rounds.forecast(lambda load: _job(parameters, info, load), before)


def conclude(record: Record) -> list[Finding]:
    """Each cell over the last five rounds, and whether they are steady."""
    rounds = _rounds(record.parameters)
    values = rounds.values_of(record)
    if not values:
        return []
    window = window_of(values)
    findings = [
        finding
        for load in rounds.loads
        for finding in pts.cell(
            NAME, load, rounds.window(record, load), rounds.label(len(values), load)
        )
    ]
    label = rounds.label(len(values), rounds.tracked)
    steady = pts.steadiness(NAME, label, values, window, title="4 KiB random writes, steady")
    return pts.marked([*steady, *findings], values, window)


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
    kinds={"block up to 4m": Kind(name="a block size", parse=_block, show=show_block)},
)
