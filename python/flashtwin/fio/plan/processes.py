"""The processes that fio would start: each job and its copies, in fio's order, with their groups.

fio numbers the copies of `numjobs` backwards behind the first (0, then numjobs-1 down to 1); the
number goes into file names and `offset_increment`, the place in the row of all processes into the
seed. A new reporting group begins with `stonewall` or `new_group`; a new phase, which starts when
everything before it is over, with `stonewall`. Where a job waits for another one alone (`wait_for`)
or begins late (`startdelay`) beside a stonewall, there is one phase, and the core opens the gates
as fio does: a late job is passed over, and what waits for all begins as soon as nothing runs.

A job's block sizes are here too, as its files need them: `bssplit` over `bsrange` over `bs`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.script import Note
from flashtwin.model.fio_job import Blocks

# fio's own bound on the processes of one run.
MOST = 4096
# Files of all processes together: each takes some kilobytes here and in the answer.
MOST_FILES = 65_536


@dataclass(frozen=True, kw_only=True)
class Clone:
    """One process: `thread` counts from 1 over all, `number` is its `$jobnum`."""

    job: FioJob
    thread: int
    number: int
    phase: int
    group: int
    stonewall: bool = False
    waits_for: str | None = None


def clones(jobs: Sequence[FioJob]) -> list[Clone]:
    """All processes of some jobs."""
    started: list[Clone] = []
    together = _together(jobs)
    phase = group = in_phase = in_group = files = 0
    names = Counter(job.name for job in jobs)
    before: set[str] = set()
    for job in jobs:
        _check_wait(job, names, before)
        before.add(job.name)
        if job["stonewall"] and in_phase and not together:
            phase, in_phase = phase + 1, 0
        if (job["stonewall"] or job["new_group"]) and in_group:
            group, in_group = group + 1, 0
        copies = job["numjobs"]
        if len(started) + copies > MOST:
            raise JobFileError(
                job.line("numjobs"), f"more than {MOST} processes", hint="lower numjobs"
            )
        files += copies * max(job["nrfiles"], 1)
        if files > MOST_FILES:
            raise JobFileError(
                job.line("nrfiles"),
                f"{files} files of all processes together, and {MOST_FILES} are possible",
                hint="lower nrfiles or numjobs",
            )
        for number in [0, *range(copies - 1, 0, -1)]:
            started.append(
                Clone(
                    job=job,
                    thread=len(started) + 1,
                    number=number,
                    phase=phase,
                    group=group,
                    # Copies of a job do not wait for one another.
                    stonewall=together and job["stonewall"] and number == 0,
                    waits_for=str(job["wait_for"]) if job["wait_for"] else None,
                )
            )
        in_phase += copies
        in_group += copies
    return started


def _together(jobs: Sequence[FioJob]) -> bool:
    """Whether the start of some job depends on more than the stonewalls before it."""
    walls = any(job["stonewall"] for job in jobs[1:])
    late = any(job["startdelay"][1] > 0 for job in jobs)
    return (walls and late) or any(job["wait_for"] for job in jobs)


def _check_wait(job: FioJob, names: Counter[str], before: set[str]) -> None:
    """`wait_for` names one job, before this one."""
    if not job["wait_for"]:
        return
    name, where = str(job["wait_for"]), job.line("wait_for")
    if name == job.name:
        raise JobFileError(where, f"job {name} waits for itself", hint="name another job")
    if names[name] > 1:
        raise JobFileError(
            where, f"{names[name]} jobs are named {name}", hint="give each a name of its own"
        )
    if name not in before:
        why = "comes after it" if names[name] else "does not exist"
        raise JobFileError(
            where, f"job {job.name} waits for {name}, which {why}", hint="name a job before it"
        )


# The grain of every address and size of a drive.
SECTOR_BYTES = 512


def blocks(job: FioJob) -> tuple[Blocks, Blocks, Blocks]:
    """The block sizes of a job for reads, writes and trims."""
    directions = [_direction(job, direction) for direction in range(3)]
    return (directions[0], directions[1], directions[2])


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
    name = next((side for side in ("bssplit", "bsrange") if job[side] is not None), "bs")
    sizes = blocks(job)
    values = [
        *((name, value) for side in sizes for value in (side.least, side.most)),
        *((name, value) for side in sizes for value, _ in side.split),
        *(("ba", side.align or 0) for side in sizes),
        ("rw", job["rw"].skip),
        *(("offset", offset) for offset in offsets),
    ]
    odd = [(name, value) for name, value in values if value % SECTOR_BYTES]
    if job["bs_unaligned"] and not odd and any(side.least != side.most for side in sizes):
        odd = [("bs_unaligned", 1)]
    if job["rw"].rw == "randtrimwrite" and any(offsets):
        text = "offset: fio 3.33 trims once here and then only writes, and so does a twin"
        return [Note(where=job.line("offset"), text=text)]
    for name, value in odd[:1]:
        if "trim" in job["rw"].rw:
            raise JobFileError(
                job.line(name),
                f"job {job.name} trims pieces of {value} bytes, and a drive has sectors of"
                f" {SECTOR_BYTES}",
                hint=f"make {name} a multiple of {SECTOR_BYTES}",
            )
        text = f"{name}: the drive gets the whole sectors of {SECTOR_BYTES} bytes that a request"
        return [Note(where=job.line(name), text=f"{text} touches, and {value} bytes are counted")]
    return []
