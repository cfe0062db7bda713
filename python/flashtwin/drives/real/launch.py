"""Becomes fio, which then ends when flashtwin does, however flashtwin ends.

A script of its own, started by `real_fio`: `python -I -S launch.py PARENT PROGRAM ARGUMENT...`.
Linux kills a process at its parent's end if the process has asked for that, and keeps the wish when
another program is executed. It does not keep it over a fork: that is why fio's jobs run as threads.
"""

from __future__ import annotations

import os
import signal
import sys

_SET_DEATH_SIGNAL = 1


def become(parent: int, words: list[str]) -> None:
    """Execute the program; returns only if the parent is gone already."""
    if sys.platform == "linux":
        import ctypes

        failed = ctypes.CDLL(None, use_errno=True).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if failed:
            raise OSError(ctypes.get_errno(), "fio would outlive flashtwin")
        # A parent that ended before this call sends no signal: check that it is still the parent.
        if os.getppid() != parent:
            return
    _open_more_files()
    os.execv(words[0], words)


def _open_more_files() -> None:
    """Raise the limit of open files: jobs that are threads share that of one process."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
