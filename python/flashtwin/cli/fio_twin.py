"""`flashtwin fio` on a simulated drive: plan, run, answer, logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashtwin.cli import terminal
from flashtwin.errors import DONE, ENVIRONMENT, MISS, FlashtwinError

if TYPE_CHECKING:
    from flashtwin.cli.fio_shape import Asked
    from flashtwin.drives.protocol import Progress
    from flashtwin.fiojob.language.sections import Script
    from flashtwin.fiojob.plan.traces import Replaying
    from flashtwin.runner.resolve import Wishes


def run(read: Script, on: str, wishes: Wishes, asked: Asked, replaying: Replaying) -> int:
    """Run them, and answer as fio does."""
    from flashtwin.catalogue.loader import load
    from flashtwin.cli import fio_progress
    from flashtwin.cli.fio_readonly import check_traces
    from flashtwin.drives.twin import Twin
    from flashtwin.fiojob.plan.files import Target
    from flashtwin.fiojob.plan.plan import plan
    from flashtwin.fiojob.report.files import files_of
    from flashtwin.fiojob.report.formats import PROGRAM, shown
    from flashtwin.fiojob.report.ran import all_of, preamble, statuses
    from flashtwin.runner.fio_jobs import run_plan
    from flashtwin.runner.stop import listening

    spec = load(on, firmware=wishes.firmware, sets=wishes.sets, scale=wishes.scale)
    made = plan(read.jobs, Target(name=on, bytes=spec.capacity_bytes), replaying=replaying)
    if asked.readonly:
        check_traces(made)
    terminal.notes((*read.notes, *made.notes), wishes.quiet)
    if asked.parse_only:
        return DONE
    with listening() as stop, fio_progress.shown(spec.id, made, wishes.quiet) as progress:

        def watch(at: Progress) -> bool:
            progress.moved(at)
            return not stop.asked

        twin = Twin(spec, seed=wishes.seed)
        found = run_plan(twin, made, watch, status_ns=asked.shape.status_ns, done=progress.over)
    rows = [pair for one in found for pair in zip(one.processes, one.result.fio, strict=True)]
    phases = [(one.processes, one.result.fio, one.begun_ns) for one in found]
    moments = [one.result.fio_status for one in found]
    told = [*statuses(zip(phases, moments, strict=True)), all_of(phases)]
    begin = preamble(made.processes, PROGRAM)
    _write(
        "".join(shown(one, asked.shape, "" if n else begin) for n, one in enumerate(told)),
        asked.output,
    )
    for log in files_of(rows):
        _save(Path(log.name), log.text)
    for process, row in rows:
        if row["failure"] and not wishes.quiet:
            terminal.note(f"job {process.job.name} ended early: {row['failure'][1]}")
    return MISS if any(row["failure"] for _, row in rows) else DONE


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
    else:
        _save(output, text)


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise FlashtwinError(
            f"{path} cannot be written: {error.strerror}",
            hint="the jobs ran; make room or give another name, and run them again",
            exit_code=ENVIRONMENT,
        ) from error
