"""`flashtwin fio` on a simulated drive: plan, run, answer, logs.

A signal ends the jobs and not the answer, as in fio, whenever it comes: what was counted so far is
told in every format, the logs are written, and the exit code is fio's 128. What cannot be written
is said at the end, with exit code 3, when all that can be written is: the answer goes to stdout
where its file takes it no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtwin.cli import terminal
from flashtwin.errors import DONE, MISS, TERMINATED, FlashtwinError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtwin.cli.fio_answer import Answer
    from flashtwin.cli.fio_shape import Asked
    from flashtwin.fio.language.script import Script
    from flashtwin.fio.plan.plan import Plan
    from flashtwin.fio.plan.traces import Replaying
    from flashtwin.fio.run import FioTwin, PhaseResult
    from flashtwin.model.target import Progress
    from flashtwin.runner.stop import Stop
    from flashtwin.runner.target import Variant


def run(read: Script, variant: Variant, asked: Asked, replaying: Replaying, quiet: bool) -> int:
    """Run them, and answer as fio does."""
    from flashtwin.cli.fio_answer import Answer
    from flashtwin.cli.fio_outputs import check_logs
    from flashtwin.cli.fio_readonly import check_traces
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan
    from flashtwin.fio.run import FioTwin, check_memory
    from flashtwin.runner import stop

    on, spec = variant.drive, variant.spec()
    made = plan(read.jobs, Target(name=on, bytes=spec.capacity_bytes), replaying=replaying)
    if asked.readonly:
        check_traces(made)
    terminal.notes((*read.notes, *made.notes), quiet)
    if asked.parse_only:
        return DONE
    check_logs(read, made, on, asked, quiet)
    check_memory(spec, made, asked.shape.status_ns)
    twin = FioTwin(spec, seed=variant.seed)
    with stop.listening() as asks, Answer(made, asked) as answer:
        found = _run(twin, made, asked, answer, asks, quiet)
        ended = _ended(found, asks.number)
        answer.end(found, ended)
        answer.write_logs(found)
        if ended and "normal" not in asked.shape.formats:
            # There it is told within the answer, where it would spoil the other formats.
            terminal.note(ended)
        ended_early = _say_failures(found, quiet)
        _check_written(answer.failed)
        # From here on a signal changes nothing: all is told.
        stop.nothing_left()
        if asks.number:
            return TERMINATED
        return MISS if ended_early else DONE


def _run(
    twin: FioTwin, made: Plan, asked: Asked, answer: Answer, asks: Stop, quiet: bool
) -> list[PhaseResult]:
    from flashtwin.cli import fio_progress
    from flashtwin.fio.run import run_plan

    with fio_progress.shown(twin.name, made, quiet) as progress:

        def watch(at: Progress) -> bool:
            progress.moved(at)
            return not asks.asked

        def over(phase: PhaseResult) -> None:
            answer.over(phase)
            progress.over(phase)

        status_ns = asked.shape.status_ns
        return run_plan(twin, made, watch, status_ns=status_ns, status=answer.status, done=over)


def _ended(found: Sequence[PhaseResult], number: int | None) -> str | None:
    """What fio says of a signal that ended its jobs; one that came too late ended nothing."""
    stopped = any(one.counts.stopped for one in found)
    return f"fio: terminating on signal {number}" if stopped else None


def _say_failures(found: Sequence[PhaseResult], quiet: bool) -> bool:
    """Whether jobs have ended early, each told."""
    failed = [
        (process.job.name, row["failure"][1])
        for one in found
        for process, row in zip(one.processes, one.counts.rows, strict=False)
        if row["failure"]
    ]
    for name, reason in failed if not quiet else ():
        terminal.note(f"job {name} ended early: {reason}")
    return bool(failed)


def _check_written(failed: Sequence[FlashtwinError]) -> None:
    """One error for all that could not be written; the rest is."""
    if failed:
        more = f", and so with {len(failed) - 1} more" if len(failed) > 1 else ""
        raise FlashtwinError(
            f"{failed[0].message}{more}",
            hint="the jobs ran, and the rest is written: make room, or give another name",
            exit_code=max(one.exit_code for one in failed),
        ) from failed[0]
