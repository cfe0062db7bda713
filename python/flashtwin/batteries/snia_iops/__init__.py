"""snia_iops: random requests in rounds until steady, as SNIA's PTS 2.0 has its IOPS test.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P). Purge; WIPC, everything written twice in order in 128 KiB; then rounds of 7
shares of reads by 8 block sizes, a minute each, until 4 KiB writes are steady by both criteria
(`analysis.steady`), 25 rounds at most. A cell's result is its mean over the last five rounds.
Client: 2 threads at queue depth 16 over 75 % of the range; enterprise: 4 at 32 over all of it. The
host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.forms import InRounds
from flashtwin.batteries.base.loads import KIB, Load
from flashtwin.batteries.base.parameter import Kind
from flashtwin.batteries.base.rounds import Rounds
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.units import parse_block, show_block

NAME = "snia_iops"


def _block(text: str) -> int:
    block = parse_block(text)
    if not 512 <= block <= 4 << 20 or block % 512:
        raise ValueError("a block is a multiple of 512, from 512 to 4m")
    return block


def rounds_of(parameters: Any) -> Iterator[Rounds]:
    """All shares of reads by all block sizes; 4 KiB writes decide."""

    def load(reads: int, block: int) -> Load:
        return Load(random=True, block_bytes=block, read_percent=reads, depth=parameters.depth)

    loads = [load(reads, block) for reads in parameters.reads for block in parameters.blocks]
    tracked = load(0, 4 * KIB)
    if tracked not in loads:
        raise FlashtwinError(
            f"{NAME}: writes of 4 KiB decide when the rounds are steady, and no cell has them",
            hint="put 0 among the reads and 4k among the blocks",
            exit_code=USAGE,
        )
    yield Rounds(battery=NAME, loads=loads, tracked=tracked, value=pts.rate, most=parameters.rounds)


FORM = InRounds(battery=NAME, rounds_of=rounds_of, steady="4 KiB random writes, steady")

BATTERY = declared(
    __name__,
    kinds={"block up to 4m": Kind(name="a block size", parse=_block, show=show_block)},
    **FORM.functions(),
)
