"""fio job files on real files: fio itself runs them, on files of our own that are removed.

Each file that the jobs name becomes one of ours, at the path that the user gave (more than one: the
path with a number behind it), and is filled with random data first, as a sparse file answers reads
from nothing. fio sees links to them in an empty directory and no other name; its answer and its
logs are written there too and moved when it has ended. What it may be told is `real_text`'s.
Invariants as in `real`: nothing that was there before is opened, and no fio is left running.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from flashtwin import outputs
from flashtwin.drives.real import real_file, real_fio
from flashtwin.errors import DONE, MISS, TERMINATED, FlashtwinError
from flashtwin.fio.on_files_text import Log, Prepared
from flashtwin.model.target import Interrupted

_POLL_S = 0.1
_ANSWER = "answer.txt"
# What else is open in a process of ours.
_OTHER_FILES = 200
_LOG = re.compile(r"(log\d+|iolog\d+)([_.].*)?")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How fio is to answer: its own words for that, and the file in place of stdout, if any.

    `inputs`: files that the command reads, which no output replaces.
    """

    words: tuple[str, ...] = ()
    readonly: bool = False
    output: Path | None = None
    inputs: frozenset[Path] = frozenset()

    def check(self, log: Log, rest: str) -> tuple[Path, Path | None]:
        """Where a log goes, and the directory that it may not leave; refused if it cannot."""
        path, within = Path(log.name + rest), None if log.typed else Path()
        others = () if self.output is None else (self.output,)
        outputs.check(path, within=within, inputs=self.inputs, others=others)
        return path, within


def run(
    prepared: Prepared,
    path: Path,
    asked: Asked,
    say: Callable[[str], None],
    tell: Callable[[str], None],
    stopped: Callable[[], int | None],
) -> int:
    """Make and fill the files, let fio run, remove them; fio's exit code, or 1 for any of its own.

    `say` hears what is done, and `tell` an answer that its file did not take.
    `stopped` tells the signal that somebody sent, if so. fio gets it too, and ends by telling what
    it has counted (exit code 128); until its jobs begin there is nothing to be told, and
    `Interrupted` is raised.
    """
    _check_outputs(prepared.logs, asked)
    where = real_file.place(path)
    fio = real_fio.find()
    total = sum(prepared.files)
    real_file.check_space(where, total)
    with ExitStack() as cleaning:
        work = Path(
            cleaning.enter_context(
                tempfile.TemporaryDirectory(prefix="flashtwin-fio-", ignore_cleanup_errors=True)
            )
        )
        made: list[real_file.OwnFile] = []
        _open_more_files(len(prepared.files))
        for number, length in enumerate(prepared.files):
            own = where if number == 0 else real_file.place(Path(f"{where}.{number}"))
            made.append(real_file.create(own, length))
            cleaning.callback(real_file.remove, made[-1])
        for name, place in prepared.links.items():
            (work / name).symlink_to(made[place].link)
        running = _Running(fio, work, tuple(file.handle for file in made), stopped)
        say(f"{len(made)} file(s) at {where}, {total} bytes; removed at the end")
        say("filling with random data first: a sparse file answers from nothing")
        running.run(_filling(prepared), ["--output=fill.txt"])
        if stopped():
            raise Interrupted("the files were being filled, and nothing was measured")
        words = [*asked.words, *(["--readonly"] if asked.readonly else [])]
        words += [f"--output={_ANSWER}"] if asked.output else []
        code = running.run(prepared.text, words)
        if code < 0 and stopped():
            # The signal ended it before it listened to signals.
            raise Interrupted("fio had not begun, and nothing was measured")
        _move(work, prepared.logs, asked, tell)
    return code if code in (DONE, TERMINATED) else MISS


def _check_outputs(logs: Mapping[str, Log], asked: Asked) -> None:
    """Refuse before the run what could not be written after it."""
    if asked.output is not None:
        outputs.check(asked.output, inputs=asked.inputs)
    for log in logs.values():
        try:
            asked.check(log, "" if log.option == "write_iolog" else "_bw.1.log")
        except FlashtwinError as error:
            said = f"{log.where}: {log.option}: {error.message}"
            raise FlashtwinError(said, hint=error.hint, exit_code=error.exit_code) from error


def _move(work: Path, logs: Mapping[str, Log], asked: Asked, tell: Callable[[str], None]) -> None:
    """The answer and the logs to where they were asked for; one error for all that could not."""
    failed: list[FlashtwinError] = []
    answer = work / _ANSWER
    if asked.output is not None and answer.exists():
        try:
            outputs.copy(answer, asked.output)
        except FlashtwinError as error:
            failed.append(error)
            # An answer that its file does not take is not lost.
            tell(answer.read_text(errors="replace"))
    for made in sorted(work.iterdir()):
        match = _LOG.fullmatch(made.name)
        if match and not made.is_symlink():
            try:
                path, within = asked.check(logs[match[1]], match[2] or "")
                outputs.copy(made, path, within=within)
            except FlashtwinError as error:
                failed.append(error)
    if failed:
        raise FlashtwinError(
            "; ".join(error.message for error in failed),
            hint="the jobs ran, and the rest is written: make room, or give another name",
            exit_code=max(error.exit_code for error in failed),
        ) from failed[0]


def _filling(prepared: Prepared) -> str:
    """One job for all files, each as long as it is."""
    one_name = {place: name for name, place in prepared.links.items()}
    lines = ["[fill]", "rw=write", "bs=1m", "refill_buffers=1", "end_fsync=1", "ioengine=psync"]
    lines += ["thread=1", "allow_file_create=0", "fallocate=none", "file_service_type=sequential"]
    lines += [f"filename={one_name[place]}" for place in range(len(prepared.files))]
    return "\n".join(lines) + "\n"


def _open_more_files(count: int) -> None:
    """Our files are open while fio runs."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if least < count + _OTHER_FILES <= most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + _OTHER_FILES, most))


@dataclass(frozen=True)
class _Running:
    """fio in its directory, with the files that it inherits."""

    fio: real_fio.Fio
    work: Path
    held: tuple[int, ...]
    stopped: Callable[[], int | None]

    def run(self, text: str, words: Sequence[str]) -> int:
        """Run a job file; fio's exit code."""
        outputs.write(self.work / "job.fio", text, within=self.work)
        process = real_fio.start(self.fio, [*words, "job.fio"], self.work, held=self.held)
        try:
            return _ended(process, self.stopped)
        finally:
            real_fio.end(process)


def _ended(process: subprocess.Popen[bytes], stopped: Callable[[], int | None]) -> int:
    """Wait for fio, which hears once of a signal; it takes its time to tell what it has."""
    told = False
    while True:
        try:
            return process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            number = stopped()
        if number is not None and not told:
            # fio has no handler for a terminal that hangs up.
            sent = signal.SIGINT if number == signal.SIGHUP else number
            os.killpg(process.pid, sent)
            told = True
