"""The processes that fio would start: each job and its copies, in fio's order, with their groups.

fio numbers the copies of `numjobs` backwards behind the first (0, then numjobs-1 down to 1); the
number goes into file names and `offset_increment`, the place in the row of all processes into the
seed. A new reporting group begins with `stonewall` or `new_group`; a new phase, which starts when
everything before it is over, with `stonewall`. Where a job waits for another one alone (`wait_for`)
or begins late (`startdelay`) beside a stonewall, there is one phase, and the core opens the gates
as fio does: a late job is passed over, and what waits for all begins as soon as nothing runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.where import JobFileError

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
    found: list[Clone] = []
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
        if len(found) + copies > MOST:
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
            found.append(
                Clone(
                    job=job,
                    thread=len(found) + 1,
                    number=number,
                    phase=phase,
                    group=group,
                    # The other copies do not wait for the first.
                    stonewall=together and job["stonewall"] and number == 0,
                    waits_for=str(job["wait_for"]) if job["wait_for"] else None,
                )
            )
        in_phase += copies
        in_group += copies
    return found


def _together(jobs: Sequence[FioJob]) -> bool:
    """Whether who begins when depends on more than who stands before a stonewall."""
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
        raise JobFileError(where, f"{names[name]} jobs are named {name}", hint="give them names")
    if name not in before:
        said = "stands behind it" if names[name] else "does not exist"
        raise JobFileError(
            where, f"job {job.name} waits for {name}, which {said}", hint="name a job before it"
        )
