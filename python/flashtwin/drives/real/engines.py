"""The engines by which fio reaches a target, best first, by the system that it runs on.

With direct I/O io_uring, libaio and windowsaio keep as many requests outstanding as a job asks for
and go past the system's cache. Whatever is left where the kernel or the file system refuses those
keeps fewer, or measures the cache too; `caveats` says so in the reader's words. What the systems do
is that of fio's sources (engines/windowsaio.c, engines/posixaio.c, os/os-mac.h, os/os-windows.h):
on macOS direct=1 is F_NOCACHE, on Windows only windowsaio has it, as FILE_FLAG_NO_BUFFERING.
Linux's are measured by the tests; the others are tried with a fio that takes their names.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

# The system that fio runs on, by Python's name for it.
SYSTEM = sys.platform
# Requests that macOS lets a process have outstanding (kern.aioprocmax), as it is delivered.
_MAC_DEPTH = 16


@dataclass(frozen=True, kw_only=True)
class Engine:
    """An engine of fio's, whether it goes past the page cache, and the address that it reaches
    instead of a file."""

    name: str
    direct: bool
    uri: str | None = None

    @property
    def asynchronous(self) -> bool:
        """Whether one thread can have more than one request outstanding."""
        always = ("io_uring", "nbd", "posixaio", "windowsaio")
        return self.name in always or (self.name == "libaio" and self.direct)

    @property
    def holds_depth(self) -> bool:
        """Whether it always does: an engine that uses the page cache answers some requests at
        once, and a system's own queue may be shorter than a job's."""
        return self.asynchronous and self.direct and self.name != "posixaio"

    def __str__(self) -> str:
        return f"{self.name}, {'direct' if self.direct else 'buffered'}"


def _engines(direct: str, buffered: str) -> tuple[Engine, ...]:
    engines = [Engine(name=name, direct=True) for name in direct.split()]
    return (*engines, *(Engine(name=name, direct=False) for name in buffered.split()))


LINUX = _engines("io_uring libaio psync", "io_uring psync")
_ENGINES = {
    "linux": LINUX,
    "darwin": _engines("posixaio psync", "posixaio psync"),
    "win32": _engines("windowsaio", "windowsaio sync"),
}


def preferred() -> tuple[Engine, ...]:
    """The engines of this system, best first; a Unix that is not known has macOS's."""
    return _ENGINES.get(SYSTEM, _ENGINES["darwin"])


def caveats(engine: Engine) -> list[str]:
    """Notes on what an engine measures differently than one that goes past every cache and keeps
    every depth."""
    notes, best = [], preferred()[0]
    if engine != best:
        notes.append(f"{best.name} with direct I/O is refused here: fio runs with {engine}")
    if not engine.direct:
        notes.append("without direct I/O the page cache is measured too, and depths are not kept")
    if not engine.asynchronous:
        notes.append(
            "one thread keeps one request outstanding: a random job gets a thread for each request"
            " of its depth, a sequential one runs at depth 1"
        )
    if SYSTEM == "darwin":
        notes += _of_mac(engine)
    return notes


def _of_mac(engine: Engine) -> list[str]:
    notes = []
    if engine.direct:
        notes.append(
            "macOS has no direct I/O: F_NOCACHE keeps nothing new in its cache, and reads of what"
            " is there already do not reach the drive"
        )
    if engine.name == "posixaio":
        notes += [
            f"macOS lets a process have {_MAC_DEPTH} requests outstanding unless kern.aioprocmax"
            " says more: deeper jobs run at that depth",
            "a flush within a job may end in the drive's write cache: posixaio asks for fsync,"
            " which macOS does not pass on to the flash",
        ]
    return notes
