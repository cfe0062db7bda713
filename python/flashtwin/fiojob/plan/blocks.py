"""The block sizes of a job: `bssplit` over `bsrange` over `bs`, each by direction."""

from __future__ import annotations

from flashtwin.battery.fio import Blocks
from flashtwin.fiojob.language.job import FioJob


def blocks(job: FioJob) -> tuple[Blocks, Blocks, Blocks]:
    """For reads, writes and trims."""
    found = [_direction(job, direction) for direction in range(3)]
    return (found[0], found[1], found[2])


def _direction(job: FioJob, direction: int) -> Blocks:
    align = job["ba"][direction] if job["ba"] is not None else None
    if job["bssplit"] is not None:
        split = job["bssplit"][direction]
        sizes = [size for size, _ in split]
        if min(sizes) == max(sizes):
            return Blocks(least=sizes[0], most=sizes[0], align=align)
        return Blocks(least=min(sizes), most=max(sizes), split=split, align=align)
    span = job["bsrange"][direction] if job["bsrange"] is not None else None
    if span is not None:
        return Blocks(least=span[0], most=span[1], align=align)
    size = job.by_direction("bs")[direction]
    return Blocks(least=size, most=size, align=align)
