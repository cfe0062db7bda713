"""The block sizes of a job: `bssplit` over `bsrange` over `bs`, each by direction; odd ones."""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.sections import Note
from flashtwin.fio.language.where import JobFileError
from flashtwin.model.fio_job import Blocks

# The grain of every address and size of a drive.
SECTOR_BYTES = 512


def blocks(job: FioJob) -> tuple[Blocks, Blocks, Blocks]:
    """For reads, writes and trims."""
    found = [_direction(job, direction) for direction in range(3)]
    return (found[0], found[1], found[2])


def _direction(job: FioJob, direction: int) -> Blocks:
    align = job["ba"][direction] if job["ba"] is not None else None
    split = job["bssplit"][direction] if job["bssplit"] is not None else None
    if split is not None:
        sizes = [size for size, _ in split]
        if min(sizes) == max(sizes):
            return Blocks(least=sizes[0], most=sizes[0], align=align)
        return Blocks(least=min(sizes), most=max(sizes), split=split, align=align)
    span = job["bsrange"][direction] if job["bsrange"] is not None else None
    if span is not None:
        return Blocks(least=span[0], most=span[1], align=align)
    size = job.by_direction("bs")[direction]
    return Blocks(least=size, most=size, align=align)


def odd_sizes(job: FioJob, offsets: Sequence[int]) -> list[Note]:
    """A drive knows whole sectors only, where a file takes any number of bytes."""
    name = next((one for one in ("bssplit", "bsrange") if job[one] is not None), "bs")
    sizes = blocks(job)
    asked = [
        *((name, value) for one in sizes for value in (one.least, one.most)),
        *((name, value) for one in sizes for value, _ in one.split),
        *(("ba", one.align or 0) for one in sizes),
        ("rw", job["rw"].skip),
        *(("offset", offset) for offset in offsets),
    ]
    odd = [(name, value) for name, value in asked if value % SECTOR_BYTES]
    if job["bs_unaligned"] and not odd and any(one.least != one.most for one in sizes):
        odd = [("bs_unaligned", 1)]
    if job["rw"].rw == "randtrimwrite" and any(offsets):
        said = "offset: fio 3.33 trims once here and then only writes, and so does a twin"
        return [Note(where=job.line("offset"), text=said)]
    for name, value in odd[:1]:
        if "trim" in job["rw"].rw:
            raise JobFileError(
                job.line(name),
                f"job {job.name} trims pieces of {value} bytes, and a drive has sectors of"
                f" {SECTOR_BYTES}",
                hint=f"make {name} a multiple of {SECTOR_BYTES}",
            )
        said = f"{name}: the drive gets the whole sectors of {SECTOR_BYTES} bytes that a request"
        return [Note(where=job.line(name), text=f"{said} touches, and {value} bytes are counted")]
    return []
