"""How much memory there is, and whether a simulated drive fits into it, before it is made.

What is there is the least of what the system has free, of what the control group may still take
(version 1 and 2, and the groups above), and of the process's own limits (RLIMIT_AS, RLIMIT_DATA).
A drive says itself what it takes (`Spec.memory_bytes`). Invariant: nothing here allocates or
touches the memory that it speaks of; what cannot be read about this machine is no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from flashtwin import system
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.units import readable_size

if TYPE_CHECKING:
    from flashtwin._core import Spec

# What a process needs beside its drive: Python, libraries, results in memory, the report.
PROCESS_BYTES = 200 << 20
_PROC, _GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
# A version 1 group without a limit has a number near 2^63 in its place.
_UNLIMITED = 1 << 60


def available_bytes() -> int | None:
    """Memory that this process can still have; none where nothing is known about it."""
    return _least([_free(), *_of_groups(), *_of_process()])


def shared_bytes() -> int | None:
    """Memory that several processes can have together; a limit of a process does not count, as
    each has its own."""
    return _least([_free(), *_of_groups()])


def processes(most: int, drive_bytes: int) -> int:
    """How many processes with such a drive fit side by side; at least one."""
    there = shared_bytes()
    if there is None:
        return most
    return max(min(most, there // (drive_bytes + PROCESS_BYTES)), 1)


def check(spec: Spec, *, beside: int = 0) -> None:
    """Refuse a drive that takes more than there is; `beside` is what else will be taken."""
    there = available_bytes()
    needs = spec.memory_bytes + beside
    if there is not None and needs > there:
        raise refusal(spec, there=there, beside=beside)


def require(count: int, user: str, hint: str) -> None:
    """Refuse what takes more than there is. Drives that are made already count as taken."""
    available = available_bytes()
    if available is not None and count > available:
        raise FlashtwinError(
            f"{user} {readable_size(count, 3)} of memory,"
            f" and {readable_size(available, 3)} are available",
            hint=hint,
            exit_code=ENVIRONMENT,
        )


Built = TypeVar("Built")


def built(make: Callable[[], Built]) -> Built:
    """The value of `make()`; a `MemoryError` becomes an error with a hint."""
    try:
        return make()
    except MemoryError as error:
        raise lacking(error) from error


def refusal(spec: Spec, *, there: int, beside: int = 0) -> FlashtwinError:
    """The error for a drive that does not fit, with the scale at which it would."""
    needed = readable_size(spec.memory_bytes + beside, 3)
    scale = spec.scale_within(max(there - beside, 0))
    hint = f"--scale 1/{scale} fits" if scale else "no scale of this drive fits"
    return FlashtwinError(
        f"{spec.id} takes {needed} of memory to simulate,"
        f" and {readable_size(there, 3)} are available",
        hint=f"{hint}; or end other programs, or raise the limit",
        exit_code=ENVIRONMENT,
    )


def lacking(error: MemoryError) -> FlashtwinError:
    """The error where memory ran out although the estimate said that it would do."""
    return FlashtwinError(
        f"there is not enough memory: {error}" if str(error) else "there is not enough memory",
        hint="take a smaller --scale, fewer processes at once, or raise the limit",
        exit_code=ENVIRONMENT,
    )


def _least(known: Iterable[int | None]) -> int | None:
    return min((max(count, 0) for count in known if count is not None), default=None)


def _free() -> int | None:
    return next(_fields(_PROC / "meminfo", "MemAvailable:", 1024), None)


def _fields(path: Path, name: str, unit: int) -> Iterator[int]:
    """The numbers that follow a name in a file under /proc or /sys."""
    for line in _text(path).splitlines():
        words = line.split()
        if words[:1] == [name] and len(words) > 1 and words[1].isdecimal():
            yield int(words[1]) * unit


def _of_groups() -> Iterable[int | None]:
    """What each control group of this process may still take."""
    for line in _text(_PROC / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _free_bytes(_GROUPS, path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = _GROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _free_bytes(root, path, *names)


def _free_bytes(root: Path, path: str, limit: str, usage: str, reclaimed: str) -> Iterator[int]:
    """For a control group and those above it: the limit minus the use, reclaimable file pages not
    counted."""
    group = root / path.lstrip("/")
    for place in (group, *group.parents):
        if not place.is_relative_to(root):
            return
        most, used = _number(place / limit), _number(place / usage)
        if most is not None and used is not None and most < _UNLIMITED:
            cached = next(_fields(place / "memory.stat", reclaimed, 1), 0)
            yield most - used + min(cached, used)


def _of_process() -> Iterator[int]:
    """What the process's own limits leave of its address space and its data."""
    resource = system.resource
    if resource is None:
        return
    for kind, name in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
        limit, _ = resource.getrlimit(kind)
        used = next(_fields(_PROC / "self" / "status", name, 1024), 0)
        if limit != resource.RLIM_INFINITY:
            yield limit - used


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdecimal() else None


def _text(path: Path) -> str:
    """The text of a file under /proc or /sys; empty where there is none."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
