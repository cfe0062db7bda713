"""heatmap: random requests at queue depth 1 to 256, by block size and share of reads.

What reviewers show today as a map (trust M): where a drive stops getting faster with more requests
outstanding, and what larger blocks and a share of writes change of that. No review publishes its
exact grid, so this one is our own. The drive is erased and written once in order; then come reads
alone, the mixes, and writes alone last, so that no write falls between the reads. The host's time a
command is a prior: 5 us.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.forms import Grid
from flashtwin.batteries.base.loads import Load


def loads_of(parameters: Any) -> Iterator[Load]:
    """A map a share of reads, a row a block size."""
    for reads in parameters.reads:
        for block in parameters.blocks:
            for depth in parameters.depths:
                yield Load(random=True, block_bytes=block, read_percent=reads, depth=depth)


FORM = Grid(
    battery="heatmap",
    loads=loads_of,
    row=attrgetter("way_name"),
    cell=attrgetter("name"),
    mark_rows=True,
)

BATTERY = declared(__name__, **FORM.functions())
