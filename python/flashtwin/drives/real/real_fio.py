"""fio as a child process: found, asked for its version, run under a watch, and never left behind.

It runs in a session of its own, so that Ctrl-C reaches us and not fio: we end it, and where we are
killed the kernel or a watcher beside it does (`launch`). Both need its jobs to be threads: fio puts
jobs that are processes into sessions of their own. `start` is the one place that starts it. What it
prints is read by a thread, as not every system can wait for a pipe and a time at once. While it
runs, its status lines (four a second) tell the rates, and bytes done are those rates times the time
between; they serve progress only, results come from its JSON and logs.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashtwin import inputs, outputs, system
from flashtwin.drives.real import engines
from flashtwin.errors import ENVIRONMENT, FlashtwinError, MachineError, shortened
from flashtwin.model.target import Interrupted

# What the oldest distributions in support carry. Tried was 3.33; should a version between the two
# lack an option of our job files, its "Bad option" ends in the same words as one too old.
OLDEST = (3, 28)

_GET = (
    "apt install fio (Debian, Ubuntu), dnf install fio (Fedora), brew install fio (macOS), "
    "choco install fio (Windows)"
)
_FULL = ("No space left on device", "Disk quota exceeded")
# The variables that fio inherits: paths of programs and libraries, the time zone, and without which
# no program of Windows finds its system.
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "TZ", "SYSTEMROOT", "TEMP", "TMP")
_LAUNCH = Path(__file__).with_name("launch.py")
# A program that is fio says its version at once.
VERSION_S = 10.0
_VERSION_BYTES, _PIECE_BYTES = 4096, 65536
_VERSION = re.compile(r"fio-(\d{1,4})\.(\d{1,4})[0-9A-Za-z.+~_-]{0,80}", re.ASCII)
# What fio may write for us to read: bins of thousands of jobs are some MB.
ANSWER_BYTES = 256 << 20
# How much of what a program says on stderr is told: its end, lines, and characters of a line.
_SAID_BYTES, _SAID_LINES, _SAID_LINE = 64 << 10, 100, 500
_POLL_S = 0.1
_PATIENCE_S = 3.0
_RATE = re.compile(r"[rwt]=([\d.]+)([kKMGTP]?)(i?)B/s")
_POWER = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


@dataclass(frozen=True, kw_only=True)
class Fio:
    """The program and its version."""

    program: str
    version: str


class FioError(MachineError):
    """fio ended with an error: for want of space, for want of an option, or any other."""

    def __init__(self, complaint: str):
        self.complaint = complaint
        self.full = any(words in complaint for words in _FULL)
        self.too_old = "Bad option" in complaint
        summary, hint = "fio failed", "flashtwin doctor says which fio this machine has"
        if self.full:
            summary, hint = "the disk is full", "free some space, or give a smaller --size"
        if self.too_old:
            summary, hint = "fio is too old", f"a later version: {_GET}"
        super().__init__(f"{summary}: {complaint}", hint=hint, exit_code=ENVIRONMENT)


def find() -> Fio:
    """fio on the PATH, recent enough."""
    program = shutil.which("fio")
    if program is None:
        raise FlashtwinError(
            "fio is not installed, and a real target needs it", hint=_GET, exit_code=ENVIRONMENT
        )
    version = _version(program)
    numbers = _VERSION.fullmatch(version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise FlashtwinError(
            f"{program} is {plain(version) or 'no fio'}, and {oldest} or later is needed",
            hint=_GET,
            exit_code=ENVIRONMENT,
        )
    return Fio(program=os.path.abspath(program), version=version.removeprefix("fio-"))


def _version(program: str) -> str:
    """What a program answers to --version, which may be any program: it gets the environment that
    fio gets, and neither time nor room without end."""
    try:
        process = subprocess.Popen(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            **system.apart(),
        )
    except OSError as error:
        raise FlashtwinError(
            f"{program} cannot be started: {error.strerror or error}",
            hint=f"take the fio of your system: {_GET}",
            exit_code=ENVIRONMENT,
        ) from error
    printed: list[bytes] = []
    try:
        is_whole = _read(process, printed.append, _VERSION_BYTES).wait(VERSION_S)
    finally:
        end(process, system.KILL)
    if not is_whole:
        raise FlashtwinError(
            f"{program} --version did not answer within {VERSION_S:g} s",
            hint="look at what the program of that name on the PATH is",
            exit_code=ENVIRONMENT,
        )
    return b"".join(printed).decode(errors="replace").strip()


def _read(
    process: subprocess.Popen[bytes], take: Callable[[bytes], object], most_bytes: int | None = None
) -> threading.Event:
    """Have a thread read what a program prints, piece by piece, until it prints no more or has
    printed too much; the answer is set then. Whoever else holds the pipe keeps only the thread."""
    pipe, over = process.stdout, threading.Event()
    assert pipe is not None, "opened as a pipe"

    def read() -> None:
        count = 0
        with pipe:
            while most_bytes is None or count < most_bytes:
                piece = os.read(pipe.fileno(), _PIECE_BYTES)
                if not piece:
                    break
                count += len(piece)
                take(piece)
        over.set()

    threading.Thread(target=read, daemon=True).start()
    return over


def _environment() -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return {**inherited, "LC_ALL": "C"}


def start(
    fio: Fio,
    arguments: Sequence[str],
    directory: Path,
    *,
    inherited: Sequence[int] = (),
    stdout: int | None = None,
    errors: Path,
) -> subprocess.Popen[bytes]:
    """Start fio in a directory. It inherits the open files `inherited`, and ends when this process
    or thread does. What it prints on stderr goes to the file `errors`."""
    by_kernel = engines.SYSTEM == "linux"
    launch = [sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()) if by_kernel else "-"]
    with errors.open("wb") as complaints:
        return subprocess.Popen(
            [*launch, fio.program, *arguments],
            cwd=directory,
            stdin=subprocess.DEVNULL if by_kernel else subprocess.PIPE,
            stdout=stdout,
            stderr=complaints,
            env=_environment(),
            **system.apart(inherited),
        )


def run(
    fio: Fio,
    text: str,
    directory: Path,
    report: Callable[[int], bool],
    *,
    inherited: Sequence[int] = (),
    readonly: bool = False,
) -> str:
    """Run a job file in a directory; `report` gets bytes so far and answers whether to go on.

    `readonly`: fio itself refuses to write, whatever the jobs ask for.
    """
    outputs.write(directory / "job.fio", text, within=directory)
    answer, errors = directory / "answer.json", directory / "errors.txt"
    arguments = ["--output-format=json+", f"--output={answer.name}"]
    arguments += ["--readonly"] if readonly else []
    status = ["--eta=always", "--eta-newline=250ms", "--eta-interval=250ms"]
    process = start(
        fio,
        [*arguments, *status, "job.fio"],
        directory,
        inherited=inherited,
        stdout=subprocess.PIPE,
        errors=errors,
    )
    try:
        _follow(process, report, (answer, errors))
    finally:
        end(process)
    if process.returncode != 0:
        raise FioError(_last_words(errors, answer, process.returncode))
    return read_answer(answer)


def read_answer(answer: Path) -> str:
    """The text that fio wrote into a file; nothing where it wrote none."""
    if not answer.exists():
        return ""
    return inputs.read_regular(answer, most_bytes=ANSWER_BYTES).decode(errors="replace")


def said(errors: Path) -> list[str]:
    """The lines that fio printed on stderr, the last of them where there are many, without
    characters that do anything to a terminal."""
    with errors.open("rb") as file:
        file.seek(max(errors.stat().st_size - _SAID_BYTES, 0))
        lines = file.read().decode(errors="replace").splitlines()
    return [plain(line) for line in lines if line.strip()][-_SAID_LINES:]


def plain(text: str) -> str:
    """A line of a program's, short enough to read, of which no character but prints."""
    short = shortened(text.strip(), _SAID_LINE)
    return "".join(
        letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in short.expandtabs()
    )


def check_size(*written: Path) -> None:
    """Raise where a program writes without end; whoever watches it ends it then."""
    for file in written:
        if file.exists() and file.stat().st_size > ANSWER_BYTES:
            raise FlashtwinError(
                f"fio writes more than {ANSWER_BYTES >> 20} MiB into {file.name}",
                hint="look at what the program of that name on the PATH is, or ask for less output",
                exit_code=ENVIRONMENT,
            )


def how_it_ended(code: int) -> str:
    """How a process ended, by the exit code that Python has for it."""
    if code >= 0:
        return f"it ended with exit code {code}"
    names = {number.value: number.name for number in signal.Signals}
    return f"it ended by {names.get(-code, f'signal {-code}')}"


def _follow(
    process: subprocess.Popen[bytes], report: Callable[[int], bool], written: Sequence[Path]
) -> None:
    """Wait for the end, asking the watch at least ten times a second."""
    meter, rest = Meter(began_s=time.monotonic()), ""

    def take(piece: bytes) -> None:
        nonlocal rest
        *lines, rest = re.split(r"[\r\n]+", rest + piece.decode(errors="replace"))
        rest = rest[-_SAID_BYTES:]
        for line in lines:
            meter.line(line, time.monotonic())

    over = _read(process, take)
    while process.poll() is None:
        # It ends soon after it has printed its last.
        if over.wait(_POLL_S):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_S)
        check_size(*written)
        if not report(int(meter.bytes)):
            raise Interrupted("fio was ended")


@dataclass
class Meter:
    """Bytes so far, from the rates in fio's status lines."""

    began_s: float
    bytes: float = 0.0
    _last_s: float | None = None

    def line(self, line: str, now_s: float) -> None:
        """Read a status line; the first rate also stands for the time before it."""
        rates = [
            float(number) * (1024 if binary else 1000) ** _POWER[unit]
            for number, unit, binary in _RATE.findall(line)
        ]
        if rates:
            since = self._last_s if self._last_s is not None else self.began_s
            self.bytes += sum(rates) * (now_s - since)
            self._last_s = now_s


def end(process: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> None:
    """End a program if it still runs: first with SIGTERM or another signal, then at once. One that
    `launch` watches over ends by the end of its input."""
    try:
        if process.poll() is None:
            if process.stdin is not None:
                process.stdin.close()
            else:
                system.signal_group(process, number)
            process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # Also when a second Ctrl-C interrupts the wait.
        if process.poll() is None:
            system.signal_group(process, system.KILL)
            process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _last_words(errors: Path, answer: Path, code: int) -> str:
    """The last error that fio printed, on stderr or among its results."""
    lines = said(errors)
    if not lines and answer.exists():
        text = read_answer(answer).split("{", 1)[0]
        lines = [plain(line) for line in text.splitlines() if line.startswith("fio:")]
    spoken = [line.removeprefix("fio: ") for line in lines]
    return spoken[-1] if spoken else f"{how_it_ended(code)} and said nothing"
