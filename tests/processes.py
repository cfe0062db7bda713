"""Processes that tests start: which of them run, what they have started, and waiting for them.

A process that has ended but that its parent has not collected yet (states Z and X) does not run.
Where the parent was killed, it stays so until init collects it, and a container may have no init.
It has ended when all its threads have: until then the files that it had opened stay locked.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def lives(pid: int) -> bool:
    """Whether a process runs."""
    return _runs(Path(f"/proc/{pid}"))


def group_lives(group: int) -> bool:
    """Whether any process of a group runs."""
    return any(_runs(process, group) for process in Path("/proc").glob("[0-9]*"))


def children(pid: int) -> list[int]:
    """The processes that one has started from any of its threads; none if it has ended."""
    pids: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            pids += map(int, task.read_text().split())
    return pids


def wait_for(what: Callable[[], bool], patience_s: float = 60) -> bool:
    """Whether something came true in time."""
    until = time.monotonic() + patience_s
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def reached(process: subprocess.Popen[str], is_there: Callable[[], bool]) -> None:
    """Wait until a program has come to something; what it said is the failure where it ends
    before."""
    wait_for(lambda: is_there() or process.poll() is not None)
    assert is_there(), process.communicate()


def _runs(process: Path, group: int | None = None) -> bool:
    """Whether the process of a /proc/PID runs and belongs to the group, if one is given."""
    for stat in process.glob("task/*/stat"):
        # A thread may end meanwhile.
        with suppress(OSError):
            # The command's name stands in brackets and may itself hold brackets and spaces.
            state, _parent, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if state not in "ZX" and group in (None, int(its_group)):
                return True
    return False
