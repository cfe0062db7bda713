"""snia_composite: the mix of JESD219's enterprise load, in rounds until it is steady.

PTS-2.0-like and JESD219-like, with no claim of conformance: taken from public implementations that
quote the standards (trust P). Purge; WIPC, everything written twice in order in 128 KiB; then
rounds of a minute of one mix: 40 % reads, 512 B to 64 KiB by their shares, half of the requests to
the first 5 % of the range, 30 % to the next 15 %, 20 % to the rest; until its rate is steady by
both criteria (`analysis.steady`), 25 rounds at most. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.analysis.steady import WINDOW
from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.forms import InRounds
from flashtwin.batteries.base.loads import KIB, Load, Teller
from flashtwin.batteries.base.rounds import Rounds
from flashtwin.batteries.base.tail import bins_in, tail_findings
from flashtwin.model.finding import Interval
from flashtwin.model.fio_job import Blocks, Distribution, Fio

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job

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


def rounds_of(parameters: Any) -> Iterator[Rounds]:
    """The mix alone."""
    load = Load(random=True, block_bytes=4 * KIB, read_percent=READ_PERCENT, depth=parameters.depth)
    yield Rounds(battery=NAME, loads=[load], tracked=load, value=pts.rate, most=parameters.rounds)


def job_of(job: Job) -> Job:
    """The mix as one of fio's processes."""
    blocks = Blocks(least=SIZES[0][0], most=SIZES[-1][0], split=SIZES, align=4 * KIB)
    fio = Fio(
        blocks=(blocks, blocks, blocks),
        distribution=Distribution(kind="zoned", zones=(ZONES, ZONES, ZONES)),
        random_map=False,
        time_based=True,
    )
    return replace(job, block_bytes=SIZES[-1][0], fio=fio)


def told(record: Record, rounds: Rounds, load: Load) -> list[Finding]:
    """The bytes that go with the steady rate, and the percentiles of the last five rounds."""
    count = len(rounds.values_of(record))
    teller = Teller(battery=NAME, label=rounds.label(count, load), title="Mix")
    speeds = [totals.bytes * 1e3 / totals.duration_ns for totals in rounds.window(record, load)]
    mean, scatter = sum(speeds) / len(speeds), Interval.of(min(speeds), max(speeds), "range")
    findings = [teller.tell("speed", "speed", "MB/s", mean, interval=scatter, beside="steady")]
    labels = (rounds.label(n, load) for n in range(max(count - WINDOW, 0) + 1, count + 1))
    results = [result for label in labels if (result := record.result(label)) is not None]
    for direction in ("read", "write"):
        way = replace(teller, variant=direction, title=f"Mix, {direction}s")
        findings += tail_findings(way, bins_in(results, direction))
    return findings


FORM = InRounds(battery=NAME, rounds_of=rounds_of, steady="Mix, steady", job_of=job_of, told=told)

BATTERY = declared(__name__, **FORM.functions())
