"""heatmap: random requests at queue depth 1 to 256, by block size and share of reads.

What reviewers show today as a map (trust M): where a drive stops getting faster with more requests
outstanding, and what larger blocks and a share of writes change of that. No review publishes its
exact grid, so this one is our own. The drive is erased and written once in order; then come reads
alone, the mixes, and writes alone last, so that no write falls between the reads. The host's time a
command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import (
    Load,
    check_fits,
    load_cell,
    over_time,
    prepared,
)
from flashtwin.batteries.base.registry import Part, host_ns, prepared_parts
from flashtwin.batteries.base.sweep import highest
from flashtwin.model.step import Mark, Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "heatmap"
KIB = 1 << 10


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Prepare once; then every cell, a share of reads after the other."""
    check_fits(NAME, list(_loads(parameters)), info)
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    for load in _loads(parameters):
        job = load.job(
            info,
            size=parameters.size,
            seconds=parameters.seconds,
            host_ns=host_ns(parameters, info),
        )
        answer = yield over_time(label_of(load), job)
        if isinstance(answer, Result) and load.depth == parameters.depths[-1]:
            yield Mark(label=f"{label_of(load)}/found")


def _loads(parameters: Any) -> Iterator[Load]:
    for reads in parameters.reads:
        for block in parameters.blocks:
            for depth in parameters.depths:
                yield Load(random=True, block_bytes=block, read_percent=reads, depth=depth)


def label_of(load: Load) -> str:
    """The step of a cell."""
    return f"{NAME}/{load.way_name}/{load.name}"


def conclude(record: Record) -> list[Finding]:
    """Every cell that ran; of each row that is whole the highest rate and the depth it needs."""
    findings: list[Finding] = []
    rates: list[tuple[Load, Finding]] = []
    depths = sorted(record.parameters.depths)
    for load in _loads(record.parameters):
        of_cell = load_cell(record, NAME, load, label_of(load), load.way_name)
        findings += of_cell
        rates += [(load, cell) for cell in of_cell if cell.unit == "IOPS"]
        if load.depth == record.parameters.depths[-1]:
            rates.sort(key=lambda cell: cell[0].depth)
            if [load.depth for load, _ in rates] == depths:
                findings += highest(rates, load.way_name)
            rates = []
    return findings


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The preparation, then the map of each share of reads."""
    return prepared_parts(NAME, {load.way_name: load.way_name for load in _loads(parameters)})


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
)
