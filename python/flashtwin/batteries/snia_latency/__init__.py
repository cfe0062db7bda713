"""snia_latency: single random requests in rounds until steady, as SNIA's PTS 2.0 has its latency.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P). Purge; WIPC, everything written twice in order in 128 KiB; then rounds of
8, 4 and 0.5 KiB by 100, 65 and 0 % reads, a minute each, one thread at queue depth 1, until the
mean latency of 4 KiB writes is steady by both criteria (`analysis.steady`), 25 rounds at most.
Means are those of the last five rounds, the highest latency that of all their requests. The host's
time a command is a prior: 5 us.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.forms import InRounds, cell
from flashtwin.batteries.base.loads import KIB, Load, Teller
from flashtwin.batteries.base.rounds import Rounds

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.model.finding import Finding

NAME = "snia_latency"
LOADS = [
    Load(random=True, block_bytes=block, read_percent=reads, depth=1)
    for reads in (100, 65, 0)
    for block in (8 * KIB, 4 * KIB, 512)
]
TRACKED = Load(random=True, block_bytes=4 * KIB, read_percent=0, depth=1)


def rounds_of(parameters: Any) -> Iterator[Rounds]:
    """All cells; the mean latency of 4 KiB writes decides."""
    yield Rounds(
        battery=NAME,
        loads=LOADS,
        tracked=TRACKED,
        value=pts.latency_us,
        most=parameters.rounds,
    )


def told(record: Record, rounds: Rounds, load: Load) -> list[Finding]:
    """A cell, and its slowest request in the last five rounds."""
    findings, last = cell(record, NAME, rounds, load), rounds.window(record, load)
    if not last:
        return findings
    label = rounds.label(len(rounds.values_of(record)), load)
    title = f"{pts.cell_title(load)}, slowest request"
    teller = Teller(battery=NAME, label=label, title=title, variant=load.access, axis="cell")
    slowest_us = max(totals.latency_max_ns for totals in last) / 1000
    way = load.way_name
    highest = teller.tell(f"{way}.highest", "", "us", slowest_us, better="lower", beside=way)
    return [*findings, highest]


FORM = InRounds(
    battery=NAME,
    rounds_of=rounds_of,
    steady="4 KiB random writes, steady mean latency",
    unit="us",
    better="lower",
    told=told,
)

BATTERY = declared(__name__, **FORM.functions())
