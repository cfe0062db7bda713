"""Who writes a run directory: a lock on its journal, which ends with the process that holds it.

Whatever ends a process (kill -9, a power cut) ends its lock too, so a run that was killed is never
taken for one under way. The lock is advisory (`flock`): readers need none, and a file system
without locks counts as nobody writing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flashtwin import outputs, system
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.outputs import disk
from flashtwin.runs.storage import MOST_JSON, object_of, read_file

JOURNAL = "steps.jsonl"


def hold(descriptor: int, run: Path) -> None:
    """Lock the journal of a run for as long as its file is open; refused where another process
    has locked it."""
    if not system.lock(descriptor):
        raise FlashtwinError(
            f"another process is writing {run}{_who(run)}",
            hint="wait for it, end it and go on with --resume, or use another --out",
            exit_code=USAGE,
        )


def _who(run: Path) -> str:
    """The process that host.json names, for the message: it may run on another machine."""
    try:
        process = object_of(run / "host.json", read_file(run / "host.json", MOST_JSON))["process"]
    except (FlashtwinError, KeyError):
        return ""
    return f" (process {process})" if isinstance(process, int) else ""


@contextmanager
def holding(folder: Path, name: str) -> Iterator[None]:
    """Lock a file that stands for a whole folder; refused where somebody has it."""
    while True:
        with disk(folder / name, "read"):
            descriptor = os.open(folder / name, os.O_RDONLY | system.NONBLOCK | system.BYTES)
        try:
            hold(descriptor, folder)
            # A former holder of the lock may have replaced the file.
            if _is_still(descriptor, folder / name):
                yield
                return
        finally:
            os.close(descriptor)


def _is_still(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def is_held(run: Path, name: str = JOURNAL) -> bool:
    """Whether some process is writing the run, or has locked another file that stands for it."""
    return outputs.is_locked(run / name)
