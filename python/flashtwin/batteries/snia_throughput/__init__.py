"""snia_throughput: streams in order until steady, as SNIA's PTS 2.0 has its throughput test.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P). For 1024 KiB and then for 128 KiB: purge; everything written twice in order with
that block; then rounds of a minute of reads and a minute of writes, one thread at queue depth 32,
until the writes are steady by both criteria (`analysis.steady`), 25 rounds at most. The result is
the mean of the last five rounds. The host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.forms import InRounds
from flashtwin.batteries.base.loads import Load
from flashtwin.batteries.base.rounds import USUAL_STREAM, Rounds

NAME = "snia_throughput"


def rounds_of(parameters: Any) -> Iterator[Rounds]:
    """Each block size by itself: reads alone and writes alone; the writes decide."""
    for block in parameters.blocks:
        reads, writes = (
            Load(random=False, block_bytes=block, read_percent=percent, depth=parameters.depth)
            for percent in (100, 0)
        )
        yield Rounds(
            battery=f"{NAME}/{writes.access.lower()}",
            loads=[reads, writes],
            tracked=writes,
            value=pts.rate,
            most=parameters.rounds,
            usual=USUAL_STREAM,
        )


FORM = InRounds(battery=NAME, rounds_of=rounds_of, steady="{} writes, steady", unit="MB/s")

BATTERY = declared(__name__, **FORM.functions())
