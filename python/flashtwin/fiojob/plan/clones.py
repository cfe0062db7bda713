"""The processes that fio would start: each job and its copies, in fio's order, with their groups.

fio numbers the copies of `numjobs` backwards behind the first (0, then numjobs-1 down to 1); the
number goes into file names and `offset_increment`, the place in the row of all processes into the
seed. A new reporting group begins with `stonewall` or `new_group`; a new phase, which starts when
everything before it is over, with `stonewall`, and with `wait_for` where the job waited for would
otherwise run beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.fiojob.language.job import FioJob
from flashtwin.fiojob.language.sections import Note
from flashtwin.fiojob.language.where import JobFileError

# fio's own bound on the processes of one run.
MOST = 4096


@dataclass(frozen=True, kw_only=True)
class Clone:
    """One process: `thread` counts from 1 over all, `number` is its `$jobnum`."""

    job: FioJob
    thread: int
    number: int
    phase: int
    group: int


def clones(jobs: Sequence[FioJob]) -> tuple[list[Clone], list[Note]]:
    """All processes of some jobs."""
    found: list[Clone] = []
    notes: list[Note] = []
    phase = group = in_phase = in_group = 0
    for job in jobs:
        waits = _waits(job, jobs, found, phase, notes)
        if (job["stonewall"] or waits) and in_phase:
            phase, in_phase = phase + 1, 0
        if (job["stonewall"] or job["new_group"]) and in_group:
            group, in_group = group + 1, 0
        copies = job["numjobs"]
        if len(found) + copies > MOST:
            raise JobFileError(
                job.line("numjobs"), f"more than {MOST} processes", hint="lower numjobs"
            )
        for number in [0, *range(copies - 1, 0, -1)]:
            found.append(
                Clone(job=job, thread=len(found) + 1, number=number, phase=phase, group=group)
            )
        in_phase += copies
        in_group += copies
    return found, notes


def _waits(
    job: FioJob, jobs: Sequence[FioJob], found: Sequence[Clone], phase: int, notes: list[Note]
) -> bool:
    """Whether a job has to begin a phase because of `wait_for`."""
    if not job["wait_for"]:
        return False
    name, where = str(job["wait_for"]), job.line("wait_for")
    if name == job.name:
        raise JobFileError(where, f"job {name} waits for itself", hint="name another job")
    named = [one for one in jobs if one.name == name]
    if len(named) > 1:
        raise JobFileError(where, f"{len(named)} jobs are named {name}", hint="give them names")
    if not any(one.job.name == name for one in found):
        said = "stands behind it" if named else "does not exist"
        raise JobFileError(
            where, f"job {job.name} waits for {name}, which {said}", hint="name a job before it"
        )
    here = {one.job.name for one in found if one.phase == phase}
    if name in here and len(here) > 1:
        notes.append(
            Note(where=where, text=f"wait_for: {job.name} waits for all jobs beside {name} too")
        )
    return name in here
