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

from flashtwin.batteries.fio import NAME
from flashtwin.cli import terminal
from flashtwin.errors import DONE, TERMINATED, USAGE, FlashtwinError
from flashtwin.model.step import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashtwin._core import Spec
    from flashtwin.cli.fio_jobs import Asked
    from flashtwin.fio.plan.plan import Plan
    from flashtwin.fio.report.formats import Shape
    from flashtwin.runner.request import Request
    from flashtwin.runner.target import Variant
    from flashtwin.runs.rundir import Run


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

    def command(self, variant: Variant) -> tuple[str, ...]:
        """The command that does the same again, without a path of this machine."""
        words = [word if word.startswith("-") else Path(word).name for word in self.words]
        words = ["flashtwin", "fio", *words, "--on", Path(variant.drive).name]
        words += ["--budget", self.budget] if self.budget is not None else []
        return (*words, *variant.words())


def run(asked: Asked, kept: Kept) -> int:
    """Run the jobs, keep the run, print the answer."""
    read, variant, quiet = asked.read, asked.variant, asked.quiet
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan
    from flashtwin.runner.target import is_spec

    _refuse_status(asked.shape)
    if is_spec(variant.drive):
        spec = variant.spec()
        made = plan(read.jobs, Target(name=variant.drive, bytes=spec.capacity_bytes))
        terminal.notes((*spec.notes, *read.notes, *made.notes), quiet)
        return DONE if asked.parse_only else _on_twin(spec, made, asked, kept)
    made = plan(read.jobs, Target(name=variant.drive, bytes=_NO_END))
    terminal.notes(dict.fromkeys(note for note in read.notes if not note.twin), quiet)
    return _on_files(made, asked, kept)


def _refuse_status(shape: Shape) -> None:
    """A run keeps what is over; a status is of a group that is under way."""
    if shape.status_ns:
        raise FlashtwinError(
            "--status-interval is not possible with --out, --budget or --resume",
            hint="leave one of them out; progress is shown on stderr",
            exit_code=USAGE,
        )


_NO_END = 1 << 60


def _on_twin(spec: Spec, made: Plan, asked: Asked, kept: Kept) -> int:
    from flashtwin.fio.answer import Answer, check_logs
    from flashtwin.fio.drives import JobsTwin, parameters, phases_of
    from flashtwin.fio.run import check_memory
    from flashtwin.runner.request import Request
    from flashtwin.runner.target import twin_target

    variant, quiet = asked.variant, asked.quiet
    terminal.notes(check_logs(asked.read, made, variant.drive, asked.output), quiet)
    check_memory(spec, made)
    twin = JobsTwin(spec, seed=variant.seed)
    target = twin_target(variant, drive=twin)
    jobs, out = parameters(asked.read.jobs, made), kept.place(target.name)
    request = Request(
        targets=(target,),
        batteries=((NAME, jobs),),
        out=out,
        budget=kept.budget,
        seed=variant.seed,
        command=kept.command(variant),
    )
    say = partial(terminal.say, nl=False, stdout=sys.stdout)
    with Answer(made, asked.shape, asked.output, say) as answer:
        stopped = _carried_out(request, quiet, lambda: bool(twin.answers))
        phases = phases_of(made, [twin.answers.get(group.label) for group in jobs.groups])
        answer.end(phases, None)
        answer.write_logs([phase for phase in phases if phase.rows])
        return _ended(out, stopped, answer.failed, quiet)


def _on_files(made: Plan, asked: Asked, kept: Kept) -> int:
    from flashtwin.fio import on_files
    from flashtwin.fio.answer import inputs_of, write
    from flashtwin.fio.drives import FilesDrive, answer_of, parameters
    from flashtwin.runner.request import Request
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
    out = kept.place(target.name)
    request = Request(
        targets=(target,),
        batteries=((NAME, jobs),),
        out=out,
        budget=kept.budget,
        command=kept.command(variant),
    )
    stopped = _carried_out(request, quiet, lambda: bool(drive.told))
    text = answer_of(drive.told, shape.formats)
    failed = [*drive.failed, *write(text, asked.output, partial(terminal.say, nl=False))]
    return _ended(out, stopped, failed, quiet) or drive.code


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """A run to go on with, and how its answer is told; without `formats` as it was asked for."""

    run: Path
    words: tuple[str, ...]
    shape: Shape
    formats: tuple[str, ...] | None
    output: Path | None
    quiet: bool


def resume(asked: Resumed) -> int:
    """Go on with a run of fio's jobs, and print fio's answer to all of them: those that were over
    before are answered from their steps."""
    from flashtwin.cli import progress
    from flashtwin.model.target import Interrupted
    from flashtwin.runner import request
    from flashtwin.runs import listing
    from flashtwin.runs.rundir import Run

    _refuse_status(asked.shape)
    run, quiet = Run(listing.find(asked.run)), asked.quiet
    if [row["name"] for row in run.manifest["batteries"]] != [NAME]:
        raise FlashtwinError(
            f"{run.path} is no run of fio's jobs",
            hint=f"flashtwin test --resume {run.path} goes on with it",
            exit_code=USAGE,
        )
    stopped = None
    try:
        show, say = partial(progress.observers, quiet), _silent if quiet else None
        done = request.resume(asked.run, show, words=asked.words, say=say)
        if not done.anything and not quiet:
            terminal.note(f"{done.where} is finished: nothing was left to do")
    except Interrupted as stop:
        stopped = str(stop)
    run = Run(run.path)
    if stopped and not any(step.fio for step in run.steps):
        raise Interrupted(stopped)
    return _ended(run.path, stopped, _stored_answer(run, asked), quiet)


def _stored_answer(run: Run, asked: Resumed) -> list[FlashtwinError]:
    """Tell fio's answer as the run's steps have it; what could not be written."""
    from flashtwin.batteries.base import registry
    from flashtwin.fio import drives
    from flashtwin.fio.answer import Answer, write
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan

    say = partial(terminal.say, nl=False, stdout=sys.stdout)
    if run.target["kind"] == "files":
        text = drives.answer_of_steps([step.fio for step in run.steps], asked.formats)
        return write(text, asked.output, say)
    parameters = registry.request(NAME, run.manifest["batteries"][0]["parameters"]).parameters
    size = int(run.target["capacity_bytes"])
    made = plan(drives.jobs_of(parameters.file), Target(name=run.target["name"], bytes=size))
    by_label = {step.label: run.result(step.step) for step in run.steps if step.fio}
    results = [by_label.get(group.label) for group in parameters.groups]
    ran = [result if isinstance(result, Result) else None for result in results]
    with Answer(made, asked.shape, asked.output, say) as answer:
        answer.end(drives.phases_of(made, ran), None)
    return answer.failed


def _carried_out(request: Request, quiet: bool, answered: Callable[[], bool]) -> str | None:
    """Run the groups; what to say where somebody stopped them and there is an answer."""
    from flashtwin.cli import progress
    from flashtwin.model.target import Interrupted
    from flashtwin.runner.request import test

    try:
        test(request, partial(progress.observers, quiet))
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
