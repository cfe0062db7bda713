"""Where the answer of fio's jobs on a twin goes: stdout or a file, as it arises, and then the logs.

What cannot be written is refused before the jobs run, so that no answer is lost for it: the answer
goes to stdout or to a file that the user named, the logs of a job file stay below the directory
that the command runs in, and neither is a file that the command reads.

A status is written when it is due and not kept, so that an hour of them takes no more memory than a
run without. Invariants: the file of `--output` appears whole at the end, or not at all; what it
does not take goes to stdout, from its first byte on; a log is made in pieces while it is written,
and one that cannot be written does not keep the others from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO

from flashtwin import outputs
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.fio.language.script import Note, Script
from flashtwin.fio.plan.plan import PhaseResult, Plan
from flashtwin.fio.report import logs
from flashtwin.fio.report.formats import PROGRAM, Shape, rendered
from flashtwin.fio.report.groups import all_of, preamble
from flashtwin.fio.report.logs import Log, files_of

# Names of files that stand for stdout.
STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def output_file(output: Path | None, inputs: Iterable[Path] = ()) -> Path | None:
    """The file for the answer, checked; none for stdout. `inputs` are files that the command
    reads."""
    if output is None or str(output) in STDOUT:
        return None
    outputs.check(output, inputs=set(inputs))
    return output


def check_logs(read: Script, plan: Plan, on: str, output: Path | None) -> tuple[Note, ...]:
    """Refuse logs that cannot be written; the answer is notes on those that get another name
    than fio gives them."""
    traces = [process.job.fio.trace for process in plan.processes if process.job.fio]
    inputs = {*inputs_of(read, on), *(Path(trace.path) for trace in traces if trace)}
    logs.check(plan.processes, inputs=inputs, output=output)
    return tuple(logs.renamed([process.clone.job for process in plan.processes]))


def inputs_of(read: Script, on: str) -> set[Path]:
    """The job files with what they include, and the drive's own file."""
    lines = [setting.where for job in read.jobs for setting in job.settings.values()]
    lines += [job.where for job in read.jobs]
    outer = [where for line in lines for where in line.chain]
    named = {Path(where.file) for where in (*lines, *outer) if where.line}
    return {*named, Path(on)} if on.endswith(".toml") else named


class Answer:
    """The answer to a plan, as a context: leaving it by an error leaves no file.

    `say` writes on stdout; `failed` has what could not be written.
    """

    def __init__(
        self, plan: Plan, shape: Shape, output: Path | None, write: Callable[[str], object]
    ) -> None:
        self._shape = shape
        self._begin = preamble(plan.processes, PROGRAM)
        self._before: list[PhaseResult] = []
        self._place = _Place(output, write)
        self.failed: list[FlashtwinError] = []

    def __enter__(self) -> Answer:
        self._place.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._place.abandon(error)

    def status(self, phase: PhaseResult) -> None:
        """Print what is counted so far of the phase under way, behind the phases before it."""
        self._add([*self._before, phase])

    def over(self, phase: PhaseResult) -> None:
        """Take the result of a phase that has ended."""
        self._before.append(phase)

    def end(self, phases: Sequence[PhaseResult], ended: str | None) -> None:
        """Write the end of the answer; `ended` says what ended the jobs early."""
        self._begin += f"{ended}\n\n" if ended else ""
        self._add(phases)
        self.failed += self._place.close()

    def _add(self, phases: Iterable[PhaseResult]) -> None:
        self._place.add(rendered(all_of(phases), self._shape, self._begin))
        self._begin = ""

    def write_logs(self, phases: Sequence[PhaseResult]) -> None:
        """All logs, each whole or not at all."""
        refused = [_refused(log) for log in files_of(phases)]
        self.failed[:0] = [error for error in refused if error]


def write(text: str, output: Path | None, show: Callable[[str], object]) -> list[FlashtwinError]:
    """Write an answer that is complete, to a file or stdout; what the file refused goes to
    stdout."""
    refused: list[FlashtwinError] = []
    if output is not None:
        try:
            outputs.write(output, text)
            return refused
        except FlashtwinError as error:
            refused.append(error)
    show(text)
    return refused


def check_written(failed: Sequence[FlashtwinError]) -> None:
    """Raise one error for all files that could not be written; everything else is written."""
    if failed:
        more = f", and so with {len(failed) - 1} more" if len(failed) > 1 else ""
        raise FlashtwinError(
            f"{failed[0].message}{more}",
            hint="the jobs ran, and the rest is written: make room, or give another name",
            exit_code=max(error.exit_code for error in failed),
        ) from failed[0]


def _refused(log: Log) -> FlashtwinError | None:
    """Write a log; the answer is why it could not be written. A file that was there then stays."""
    try:
        within = None if log.typed else Path()
        with outputs.growing(Path(log.name), within=within) as file:
            file.writelines(log.pieces())
    except FlashtwinError as error:
        return error
    return None


class _Place:
    """Where the answer goes: stdout, or a file that is renamed to its name when it is whole."""

    def __init__(self, output: Path | None, show: Callable[[str], object]) -> None:
        self._output, self._show = output, show
        self._stack = ExitStack()
        self._file: IO[str] | None = None
        # What the file holds, for stdout where it gets no name in the end.
        self._whole: list[str] = []
        self._refused: list[FlashtwinError] = []

    def open(self) -> None:
        if self._output is None:
            return
        try:
            self._file = self._stack.enter_context(outputs.growing(self._output))
        except FlashtwinError as error:
            self._refused.append(error)
        except OSError as error:
            self._turn(error)

    def add(self, text: str) -> None:
        if self._file is not None:
            try:
                self._file.write(text)
                self._file.flush()
            except OSError as error:
                self._turn(error)
            else:
                self._whole.append(text)
                return
        self._show(text)

    def close(self) -> list[FlashtwinError]:
        """Give the complete file its name; the answer is what was refused."""
        try:
            self._stack.close()
        except (FlashtwinError, OSError) as error:
            self._turn(error)
        self._leave()
        return self._refused

    def abandon(self, error: BaseException | None) -> None:
        """Remove a file that was not finished."""
        if self._file is not None and error is not None:
            self._stack.__exit__(type(error), error, error.__traceback__)
        self._leave()

    def _turn(self, error: FlashtwinError | OSError) -> None:
        """Write what the file holds to stdout, and everything that follows too."""
        if self._whole:
            self._show("".join(self._whole))
        try:
            self._stack.__exit__(type(error), error, error.__traceback__)
        except (FlashtwinError, OSError) as cause:
            error = cause
        if not isinstance(error, FlashtwinError):
            with_words = f"cannot write {self._output}: {error.strerror}"
            hint = "look at the room that is left there, and at who may write"
            error = FlashtwinError(with_words, hint=hint, exit_code=ENVIRONMENT)
        self._refused.append(error)
        self._leave()

    def _leave(self) -> None:
        self._file, self._whole = None, []
