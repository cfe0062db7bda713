"""Traces that jobs replay (`read_iolog`): looked through once, held against the drive, laid out.

A trace is read twice: here by the core, whole, so that a broken line or a request beyond the drive
is told before anything is asked of it; then again line by line while it is replayed. Its files lie
on the drive like those of other jobs. A device, and the only disk of a trace of disks, is the whole
drive; several disks lie beside one another.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from flashtwin import _core
from flashtwin.fio.language.errors import JobFileError, Where
from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.script import Note
from flashtwin.fio.plan.files import GRAIN_BYTES, Part, Target, is_whole
from flashtwin.fio.plan.processes import Clone
from flashtwin.inputs import PACKED, encoding_title, wide_encoding
from flashtwin.model.fio_job import Fio, Reading, Shape, Skip, Trace, TraceFormat
from flashtwin.model.fio_job import Sequence as Order
from flashtwin.model.job import Job, ReadWrite

if TYPE_CHECKING:
    from flashtwin._core import TraceFile, TraceSurvey

Answer = TypeVar("Answer")

# Files that one process may have in the core.
MOST_FILES = 65_536
# The longest request of the core.
LONGEST_BYTES = (2**32 - 2) * 512
# The longest time of the core, ten years.
MOST_NS = 10 * 366 * 86_400 * 10**9
# The first bytes of a binary blktrace, a version behind them or before them.
_BLKTRACE = (b"tae", b"eat")
# Formats whose files are files, and not the disks of a machine.
_OF_FILES = ("iolog", "strace")
# The first bytes of a recording of /proc/diskstats.
_COUNTERS = b"seconds,reads,read_bytes"
# The part of a blktrace that one processor saw.
_OF_ONE_PROCESSOR = re.compile(r"(.+)\.blktrace\.[0-9]+")
# Bytes at the beginning that show a binary file.
_HEAD_BYTES = 4096
_DIRECTIONS = ("read", "write", "trim", "sync")
# Before the names of `flashtwin fio`'s options on traces, which has others of its own.
_OF_FIO = "--trace-"
# Options that a trace replaces: fio 3.33 ignores them where it replays one.
_IDLE = (
    "size",
    "io_size",
    "loops",
    "number_ios",
    "time_based",
    "rw",
    "bs",
    "bsrange",
    "bssplit",
    "rate",
    "rate_iops",
    "fsync",
    "fdatasync",
)
# `{option}` is what stands before the names of options that say how a trace is read.
_HINTS = {
    "format": f"known are {', '.join(get_args(TraceFormat))}; or write columns that are known:"
    " Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime (msr: times in 100 ns, bytes)",
    "ambiguous": "say which it is: {option}format",
    "disk": "name one of them: {option}disk",
    "version": "let fio 3 write it again",
    "records": "blkparse -i FILE > FILE.txt of the blktrace that wrote it makes text of it",
    "empty": "nothing is left of it: look at the format, the event and the disk",
    "event": "say which of them is a request: {option}event (D handed over, C completed, Q queued)",
    "files": "split the trace",
    "line": "repair the line, or remove it",
    "io": "look at the disk that the trace is on",
}


@dataclass(frozen=True, kw_only=True)
class Replaying:
    """What a job file cannot say: how traces are read, and what happens to requests beyond the
    drive. `is_shaped`: whoever asked can say by fio's options how a trace is replayed."""

    reading: Reading = field(default_factory=Reading)
    fit: Literal["refuse", "wrap"] = "refuse"
    is_shaped: bool = True


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The trace of a process: as the core replays it, its contents, and where its files lie."""

    trace: Trace
    survey: TraceSurvey
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class Traces:
    """The traces of a plan, each looked through once however many processes replay it."""

    target: Target
    replaying: Replaying = Replaying()
    known: dict[tuple[str, Shape], TraceSurvey] = field(default_factory=dict)

    def of(self, clone: Clone) -> Replay | None:
        """The trace of a process, if it replays one."""
        job = clone.job
        if not job["read_iolog"]:
            return None
        path, shape = _path(clone), _shape(job)
        survey = self._survey(path, shape, job)
        self._check_requests(path, survey, job)
        _check_span(path, survey, job)
        trace = Trace(
            path=str(path.absolute()),
            reading=self.replaying.reading,
            shape=shape,
            speed_percent=None if job["replay_no_stall"] else job["replay_time_scale"],
            fit=self.replaying.fit,
            uses=(survey["ios"][0] > 0, survey["ios"][1] > 0, survey["ios"][2] > 0),
        )
        return Replay(trace=trace, survey=survey, parts=self._parts(path, survey, job))

    def _survey(self, path: Path, shape: Shape, job: FioJob) -> TraceSurvey:
        key = (str(path), shape)
        if key in self.known:
            return self.known[key]
        _check_regular(path, job)
        reading = self.replaying.reading
        self.known[key] = read_through(path, reading, shape, _core.survey_trace, job)
        return self.known[key]

    def _check_requests(self, path: Path, survey: TraceSurvey, job: FioJob) -> None:
        if survey["format"] == "iolog" and not any(survey["ios"]):
            raise JobFileError(
                _at(path, 0),
                f"it holds only syncs, and fio does not read that as an iolog{_whose(job)}",
                hint="add the requests that the syncs follow",
            )
        longest = max(survey["longest"])
        if longest > LONGEST_BYTES:
            raise JobFileError(
                _at(path, 0),
                f"a request has {longest:,} bytes, the most is {LONGEST_BYTES:,}{_whose(job)}",
                hint="split it into several requests",
            )

    def _parts(self, path: Path, survey: TraceSurvey, job: FioJob) -> tuple[Part, ...]:
        files, capacity = survey["files"], self.target.bytes
        if len(files) > MOST_FILES:
            raise JobFileError(
                _at(path, 0),
                f"{len(files)} files, and {MOST_FILES} are possible{_whose(job)}",
                hint="split the trace",
            )
        disks = survey["format"] not in _OF_FILES
        alone = len(files) == 1 and disks
        over = [
            alone or bool(job["replay_redirect"]) or is_whole(file["name"], self.target)
            for file in files
        ]
        beside = [file for file, all_of_it in zip(files, over, strict=True) if not all_of_it]
        rooms = self._rooms(path, beside, job)
        for file, all_of_it in zip(files, over, strict=True):
            if all_of_it and file["end"] > capacity and self.replaying.fit == "refuse":
                raise self._beyond(path, file, file["end"], job)
        parts = tuple(
            _part(file["name"], capacity if all_of_it else rooms[file["name"]], all_of_it)
            for file, all_of_it in zip(files, over, strict=True)
        )
        for file, part in zip(files, parts, strict=True):
            if file["longest"] > part.length:
                raise JobFileError(
                    _at(path, 0),
                    f"a request of {file['longest']} bytes in {file['name']}, for which"
                    f" {self.target.name} has {part.length}{_whose(job)}",
                    hint="take a larger drive",
                )
        return parts

    def _rooms(self, path: Path, files: Sequence[TraceFile], job: FioJob) -> dict[str, int]:
        """The length of each file that has a place of its own."""
        rooms = {file["name"]: max(file["end"], GRAIN_BYTES) for file in files}
        total = sum(-(-room // GRAIN_BYTES) * GRAIN_BYTES for room in rooms.values())
        if total <= self.target.bytes:
            return rooms
        if self.replaying.fit == "refuse":
            last = max(files, key=lambda file: file["end"])
            raise self._beyond(path, last, total, job, count=len(files))
        # Each gets its share of the drive, and wraps within it.
        rest = self.target.bytes - GRAIN_BYTES * len(rooms)
        if rest < 0:
            raise JobFileError(
                _at(path, 0),
                f"{len(rooms)} files, for which {self.target.name} is too small{_whose(job)}",
                hint="take a larger drive, or lay all over one another: replay_redirect",
            )
        return {
            name: GRAIN_BYTES + room * rest // total // GRAIN_BYTES * GRAIN_BYTES
            for name, room in rooms.items()
        }

    def _beyond(
        self, path: Path, file: TraceFile, reach: int, job: FioJob, count: int = 1
    ) -> JobFileError:
        if count > 1:
            problem = f"{count} files take {reach} bytes together"
            one_of_them = f", or one of the disks: {self._option}disk {file['name']}"
        else:
            problem, one_of_them = f"a request reaches to byte {reach}", ""
        hint = "take a larger drive"
        if self.replaying.is_shaped:
            scale = -(-reach // self.target.bytes) * job["replay_scale"]
            hint = (
                f"divide its offsets (replay_scale={scale}), let them wrap (flashtwin fio --trace"
                f" {path} --trace-fit wrap), or take a larger drive"
            )
        return JobFileError(
            _at(path, file["line"]),
            f"{problem}, and {self.target.name} has {self.target.bytes}{_whose(job)}",
            hint=hint + one_of_them,
        )

    @property
    def _option(self) -> str:
        return _OF_FIO if self.replaying.is_shaped else "--"


def read_through(
    path: Path,
    reading: Reading,
    shape: Shape,
    read: Callable[[Path, str], Answer],
    job: FioJob | None = None,
) -> Answer:
    """What the core says of a trace that it reads once; `job` is the one that replays it. Raises
    `JobFileError` with the line of the trace that is wrong."""
    _check_head(path, job)
    question = json.dumps({"reading": asdict(reading), "shape": asdict(shape)})
    try:
        return read(path, question)
    except OSError as error:
        raise _unreadable(path, error, job) from error
    except _core.TraceError as error:
        line, problem, kind = error.args
        hint = _HINTS[kind].format(option=_OF_FIO if job else "--")
        raise JobFileError(_at(path, line), problem + _whose(job), hint=hint) from error


def replayed(job: Job, trace: Trace) -> Job:
    """A job of the core that replays a trace, without what the trace itself says."""
    assert job.fio is not None, "a plan has fio's jobs only"
    fio = job.fio
    reads, writes, trims = trace.uses
    rw: ReadWrite = "read"
    if writes:
        rw = "rw" if reads else "write"
    elif trims and not reads:
        rw = "trim"
    return replace(
        job,
        rw=rw,
        io_bytes=None,
        fio=replace(
            fio,
            size=None,
            random_map=False,
            distribution=Fio().distribution,
            sequence=Order(),
            number_ios=0,
            loops=1,
            time_based=False,
            pace=replace(fio.pace, bytes_s=(0, 0, 0), iops=(0, 0, 0), poisson=False),
            syncs=replace(fio.syncs, fsync_every=0, fdatasync_every=0),
            trace=trace,
        ),
    )


def remarks(survey: TraceSurvey) -> list[str]:
    """Oddities of a trace, which a reader of any answer about it has to know."""
    count, texts = sum(survey["ios"]), []
    if survey["unaligned"]:
        texts.append(
            f"{survey['unaligned']:,} of {count:,} requests do not begin and end at sectors: the"
            " drive gets the whole ones that they touch"
        )
    if survey["left_out"]:
        lines = _counted(survey["left_out"], "line")
        texts.append(f"{lines} of no bytes or of no kind that moves data: left out")
    if survey["earlier"]:
        is_iolog = survey["format"] == "iolog"
        then = "no time passes there, as in fio" if is_iolog else "put in the order of their times"
        texts.append(
            f"{_counted(survey['earlier'], 'request')} earlier than the one before, the first in"
            f" line {survey['first_earlier']:,}: {then}"
        )
    disks = [file["name"] for file in survey["files"]]
    if len(disks) > 1 and survey["format"] not in _OF_FILES:
        names = ", ".join(disks[:3]) + (", …" if disks[3:] else "")
        texts.append(
            f"it is of {len(disks)} disks ({names}), which lie beside one another on a drive:"
            " name one to have it alone"
        )
    if survey["late"]:
        texts.append(
            f"{survey['late']:,} of {count:,} requests stand too far behind their place and come"
            " late: sort the trace by its times"
        )
    if survey["unended"]:
        texts.append(
            f"line {survey['unended']:,} ends without a line break: if the trace was cut there,"
            " its last number is too small"
        )
    return texts


def notes_on_trace(job: FioJob, replay: Replay) -> list[Note]:
    """Notes on the trace's contents, and on what of the job it replaces."""
    survey, name = replay.survey, Path(replay.trace.path).name
    count = sum(survey["ios"])
    parts = [
        _counted(count, "request"),
        _counted(survey["flushes"], "flush"),
        _counted(len(replay.parts), "file"),
    ]
    seconds = survey["span_ns"] / 1e9
    notes = [
        Note(
            where=job.line("read_iolog"),
            text=f"{name} ({survey['format']}): {', '.join(parts)}, {seconds:.6g} s",
        )
    ]
    notes += [Note(where=job.line("read_iolog"), text=text) for text in remarks(survey)]
    if survey["format"] == "iolog" and job["replay_skip"]:
        notes.append(
            Note(
                where=job.line("replay_skip"),
                text="replay_skip holds for this iolog, as in later versions of fio; 3.33 looks at"
                " it for binary traces only",
            )
        )
    if survey["format"] == "iolog" and survey["ios"][2]:
        notes.append(
            Note(
                where=job.line("read_iolog"),
                text=f"{survey['ios'][2]} trims are replayed, which fio 3.33 leaves out",
            )
        )
    notes += [
        Note(where=job.line(option), text=f"{option} does nothing with read_iolog, as in fio")
        for option in _IDLE
        if job.has(option)
    ]
    return notes


def _counted(count: int, noun: str) -> str:
    plural = "es" if noun.endswith("sh") else "s"
    return f"{count} {noun}{'' if count == 1 else plural}"


def _path(clone: Clone) -> Path:
    """Several files, separated by colons, go to the copies of a job in turn, as in fio."""
    named = [name for name in re.split(r"(?<!\\):", str(clone.job["read_iolog"])) if name]
    if not named:
        raise JobFileError(clone.job.line("read_iolog"), "no trace is named", hint="name a file")
    return Path(named[clone.number % len(named)].replace("\\:", ":"))


def _shape(job: FioJob) -> Shape:
    words = [word.strip() for word in str(job["replay_skip"] or "").split(",") if word.strip()]
    for word in words:
        if word not in _DIRECTIONS:
            raise JobFileError(
                job.line("replay_skip"),
                f"{word} is not a kind of request",
                hint=f"write one or more of {', '.join(_DIRECTIONS)}",
            )
    skip = Skip(**{word: word in words for word in _DIRECTIONS})
    return Shape(scale=max(job["replay_scale"], 1), align=job["replay_align"], skip=skip)


def _check_span(path: Path, survey: TraceSurvey, job: FioJob) -> None:
    percent = job["replay_time_scale"]
    if not job["replay_no_stall"] and survey["span_ns"] * 100 > MOST_NS * percent:
        years = survey["span_ns"] * 100 / percent / (366 * 86_400 * 10**9)
        raise JobFileError(
            _at(path, 0),
            f"its requests take {years:,.0f} years, the most is ten{_whose(job)}",
            hint="replay it faster (replay_time_scale, --speed 100x) or without its times"
            " (replay_no_stall, --speed max)",
        )


def _check_regular(path: Path, job: FioJob) -> None:
    """Refuse what cannot be read twice."""
    if path.exists() and not path.is_file():
        raise JobFileError(
            _at(path, 0),
            f"this is not a regular file, and a trace is read twice{_whose(job)}",
            hint="write it into a file first",
        )


def _check_head(path: Path, job: FioJob | None) -> None:
    """Refuse what is neither text nor a blktrace; a pipe cannot be looked at beforehand."""
    if path.is_dir():
        raise JobFileError(
            _at(path, 0), f"this is a directory{_whose(job)}", hint="name a file within it"
        )
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise _unreadable(path, error, job) from error
    for mark, (kind, unpack, to_stdout) in PACKED.items():
        if head.startswith(mark):
            raise JobFileError(
                _at(path, 0),
                f"this is packed by {kind}{_whose(job)}",
                hint=f"{unpack} {to_stdout} {path} > {path.stem} makes the text that is replayed"
                " here",
            )
    if head[1:4] == _BLKTRACE[0] or head[:3] == _BLKTRACE[1]:
        _check_whole(path, job)
        return
    if head.startswith(_COUNTERS):
        raise JobFileError(
            _at(path, 1),
            f"these are the counters of a disk, and not its requests{_whose(job)}",
            hint="record it as root, by blktrace or tracepoints: flashtwin record DISK --out FILE",
        )
    if encoding := wide_encoding(head):
        title = encoding_title(encoding)
        raise JobFileError(
            _at(path, 1),
            f"this is text in {title}, and traces are read as UTF-8{_whose(job)}",
            hint=f"iconv -f {title} -t UTF-8 {path} > {path.name}.utf8 makes the text that is"
            " replayed here",
        )
    if b"\0" in head:
        raise JobFileError(
            _at(path, head.partition(b"\0")[0].count(b"\n") + 1),
            f"this is a binary file{_whose(job)}",
            hint="let its program write text; of vscsiStats, vscsiStats -e FILE does",
        )


def _check_whole(path: Path, job: FioJob | None) -> None:
    """Refuse one of several files that blktrace wrote, one for each processor."""
    part = _OF_ONE_PROCESSOR.fullmatch(path.name)
    if part is None:
        return
    others = sorted(
        other.name
        for other in path.parent.iterdir()
        if other != path and other.name.startswith(f"{part[1]}.blktrace.")
    )
    if others:
        raise JobFileError(
            _at(path, 0),
            f"this is what one processor saw, and {others[0]} lies beside it{_whose(job)}",
            hint=f"blkparse -D {path.parent} -i {part[1]} -d {part[1]}.bin -o /dev/null joins them",
        )


def _unreadable(path: Path, error: OSError, job: FioJob | None) -> JobFileError:
    return JobFileError(
        job.line("read_iolog") if job else _at(path, 0),
        f"the trace {f'{path} ' if job else ''}cannot be read: {os.strerror(error.errno or 0)}",
        hint="name a file that exists and may be read",
    )


def _at(path: Path, line: int) -> Where:
    return Where(file=str(path), line=line)


def _whose(job: FioJob | None) -> str:
    where = job.line("read_iolog") if job else None
    return f" (read_iolog at {where})" if where and where.line else ""


def _part(name: str, length: int, is_drive: bool) -> Part:
    return Part(name=name, is_drive=is_drive, offset=0, later_offset=0, size=length, length=length)
