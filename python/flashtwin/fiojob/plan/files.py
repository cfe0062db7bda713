"""Files as spans of the drive: each name gets a place of its own, in the order of first mention.

A path of /dev and the target's own name are the whole drive; so is what an engine of network
storage reaches without a file name. Everything else is a regular file, and has to get a size. A
file is as long as the furthest that any job reaches in it, in whole sectors, and begins at a whole
block of 4 KiB.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.fiojob.language.kinds import Percent
from flashtwin.fiojob.language.table_engines import PLUGINS, engine_of
from flashtwin.fiojob.language.where import JobFileError
from flashtwin.fiojob.plan.clones import Clone

GRAIN_BYTES = 4096
SECTOR_BYTES = 512
# What these engines reach is a drive of its own; a file name only says where.
_REMOTE = frozenset({"rbd", "nbd", "libiscsi", "libblkio"}) | PLUGINS


@dataclass(frozen=True, kw_only=True)
class Target:
    """The drive that stands for all files: its name as it was asked for, and its size."""

    name: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one process does in one file: `size` bytes from `offset` on; `whole` is the drive."""

    name: str
    whole: bool
    offset: int
    size: int
    length: int


def parts(clone: Clone, target: Target) -> list[Part]:
    """The files of a process, in fio's order."""
    named = names(clone)
    return [_part(clone, name, len(named), target) for name in named]


def names(clone: Clone) -> list[str]:
    """The names of a process's files."""
    job = clone.job
    if engine_of(str(job["ioengine"])) in _REMOTE:
        return ["/dev/storage"]
    directory = _one_of(str(job["directory"] or ""), clone.number)
    if job["filename"]:
        given = [name for name in _split(str(job["filename"])) if name]
        if given:
            return [_joined(directory, name) for name in given]
    if job.section.startswith("/dev/") and job["nrfiles"] == 1:
        return [job.section]
    made = [_formatted(clone, number) for number in range(max(job["nrfiles"], 1))]
    return [_joined(directory, name) for name in made]


def _formatted(clone: Clone, number: int) -> str:
    text = str(clone.job["filename_format"]) or "$jobname.$jobnum.$filenum"
    words = {
        "jobname": clone.job.section,
        "jobnum": str(clone.number),
        "filenum": str(number),
        "clientuid": "",
    }
    pattern = re.compile(r"\$(jobname|jobnum|filenum|clientuid)", re.IGNORECASE)
    return pattern.sub(lambda match: words[match[1].lower()], text)


def _split(text: str) -> list[str]:
    """Names are separated by colons; one that belongs to a name has a backslash before it."""
    return [name.replace("\\:", ":") for name in re.split(r"(?<!\\):", text)]


def _one_of(text: str, number: int) -> str:
    choices = _split(text)
    return choices[number % len(choices)]


def _joined(directory: str, name: str) -> str:
    return f"{directory.rstrip('/')}/{name}" if directory and not name.startswith("/") else name


def is_whole(name: str, target: Target) -> bool:
    """Whether a name stands for the whole drive."""
    device = name.startswith("/dev/") and not name.startswith("/dev/shm/")
    windows = name.lower().startswith("\\\\.\\physicaldrive")
    return device or windows or name in (target.name, f"./{target.name}")


def _part(clone: Clone, name: str, count: int, target: Target) -> Part:
    if is_whole(name, target):
        return _whole(clone, name, count, target)
    return _regular(clone, name, count, target)


def _whole(clone: Clone, name: str, count: int, target: Target) -> Part:
    job, size = clone.job, clone.job["size"]
    offset = _offset(clone, target.bytes)
    if offset >= target.bytes:
        raise JobFileError(
            job.line("offset"),
            f"job {job.name} begins at {offset}, and {target.name} ends at {target.bytes} bytes",
            hint="lower offset or offset_increment, or take a larger drive",
        )
    room = target.bytes - offset
    if isinstance(size, Percent):
        least = _least(clone)
        room = min(target.bytes * size.percent // 100, room) // least * least
    elif size:
        asked = size // count
        if asked > room:
            raise _too_large(clone, asked * count, target, offset)
        room = asked
    return Part(name=name, whole=True, offset=offset, size=room, length=target.bytes)


def _regular(clone: Clone, name: str, count: int, target: Target) -> Part:
    job, size = clone.job, clone.job["size"]
    length = _length(clone, name, count, target)
    offset = _offset(clone, length)
    if job.has("filesize"):
        if offset >= length:
            raise JobFileError(
                job.line("offset"),
                f"job {job.name} begins at {offset} of a file of {length} bytes",
                hint="lower offset or offset_increment, or raise filesize",
            )
        reach = length - offset
        if isinstance(size, Percent):
            least = _least(clone)
            reach = min(length * size.percent // 100, reach) // least * least
        return Part(name=name, whole=False, offset=offset, size=reach, length=length)
    if offset + length > target.bytes:
        raise _too_large(clone, length * count, target, offset)
    return Part(name=name, whole=False, offset=offset, size=length, length=offset + length)


def _length(clone: Clone, name: str, count: int, target: Target) -> int:
    job, size = clone.job, clone.job["size"]
    if job.has("filesize"):
        low, high = job["filesize"]
        if low == high:
            return int(low)
        # Drawn as fio draws it, once for each file, but from a stream of our own.
        share = _drawn(f"{name}/{clone.thread}/{job['randseed']}")
        return max(int(low + share * (high - low)) // _least(clone) * _least(clone), int(low))
    if isinstance(size, Percent):
        return target.bytes * size.percent // 100 // count
    if size:
        return int(size) // count
    if job["fill_device"]:
        return target.bytes // count // GRAIN_BYTES * GRAIN_BYTES
    raise JobFileError(
        job.where,
        f"job {job.name} has no size, and {name} is a file that does not exist yet",
        hint=f"add size=, for example size=1g, or filename={target.name} for the whole drive",
    )


def _drawn(text: str) -> float:
    import hashlib

    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def _too_large(clone: Clone, asked: int, target: Target, offset: int) -> JobFileError:
    job = clone.job
    name = "size" if job.has("size") else "filesize"
    behind = f" behind offset {offset}" if offset else ""
    return JobFileError(
        job.line(name),
        f"job {job.name} wants {asked} bytes{behind}, and {target.name} has {target.bytes}",
        hint="lower size (size=100% is the whole drive), or take a larger drive",
    )


def _offset(clone: Clone, length: int) -> int:
    """Where a process begins: percentages are of the file, and raised to whole blocks."""
    job = clone.job
    begin, step = job["offset"], job["offset_increment"]
    added = length * step.percent // 100 if isinstance(step, Percent) else step
    added *= clone.number
    if not isinstance(begin, Percent):
        return int(begin + added)
    grain = job["offset_align"] or _least(clone)
    return int(-(-(length * begin.percent // 100 + added) // grain) * grain)


def _least(clone: Clone) -> int:
    """The smallest block of a job."""
    from flashtwin.fiojob.plan.blocks import blocks

    return min(one.least for one in blocks(clone.job))


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where each file lies on the drive: its first byte and its length."""

    places: dict[str, tuple[int, int]]

    def place(self, part: Part) -> tuple[int, int]:
        """A file's first byte and length."""
        return (0, part.length) if part.whole else self.places[part.name]


def layout(everything: Sequence[tuple[Clone, Sequence[Part]]], target: Target) -> Layout:
    """All files beside one another."""
    reach: dict[str, int] = {}
    last: dict[str, Clone] = {}
    for clone, found in everything:
        for part in found:
            if not part.whole:
                reach[part.name] = max(
                    reach.get(part.name, 0), part.length, part.offset + part.size
                )
                last[part.name] = clone
    at, places = 0, {}
    for name, length in reach.items():
        room = -(-length // GRAIN_BYTES) * GRAIN_BYTES
        if at + length > target.bytes:
            job = last[name].job
            raise JobFileError(
                job.line("filesize" if job.has("filesize") else "size"),
                f"the {len(reach)} files of the jobs take {sum(reach.values())} bytes together, and"
                f" {target.name} has {target.bytes}",
                hint="lower size or numjobs, or name one file for all with filename=",
            )
        # A block beyond the last sector of its file is not asked for, as in fio.
        sectors = -(-length // SECTOR_BYTES) * SECTOR_BYTES
        places[name] = (at, min(sectors, target.bytes - at))
        at += room
    return Layout(places=places)
