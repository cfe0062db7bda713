"""A folder for one hostile case, the commands that run in it, and what must not change around it.

A command runs in a child that is forked from this process, where flashtwin is imported already:
that is why thousands of cases a minute are possible. The child has a session, an address space and
a directory of its own; its output goes to files. Beside that directory lie the canaries: a file, a
directory, and where we are root a FIFO, a character and a block device of nobody. A case may hand
their paths to flashtwin wherever a path is read, and none of them may look different afterwards.

Invariants: this process never runs anything that starts threads, as a fork would lose them; what a
command leaves running becomes our child (we are its subreaper), is told, and is ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import random
import resource
import select
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from promises import Outcome, complaints

GB = 1 << 30
# What a command may take beyond what it begins with; a limit above what is judged, so that too much
# is seen as such and does not take the machine's memory.
ROOM_BYTES = 2 * GB
BLOCK_BYTES = 1 << 20
# Seconds of a processor, or of sleeping through: a busy machine makes nobody a culprit.
HANG_S = 10.0
_DEATH_SIGNAL, _SUBREAPER = 1, 36
_libc = ctypes.CDLL(None, use_errno=True)

Work = Callable[[Sequence[str]], object]


def program(arguments: Sequence[str]) -> object:
    """`flashtwin` with these words."""
    from flashtwin.cli import main

    return main(arguments)


def plain(told: str) -> str:
    """A text with everything that a terminal would not show as it is written out."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in told)


@dataclass(kw_only=True)
class Sandbox:
    """The folder of a case: `inside` is where commands run, `outside` holds the canaries.

    `failures` are sentences about what was promised and not kept.
    """

    kind: str
    seed: int
    folder: Path
    prepared: Path
    block: str | None = None
    rng: random.Random = field(init=False)
    outcomes: list[Outcome] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(f"{self.kind} {self.seed}")
        self.inside.mkdir(parents=True)
        self.outside.mkdir()
        _plant(self.outside, self.block)
        self._before = looks(self.outside)

    @property
    def inside(self) -> Path:
        """The working directory of every command."""
        return self.folder / "inside"

    @property
    def outside(self) -> Path:
        """What belongs to somebody else."""
        return self.folder / "outside"

    def canary(self) -> str:
        """The path of something that belongs to somebody else."""
        return str(self.rng.choice(sorted(self.outside.iterdir())))

    def write(self, name: str, content: bytes | str) -> str:
        """A file in the working directory; its name."""
        (self.inside / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def fail(self, sentence: str) -> None:
        """Something that was promised is not so."""
        self.failures.append(sentence)

    def call(
        self,
        *arguments: str,
        stop_after_s: float | None = None,
        number: int = signal.SIGINT,
        work: Work = program,
        limits: Sequence[tuple[int, int]] = (),
        codes: Sequence[int] | None = None,
        patience_s: float | None = None,
    ) -> Outcome:
        """Run a command to its end and judge it.

        `stop_after_s`: when to send the signal `number`, which it has to hear as soon as a refusal.
        `patience_s`: how long one that takes its time may work or sleep, instead of `HANG_S`.
        """
        at = self.folder / f"call-{len(self.outcomes)}"
        before = set(_children())  # of a test that ran in this process, say
        child = _fork(arguments, self.inside, at, work, limits)
        outcome = _watch(child, arguments, at, stop_after_s, number, patience_s or HANG_S)
        left = _ended_children(before)
        self.outcomes.append(outcome)
        said = complaints(outcome, codes)
        if left:
            said.append(f"left running: {', '.join(left)}")
        words = " ".join(shlex.quote(word) for word in arguments)
        self.failures += [f"{plain(one)}   flashtwin {plain(words)[:300]}" for one in said]
        return outcome

    def look_around(self) -> None:
        """Whether anything outside is another than before."""
        after = looks(self.outside)
        for name in sorted(self._before.keys() | after.keys()):
            if self._before.get(name) != after.get(name):
                was, now = self._before.get(name), after.get(name)
                self.failures.append(f"{name} outside of the sandbox was {was} and is {now}")
        if after != self._before and self.block:
            _blank(self.block)

    def remove(self) -> None:
        """Take the folder away."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _plant(outside: Path, block: str | None) -> None:
    (outside / "file").write_bytes(b"somebody's data\n" * 64)
    (outside / "folder").mkdir()
    (outside / "folder" / "file").write_bytes(b"more of it\n")
    os.mkfifo(outside / "fifo")
    if os.geteuid() == 0:
        os.mknod(outside / "null", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        if block:
            os.mknod(outside / "block", 0o600 | stat.S_IFBLK, os.stat(block).st_rdev)


def looks(folder: Path) -> dict[str, str]:
    """What can be told of everything in a folder: kind, inode, times, bytes."""
    told = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        digest = ""
        if stat.S_ISREG(about.st_mode) or stat.S_ISBLK(about.st_mode):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        regular = (about.st_size, about.st_mtime_ns) if stat.S_ISREG(about.st_mode) else ()
        told[str(path.relative_to(folder))] = str(
            (oct(about.st_mode), about.st_ino, regular, digest)
        )
    return told


@contextlib.contextmanager
def block_device(folder: Path) -> Iterator[str | None]:
    """A loop device of a file in the folder, where that is possible."""
    if os.geteuid() != 0 or shutil.which("losetup") is None:
        yield None
        return
    folder.mkdir(parents=True, exist_ok=True)
    backing = folder / "block.bin"
    backing.write_bytes(b"\xa5" * BLOCK_BYTES)
    made = subprocess.run(
        ["losetup", "-f", "--show", backing], capture_output=True, text=True, check=False
    )
    device = made.stdout.strip() if made.returncode == 0 else None
    try:
        yield device
    finally:
        if device:
            subprocess.run(["losetup", "-d", device], check=False)


def _blank(device: str) -> None:
    with open(device, "r+b") as file:
        file.write(b"\xa5" * BLOCK_BYTES)


def become_subreaper(on: bool = True) -> None:
    """What a command leaves running is then our child and no longer init's; `on=False` ends it."""
    _libc.prctl(_SUBREAPER, int(on), 0, 0, 0)


def _children() -> list[int]:
    told = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
    return [int(word) for word in told.split()]


def _ended_children(before: set[int]) -> list[str]:
    """The names of processes that a command left running; they are given a moment, and ended.

    Those of `before` were there when it began.
    """
    until = time.monotonic() + 3
    while (left := _reap(before)) and time.monotonic() < until:
        time.sleep(0.01)
    names = []
    for pid in left:
        with contextlib.suppress(OSError):
            names.append(Path(f"/proc/{pid}/comm").read_text().strip())
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return names


def _reap(before: set[int]) -> list[int]:
    running = []
    for pid in set(_children()) - before:
        try:
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                running.append(pid)
        except ChildProcessError:
            continue
    return running


def _fork(
    arguments: Sequence[str], cwd: Path, at: Path, work: Work, limits: Sequence[tuple[int, int]]
) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        code = _child(arguments, cwd, at, work, limits)
    finally:
        os._exit(code)


def _child(
    arguments: Sequence[str], cwd: Path, at: Path, work: Work, limits: Sequence[tuple[int, int]]
) -> int:
    """The command as a program of its own; never returns to the caller's frames."""
    os.setsid()
    # A campaign that is stopped leaves nothing running.
    _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path in ((0, os.devnull), (1, f"{at}.out"), (2, f"{at}.err")):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(path, flags), number)
    os.closerange(3, 256)
    os.chdir(cwd)
    os.environ["HOME"] = os.environ["TMPDIR"] = str(cwd)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + ROOM_BYTES,) * 2)
    for what, most in limits:
        resource.setrlimit(what, (most, most))
    sys.argv = ["flashtwin", *arguments]
    sys.stdin = open(0)  # noqa: SIM115 - until the end
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", encoding="utf-8", closefd=False, errors="backslashreplace"
    )
    try:
        code = work(arguments)
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return code if isinstance(code, int) else 0


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _watch(
    pid: int,
    arguments: Sequence[str],
    at: Path,
    stop_after_s: float | None,
    number: int,
    patience_s: float,
) -> Outcome:
    began = time.monotonic()
    signalled: float | None = None
    patience = _Patience(pid, patience_s)
    descriptor = os.pidfd_open(pid)
    ended = select.poll()
    ended.register(descriptor, select.POLLIN)
    while not ended.poll(5 if signalled is None and stop_after_s is not None else 50):
        if stop_after_s is not None and signalled is None:
            if time.monotonic() - began >= stop_after_s:
                _send(pid, number)
                signalled, patience = time.monotonic(), _Patience(pid, HANG_S)
        elif patience.over():
            _send(pid, signal.SIGKILL)
            break
    _, status, used = os.wait4(pid, 0)
    os.close(descriptor)
    over = time.monotonic()
    return Outcome(
        arguments=tuple(arguments),
        code=os.waitstatus_to_exitcode(status),
        stdout=_read(Path(f"{at}.out")),
        stderr=_read(Path(f"{at}.err")),
        wall_s=over - began,
        cpu_s=used.ru_utime + used.ru_stime,
        rss_bytes=used.ru_maxrss * 1024,
        signalled=number if signalled is not None else None,
        heard_s=None if signalled is None else over - signalled,
        hung=patience.lost,
    )


class _Patience:
    """How long a process may still work, or sleep."""

    def __init__(self, pid: int, most_s: float) -> None:
        self.lost, self._most_s = False, most_s
        self._pid = pid
        self._before, _ = _spent(pid)
        self._awake, self._moved = self._before, time.monotonic()

    def over(self) -> bool:
        """Whether it worked for too long since the beginning, or slept for too long just now."""
        spent, sleeps = _spent(self._pid)
        if spent != self._awake or not sleeps:
            self._awake, self._moved = spent, time.monotonic()
        asleep = time.monotonic() - self._moved
        self.lost = max(spent - self._before, asleep) > self._most_s
        return self.lost


def _spent(pid: int) -> tuple[float, bool]:
    """The processor's seconds of a process, and whether it sleeps."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, False
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK"), told[0] in "SD"


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _read(path: Path) -> str:
    """The beginning and the end of what a command wrote."""
    try:
        with path.open("rb") as file:
            text = file.read(1 << 22)
            size = os.fstat(file.fileno()).st_size
            if size > len(text):
                file.seek(max(size - 4096, len(text)))
                text += file.read(4096)
    except OSError:
        return ""
    return text.decode(errors="replace")
