"""How far fio's jobs on a simulated drive are: by their bytes, or by the drive's clock if timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtwin.fio.plan.plan import Plan, Process
    from flashtwin.model.target import Progress
    from flashtwin.runner.events import Observer, Status

# A twin answers in less than that or is worth a line; an observer hears ten times a second.
QUICK_S, OFTEN_S = 1.0, 0.1


@contextmanager
def shown(name: str, plan: Plan, quiet: bool) -> Iterator[Shown]:
    """Shows a plan while the block runs."""
    with ExitStack() as stack:
        yield Shown(name, plan, quiet, stack)


class Shown:
    """Told of progress within a phase, and of each phase that is over.

    What shows it is made when there is something to be shown: most runs are over before.
    """

    def __init__(self, name: str, plan: Plan, quiet: bool, stack: ExitStack) -> None:
        self._name, self._quiet, self._stack = name, quiet, stack
        self._observer: Observer | None = None
        self._phases = [_Expected(phase) for phase in plan.phases]
        self._labels = [", ".join(dict.fromkeys(p.job.name for p in one)) for one in plan.phases]
        self._begun = self._last = time.monotonic()
        self._done = 0

    def moved(self, at: Progress) -> None:
        """Somewhere in the phase at hand."""
        now = time.monotonic()
        if now - self._last < OFTEN_S or now - self._begun < QUICK_S:
            return
        from flashtwin.runner.events import Status

        self._last = now
        phase = min(self._done, len(self._phases) - 1)
        within = self._phases[phase].share(at)
        fraction = min((self._done + within) / len(self._phases), 1.0)
        spent = now - self._begun
        left = spent * (1 - fraction) / fraction if fraction > 0 else None
        self._told(
            Status(
                target=self._name,
                battery="fio",
                label=self._labels[phase],
                kind="run",
                step=phase,
                steps=len(self._phases),
                bytes=at.bytes,
                drive_s=at.drive_s,
                rate_bytes_s=at.bytes / at.drive_s if at.drive_s else 0.0,
                fraction=fraction,
                elapsed_s=spent,
                eta_s=left,
            )
        )

    def _told(self, status: Status) -> None:
        if self._observer is None:
            from flashtwin.cli import progress

            display = self._stack.enter_context(progress.display(self._quiet))
            self._observer = display.observer(self._name)
        self._observer.progress(status)

    def over(self, phase: object) -> None:
        """The phase at hand has ended."""
        self._done += 1


class _Expected:
    """What a phase will come to: bytes, or seconds of the drive's clock where time ends it."""

    def __init__(self, phase: tuple[Process, ...]) -> None:
        jobs = [process.job for process in phase]
        timed = [job.runtime_s + job.ramp_s for job in jobs if job.runtime_s is not None]
        self._seconds = max(timed, default=0.0)
        self._bytes = sum(_bytes(process) for process in phase)
        self._ends_by_time = any(job.fio is not None and job.fio.time_based for job in jobs)

    def share(self, at: Progress) -> float:
        """How much of it is done."""
        by_time = at.drive_s / self._seconds if self._seconds else 0.0
        by_bytes = at.bytes / self._bytes if self._bytes and not self._ends_by_time else 0.0
        return min(max(by_time, by_bytes), 1.0)


def _bytes(process: Process) -> int:
    fio = process.job.fio
    assert fio is not None, "a plan has fio's jobs only"
    if fio.number_ios:
        return fio.number_ios * process.job.block_bytes
    spans = sum(one.size if one.size is not None else one.bytes for one in fio.spans)
    return process.job.io_bytes or (fio.size or spans) * fio.loops
