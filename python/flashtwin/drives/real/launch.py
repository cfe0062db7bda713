"""Becomes fio, which then ends when flashtwin does, however flashtwin ends.

A script of its own, started by `real_fio`: `python -I -S launch.py PARENT PROGRAM ARGUMENT...`.
Linux kills a process at its parent's end if the process has asked for that, and keeps the wish when
another program is executed. It does not keep it over a fork: that is why fio's jobs run as threads.
Elsewhere this script stays beside fio and ends it once its own parent is another.
"""

from __future__ import annotations

import os
import signal
import sys
import time

_SET_DEATH_SIGNAL = 1
# How often the parent and the child are looked at.
_LOOK_S = 0.05


def become(parent: int, words: list[str], system: str = sys.platform) -> None:
    """Execute the program; returns only if the parent is gone already."""
    if system == "linux":
        import ctypes

        failed = ctypes.CDLL(None, use_errno=True).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if failed:
            raise OSError(ctypes.get_errno(), "fio would outlive flashtwin")
        # A parent that ended before this call sends no signal: check that it is still the parent.
        if os.getppid() != parent:
            return
    _open_more_files()
    child = 0 if system == "linux" else os.fork()
    if child == 0:
        os.execv(words[0], words)
    _wait_beside(child, parent)


def _wait_beside(child: int, parent: int) -> None:
    """Wait for a child's end and end as it did; end it where the parent is gone. Signals to the
    group are the child's to answer."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    pid = status = 0
    while not pid:
        pid, status = os.waitpid(child, os.WNOHANG)
        if not pid:
            if os.getppid() != parent:
                os.kill(child, signal.SIGKILL)
            time.sleep(_LOOK_S)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _open_more_files() -> None:
    """Raise the limit of open files: jobs that are threads share that of one process."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    become(int(sys.argv[1]), sys.argv[2:])
