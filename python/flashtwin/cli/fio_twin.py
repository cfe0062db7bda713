"""`flashtwin fio` on a simulated drive: plan, run, answer, logs.

A signal ends the jobs and not the answer, as in fio: what was counted so far is told in every
format, the logs are written, and the exit code is fio's 128. What cannot be written is said at the
end, with exit code 3, when all that can be written is: the answer goes to stdout where its file
takes it no more.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin import outputs
from flashtwin.cli import terminal
from flashtwin.errors import DONE, MISS, TERMINATED, FlashtwinError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashtwin.cli.fio_shape import Asked
    from flashtwin.drives.protocol import Progress
    from flashtwin.fiojob.language.sections import Script
    from flashtwin.fiojob.plan.plan import Plan
    from flashtwin.fiojob.plan.traces import Replaying
    from flashtwin.fiojob.report.wish import Log
    from flashtwin.runner.fio_jobs import PhaseResult
    from flashtwin.runner.resolve import Wishes


def run(read: Script, on: str, wishes: Wishes, asked: Asked, replaying: Replaying) -> int:
    """Run them, and answer as fio does."""
    from flashtwin.catalogue.loader import load
    from flashtwin.cli import fio_progress
    from flashtwin.cli.fio_outputs import check_logs
    from flashtwin.cli.fio_readonly import check_traces
    from flashtwin.drives.fio_twin import FioTwin
    from flashtwin.fiojob.plan.files import Target
    from flashtwin.fiojob.plan.plan import plan
    from flashtwin.runner.fio_jobs import run_plan
    from flashtwin.runner.stop import listening

    spec = load(on, firmware=wishes.firmware, sets=wishes.sets, scale=wishes.scale)
    made = plan(read.jobs, Target(name=on, bytes=spec.capacity_bytes), replaying=replaying)
    if asked.readonly:
        check_traces(made)
    terminal.notes((*read.notes, *made.notes), wishes.quiet)
    if asked.parse_only:
        return DONE
    check_logs(read, made, on, asked, wishes.quiet)
    with listening() as stop, fio_progress.shown(spec.id, made, wishes.quiet) as progress:

        def watch(at: Progress) -> bool:
            progress.moved(at)
            return not stop.asked

        twin = FioTwin(spec, seed=wishes.seed)
        found = run_plan(twin, made, watch, status_ns=asked.shape.status_ns, done=progress.over)
    ended = _ended(found, stop.number)
    _write(_answer(made, found, asked, ended), _logs(found), asked)
    if ended and "normal" not in asked.shape.formats:
        # There it is told within the answer, where it would spoil the other formats.
        terminal.note(ended)
    failed = [
        (process.job.name, row["failure"][1])
        for one in found
        for process, row in zip(one.processes, one.counts.rows, strict=False)
        if row["failure"]
    ]
    for name, reason in failed if not wishes.quiet else ():
        terminal.note(f"job {name} ended early: {reason}")
    if ended:
        return TERMINATED
    return MISS if failed else DONE


def _ended(found: Sequence[PhaseResult], number: int | None) -> str | None:
    """What fio says of a signal that ended its jobs; one that came too late ended nothing."""
    stopped = any(one.counts.stopped for one in found)
    return f"fio: terminating on signal {number}" if stopped else None


def _answer(made: Plan, found: Sequence[PhaseResult], asked: Asked, ended: str | None) -> str:
    from flashtwin.fiojob.report.formats import PROGRAM, shown
    from flashtwin.fiojob.report.ran import all_of, preamble, statuses

    phases = [(one.processes, one.counts.rows, one.begun_ns) for one in found]
    moments = [one.counts.status for one in found]
    told = [*statuses(zip(phases, moments, strict=True)), all_of(phases)]
    begins = [""] * len(told)
    if ended:
        begins[-1] = f"{ended}\n\n"
    begins[0] = preamble(made.processes, PROGRAM) + begins[0]
    return "".join(shown(one, asked.shape, begin) for one, begin in zip(told, begins, strict=True))


def _logs(found: Sequence[PhaseResult]) -> list[Log]:
    from flashtwin.fiojob.report.files import files_of

    rows = [
        (process, row, one.begun_ns)
        for one in found
        for process, row in zip(one.processes, one.counts.rows, strict=False)
    ]
    return files_of(rows)


def _write(answer: str, logs: Sequence[Log], asked: Asked) -> None:
    """All of it, each as far as it can be; one error at the end for what could not."""
    output = asked.output
    failed = [
        error
        for log in logs
        if (error := _save(Path(log.name), log.text, None if log.typed else Path()))
    ]
    refused = _save(output, answer) if output is not None else None
    if output is None or refused:
        # An answer that its file does not take is not lost.
        terminal.say(answer, nl=False)
    failed += [refused] if refused else []
    if failed:
        more = f", and so with {len(failed) - 1} more" if len(failed) > 1 else ""
        raise FlashtwinError(
            f"{failed[0].message}{more}",
            hint="the jobs ran, and the rest is written: make room, or give another name",
            exit_code=max(one.exit_code for one in failed),
        ) from failed[0]


def _save(path: Path, text: str, within: Path | None = None) -> FlashtwinError | None:
    """Write a file whole, or say why not; what was there stays then."""
    try:
        outputs.write(path, text, within=within)
    except FlashtwinError as error:
        return error
    return None
