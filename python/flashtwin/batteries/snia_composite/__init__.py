"""snia_composite: the mix of JESD219's enterprise load, in rounds until it is steady.

PTS-2.0-like and JESD219-like, with no claim of conformance: taken from public implementations that
quote the standards (trust P). Purge; WIPC, everything written twice in order in 128 KiB; then
rounds of a minute of one mix: 40 % reads, 512 B to 64 KiB by their shares, half of the requests to
the first 5 % of the range, 30 % to the next 15 %, 20 % to the rest; until its rate is steady by
both criteria (`analysis.steady`), 25 rounds at most. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.analysis.steady import WINDOW, window_of
from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, Load, Teller, check_fits, prepared
from flashtwin.batteries.base.registry import Forecast, Part, host_ns
from flashtwin.batteries.base.rounds import Rounds
from flashtwin.batteries.base.tail import bins_in, tail_findings
from flashtwin.model.finding import Interval
from flashtwin.model.fio_job import Blocks, Distribution, Fio

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job
    from flashtwin.model.target import DriveInfo

NAME = "snia_composite"
# Sizes with their shares of the requests in %.
SIZES = (
    (512, 4),
    *((half * 512, 1) for half in range(2, 8)),
    (4 * KIB, 67),
    (8 * KIB, 10),
    (16 * KIB, 7),
    (32 * KIB, 3),
    (64 * KIB, 3),
)
# (% of the requests, % of the range), from its beginning.
ZONES = ((50, 5), (30, 15), (20, 80))
READ_PERCENT = 40


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Purge and WIPC; then rounds until they are steady."""
    rounds = _rounds(parameters)
    check_fits(NAME, [replace(rounds.tracked, block_bytes=SIZES[-1][0])], info)
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    yield from rounds.steps(lambda load: _job(parameters, info, load))


def _rounds(parameters: Any) -> Rounds:
    load = Load(random=True, block_bytes=4 * KIB, read_percent=READ_PERCENT, depth=parameters.depth)
    return Rounds(battery=NAME, loads=[load], tracked=load, value=pts.rate, most=parameters.rounds)


def _job(parameters: Any, info: DriveInfo, load: Load) -> Job:
    """The mix as one of fio's processes."""
    job = load.job(info, size=None, seconds=parameters.seconds, host_ns=host_ns(parameters, info))
    blocks = Blocks(least=SIZES[0][0], most=SIZES[-1][0], split=SIZES, align=4 * KIB)
    distribution = Distribution(kind="zoned", zones=(ZONES, ZONES, ZONES))
    fio = Fio(
        blocks=(blocks, blocks, blocks),
        distribution=distribution,
        random_map=False,
        time_based=True,
    )
    return replace(job, block_bytes=SIZES[-1][0], fio=fio)


def estimate(parameters: Any, info: DriveInfo) -> Forecast:
    """Five rounds where it is steady from the first, and as many as there may be."""
    rounds = _rounds(parameters)
    before = list(prepared(f"{NAME}/prepare", parameters.fills))
    return rounds.forecast(lambda load: _job(parameters, info, load), before)


def conclude(record: Record) -> list[Finding]:
    """The steady rate, the bytes with it, and the percentiles of the last five rounds."""
    rounds = _rounds(record.parameters)
    values = rounds.values_of(record)
    if not values:
        return []
    window = window_of(values)
    load, last = rounds.tracked, rounds.window(record, rounds.tracked)
    label = rounds.label(len(values), load)
    findings = pts.steadiness(NAME, label, values, window, title="Mix, steady")
    speeds = [totals.bytes * 1e3 / totals.duration_ns for totals in last]
    teller = Teller(battery=NAME, load=load, variant="", label=label, title="Mix")
    speed = teller.tell("speed", "speed", "MB/s", sum(speeds) / len(speeds), beside="steady")
    findings.append(replace(speed, interval=Interval.of(min(speeds), max(speeds), "range")))
    numbers = range(max(len(values) - WINDOW, 0) + 1, len(values) + 1)
    results = [
        result
        for number in numbers
        if (result := record.result(rounds.label(number, load))) is not None
    ]
    for direction in ("read", "write"):
        way = replace(teller, variant=direction, title=f"Mix, {direction}s")
        findings += tail_findings(way, bins_in(results, direction))
    return pts.marked(findings, values, window)


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
