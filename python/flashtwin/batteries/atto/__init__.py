"""atto: ATTO Disk Benchmark's sizes, 512 B to 8 MiB, written and read at queue depth 1 and 4.

Trust P for what the tool does, M for its defaults: a file of 256 MB, direct I/O, for each size the
whole file written and then read. Its queue depth is a setting; the BX500 article used 1 and 4. Its
data is compressible unless that is changed. Here the file is a range of the drive, or a file
through fio, written once before; it is like the tool and not equal to it. The host's time a command
is a prior: 10 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.atto.interface import interface
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Load, Teller, check_fits, load_cell
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import Part, prepared_parts
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.step import Fill, Mark, Purge, Result, Run
from flashtwin.model.units import readable_size, show_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "atto"
MIB = 1 << 20
SIZES = tuple(512 << power for power in range(15))
WAYS = ("write", "read")
# A size that brings so much of the highest speed brings all of it.
FULL = 0.9
# A cell of 256 MB may be over in half a second.
SAMPLE_S = 0.05


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase, write the file once; then for each depth and size write it and read it."""
    check_fits(NAME, [Load(random=False, block_bytes=512, read_percent=0, depth=1)], info)
    size = _size(parameters, info)
    if not max(parameters.blocks) <= size <= info.capacity_bytes:
        raise FlashtwinError(
            f"{NAME}: a test file of {readable_size(size)} does not fit on {info.name},"
            f" or holds no block of {show_block(max(parameters.blocks))}",
            hint=f"set {NAME}:size to what is free, or {NAME}:blocks to smaller ones",
            exit_code=USAGE,
        )
    yield Purge(label=f"{NAME}/prepare/purge")
    yield Fill(label=f"{NAME}/prepare/file", size=size // 4096 * 4096)
    for load in _cells(parameters):
        compress = 100 if parameters.data == "compressible" else 0
        job = load.job_for(parameters, info, size=size, seconds=0.0)
        job = replace(job, runtime_s=None, io_bytes=job.size, compress_percent=compress)
        answer = yield Run(label=_label(load), jobs=(job,), sample_s=SAMPLE_S)
        if isinstance(answer, Result) and load.way == WAYS[-1]:
            yield Mark(label=f"{_stem(load)}/found")


def _size(parameters: Any, info: DriveInfo) -> int:
    """The bytes of the test file: at least the requests that are outstanding at the same time."""
    least: int = min(parameters.size, max(parameters.blocks) * max(parameters.depths))
    return max(int(here(parameters, "size", info)), least)


def _cells(parameters: Any) -> Iterator[Load]:
    for depth in parameters.depths:
        for block in parameters.blocks:
            for percent in (0, 100):
                yield Load(random=False, block_bytes=block, read_percent=percent, depth=depth)


def _stem(load: Load) -> str:
    return f"{NAME}/q{load.depth}/{show_block(load.block_bytes)}"


def _label(load: Load) -> str:
    return f"{_stem(load)}/{load.way}"


def conclude(record: Record) -> list[Finding]:
    """Every cell that ran; then the least size that brings the full speed, of whole sweeps."""
    findings: list[Finding] = []
    speeds: dict[tuple[int, str], list[tuple[int, Finding]]] = {}
    for load in _cells(record.parameters):
        cell = load_cell(record, NAME, load, _label(load), load.way)
        findings += cell
        for finding in cell[:1]:
            speeds.setdefault((load.depth, load.way), []).append((load.block_bytes, finding))
    sizes = len(record.parameters.blocks)
    depth = max(record.parameters.depths)
    of_depth = {
        way: cells for (at, way), cells in speeds.items() if at == depth and len(cells) == sizes
    }
    limit = interface(of_depth, depth)
    return [
        *findings,
        *([] if limit is None else [limit]),
        *(
            _full(depth, way, cells)
            for (depth, way), cells in speeds.items()
            if len(cells) == sizes
        ),
    ]


def _full(depth: int, way: str, cells: list[tuple[int, Finding]]) -> Finding:
    """The least size with nearly the highest speed of all sizes."""
    most = max(finding.number or 0.0 for _, finding in cells)
    block, cell = next(
        (block, finding)
        for block, finding in sorted(cells, key=lambda cell: cell[0])
        if (finding.number or 0.0) >= FULL * most
    )
    assert cell.evidence is not None, "a cell rests on its step"
    title = f"Least size with {100 * FULL:.0f} % of the highest speed, {way} Q{depth}"
    teller = Teller(battery=NAME, label=cell.evidence.label, title=title)
    note = f"the highest is {most:.4g} MB/s"
    return teller.tell(f"full.{way}-Q{depth}", "", "KiB", block / 1024, better="lower", note=note)


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """The preparation, then each depth: sizes belong together."""
    return prepared_parts(NAME, {f"q{depth}": f"Q{depth}" for depth in parameters.depths})


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.atto.present",
)
