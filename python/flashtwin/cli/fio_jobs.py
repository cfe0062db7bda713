"""`flashtwin fio` at work: on a simulated drive, on a path, and a run made into job files.

On a twin a signal ends the jobs and not the answer, as in fio, whenever it comes: what was counted
so far is told in every format, the logs are written, and the exit code is fio's 128. What cannot be
written is said at the end, with exit code 3, when all that can be written is: the answer goes to
stdout where its file takes it no more.
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from flashtwin.cli import terminal
from flashtwin.errors import DONE, MISS, TERMINATED, USAGE, FlashtwinError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashtwin.fio.answer import Answer
    from flashtwin.fio.language.script import Script
    from flashtwin.fio.plan.plan import PhaseResult, Plan
    from flashtwin.fio.plan.traces import Replaying
    from flashtwin.fio.report.formats import Shape
    from flashtwin.fio.run import FioTwin
    from flashtwin.model.target import Progress
    from flashtwin.runner.events import Observer
    from flashtwin.runner.stop import Stop
    from flashtwin.runner.target import Variant

# A twin answers in less than that or is worth a line; an observer hears ten times a second.
QUICK_S, OFTEN_S = 1.0, 0.1


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


def on_twin(asked: Asked, replaying: Replaying) -> int:
    """Run the jobs on a simulated drive, and answer as fio does."""
    from flashtwin.fio.answer import Answer, check_logs
    from flashtwin.fio.plan.files import Target
    from flashtwin.fio.plan.plan import plan, refuse_traced_writes
    from flashtwin.fio.run import FioTwin, check_memory
    from flashtwin.runner import stop

    on, spec = asked.variant.drive, asked.variant.spec()
    made = plan(asked.read.jobs, Target(name=on, bytes=spec.capacity_bytes), replaying=replaying)
    if asked.readonly:
        refuse_traced_writes(made)
    terminal.notes((*spec.notes, *asked.read.notes, *made.notes), asked.quiet)
    if asked.parse_only:
        return DONE
    terminal.notes(check_logs(asked.read, made, on, asked.output), asked.quiet)
    check_memory(spec, made, asked.shape.status_ns)
    twin = FioTwin(spec, seed=asked.variant.seed)
    # As it is now: progress on a terminal puts something else in its place.
    say = partial(terminal.say, nl=False, stdout=sys.stdout)
    with stop.listening() as asks, Answer(made, asked.shape, asked.output, say) as answer:
        results = _run(twin, made, asked, answer, asks)
        ended = _ended(results, asks.number)
        answer.end(results, ended)
        answer.write_logs(results)
        if ended and "normal" not in asked.shape.formats:
            # There it is told within the answer, where it would spoil the other formats.
            terminal.note(ended)
        ended_early = _say_failures(results, asked.quiet)
        _check_written(answer.failed)
        # From here on a signal changes nothing: all is told.
        stop.nothing_left()
        if asks.number:
            return TERMINATED
        return MISS if ended_early else DONE


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
        return run_plan(twin, made, watch, status_ns=status_ns, status=answer.status, done=over)


def _ended(results: Sequence[PhaseResult], number: int | None) -> str | None:
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


def _check_written(failed: Sequence[FlashtwinError]) -> None:
    """One error for all that could not be written; the rest is."""
    if failed:
        more = f", and so with {len(failed) - 1} more" if len(failed) > 1 else ""
        raise FlashtwinError(
            f"{failed[0].message}{more}",
            hint="the jobs ran, and the rest is written: make room, or give another name",
            exit_code=max(error.exit_code for error in failed),
        ) from failed[0]


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
        from flashtwin.batteries.fio import NAME
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
    from flashtwin.fio.answer import inputs_of
    from flashtwin.runner.stop import listening
    from flashtwin.runner.target import free_path

    on = asked.variant.drive
    path = free_path(on, sized=False, changes=asked.variant.changes)
    prepared = on_files.prepare(asked.read.jobs, on)
    notes = [note for note in (*asked.read.notes, *prepared.notes) if not note.twin]
    terminal.notes(dict.fromkeys(notes), asked.quiet)
    if asked.parse_only:
        return DONE
    shape = asked.shape
    words = [f"--terse-version={shape.terse}"]
    if shape.status_ns:
        words += [f"--status-interval={max(shape.status_ns // 1_000_000, 1)}ms"]
    answering = on_files.Asked(
        words=tuple(words),
        formats=shape.formats,
        readonly=asked.readonly,
        output=asked.output,
        inputs=frozenset(inputs_of(asked.read, on)),
    )

    def say(text: str) -> None:
        if not asked.quiet:
            terminal.note(text)

    with listening() as stop:
        return on_files.run(
            prepared, path, answering, say, partial(terminal.say, nl=False), lambda: stop.number
        )


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
