"""Preparation without time: what a twin's firmware writes alone, where no battery looks.

The way is how a run's preparation was asked for: in its time, as a host writes; without time; or
without it where the drive's state does not depend on time ("auto"). Invariants: what is measured is
never written without time; a drive that would be another is refused where it was asked for by name,
and prepared in its time, with a note, where it was left to us.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flashtwin import _core
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.job import Job, ReadWrite, jobs_json

TIMED, UNTIMED, AUTO = WAYS = ("timed", "untimed", "auto")
# What the manifest's `identity` says of it, and a step that was written so.
KEY = "preparation"
NOTE = "written without time, by the firmware alone"
# The rest of a range that is no whole block is written in units of the map of this size.
SMALL_BYTES = 4096
# How files are laid out, and the one sample of it that nobody looks at.
BLOCK_BYTES, DEPTH, MOST_NS = 1 << 20, 8, 1 << 62


def check_way(way: str) -> None:
    """Refuse a word that names no way to prepare a drive."""
    if way not in WAYS:
        raise FlashtwinError(
            f"there is no way {way!r} to prepare a drive",
            hint=f"there are {', '.join(WAYS)}",
            exit_code=USAGE,
        )


def is_untimed(spec: _core.Spec, way: str) -> bool:
    """Whether the twin of a spec is prepared without time."""
    check_way(way)
    why = spec.precondition_refusal(False)
    if way == UNTIMED and why is not None:
        raise refusal(spec, why, "leave the choice to auto, or prepare it in its time (timed)")
    return way != TIMED and why is None


def note_of(spec: _core.Spec, way: str) -> str | None:
    """The note for a drive that is prepared in its time although `auto` was asked for."""
    why = spec.precondition_refusal(False)
    if way != AUTO or why is None:
        return None
    return f"it is prepared in its time: {why}"


def refusal(spec: _core.Spec, why: str, hint: str) -> FlashtwinError:
    """The error for a drive whose state depends on time."""
    message = f"{spec.id} cannot be prepared without time: {why}"
    return FlashtwinError(message, hint=hint, exit_code=USAGE)


def lay_out(
    core: _core.Twin,
    spec: _core.Spec,
    parts: Sequence[tuple[int, int]],
    watch: Callable[[int, int], bool],
) -> None:
    """Write parts of a drive, each by its first byte and its length: without time where the
    drive's state does not depend on it. Raises `_core.Stopped` where the watch says stop."""
    timed = spec.precondition_refusal(False) is not None
    for offset, size in parts:
        for job in fill_jobs(offset, size, BLOCK_BYTES, DEPTH):
            if timed or not is_whole_units(job, spec.map_unit_bytes):
                core.run(jobs_json([job]), MOST_NS, watch)
            else:
                core.lay_out(jobs_json([job]), watch)


def fill_jobs(offset: int, size: int, block_bytes: int, depth: int) -> list[Job]:
    """One sequential pass: whole blocks, then what is left in units of the map."""
    whole_blocks = size // block_bytes * block_bytes
    parts = [
        (offset, whole_blocks, block_bytes),
        (offset + whole_blocks, size - whole_blocks, SMALL_BYTES),
    ]
    return [
        writing(at, length // block * block, block, depth=depth)
        for at, length, block in parts
        if length >= block
    ]


def writing(
    offset: int,
    size: int,
    block_bytes: int,
    *,
    rw: ReadWrite = "write",
    depth: int = 1,
    io_bytes: int | None = None,
    seed: int = 1,
) -> Job:
    """A job that writes for preparation."""
    return Job(
        name="prepare",
        rw=rw,
        block_bytes=block_bytes,
        depth=depth,
        offset=offset,
        size=size,
        io_bytes=io_bytes,
        seed=seed,
    )


def is_whole_units(job: Job, unit_bytes: int) -> bool:
    """Whether a job writes nothing but whole units of the map."""
    return not any(number % unit_bytes for number in (job.offset, job.size or 0, job.block_bytes))
