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
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click

from flashtwin import system
from flashtwin._core import Spec
from flashtwin.batteries.base import registry
from flashtwin.batteries.fio import NAME, Parameters
from flashtwin.cli import options, progress, terminal
from flashtwin.drives import untimed
from flashtwin.drives.twin import reads_note
from flashtwin.errors import DONE, MISS, TERMINATED, USAGE, FlashtwinError
from flashtwin.fio import drives, on_files
from flashtwin.fio.answer import Answer, check_logs, check_written, inputs_of, write
from flashtwin.fio.drives import FilesDrive, JobsTwin, answer_of, parameters, phases_of
from flashtwin.fio.language.script import Script
from flashtwin.fio.on_files import prepare
from flashtwin.fio.plan.files import Target as FilesTarget
from flashtwin.fio.plan.plan import PhaseResult, Plan, plan, refuse_traced_writes
from flashtwin.fio.plan.traces import Replaying
from flashtwin.fio.report.formats import Shape
from flashtwin.fio.run import Expected, FioTwin, check_memory, run_plan
from flashtwin.model.fio_job import Reading
from flashtwin.model.step import Result
from flashtwin.model.target import Interrupted, Progress
from flashtwin.runner import request, stop
from flashtwin.runner.batch import default_out
from flashtwin.runner.events import Observer, Status
from flashtwin.runner.request import Request, test
from flashtwin.runner.stop import Stop, listening, nothing_left
from flashtwin.runner.target import Target, Variant, files_target, free_path, is_spec, twin_target
from flashtwin.runs import listing
from flashtwin.runs.export import job_files
from flashtwin.runs.rundir import Run

LEAST_STATUS_S = 0.001
FORMATS = ("normal", "terse", "json", "json+")
# A twin answers in less than that or is worth a line; an observer hears ten times a second.
QUICK_S, OFTEN_S = 1.0, 0.1
_NO_END = 1 << 60


@dataclass(frozen=True, kw_only=True)
class FioCommand:
    """What is done with jobs, whoever runs them. `output`: a file in place of stdout."""

    read: Script
    variant: Variant
    shape: Shape
    output: Path | None = None
    parse_only: bool = False
    readonly: bool = False
    quiet: bool = False


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Where the run is kept (nowhere, if nobody says), how long it may take, and what was typed."""

    out: Path | None = None
    budget: str | None = None
    words: tuple[str, ...] = ()

    @property
    def wanted(self) -> bool:
        """Whether a run is to be kept at all."""
        return self.out is not None or self.budget is not None

    def request(self, command: FioCommand, target: Target, jobs: Parameters) -> Request:
        """The run to be made; its command has no path of this machine."""
        words = [word if word.startswith("-") else Path(word).name for word in self.words]
        words += ["--on", Path(command.variant.drive).name]
        words += ["--budget", self.budget] if self.budget is not None else []
        return Request(
            targets=(target,),
            batteries=((NAME, jobs),),
            out=self.out or default_out([target.name], datetime.now()),
            budget=self.budget,
            seed=command.variant.seed,
            command=("flashtwin", "fio", *words, *command.variant.words()),
        )


def shape(formats: Sequence[str], minimal: bool, terse: str, status_s: float | None) -> Shape:
    """The form of the answer that the options ask for."""
    if status_s is not None and status_s < LEAST_STATUS_S:
        raise click.BadParameter(
            f"the least is {LEAST_STATUS_S:g} s", param_hint="--status-interval"
        )
    return Shape(
        formats=("terse",) if minimal else formats_of(formats),
        terse=int(terse),
        status_ns=round((status_s or 0) * 1e9),
    )


def formats_of(words: Sequence[str]) -> tuple[str, ...]:
    """The formats that the options name; fio's usual one where they name none."""
    formats = [name for word in words for name in word.split(",")]
    for name in formats:
        if name not in FORMATS:
            raise click.BadParameter(
                f"{name} is none of {', '.join(FORMATS)}", param_hint="--output-format"
            )
    return tuple(formats) or ("normal",)


def replaying(trace_format: Any, event: str, disk: str | None, fit: Any) -> Replaying:
    """How the options say that traces are read."""
    reading = Reading(format=trace_format, event=options.letter(event, "--trace-event"), disk=disk)
    return Replaying(reading=reading, fit=fit)


def on_twin(command: FioCommand, replaying: Replaying) -> int:
    """Run the jobs on a simulated drive, and answer as fio does."""
    spec, planned = _planned(command, replaying)
    if command.readonly:
        refuse_traced_writes(planned)
    if not _goes_on(command, spec, planned):
        return DONE
    if planned.laid and (why := spec.precondition_refusal(False)) and not command.quiet:
        terminal.note(f"files are laid out in the drive's time: {why}")
    check_memory(spec, planned, command.shape.status_ns)
    twin = FioTwin(spec, seed=command.variant.seed)
    with (
        stop.listening() as stop_asked,
        Answer(planned, command.shape, command.output, _say()) as answer,
    ):
        results = _run(twin, planned, command, answer, stop_asked)
        ended = _signalled(results, stop_asked.number)
        answer.end(results, ended)
        answer.write_logs(results)
        if ended and "normal" not in command.shape.formats:
            # In that format it is part of the answer; in the others it would break the format.
            terminal.note(ended)
        ended_early = _say_failures(results, command.quiet)
        if twin.reads_of_nothing and not command.quiet:
            terminal.note(reads_note(twin.reads_of_nothing))
        if not command.quiet and (waited := twin.waits_note()):
            terminal.note(waited)
        check_written(answer.failed)
        # From here on a signal changes nothing: everything is printed.
        stop.nothing_left()
        if stop_asked.number:
            return TERMINATED
        return MISS if ended_early else DONE


def _planned(command: FioCommand, replaying: Replaying | None = None) -> tuple[Spec, Plan]:
    """The drive, and what it runs."""
    spec = command.variant.spec()
    target = FilesTarget(
        name=command.variant.drive, bytes=spec.capacity_bytes, unit_bytes=spec.map_unit_bytes
    )
    return spec, plan(command.read.jobs, target, replaying=replaying)


def _goes_on(command: FioCommand, spec: Spec, planned: Plan) -> bool:
    """Print the notes; the answer is whether the jobs are to run and their logs can be written."""
    terminal.notes(
        (*spec.notes, *spec.warnings, *command.read.notes, *planned.notes), command.quiet
    )
    if not command.parse_only:
        notes = check_logs(command.read, planned, command.variant.drive, command.output)
        terminal.notes(notes, command.quiet)
    return not command.parse_only


def _say() -> Callable[[str], object]:
    """A function that prints on stdout as it is now: progress on a terminal replaces stdout."""
    return partial(terminal.say, nl=False, stdout=sys.stdout)


def _run(
    twin: FioTwin, planned: Plan, command: FioCommand, answer: Answer, stop_asked: Stop
) -> list[PhaseResult]:
    with ExitStack() as stack:
        progress = _Progress(twin.name, planned, command.quiet, stack)

        def watch(at: Progress) -> bool:
            progress.moved(at)
            return not stop_asked.asked

        def over(phase: PhaseResult) -> None:
            answer.over(phase)
            progress.over()

        status_ns = command.shape.status_ns
        return run_plan(
            twin, planned, watch, status_ns=status_ns, status=answer.status, on_end=over
        )


def _signalled(results: Sequence[PhaseResult], number: int | None) -> str | None:
    """fio's sentence about the signal that ended its jobs; none where the signal came too late
    to end one."""
    stopped = any(result.stopped for result in results)
    return f"fio: terminating on signal {number}" if stopped else None


def _say_failures(results: Sequence[PhaseResult], quiet: bool) -> bool:
    """Print each job that ended early; the answer is whether there was one."""
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
        self._phases = [Expected(phase) for phase in plan.phases]
        self._labels = [
            ", ".join(dict.fromkeys(process.job.name for process in phase)) for phase in plan.phases
        ]
        self._begun = self._last = time.monotonic()
        self._done = 0

    def moved(self, at: Progress) -> None:
        """The phase under way has come so far."""
        now = time.monotonic()
        if now - self._last < OFTEN_S or now - self._begun < QUICK_S:
            return
        self._last = now
        phase = min(self._done, len(self._phases) - 1)
        within = self._phases[phase].share(at)
        fraction = min((self._done + within) / len(self._phases), 1.0)
        spent = now - self._begun
        remaining_s = spent * (1 - fraction) / fraction if fraction > 0 else None
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
                eta_s=remaining_s,
            )
        )

    def _observed(self) -> Observer:
        if self._observer is None:
            display = self._stack.enter_context(progress.display(self._quiet))
            self._observer = display.observer(self._name)
        return self._observer

    def over(self) -> None:
        """The phase under way has ended."""
        self._done += 1


def on_path(command: FioCommand) -> int:
    """Let fio itself run the jobs, on files that we make; fio's exit code becomes ours."""
    path, prepared = _prepared(command)
    notes = [note for note in (*command.read.notes, *prepared.notes) if not note.twin]
    terminal.notes(dict.fromkeys(notes), command.quiet)
    if command.parse_only:
        return DONE
    status_ms = command.shape.status_ns // 1_000_000
    words = [f"--status-interval={max(status_ms, 1)}ms"] if command.shape.status_ns else []
    answering, hear = _answering(command, words), _hear(command.quiet)
    with listening() as stop:
        return on_files.run(
            prepared, path, answering, hear, partial(terminal.say, nl=False), lambda: stop.number
        )


def _prepared(command: FioCommand) -> tuple[Path, on_files.Prepared]:
    """Where the files are made, and the jobs as fio gets them."""
    on = command.variant.drive
    if not system.UNIX:
        raise system.only_on("Linux and macOS", "job files run on files of their own")
    path = free_path(on, sized=False, changes=command.variant.changes)
    return path, prepare(command.read.jobs, on)


def _answering(command: FioCommand, words: Sequence[str] = ()) -> on_files.OutputOptions:
    """How fio is to answer."""
    return on_files.OutputOptions(
        words=(f"--terse-version={command.shape.terse}", *words),
        formats=command.shape.formats,
        readonly=command.readonly,
        output=command.output,
        inputs=frozenset(inputs_of(command.read, command.variant.drive)),
    )


def run(command: FioCommand, keeping: Keeping) -> int:
    """Run the jobs, keep the run, print the answer."""
    _refuse_status(command.shape)
    return (
        _keep_twin(command, keeping)
        if is_spec(command.variant.drive)
        else _keep_files(command, keeping)
    )


def _refuse_status(shape: Shape) -> None:
    """Refuse --status-interval for a run that is kept: a run keeps groups that have ended, and a
    status is about one that is running."""
    if shape.status_ns:
        raise FlashtwinError(
            "--status-interval is not possible with --out, --budget or --resume",
            hint="leave one of them out; progress is shown on stderr",
            exit_code=USAGE,
        )


def _keep_twin(command: FioCommand, keeping: Keeping) -> int:
    spec, planned = _planned(command)
    if not _goes_on(command, spec, planned):
        return DONE
    check_memory(spec, planned)
    # Files are laid out without time, where the drive can be written so.
    way = untimed.AUTO if planned.laid else untimed.TIMED
    twin = JobsTwin(spec, seed=command.variant.seed, preparation=way)
    target = twin_target(replace(command.variant, preparation=way), drive=twin)
    jobs = parameters(command.read.jobs, planned, lays_out=True)
    request = keeping.request(command, target, jobs)
    with Answer(planned, command.shape, command.output, _say()) as answer:
        stopped = _carried_out(request, command.quiet, lambda: bool(twin.answers))
        phases = phases_of(planned, [twin.answers.get(group.label) for group in jobs.groups])
        answer.end(phases, None)
        answer.write_logs([phase for phase in phases if phase.rows])
        notes = {result.note for result in twin.answers.values() if result.note}
        for note in sorted(notes) if not command.quiet else ():
            terminal.note(note)
        return _ended(request.out, stopped, answer.failed, command.quiet)


def _keep_files(command: FioCommand, keeping: Keeping) -> int:
    read, quiet = command.read, command.quiet
    planned = plan(read.jobs, FilesTarget(name=command.variant.drive, bytes=_NO_END))
    terminal.notes(dict.fromkeys(note for note in read.notes if not note.twin), quiet)
    path, prepared = _prepared(command)
    terminal.notes(dict.fromkeys(prepared.notes), quiet)
    if command.parse_only:
        return DONE
    jobs, answering = parameters(read.jobs, planned), _answering(command)
    on_files.check_outputs(prepared.logs, answering)
    drive = FilesDrive(jobs.file, path, output_options=answering, say=_hear(quiet))
    request = keeping.request(command, files_target(jobs.file, path, drive=drive), jobs)
    stopped = _carried_out(request, quiet, lambda: bool(drive.answers))
    text = answer_of(drive.answers, command.shape.formats)
    failed = [*drive.failed, *write(text, command.output, partial(terminal.say, nl=False))]
    return _ended(request.out, stopped, failed, quiet) or drive.code


@dataclass(frozen=True, kw_only=True)
class Resumed:
    """A run to resume, and the formats of its answer; without `formats` those that were asked
    for at first."""

    run: Path
    words: tuple[str, ...]
    shape: Shape
    formats: tuple[str, ...] | None
    output: Path | None
    quiet: bool


def resume(resumed: Resumed) -> int:
    """Go on with a run of fio's jobs, and print fio's answer to all of them: those that were over
    before are answered from their steps."""
    _refuse_status(resumed.shape)
    run, quiet = Run(listing.find(resumed.run)), resumed.quiet
    if [row["name"] for row in run.manifest["batteries"]] != [NAME]:
        raise FlashtwinError(
            f"{run.path} is not a run of fio's jobs",
            hint=f"flashtwin test --resume {run.path} goes on with it",
            exit_code=USAGE,
        )
    stopped = None
    try:
        show, say = partial(progress.observers, quiet), _hear(quiet)
        outcome = request.resume(resumed.run, show, words=resumed.words, say=say)
        if not outcome.did_anything and not quiet:
            terminal.note(f"{outcome.where} is finished: nothing was left to do")
    except Interrupted as stop:
        stopped = str(stop)
    run = Run(run.path)
    if stopped and not any(step.fio for step in run.steps):
        raise Interrupted(stopped)
    return _ended(run.path, stopped, _stored_answer(run, resumed), quiet)


def _stored_answer(run: Run, resumed: Resumed) -> list[FlashtwinError]:
    """Print fio's answer from the run's steps; the answer is what could not be written."""
    say = _say()
    if run.target["kind"] == "files":
        text = drives.answer_of_steps([step.fio for step in run.steps], resumed.formats)
        return write(text, resumed.output, say)
    parameters = registry.request(NAME, run.manifest["batteries"][0]["parameters"]).parameters
    size = int(run.target["capacity_bytes"])
    planned = plan(
        drives.jobs_of(parameters.file), FilesTarget(name=run.target["name"], bytes=size)
    )
    by_label = {step.label: run.result(step.step) for step in run.steps if step.fio}
    results = [by_label.get(group.label) for group in parameters.groups]
    ran = [result if isinstance(result, Result) else None for result in results]
    with Answer(planned, resumed.shape, resumed.output, say) as answer:
        answer.end(drives.phases_of(planned, ran), None)
    return answer.failed


def _carried_out(request: Request, quiet: bool, answered: Callable[[], bool]) -> str | None:
    """Run the groups; the answer is the message where somebody stopped them and there is
    something to print."""
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
    check_written(failed)
    if stopped or not quiet:
        terminal.note(stopped or f"the run is in {out}")
    nothing_left()
    return TERMINATED if stopped else DONE


def _hear(quiet: bool) -> Callable[[str], None]:
    """What prints a line for each thing that happens to the files; nothing where that is not
    wanted."""
    return (lambda text: None) if quiet else terminal.note


def convert(run: Path, out: Path | None, words: tuple[str, ...], quiet: bool) -> int:
    """Write the steps of a run as the job files that fio would run; `words` have to be none."""
    if words:
        raise FlashtwinError(
            f"--convert takes a run and no jobs, and {words[0]} is one",
            hint="leave out one of the two",
            exit_code=USAGE,
        )
    converted = job_files.convert(Run(run))
    if not converted:
        raise FlashtwinError(
            f"no step of {run} asks a drive for anything",
            hint="flashtwin runs show RUN lists its steps",
            exit_code=USAGE,
        )
    if out is None:
        terminal.say(job_files.one_file(converted), nl=False)
        return DONE
    paths = job_files.write(converted, out)
    if not quiet:
        terminal.note(f"{len(paths)} job files in {out}")
    return DONE
