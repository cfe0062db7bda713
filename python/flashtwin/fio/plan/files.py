"""Files as spans of the drive: each name gets a place of its own, in the order of first mention.

A path of /dev and the target's own name are the whole drive; so is what an engine of network
storage reaches without a file name. Everything else is a regular file, and has to get a size. A
file takes as much room as the furthest that any job reaches in it, and begins at a whole block of
4 KiB; to a process it is as long as fio would have it, to the byte. How long a file is when a
process looks at it is up to those before it, see `fio.plan.setup`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashtwin.fio.language.errors import JobFileError
from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.kinds import Percent
from flashtwin.fio.language.table import PLUGINS, engine_of
from flashtwin.fio.plan.processes import Clone, blocks

GRAIN_BYTES = 4096
# What these engines reach is a drive of its own; a file name only says where.
_REMOTE = frozenset({"rbd", "nbd", "libiscsi", "libblkio"}) | PLUGINS


@dataclass(frozen=True, kw_only=True)
class Target:
    """The drive that stands for all files: its name as it was asked for, its size, and the unit of
    its map."""

    name: str
    bytes: int
    unit_bytes: int = GRAIN_BYTES


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one process does in one file: `size` bytes from `offset` on, from the second pass on
    from `later_offset`; `is_drive` is the drive. A file that is `endless` has no end for fio."""

    name: str
    is_drive: bool
    offset: int
    later_offset: int
    size: int
    length: int
    endless: bool = False


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What a process finds when it looks at its files: the drive, and how long each regular file is
    that a process before it has made."""

    target: Target
    lengths: Mapping[str, int]


def parts(clone: Clone, ground: Ground) -> list[Part]:
    """The files of a process, in fio's order."""
    named = names(clone)
    return [_part(clone, name, len(named), ground) for name in named]


def names(clone: Clone) -> list[str]:
    """The names of a process's files."""
    job = clone.job
    if engine_of(str(job["ioengine"])) in _REMOTE:
        return ["/dev/storage"]
    directory = _one_of(str(job["directory"] or ""), clone.number)
    if job["filename"]:
        listed = [name for name in _split(str(job["filename"])) if name]
        if listed:
            return [_joined(directory, name) for name in listed]
    if job.section.startswith("/dev/") and job["nrfiles"] == 1:
        return [job.section]
    formatted = [_formatted(clone, number) for number in range(max(job["nrfiles"], 1))]
    return [_joined(directory, name) for name in formatted]


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


def _part(clone: Clone, name: str, count: int, ground: Ground) -> Part:
    """fio's order: how long the file is before it is laid out, where the process begins in that,
    how much it works on from there, and how long the file is then.

    Percentages of an offset are of the first length. Where the file grows by what is worked on, a
    later pass begins at the same percentage of the new length.
    """
    job, target = clone.job, ground.target
    is_drive = is_whole(name, target)
    # fio's null engine looks at no file: `size` says how long it is, and without one it has no end.
    is_blind = job["ioengine"] == "null" and not is_drive
    there = target.bytes if is_drive else 0 if is_blind else ground.lengths.get(name, 0)
    share = _share(clone, there, count, target)
    known = share if is_blind else there
    stands_for_drive = not there and isinstance(job["size"], Percent) and share is not None
    offset = _offset(clone, target.bytes // count if stands_for_drive else known)
    size = _worked(clone, name, known, offset, share)
    if not size and isinstance(job["size"], Percent) and job["size"].percent and offset < there:
        raise _too_small(clone, name, there)
    if size <= 0 or (is_drive and offset >= target.bytes):
        end = f"{name} has {target.bytes if is_drive else offset + size} bytes"
        raise JobFileError(
            job.line("offset"),
            f"job {job.name} begins at {offset}, and {end}",
            hint="lower offset or offset_increment, or raise the size of the file",
        )
    if offset + size > target.bytes:
        raise _too_large(clone, size * count, target, offset)
    if known is None:
        # A request begins within the size and may end behind it: no end of the file hinders it.
        length = min(offset + size + max(block.most for block in blocks(job)), target.bytes)
    else:
        length = max(known, offset + size)
    grown = known is not None and length > known and not stands_for_drive
    return Part(
        name=name,
        is_drive=is_drive,
        offset=offset,
        later_offset=_offset(clone, length) if grown else offset,
        size=size,
        length=length,
        endless=known is None,
    )


def _share(clone: Clone, there: int, count: int, target: Target) -> int | None:
    """The part of `size` for each file; none where `size` is not a number of bytes, and the file,
    which has bytes `there`, or `filesize` says how much there is."""
    job, size = clone.job, clone.job["size"]
    if size and not isinstance(size, Percent):
        return int(size) // count
    if there or filesize(job):
        return None
    if isinstance(size, Percent):
        return target.bytes * size.percent // 100 // count
    if job["fill_device"]:
        return target.bytes // count // GRAIN_BYTES * GRAIN_BYTES
    raise JobFileError(
        job.where,
        f"job {job.name} has no size, and its file does not exist yet",
        hint=f"add size=, for example size=1g, or filename={target.name} for the whole drive",
    )


def _worked(clone: Clone, name: str, known: int | None, offset: int, share: int | None) -> int:
    """How many bytes of a file a process works on, from its offset; 0 or less where there are
    none."""
    size, bounds = clone.job["size"], filesize(clone.job)
    if bounds:
        fits = known is not None and bounds[0] <= known <= bounds[1]
        end = known if known is not None and fits else _made_length(clone, name)
    elif share is not None:
        return share
    else:
        assert known is not None, "a file that is there has its length"
        end = known
    if not isinstance(size, Percent) or size.percent == 100:
        return end - offset
    least = least_block(clone)
    return min(end * size.percent // 100, end - offset) // least * least


def filesize(job: FioJob) -> tuple[int, int] | None:
    """The bounds of `filesize`; a lower bound of 0 counts as not given, as in fio."""
    low, high = job["filesize"] or (0, 0)
    return (int(low), int(high)) if low else None


def _made_length(clone: Clone, name: str) -> int:
    """The length of a file that is made by `filesize`."""
    bounds = filesize(clone.job)
    assert bounds is not None
    low, high = bounds
    if low == high:
        return low
    # As in fio, one length is drawn for each file; the random stream is flashtwin's own.
    share = _drawn(f"{name}/{clone.thread}/{clone.job['randseed']}")
    return max(int(low + share * (high - low)) // least_block(clone) * least_block(clone), low)


def _drawn(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def _too_small(clone: Clone, name: str, there: int) -> JobFileError:
    share = clone.job["size"].percent
    return JobFileError(
        clone.job.line("size"),
        f"{share}% of {name} is {there * share // 100} bytes at most, and job {clone.job.name} has"
        f" blocks of {least_block(clone)}: fio asks for nothing",
        hint="raise size, or lower bs",
    )


def _too_large(clone: Clone, size: int, target: Target, offset: int) -> JobFileError:
    job = clone.job
    name = "size" if job.has("size") else "filesize"
    behind = f" behind offset {offset}" if offset else ""
    return JobFileError(
        job.line(name),
        f"job {job.name} wants {size} bytes{behind}, and {target.name} has {target.bytes}",
        hint="lower size (size=100% is the whole drive), or take a larger drive",
    )


def _offset(clone: Clone, length: int | None) -> int:
    """Where a process begins in a file of that length. What a percentage makes of it, in `offset`
    or in `offset_increment`, is raised to a whole block."""
    job = clone.job
    begin, step = job["offset"], job["offset_increment"]
    shares = [share for share in (begin, step) if isinstance(share, Percent) and share.percent]
    unknown = [share for share in shares if share is begin or clone.number]
    if length is None and unknown:
        name = "offset" if begin in unknown else "offset_increment"
        raise JobFileError(
            job.line(name),
            f"job {job.name} begins at a percentage of a file, and fio's null engine knows how"
            " long a file is from size alone",
            hint=f"write {name} in bytes",
        )
    offset = _bytes_of(begin, length) + clone.number * _bytes_of(step, length)
    grain = int(job["offset_align"] or least_block(clone)) if shares else 1
    return -(-offset // grain) * grain


def _bytes_of(value: int | Percent, length: int | None) -> int:
    return (length or 0) * value.percent // 100 if isinstance(value, Percent) else int(value)


def least_block(clone: Clone) -> int:
    """The smallest block of a job."""
    return min(block.least for block in blocks(clone.job))


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where each file lies on the drive: its first byte."""

    places: dict[str, int]

    def place(self, part: Part) -> tuple[int, int]:
        """A file's first byte, and how long it is for the process."""
        return (0 if part.is_drive else self.places[part.name], part.length)


def layout(parts_by_clone: Sequence[tuple[Clone, Sequence[Part]]], target: Target) -> Layout:
    """Lay the files out one after another on the drive."""
    reach: dict[str, int] = {}
    last: dict[str, Clone] = {}
    for clone, parts in parts_by_clone:
        for part in parts:
            if not part.is_drive:
                reach[part.name] = max(reach.get(part.name, 0), part.length)
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
        places[name] = at
        at += room
    return Layout(places=places)
