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
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashtwin import _core
from flashtwin.drives import untimed
from flashtwin.drives.memory import available_bytes, built, check
from flashtwin.drives.twin import waits_note
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.fio.language.errors import SEE_OPTIONS, JobFileError
from flashtwin.fio.plan.plan import PhaseResult, Plan, Process, left_alone
from flashtwin.model.job import Job, jobs_json
from flashtwin.model.target import Progress, Watch
from flashtwin.model.units import readable_size

if TYPE_CHECKING:
    from flashtwin._core import FioRow


# What a process takes while its numbers are made into the answer, as measured with 4,096 of them.
ROW_BYTES = 75_000
# What to change, by what takes the most.
_MAPS = "random maps take most of it: set norandommap=1, a smaller size or a larger bs"
_PROCESSES = "the processes take most of it: set a smaller numjobs or iodepth"
_LOGS = "logs of single requests take most of it: set log_avg_msec=1000 or a shorter runtime"


Listener = Callable[[PhaseResult], object]


def _unheard(phase: PhaseResult) -> None:
    """Does nothing, where nobody asked to hear of phases."""


def run_plan(
    drive: FioTwin,
    plan: Plan,
    watch: Watch,
    *,
    status_ns: int = 0,
    status: Listener = _unheard,
    on_end: Listener = _unheard,
) -> list[PhaseResult]:
    """Run all phases; `on_end` is called for each as it ends. `status` is called each time that
    `status_ns` have passed, with the counts so far of the phase under way, which are not kept."""
    results: list[PhaseResult] = []
    with left_alone():
        over = not drive.lay_out(plan.laid, watch)
        first_ns = drive.now_ns
        for phase in plan.phases:
            result = PhaseResult(processes=phase, begun_ns=drive.now_ns - first_ns)
            if over:
                result = replace(result, stopped=not results)
            else:
                result = drive.run(result, watch, status_ns, status)
                on_end(result)
            results.append(result)
            over |= result.stopped or any(
                row["ended_all"] and process.clone.job["exit_what"] == "all"
                for process, row in result.ran
            )
    return results


def check_memory(spec: _core.Spec, plan: Plan, status_ns: int = 0) -> None:
    """Refuse jobs that take more memory than there is beside the drive, and say what to change.
    Phases run one after another, but their logs stay until they are written."""
    check(spec)
    needs = [
        _core.fio_memory(jobs_json(_with_status(phase, status_ns)), spec.capacity_bytes)
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
            f" {free} are available",
            hint=max(parts, key=lambda hint: parts[hint]),
            exit_code=ENVIRONMENT,
        )


def _with_status(phase: Sequence[Process], status_ns: int) -> list[Job]:
    """The jobs of a phase, which report each time that an interval has passed."""
    jobs = []
    for process in phase:
        job, fio = process.job, process.job.fio
        assert fio is not None, "a plan has fio's jobs only"
        if status_ns:
            job = replace(job, fio=replace(fio, logs=replace(fio.logs, status_ns=status_ns)))
        jobs.append(job)
    return jobs


def _refused(phase: tuple[Process, ...], reason: str) -> FlashtwinError:
    """The core's error about a job, with the line of that job, which is known here."""
    for process in phase:
        if process.job.name and process.job.name in reason:
            return JobFileError(process.clone.job.where, reason)
    return FlashtwinError(reason, hint=SEE_OPTIONS, exit_code=USAGE)


class FioTwin:
    """A drive in virtual time. One seed, one answer. Its memory is taken with the first use."""

    def __init__(self, spec: _core.Spec, *, seed: int = 1, drive: _core.Twin | None = None) -> None:
        """`drive`: one of this spec that was used before; a new one without."""
        check(spec)
        self.name, self._spec, self._seed, self._used = spec.id, spec, seed, drive

    @cached_property
    def _drive(self) -> _core.Twin:
        return self._used or built(lambda: _core.Twin(self._spec, self._seed))

    @property
    def now_ns(self) -> int:
        """The drive's clock."""
        return self._drive.now_ns()

    @property
    def reads_of_nothing(self) -> int:
        """How many reads met no data so far."""
        return self._drive.reads_of_nothing

    def waits_note(self) -> str | None:
        """What the drive kept waiting for longer than its spec allows, if anything."""
        return waits_note(self._drive)

    def smart(self) -> dict[str, Any]:
        """What the drive's counters say now."""
        return self._drive.smart()

    def rest(self, seconds: float) -> None:
        """Nothing is asked of the drive for a time."""
        ns = round(seconds * 1e9)
        built(lambda: self._drive.rest(ns, ns, lambda bytes_done, at_ns: True))

    def lay_out(self, parts: Sequence[tuple[int, int]], watch: Watch) -> bool:
        """Write what fio lays out before its jobs, without time where the drive can be written so;
        the answer is whether the watch let it end."""

        def progress(bytes_done: int, ns: int) -> bool:
            return watch(Progress(bytes=0, drive_s=0.0))

        try:
            built(lambda: untimed.lay_out(self._drive, self._spec, parts, progress))
        except _core.Stopped:
            return False
        return True

    def run(
        self, phase: PhaseResult, watch: Watch, status_ns: int = 0, status: Listener = _unheard
    ) -> PhaseResult:
        """Run the processes of a phase side by side; `status` hears the rows so far, without logs,
        each time that one is due."""

        def progress(bytes_done: int, ns: int) -> bool:
            return watch(Progress(bytes=bytes_done, drive_s=ns / 1e9))

        def counted(rows: list[FioRow]) -> None:
            status(replace(phase, rows=rows))

        jobs = jobs_json(_with_status(phase.processes, status_ns))
        try:
            answer = built(lambda: self._drive.fio(jobs, progress, counted))
        except ValueError as error:
            raise _refused(phase.processes, str(error)) from error
        return replace(phase, rows=answer["rows"], stopped=answer["stopped"])


class Expected:
    """What a phase will come to: bytes, or seconds of the drive's clock where time ends
    it."""

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
