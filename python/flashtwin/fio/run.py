"""Runs the phases of a fio plan on a simulated drive, one after another without a gap.

`startdelay` counts from the beginning of the first phase, as fio counts it from its own start: what
of it is over when a later phase begins does not count again. Invariant: a phase that a job of
`exit_what=all` ended, or the watch, is the last that runs; those behind it have counted nothing,
and are reported like that, as fio reports jobs that it never began.

`FioTwin` is a simulated drive under fio's jobs: what fio would have counted, and nothing else.
Beside `Twin`, which measures for batteries, it has no series, no X-ray and no array, so that a
short job does not wait for what it does not use. A watch that says stop ends the jobs as a signal
ends fio's: what is under way is finished, and what was counted is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from flashtwin import _core
from flashtwin.drives.handed import jobs_json
from flashtwin.drives.memory import available_bytes, check, made
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.plan.plan import Plan, Process
from flashtwin.model.job import Job
from flashtwin.model.target import Progress, Watch
from flashtwin.model.units import readable_size

if TYPE_CHECKING:
    from flashtwin._core import FioRow


Rows = Sequence["FioRow"]

# What a process takes while its numbers are made into the answer, as measured with 4,096 of them.
ROW_BYTES = 75_000
# What to change, by what takes the most.
_MAPS = "random maps take the most: norandommap=1, a smaller size or a larger bs"
_PROCESSES = "the processes take the most: a smaller numjobs or iodepth"
_LOGS = "logs of single requests take the most: log_avg_msec=1000, or a shorter runtime"


@dataclass(frozen=True, kw_only=True)
class PhaseResult:
    """What a phase gave: its processes in order, and a row for each in the same order.

    `begun_ns`: when it began, since the first phase did. A phase that did not run has no rows.
    """

    processes: tuple[Process, ...]
    counts: Counts
    begun_ns: int


def run_plan(
    drive: FioTwin,
    plan: Plan,
    watch: Watch,
    *,
    status_ns: int = 0,
    status: Callable[[Sequence[Process], Rows, int], object] | None = None,
    done: Callable[[PhaseResult], None] | None = None,
) -> list[PhaseResult]:
    """The results of all phases; `done` hears of each as it ends.

    `status` hears of the phase at hand each time that `status_ns` have passed: its processes, what
    is counted of each so far, and when the phase began. Nothing of it is kept.
    """
    found: list[PhaseResult] = []
    began_ns: int | None = None
    now_ns, over = 0, False
    for phase in plan.phases:
        elapsed_ns = now_ns - began_ns if began_ns is not None else 0
        if over:
            nothing = Counts(start_ns=now_ns, duration_ns=0, rows=())
            found.append(PhaseResult(processes=phase, counts=nothing, begun_ns=elapsed_ns))
            continue
        jobs = tuple(_with_status(process.job, status_ns) for process in phase)
        on_status = partial(_pass_on, status, phase, elapsed_ns)
        counts = _counts(drive, phase, jobs, watch, on_status)
        began_ns = counts.start_ns if began_ns is None else began_ns
        now_ns = counts.start_ns + counts.duration_ns
        found.append(
            PhaseResult(processes=phase, counts=counts, begun_ns=counts.start_ns - began_ns)
        )
        if done:
            done(found[-1])
        ended = zip(phase, counts.rows, strict=True)
        over = counts.stopped or any(
            row["ended_all"] and one.clone.job["exit_what"] == "all" for one, row in ended
        )
    return found


def check_memory(spec: _core.Spec, plan: Plan, status_ns: int = 0) -> None:
    """Refuse jobs that take more memory than there is beside the drive, and say what to change.

    Phases follow one another, but what they have logged stays until it is written.
    """
    check(spec)
    needs = [
        _core.fio_memory(
            jobs_json([_with_status(process.job, status_ns) for process in phase]),
            spec.capacity_bytes,
        )
        for phase in plan.phases
    ]
    if not needs:
        return
    parts = {
        _MAPS: max(files for files, _, _ in needs),
        _PROCESSES: max(slots for _, slots, _ in needs) + ROW_BYTES * len(plan.processes),
        _LOGS: sum(logs for _, _, logs in needs),
    }
    jobs_bytes = sum(parts.values())
    there = available_bytes()
    if there is not None and spec.memory_bytes + jobs_bytes > there:
        jobs, drive, free = (
            readable_size(count, 3) for count in (jobs_bytes, spec.memory_bytes, there)
        )
        raise FlashtwinError(
            f"the jobs take about {jobs} of memory, the drive takes {drive} to simulate, and"
            f" {free} are there",
            hint=max(parts, key=lambda hint: parts[hint]),
            exit_code=ENVIRONMENT,
        )


def _with_status(job: Job, status_ns: int) -> Job:
    assert job.fio is not None, "a plan has fio's jobs only"
    logs = replace(job.fio.logs, status_ns=status_ns)
    return replace(job, fio=replace(job.fio, logs=logs))


def _pass_on(
    status: Callable[[Sequence[Process], Rows, int], object] | None,
    phase: tuple[Process, ...],
    begun_ns: int,
    rows: Rows,
) -> None:
    if status:
        status(phase, rows, begun_ns)


def _counts(
    drive: FioTwin,
    phase: tuple[Process, ...],
    jobs: tuple[Job, ...],
    watch: Watch,
    on_status: StatusListener,
) -> Counts:
    try:
        return drive.run(jobs, watch, on_status)
    except ValueError as error:
        raise _refused(phase, str(error)) from error


def _refused(phase: tuple[Process, ...], said: str) -> FlashtwinError:
    """The core names the job; its line is known here."""
    for process in phase:
        if process.job.name and process.job.name in said:
            return JobFileError(process.clone.job.where, said)
    return FlashtwinError(said, exit_code=USAGE)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What jobs that ran side by side came to: a row a job, in their order.

    `stopped`: the watch ended them.
    """

    start_ns: int
    duration_ns: int
    rows: tuple[FioRow, ...]
    stopped: bool = False


StatusListener = Callable[[Sequence["FioRow"]], object]


def _no_status(rows: Sequence[FioRow]) -> None:
    """Nobody asked for a status."""


class FioTwin:
    """A drive in virtual time. One seed, one answer."""

    def __init__(self, spec: _core.Spec, *, seed: int = 1) -> None:
        check(spec)
        self.name = spec.id
        self._drive = made(lambda: _core.Twin(spec, seed))

    def run(
        self, jobs: Sequence[Job], watch: Watch, on_status: StatusListener = _no_status
    ) -> Counts:
        """Run jobs of fio's side by side; a `ValueError` says what is wrong with one of them.

        `on_status` hears the rows so far, without logs, each time that a status is due.
        """

        def moved(done: int, ns: int) -> bool:
            return watch(Progress(bytes=done, drive_s=ns / 1e9))

        answer = made(lambda: self._drive.fio(jobs_json(jobs), moved, on_status))
        return Counts(
            start_ns=answer["start_ns"],
            duration_ns=answer["duration_ns"],
            rows=tuple(answer["rows"]),
            stopped=answer["stopped"],
        )


class Expected:
    """What a phase will come to: bytes, or seconds of the drive's clock where time ends it."""

    def __init__(self, phase: Sequence[Process]) -> None:
        jobs = [process.job for process in phase]
        timed = [job.runtime_s + job.ramp_s for job in jobs if job.runtime_s is not None]
        self._seconds = max(timed, default=0.0)
        self._bytes = sum(map(_bytes_of, jobs))
        self._ends_by_time = any(job.fio is not None and job.fio.time_based for job in jobs)

    def share(self, at: Progress) -> float:
        """How much of it is done."""
        by_time = at.drive_s / self._seconds if self._seconds else 0.0
        by_bytes = at.bytes / self._bytes if self._bytes and not self._ends_by_time else 0.0
        return min(max(by_time, by_bytes), 1.0)


def _bytes_of(job: Job) -> int:
    fio = job.fio
    assert fio is not None, "a plan has fio's jobs only"
    if fio.number_ios:
        return fio.number_ios * job.block_bytes
    spans = sum(span.bytes if span.size is None else span.size for span in fio.spans)
    return job.io_bytes or (fio.size or spans) * fio.loops
