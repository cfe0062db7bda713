"""heatmap: random requests at queue depth 1 to 256, by block size and share of reads.

What reviewers show today as a map (trust M): where a drive stops getting faster with more requests
outstanding, and what larger blocks and a share of writes change of that. No review publishes its
exact grid, so this one is our own. The drive is erased and written once in order; then come reads
alone, the mixes, and writes alone last, so that no write falls between the reads. The host's time a
command is a prior: 5 us.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.loads import (
    Load,
    check_fits,
    fills_before,
    load_cell,
    over_time,
    prepared,
)
from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import (
    BLOCK,
    SECONDS,
    SIZE,
    host_time,
    integer,
    or_word,
    parameter,
    several,
)
from flashtwin.batteries.base.registry import Battery, Clause, Part, host_ns, prepared_parts
from flashtwin.batteries.base.sweep import highest
from flashtwin.model.step import Mark, Result

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "heatmap"
KIB = 1 << 10


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the map."""

    blocks: tuple[int, ...] = parameter(
        (4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB),
        several(BLOCK, "block sizes"),
        "the block sizes, the rows of the map",
    )
    depths: tuple[int, ...] = parameter(
        (1, 2, 4, 8, 16, 32, 64, 128, 256),
        several(integer(1, 1024), "whole numbers from 1 to 1024"),
        "the queue depths, its columns",
    )
    reads: tuple[int, ...] = parameter(
        (100, 70, 0),
        several(integer(0, 100), "whole numbers from 0 to 100"),
        "the shares of reads in %, a map each, in their order",
    )
    seconds: float = parameter(10.0, SECONDS, "how long each cell runs")
    size: int | None = parameter(
        None, or_word("whole", SIZE), "the range that is tested, from the beginning of the target"
    )
    fills: int = fills_before(1)
    host_us: float = host_time(5.0)


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
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


def _loads(parameters: Parameters) -> Iterator[Load]:
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


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """The preparation, then the map of each share of reads."""
    return prepared_parts(NAME, {load.way_name: load.way_name for load in _loads(parameters)})


BATTERY = Battery(
    name=NAME,
    title="queue depth 1 to 256 by block size by share of reads, as a map",
    trust="M",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.heatmap.present",
    meanings=beside(__file__),
    presets={
        "small": {"blocks": "4k+64k", "depths": "1+8+64", "seconds": "2s"},
        "fine": {"blocks": "512+1k+2k+4k+8k+16k+32k+64k+128k+256k+1m", "reads": "100+70+50+30+0"},
    },
    follows=(
        Clause(
            says="a map of the rate over queue depth, block size and share of reads",
            source="what reviewers show (M)",
            here="the grid is our own: no review states all of its cells",
        ),
        Clause(
            says="the state of the drive before it differs from review to review",
            source="what reviewers show (M)",
            here="erased, all written once in order; then reads, mixes and writes, back to back",
        ),
        Clause(
            says="one host thread keeps the depth outstanding",
            source="what reviewers show (M)",
            here="the same; a SATA drive gets at most 32 requests at a time, and the others wait",
        ),
    ),
)
