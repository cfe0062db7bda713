"""The requests of a real host, recorded as a trace that `profile`, `cost` and `ask` read.

A process is recorded by strace: what it asks of its files. A device is recorded by the finest way
that this machine allows: blktrace, the kernel's tracepoints, or a sample of /proc/diskstats each
second, which counts requests and does not list them. Every way says what it leaves out; a finer one
that is not there says why. Invariants: nothing is written but the trace, and to no device; what was
switched on in the kernel is switched off again.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from flashtwin import outputs
from flashtwin.drives.device.facts import is_device
from flashtwin.drives.real.real_fio import end
from flashtwin.errors import ENVIRONMENT, MISS, USAGE, FlashtwinError
from flashtwin.fio.language.errors import JobFileError
from flashtwin.load.profile import profile
from flashtwin.load.words import Recorded
from flashtwin.model.fio_job import Reading, TraceFormat
from flashtwin.runner.stop import Stop, listening

WAYS = ("blktrace", "tracepoints", "diskstats")
# Calls that move data of files, or say where the next byte of a descriptor is.
CALLS = (
    *("open", "creat", "openat", "openat2", "close", "dup", "dup2", "dup3", "fcntl"),
    *("clone", "clone3", "fork", "vfork", "lseek", "ftruncate", "fallocate"),
    *("read", "readv", "pread64", "preadv", "preadv2"),
    *("write", "writev", "pwrite64", "pwritev", "pwritev2"),
    *("fsync", "fdatasync", "syncfs", "sync_file_range"),
    *("io_submit", "copy_file_range", "sendfile", "splice"),
)
TRACING = Path("/sys/kernel/tracing")
DEBUGGING = Path("/sys/kernel/debug/block")
DEVICES = Path("/sys/dev/block")
DISKSTATS = Path("/proc/diskstats")
PROCESSES = Path("/proc")
SAMPLE_S = 1.0
POLL_S = 0.1
SECTOR_BYTES = 512
# A line of the tracepoint block_rq_issue: process, processor, time, device, kind, bytes, a command
# in brackets, sector and count, since Linux 6.9 its priority, process.
_ISSUED = re.compile(
    r"\s*.+-(\d+)\s+\[(\d+)\]\s+\S+\s+(\d+\.\d+): block_rq_issue: (\d+,\d+) (\S+) \d+ \(.*?\)"
    r" (\d+) \+ (\d+)(?: \S+)? \[(.*)\]\s*"
)
_LOST = re.compile(r"CPU:\d+ \[LOST (\d+) EVENTS\]")
# Columns of a sample, and the fields of /proc/diskstats behind the name that they are made of.
COLUMNS: Mapping[str, tuple[int, int]] = {
    "reads": (0, 1),
    "read_bytes": (2, SECTOR_BYTES),
    "writes": (4, 1),
    "write_bytes": (6, SECTOR_BYTES),
    "busy_ms": (9, 1),
    "trims": (11, 1),
    "trim_bytes": (13, SECTOR_BYTES),
    "flushes": (15, 1),
}
_SEEN_BY_DRIVE = "requests of other disks, and what a drive does of itself"
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "strace": (
        "what the page cache answers and joins: these are a program's requests, not those of a"
        " drive",
        "files that are mapped, io_uring, and what the file system writes for itself",
    ),
    "blktrace": (_SEEN_BY_DRIVE,),
    "tracepoints": (_SEEN_BY_DRIVE,),
    "diskstats": (
        "where a request goes, its size and its order: the counters have sums a second",
        "therefore overwrites and the working set: take the load by name that is nearest to yours"
        " with the bytes a day that were counted",
    ),
}


@dataclass(kw_only=True)
class Recording:
    """A recording under way: for how long at most, who ends it, and what it noticed."""

    seconds: float
    stop: Stop
    lost: int = 0
    code: int | None = None
    sums: dict[str, int] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    @property
    def passed_s(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began

    @property
    def is_over(self) -> bool:
        """True once its time is up or somebody asked for its end."""
        return self.stop.asked or self.passed_s >= self.seconds


def command(words: str, out: Path, seconds: float) -> Recorded:
    """Run a command of the shell and record it and its children until it ends."""
    return _strace(("--", "/bin/sh", "-c", words), f"`{words}`", out, seconds, ())


def process(number: int, out: Path, seconds: float) -> Recorded:
    """Record a process and its children from now on."""
    if not (PROCESSES / str(number)).is_dir():
        raise FlashtwinError(
            f"there is no process {number}", hint="ps -e lists those of now", exit_code=USAGE
        )
    return _strace(("-p", str(number)), f"process {number}", out, seconds, [*_positions(number)])


def device(target: Path, out: Path, seconds: float, way: str | None = None) -> Recorded:
    """Record the disk that a path names or lies on, by the finest way there is."""
    number = _disk_of(target)
    name = (DEVICES / number).resolve().name
    refused: list[str] = []
    for candidate in WAYS if way is None else (way,):
        reason = _REASONS[candidate](number)
        if reason is None:
            break
        refused.append(f"{candidate}: {reason}")
    else:
        raise FlashtwinError(
            f"{name} cannot be recorded: {'; '.join(refused)}",
            hint="be root, or take another way with --way",
            exit_code=ENVIRONMENT,
        )
    record = _RECORDERS[candidate]

    def recorded(part: Path, recording: Recording) -> None:
        record(number, part, recording)

    return _recorded(recorded, candidate, name, out, seconds, refused)


def _recorded(
    record: Callable[[Path, Recording], None],
    way: str,
    title: str,
    out: Path,
    seconds: float,
    refused: Sequence[str] = (),
) -> Recorded:
    """Record into a file that becomes `out` once it is whole and holds a request."""
    with outputs.replacing(out) as part, listening() as stop:
        recording = Recording(seconds=seconds, stop=stop)
        record(part, recording)
        passed_s = recording.passed_s
        counts = recording.sums if way == "diskstats" else _counted(part, way, title)
    left_out = list(LEFT_OUT[way])
    if recording.lost:
        left_out.append(f"{recording.lost:,} requests that the kernel could not keep")
    return Recorded(
        file=str(out),
        way=way,
        title=title,
        seconds=round(passed_s, 3),
        interrupted=stop.asked,
        code=recording.code,
        left_out=left_out,
        instead_of=list(refused),
        **{name: counts.get(name, 0) for name in COLUMNS if name != "busy_ms"},
    )


def _counted(part: Path, way: str, title: str) -> dict[str, int]:
    """What was recorded, as the readers of traces see it."""
    kinds: dict[str, TraceFormat] = {"strace": "strace", "blktrace": "blktrace"}
    try:
        profiled = profile(part, Reading(format=kinds.get(way, "blkparse")))
    except JobFileError as error:
        if part.stat().st_size and "empty" not in error.message:
            raise
        raise FlashtwinError(
            f"nothing was asked of a disk by {title} while it was recorded",
            hint="record it for longer, or while it works",
            exit_code=MISS,
        ) from error
    kinds_of = zip(("read", "write", "trim"), profiled.ios, profiled.bytes, strict=True)
    counts = {"flushes": profiled.flushes}
    for kind, count, moved in kinds_of:
        counts |= {f"{kind}s": count, f"{kind}_bytes": moved}
    return counts


# ------------------------------------------------------------------------------------- a process


def _strace(
    ends: Sequence[str], title: str, out: Path, seconds: float, before: Sequence[str]
) -> Recorded:
    program = shutil.which("strace")
    if program is None:
        raise FlashtwinError(
            "strace records processes, and it is not installed",
            hint="apt install strace; or record the disk: flashtwin record /dev/DISK --out FILE",
            exit_code=ENVIRONMENT,
        )
    calls = ",".join(f"?{name}" for name in CALLS)
    options = ("-f", "-ttt", "-y", "-s", "0", "-e", f"trace={calls}", "-e", "signal=none")

    def record(part: Path, recording: Recording) -> None:
        part.write_text("".join(f"{line}\n" for line in before))
        words = (program, *options, "-A", "-o", str(part), *ends)
        child = _started(words, stdout=2)
        _await(child, recording, signal.SIGINT if ends[0] == "-p" else signal.SIGTERM)
        recording.code = None if ends[0] == "-p" else child.returncode
        if not part.stat().st_size:
            raise FlashtwinError(
                f"strace recorded nothing of {title} (code {child.returncode})",
                hint="its message stands above; a process of another user is root's to record",
                exit_code=ENVIRONMENT,
            )

    return _recorded(record, "strace", title, out, seconds)


def _started(words: Sequence[str], stdout: int) -> subprocess.Popen[bytes]:
    """A program in a group of its own, which Ctrl-C reaches through this one alone."""
    try:
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=stdout, start_new_session=True
        )
    except OSError as error:
        raise FlashtwinError(
            f"{words[0]} cannot be run: {error.strerror}",
            hint="check its name, or give its path",
            exit_code=ENVIRONMENT,
        ) from error


def _await(child: subprocess.Popen[bytes], recording: Recording, number: signal.Signals) -> None:
    """Wait until a program ends; end it once the recording is over."""
    try:
        while child.poll() is None and not recording.is_over:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(POLL_S)
    finally:
        end(child, number)


def _positions(number: int) -> Iterator[str]:
    """Where the descriptors of a process stand now, as strace would print it."""
    with contextlib.suppress(OSError):
        for entry in sorted((PROCESSES / str(number) / "fd").iterdir()):
            path = os.readlink(entry)
            text = (PROCESSES / str(number) / "fdinfo" / entry.name).read_text()
            match = re.search(r"^pos:\s*(\d+)$", text, re.M)
            if match and path.startswith("/"):
                at = f"{number} {time.time():.6f}"
                yield f"{at} lseek({entry.name}<{path}>, 0, SEEK_CUR) = {match[1]}"


# --------------------------------------------------------------------------------------- a device


def _disk_of(target: Path) -> str:
    """The number of the disk that a path names, or on which its file system lies."""
    try:
        status = target.stat()
    except OSError as error:
        raise FlashtwinError(
            f"{target}: {error.strerror}",
            hint="name a disk, or a file on it; lsblk lists the disks",
            exit_code=USAGE,
        ) from error
    number = status.st_rdev if is_device(target) else status.st_dev
    place = DEVICES / f"{os.major(number)}:{os.minor(number)}"
    if not place.exists():
        raise FlashtwinError(
            f"{target} lies on no single disk",
            hint="name the disk itself; lsblk lists the disks",
            exit_code=USAGE,
        )
    place = place.resolve()
    if (place / "partition").exists():
        place = place.parent
    return (place / "dev").read_text().strip()


def _no_blktrace(number: str) -> str | None:
    if shutil.which("blktrace") is None:
        return "it is not installed"
    if os.geteuid() != 0:
        return "it needs root"
    name = (DEVICES / number).resolve().name
    if not os.access(DEBUGGING, os.R_OK | os.X_OK):
        return f"{DEBUGGING} is not there (mount -t debugfs none /sys/kernel/debug), for {name}"
    if "[none]" not in _lockdown():
        return "the kernel is locked down"
    return None


def _lockdown() -> str:
    try:
        return Path("/sys/kernel/security/lockdown").read_text()
    except OSError:
        return "[none]"


def _no_tracepoints(_number: str) -> str | None:
    instances = TRACING / "instances"
    if not instances.is_dir():
        return f"{TRACING} is not there (root: mount -t tracefs none {TRACING})"
    if not os.access(instances, os.W_OK | os.X_OK):
        return "they need root"
    return None


def _no_diskstats(_number: str) -> str | None:
    return None if os.access(DISKSTATS, os.R_OK) else f"{DISKSTATS} cannot be read"


def _by_blktrace(number: str, part: Path, recording: Recording) -> None:
    disk = f"/dev/{(DEVICES / number).resolve().name}"
    child = _started(("blktrace", "-d", disk, "-o", "-"), stdout=subprocess.PIPE)
    assert child.stdout is not None, "a pipe was asked for"
    pipe = child.stdout.fileno()
    try:
        with part.open("wb") as file:
            for piece in _pieces(pipe, recording, lambda: os.kill(child.pid, signal.SIGINT)):
                file.write(piece)
    finally:
        end(child, signal.SIGINT)
        child.stdout.close()
    if not part.stat().st_size:
        raise FlashtwinError(
            f"blktrace recorded nothing of {disk} (code {child.returncode})",
            hint="its message stands above; --way tracepoints is another way",
            exit_code=ENVIRONMENT,
        )


def _pieces(
    source: int, recording: Recording, when_over: Callable[[], None] = lambda: None
) -> Iterator[bytes]:
    """What a pipe gives until it ends, or for a second more once the recording is over."""
    until: float | None = None
    while until is None or time.monotonic() < until:
        if until is None and recording.is_over:
            until = time.monotonic() + 1.0
            when_over()
        if select.select([source], [], [], POLL_S)[0]:
            piece = os.read(source, 1 << 16)
            if not piece:
                return
            yield piece


def _by_tracepoints(number: str, part: Path, recording: Recording) -> None:
    """Switch the tracepoint on in an instance of our own, and write what blkparse would print."""
    instance = TRACING / "instances" / f"flashtwin-{os.getpid()}"
    instance.mkdir()
    try:
        issued = instance / "events" / "block" / "block_rq_issue"
        major, minor = map(int, number.split(":"))
        _switch(issued / "filter", f"dev == {major << 20 | minor}")
        _switch(issued / "enable", "1")
        source = os.open(instance / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            with part.open("w", encoding="utf-8", newline="") as file:
                _issued(source, file, recording, lambda: _switch(issued / "enable", "0"))
        finally:
            os.close(source)
            _switch(issued / "enable", "0")
    finally:
        instance.rmdir()


def _switch(place: Path, word: str) -> None:
    place.write_text(word)


def _issued(
    source: int, file: IO[str], recording: Recording, when_over: Callable[[], None]
) -> None:
    rest, count = b"", 0
    for piece in _pieces(source, recording, when_over):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            text = line.decode("utf-8", "replace")
            if lost := _LOST.match(text):
                recording.lost += int(lost[1])
            elif match := _ISSUED.fullmatch(text):
                pid, processor, at, disk, kind, sector, sectors, name = match.groups()
                count += 1
                place = f"{sector} + {sectors} " if int(sectors) else ""
                file.write(f"{disk} {int(processor)} {count} {at} {pid} D {kind} {place}[{name}]\n")


def _by_diskstats(number: str, part: Path, recording: Recording) -> None:
    first = before = _sample(number)
    last_s = 0.0
    with part.open("w", encoding="utf-8", newline="") as file:
        file.write(f"seconds,{','.join(COLUMNS)}\n")
        while not recording.is_over:
            time.sleep(min(SAMPLE_S, max(recording.seconds - recording.passed_s, 0.0)))
            now = _sample(number)
            last_s = recording.passed_s
            row = (str(now[name] - before[name]) for name in COLUMNS)
            file.write(f"{last_s:.3f},{','.join(row)}\n")
            before = now
    recording.sums = {name: before[name] - first[name] for name in COLUMNS}


def _sample(number: str) -> dict[str, int]:
    """The counters of a disk since the machine was started; what an old kernel lacks is 0."""
    for line in DISKSTATS.read_text().splitlines():
        words = line.split()
        if ":".join(words[:2]) == number:
            fields = [int(word) for word in words[3:]]
            return {
                name: fields[place] * unit if place < len(fields) else 0
                for name, (place, unit) in COLUMNS.items()
            }
    raise FlashtwinError(
        f"{DISKSTATS} has no disk {number.replace(':', ',')} any more",
        hint="was it unplugged? lsblk lists the disks that are there",
        exit_code=ENVIRONMENT,
    )


_REASONS: Mapping[str, Callable[[str], str | None]] = {
    "blktrace": _no_blktrace,
    "tracepoints": _no_tracepoints,
    "diskstats": _no_diskstats,
}
_RECORDERS: Mapping[str, Callable[[str, Path, Recording], None]] = {
    "blktrace": _by_blktrace,
    "tracepoints": _by_tracepoints,
    "diskstats": _by_diskstats,
}
