"""`--readonly`: jobs that write or trim are refused, those of a trace too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashtwin.fio.language.script import Script
    from flashtwin.fio.plan.plan import Plan


def check_jobs(read: Script) -> None:
    """A job that says that it writes."""
    from flashtwin.fio.language.errors import JobFileError

    for job in read.jobs:
        if job["rw"].rw not in ("read", "randread"):
            raise JobFileError(
                job.line("rw"),
                f"job {job.name} writes or trims, which --readonly does not allow",
                hint="leave out --readonly, or change rw",
            )


def check_traces(plan: Plan) -> None:
    """A trace that holds writes."""
    from flashtwin.fio.language.errors import JobFileError

    for process in plan.processes:
        trace = process.job.fio.trace if process.job.fio else None
        if trace is not None and any(trace.uses[1:]):
            job = process.clone.job
            raise JobFileError(
                job.line("read_iolog"),
                f"the trace {trace.path} writes or trims, which --readonly does not allow",
                hint="leave out --readonly, or add replay_skip=write,trim",
            )
