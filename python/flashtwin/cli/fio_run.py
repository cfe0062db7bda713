"""`flashtwin fio --out`: the jobs as a run that is kept, and fio's answer all the same.

On a simulated drive the answer is of the groups that are over; on a path fio tells of the one under
way too. A signal ends the jobs and not the answer (exit code 128), and the run can be gone on with.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin.cli import terminal
from flashtwin.errors import DONE, TERMINATED, USAGE, FlashtwinError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashtwin._core import Spec
    from flashtwin.cli.fio_jobs import Asked
    from flashtwin.fio.plan.plan import PhaseResult, Plan
    from flashtwin.model.step import Result
    from flashtwin.runner.jobs import JobsRequest
    from flashtwin.runner.target import Variant


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Where the run goes, if somebody says, how long it may take, and what was typed."""

    out: Path | None = None
    budget: str | None = None
    words: tuple[str, ...] = ()

    @property
    def wanted(self) -> bool:
        """Whether a run is to be kept at all."""
        return self.out is not None or self.budget is not None

    def place(self, name: str) -> Path:
        """The run directory."""
        from flashtwin.runner.batch import default_out

        return self.out or default_out([name], datetime.now())

    def command(self, variant: Variant) -> list[str]:
        """The command that does the same again, without a path of this machine."""
        words = [word if word.startswith("-") else Path(word).name for word in self.words]
        words = ["flashtwin", "fio", *words, "--on", Path(variant.drive).name]
        words += ["--budget", self.budget] if self.budget is not None else []
        return [*words, *variant.words()]


def run(asked: Asked, kept: Kept) -> int:
    """Run the jobs, keep the run, print the answer."""
    read, variant, quiet = asked.read, asked.variant, asked.quiet
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan
    from flashtwin.runner.target import is_spec

    if asked.shape.status_ns:
        raise FlashtwinError(
            "--status-interval is not possible with --out or --budget",
            hint="leave one of them out; progress is shown on stderr",
            exit_code=USAGE,
        )
    if is_spec(variant.drive):
        spec = variant.spec()
        made = plan(read.jobs, Target(name=variant.drive, bytes=spec.capacity_bytes))
        terminal.notes((*spec.notes, *read.notes, *made.notes), quiet)
        return DONE if asked.parse_only else _on_twin(spec, made, asked, kept)
    made = plan(read.jobs, Target(name=variant.drive, bytes=_NO_END))
    terminal.notes(dict.fromkeys(note for note in read.notes if not note.twin), quiet)
    return _on_files(made, asked, kept)


_NO_END = 1 << 60


def _on_twin(spec: Spec, made: Plan, asked: Asked, kept: Kept) -> int:
    from flashtwin.fio.answer import Answer, check_logs
    from flashtwin.fio.drives import JobsTwin, parameters
    from flashtwin.fio.run import check_memory
    from flashtwin.runner.jobs import JobsRequest
    from flashtwin.runner.target import twin_target

    variant, quiet = asked.variant, asked.quiet
    terminal.notes(check_logs(asked.read, made, variant.drive, asked.output), quiet)
    check_memory(spec, made)
    twin = JobsTwin(spec, seed=variant.seed)
    target = twin_target(variant, drive=twin)
    request = JobsRequest(
        target=target,
        jobs=parameters(asked.read.jobs, made),
        out=kept.place(target.name),
        budget=kept.budget,
        seed=variant.seed,
        command=kept.command(variant),
    )
    say = partial(terminal.say, nl=False, stdout=sys.stdout)
    with Answer(made, asked.shape, asked.output, say) as answer:
        stopped = _carried_out(request, quiet, lambda: bool(twin.answers))
        phases = _phases(made, [twin.answers.get(group.label) for group in request.jobs.groups])
        answer.end(phases, None)
        answer.write_logs([phase for phase in phases if phase.rows])
        return _ended(request.out, stopped, answer.failed, quiet)


def _phases(made: Plan, results: Sequence[Result | None]) -> list[PhaseResult]:
    """What a group came to, as fio's answer is made of it; one that did not run has no rows."""
    from flashtwin.fio.plan.plan import PhaseResult

    first_ns = next((result.start_ns for result in results if result), 0)
    return [
        PhaseResult(
            processes=phase,
            begun_ns=result.start_ns - first_ns if result else 0,
            rows=result.fio if result else (),  # type: ignore[arg-type]
        )
        for phase, result in zip(made.phases, results, strict=True)
    ]


def _on_files(made: Plan, asked: Asked, kept: Kept) -> int:
    from flashtwin import outputs
    from flashtwin.fio import on_files
    from flashtwin.fio.answer import inputs_of
    from flashtwin.fio.drives import FilesDrive, answer_of, parameters
    from flashtwin.runner.jobs import JobsRequest
    from flashtwin.runner.target import files_target, free_path

    read, variant, quiet = asked.read, asked.variant, asked.quiet
    path = free_path(variant.drive, sized=False, changes=variant.changes)
    prepared = on_files.prepare(read.jobs, variant.drive)
    terminal.notes(dict.fromkeys(prepared.notes), quiet)
    if asked.parse_only:
        return DONE
    shape, jobs = asked.shape, parameters(read.jobs, made)
    answering = on_files.Asked(
        words=(f"--terse-version={shape.terse}",),
        formats=shape.formats,
        readonly=asked.readonly,
        output=asked.output,
        inputs=frozenset(inputs_of(read, variant.drive)),
    )
    on_files.check_outputs(prepared.logs, answering)
    say = _silent if quiet else terminal.note
    drive = FilesDrive(jobs.file, path, asked=answering, say=say)
    target = files_target(jobs.file, path, drive=drive)
    request = JobsRequest(
        target=target,
        jobs=jobs,
        out=kept.place(target.name),
        budget=kept.budget,
        command=kept.command(variant),
    )
    stopped = _carried_out(request, quiet, lambda: bool(drive.told))
    text = answer_of(drive.told, shape.formats)
    failed = drive.failed
    try:
        if asked.output is not None:
            outputs.write(asked.output, text)
    except FlashtwinError as error:
        failed.append(error)
    if asked.output is None or failed:
        terminal.say(text, nl=False)
    return _ended(request.out, stopped, failed, quiet) or drive.code


def _carried_out(request: JobsRequest, quiet: bool, answered: Callable[[], bool]) -> str | None:
    """Run the groups; what to say where somebody stopped them and there is an answer."""
    from flashtwin.cli import progress
    from flashtwin.model.target import Interrupted
    from flashtwin.runner.jobs import run_jobs

    try:
        run_jobs(request, partial(progress.observers, quiet))
    except Interrupted as stop:
        if not answered():
            raise
        return str(stop)
    return None


def _ended(out: Path, stopped: str | None, failed: Sequence[FlashtwinError], quiet: bool) -> int:
    from flashtwin.fio.on_files import check_written
    from flashtwin.runner.stop import nothing_left

    check_written(failed)
    if stopped or not quiet:
        terminal.note(stopped or f"the run is in {out}")
    nothing_left()
    return TERMINATED if stopped else DONE


def _silent(text: str) -> None:
    """For --quiet."""
