"""Steps that end when their time is up: what a budget makes of a step before a drive gets it.

A write of a whole drive gets a runtime beside its bytes, a timed run a shorter one, a rest is
shorter; the drive itself ends it, on its own clock, so a twin ends it at the same request again
tomorrow. What is done as a whole or not at all (a preparation, an erase, parts that follow without
a gap) is given as it is and may take longer. Invariants: a step that has all the time that it would
take gives the same result as without a bound; what was cut says so, in its result and in the
journal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flashtwin.model.step import Job, NotPossible, Rest, Result, Run, Step


@dataclass(frozen=True, kw_only=True)
class Given:
    """A step as the battery asked for it, and as the drive gets it."""

    asked: Step
    step: Step
    bytes: int | None = None

    def marked(self, answer: Result | NotPossible) -> Result | NotPossible:
        """The answer, with a word on it where the step ended before it was over."""
        if not isinstance(answer, Result) or not self._ended_early(answer):
            return answer
        said = f"cut short by the budget after {answer.duration_ns / 1e9:.4g} s"
        note = f"{answer.note}; {said}" if answer.note else said
        return replace(answer, cut=True, note=note)

    def _ended_early(self, answer: Result) -> bool:
        if self.step == self.asked:
            return False
        if self.bytes is not None:
            return sum(job.bytes for job in answer.jobs) < self.bytes
        return True


def whole(step: Step) -> Given:
    """Without a bound."""
    return Given(asked=step, step=step)


def within(step: Step, seconds: float, capacity_bytes: int) -> Given:
    """The step that ends after so many seconds at the latest, where its kind allows it."""
    if isinstance(step, Rest):
        return Given(asked=step, step=replace(step, seconds=min(step.seconds, seconds)))
    if not isinstance(step, Run) or not can_be_cut(step):
        return whole(step)
    moved = [_bytes(job, capacity_bytes) for job in step.jobs]
    jobs = tuple(_bounded(job, size, seconds) for job, size in zip(step.jobs, moved, strict=True))
    timed = all(size is None for size in moved)
    total = None if timed else sum(size or 0 for size in moved)
    return Given(asked=step, step=replace(step, jobs=jobs), bytes=total)


def can_be_cut(step: Step) -> bool:
    """Whether a step ends early where it is told to."""
    if isinstance(step, Rest):
        return True
    return isinstance(step, Run) and all(map(_can, step.jobs))


def _can(job: Job) -> bool:
    """One pass of several threads, or at random, ends otherwise than so many bytes do."""
    if job.fio is not None:
        return False
    if job.io_bytes is not None or job.runtime_s is not None:
        return True
    return (job.threads == 1 or job.shared_stream) and not job.rw.startswith("rand")


def _bytes(job: Job, capacity_bytes: int) -> int | None:
    """What ends the job besides its time; none of a job that only time ends."""
    if job.io_bytes is not None or job.runtime_s is not None:
        return job.io_bytes
    return (job.size if job.size is not None else capacity_bytes - job.offset) or None


def _bounded(job: Job, size: int | None, seconds: float) -> Job:
    left_s = max(seconds - job.ramp_s, 1e-3)
    runtime_s = left_s if job.runtime_s is None else min(job.runtime_s, left_s)
    return replace(job, io_bytes=size, runtime_s=runtime_s)
