"""`flashtwin fio` at work: on a simulated drive or a path, as a run that is kept or without one.

On a twin a signal ends the jobs and not the answer, as in fio, whenever it comes: what was counted
so far is told in every format, the logs are written, and the exit code is fio's 128; of a run that
is kept the answer is of the groups that are over, and it can be gone on with. What cannot be
written is said at the end, with exit code 3, when all that can be written is: the answer goes to
stdout where its file takes it no more.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin.batteries.fio import NAME
from flashtwin.cli import terminal
from flashtwin.errors import DONE, MISS, TERMINATED, USAGE, FlashtwinError
from flashtwin.model.step import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashtwin._core import Spec
    from flashtwin.batteries.fio import Parameters
    from flashtwin.fio import on_files
    from flashtwin.fio.answer import Answer
    from flashtwin.fio.language.script import Script
    from flashtwin.fio.plan.plan import PhaseResult, Plan
    from flashtwin.fio.plan.traces import Replaying
    from flashtwin.fio.report.formats import Shape
    from flashtwin.fio.run import FioTwin
    from flashtwin.model.target import Progress
    from flashtwin.runner.events import Observer
    from flashtwin.runner.request import Request
    from flashtwin.runner.stop import Stop
    from flashtwin.runner.target import Target, Variant
    from flashtwin.runs.rundir import Run

# A twin answers in less than that or is worth a line; an observer hears ten times a second.
QUICK_S, OFTEN_S = 1.0, 0.1
_NO_END = 1 << 60


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is done with jobs, whoever runs them. `output`: a file in place of stdout."""

    read: Script
    variant: Variant
    shape: Shape
    output: Path | None = None
    parse_only: bool = False
    readonly: bool = False
    quiet: bool = False


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

    def request(self, asked: Asked, target: Target, jobs: Parameters) -> Request:
        """The run to be made; its command has no path of this machine."""
        from flashtwin.runner.batch import default_out
        from flashtwin.runner.request import Request

        words = [word if word.startswith("-") else Path(word).name for word in self.words]
        words += ["--on", Path(asked.variant.drive).name]
        words += ["--budget", self.budget] if self.budget is not None else []
        return Request(
            targets=(target,),
            batteries=((NAME, jobs),),
            out=self.out or default_out([target.name], datetime.now()),
            budget=self.budget,
            seed=asked.variant.seed,
            command=("flashtwin", "fio", *words, *asked.variant.words()),
        )


def on_twin(asked: Asked, replaying: Replaying) -> int:
    """Run the jobs on a simulated drive, and answer as fio does."""
    from flashtwin.fio.answer import Answer, check_written
    from flashtwin.fio.plan.plan import refuse_traced_writes
    from flashtwin.fio.run import FioTwin, check_memory
    from flashtwin.runner import stop

    spec, made = _planned(asked, replaying)
    if asked.readonly:
        refuse_traced_writes(made)
    if not _goes_on(asked, spec, made):
        return DONE
    check_memory(spec, made, asked.shape.status_ns)
    twin = FioTwin(spec, seed=asked.variant.seed)
    with stop.listening() as asks, Answer(made, asked.shape, asked.output, _say()) as answer:
        results = _run(twin, made, asked, answer, asks)
        ended = _signalled(results, asks.number)
        answer.end(results, ended)
        answer.write_logs(results)
        if ended and "normal" not in asked.shape.formats:
            # There it is told within the answer, where it would spoil the other formats.
            terminal.note(ended)
        ended_early = _say_failures(results, asked.quiet)
        check_written(answer.failed)
        # From here on a signal changes nothing: all is told.
        stop.nothing_left()
        if asks.number:
            return TERMINATED
        return MISS if ended_early else DONE


def _planned(asked: Asked, replaying: Replaying | None = None) -> tuple[Spec, Plan]:
    """The drive, and what it runs."""
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan

    spec = asked.variant.spec()
    target = Target(name=asked.variant.drive, bytes=spec.capacity_bytes)
    return spec, plan(asked.read.jobs, target, replaying=replaying)


def _goes_on(asked: Asked, spec: Spec, made: Plan) -> bool:
    """Tell the notes; whether the jobs are to run, and their logs can be written."""
    from flashtwin.fio.answer import check_logs

    terminal.notes((*spec.notes, *asked.read.notes, *made.notes), asked.quiet)
    if not asked.parse_only:
        notes = check_logs(asked.read, made, asked.variant.drive, asked.output)
        terminal.notes(notes, asked.quiet)
    return not asked.parse_only


def _say() -> Callable[[str], object]:
    """stdout as it is now: progress on a terminal puts something else in its place."""
    return partial(terminal.say, nl=False, stdout=sys.stdout)


def _run(twin: FioTwin, made: Plan, asked: Asked, answer: Answer, asks: Stop) -> list[PhaseResult]:
    from flashtwin.fio.run import run_plan

    with ExitStack() as stack:
        progress = _Progress(twin.name, made, asked.quiet, stack)

        def watch(at: Progress) -> bool:
            progress.moved(at)
            return not asks.asked

        def over(phase: PhaseResult) -> None:
            answer.over(phase)
            progress.over()

        status_ns = asked.shape.status_ns
        return run_plan(twin, made, watch, status_ns=status_ns, status=answer.status, on_end=over)


def _signalled(results: Sequence[PhaseResult], number: int | None) -> str | None:
    """What fio says of a signal that ended its jobs; one that came too late ended nothing."""
    stopped = any(result.stopped for result in results)
    return f"fio: terminating on signal {number}" if stopped else None


def _say_failures(results: Sequence[PhaseResult], quiet: bool) -> bool:
    """Whether jobs have ended early, each told."""
    failed = [
        (process.job.name, row["failure"][1])
        for result in results
        for process, row in result.ran
        if row["failure"]
    ]
    for name, reason in failed if not quiet else ():
        terminal.note(f"job {name} ended early: {reason}")
    return bool(failed)


class _Progress:
    """How far the jobs are: by their bytes, or by the drive's clock where they are timed.

    What shows it is made when there is something to be shown: most runs are over before.
    """

    def __init__(self, name: str, plan: Plan, quiet: bool, stack: ExitStack) -> None:
        self._name, self._quiet, self._stack = name, quiet, stack
        self._observer: Observer | None = None
        from flashtwin.fio.run import Expected

        self._phases = [Expected(phase) for phase in plan.phases]
        self._labels = [
            ", ".join(dict.fromkeys(process.job.name for process in phase)) for phase in plan.phases
        ]
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
        self._observed().progress(
            Status(
                target=self._name,
                battery=NAME,
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

    def _observed(self) -> Observer:
        if self._observer is None:
            from flashtwin.cli import progress

            display = self._stack.enter_context(progress.display(self._quiet))
            self._observer = display.observer(self._name)
        return self._observer

    def over(self) -> None:
        """The phase at hand has ended."""
        self._done += 1


def on_path(asked: Asked) -> int:
    """Let fio itself run the jobs, on files of our own; its exit code as ours."""
    from flashtwin.fio import on_files
    from flashtwin.runner.stop import listening

    path, prepared = _prepared(asked)
    notes = [note for note in (*asked.read.notes, *prepared.notes) if not note.twin]
    terminal.notes(dict.fromkeys(notes), asked.quiet)
    if asked.parse_only:
        return DONE
    status_ms = asked.shape.status_ns // 1_000_000
    words = [f"--status-interval={max(status_ms, 1)}ms"] if asked.shape.status_ns else []
    answering, hear = _answering(asked, words), _hear(asked.quiet)
    with listening() as stop:
        return on_files.run(
            prepared, path, answering, hear, partial(terminal.say, nl=False), lambda: stop.number
        )


def _prepared(asked: Asked) -> tuple[Path, on_files.Prepared]:
    """Where the files are made, and the jobs as fio gets them."""
    from flashtwin.fio.on_files import prepare
    from flashtwin.runner.target import free_path

    on = asked.variant.drive
    path = free_path(on, sized=False, changes=asked.variant.changes)
    return path, prepare(asked.read.jobs, on)


def _answering(asked: Asked, words: Sequence[str] = ()) -> on_files.OutputOptions:
    """How fio is to answer."""
    from flashtwin.fio import on_files
    from flashtwin.fio.answer import inputs_of

    return on_files.OutputOptions(
        words=(f"--terse-version={asked.shape.terse}", *words),
        formats=asked.shape.formats,
        readonly=asked.readonly,
        output=asked.output,
        inputs=frozenset(inputs_of(asked.read, asked.variant.drive)),
    )


def run(asked: Asked, kept: Kept) -> int:
    """Run the jobs, keep the run, print the answer."""
    from flashtwin.runner.target import is_spec

    _refuse_status(asked.shape)
    return _keep_twin(asked, kept) if is_spec(asked.variant.drive) else _keep_files(asked, kept)


def _refuse_status(shape: Shape) -> None:
    """A run keeps what is over; a status is of a group that is under way."""
    if shape.status_ns:
        raise FlashtwinError(
            "--status-interval is not possible with --out, --budget or --resume",
            hint="leave one of them out; progress is shown on stderr",
            exit_code=USAGE,
        )


def _keep_twin(asked: Asked, kept: Kept) -> int:
    from flashtwin.fio.answer import Answer
    from flashtwin.fio.drives import JobsTwin, parameters, phases_of
    from flashtwin.fio.run import check_memory
    from flashtwin.runner.target import twin_target

    spec, made = _planned(asked)
    if not _goes_on(asked, spec, made):
        return DONE
    check_memory(spec, made)
    twin = JobsTwin(spec, seed=asked.variant.seed)
    target = twin_target(asked.variant, drive=twin)
    jobs = parameters(asked.read.jobs, made)
    request = kept.request(asked, target, jobs)
    with Answer(made, asked.shape, asked.output, _say()) as answer:
        stopped = _carried_out(request, asked.quiet, lambda: bool(twin.answers))
        phases = phases_of(made, [twin.answers.get(group.label) for group in jobs.groups])
        answer.end(phases, None)
        answer.write_logs([phase for phase in phases if phase.rows])
        return _ended(request.out, stopped, answer.failed, asked.quiet)


def _keep_files(asked: Asked, kept: Kept) -> int:
    from flashtwin.fio import on_files
    from flashtwin.fio.answer import write
    from flashtwin.fio.drives import FilesDrive, answer_of, parameters
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan
    from flashtwin.runner.target import files_target

    read, quiet = asked.read, asked.quiet
    made = plan(read.jobs, Target(name=asked.variant.drive, bytes=_NO_END))
    terminal.notes(dict.fromkeys(note for note in read.notes if not note.twin), quiet)
    path, prepared = _prepared(asked)
    terminal.notes(dict.fromkeys(prepared.notes), quiet)
    if asked.parse_only:
        return DONE
    jobs, answering = parameters(read.jobs, made), _answering(asked)
    on_files.check_outputs(prepared.logs, answering)
    drive = FilesDrive(jobs.file, path, output_options=answering, say=_hear(quiet))
    request = kept.request(asked, files_target(jobs.file, path, drive=drive), jobs)
    stopped = _carried_out(request, quiet, lambda: bool(drive.answers))
    text = answer_of(drive.answers, asked.shape.formats)
    failed = [*drive.failed, *write(text, asked.output, partial(terminal.say, nl=False))]
    return _ended(request.out, stopped, failed, quiet) or drive.code


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
        show, say = partial(progress.observers, quiet), _hear(quiet)
        done = request.resume(asked.run, show, words=asked.words, say=say)
        if not done.did_anything and not quiet:
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

    say = _say()
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


def _ended(
    out: Path | None, stopped: str | None, failed: Sequence[FlashtwinError], quiet: bool
) -> int:
    from flashtwin.fio.answer import check_written
    from flashtwin.runner.stop import nothing_left

    check_written(failed)
    if stopped or not quiet:
        terminal.note(stopped or f"the run is in {out}")
    nothing_left()
    return TERMINATED if stopped else DONE


def _hear(quiet: bool) -> Callable[[str], None]:
    """What hears what becomes of the files on their way: a line for each, or nothing."""
    return (lambda text: None) if quiet else terminal.note


def convert(run: Path, out: Path | None, words: tuple[str, ...], quiet: bool) -> int:
    """Write the steps of a run as the job files that fio would run; `words` have to be none."""
    from flashtwin.runs.export import job_files
    from flashtwin.runs.rundir import Run

    if words:
        raise FlashtwinError(
            f"--convert takes a run and no jobs, and {words[0]} is one",
            hint="leave out one of the two",
            exit_code=USAGE,
        )
    converted = job_files.convert(Run(run))
    if not converted:
        raise FlashtwinError(f"no step of {run} asks a drive for anything", exit_code=USAGE)
    if out is None:
        terminal.say(job_files.one_file(converted), nl=False)
        return DONE
    paths = job_files.write(converted, out)
    if not quiet:
        terminal.note(f"{len(paths)} job files in {out}")
    return DONE
