"""Becomes fio, which then ends when flashtwin does, however flashtwin ends.

A script of its own, started by `real_fio`: `python -I -S launch.py PARENT PROGRAM ARGUMENT...`.
Linux kills a process at its parent's end if the process has asked for that, and keeps the wish when
another program is executed. It does not keep it over a fork: that is why fio's jobs run as threads.
Elsewhere PARENT is `-`, and this script stays beside fio: its input is a pipe that flashtwin holds
and never writes to, so that it ends with flashtwin or when flashtwin wants fio to end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

_SET_DEATH_SIGNAL = 1
# The group may be sent these, and fio alone is to answer them.
_OF_FIO = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGBREAK")


def become(parent: int, words: list[str]) -> None:
    """Execute the program; returns only if the parent is gone already."""
    import ctypes

    failed = ctypes.CDLL(None, use_errno=True).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if failed:
        raise OSError(ctypes.get_errno(), "fio would outlive flashtwin")
    # A parent that ended before this call sends no signal: check that it is still the parent.
    if os.getppid() == parent:
        _open_more_files()
        os.execv(words[0], words)


def watch_over(words: list[str]) -> None:
    """Run the program until it ends, or our input does, and end as it did."""
    _open_more_files()
    # Before fio is there to be sent one. What is heard here is no wish that it inherits, as one to
    # ignore a signal would be.
    for name in _OF_FIO:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: None)
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, close_fds=False)
    threading.Thread(target=_kill_at_end, args=(child,), daemon=True).start()
    code = child.wait()
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    # Windows has codes that are no int of C's.
    os._exit(code if code < 1 << 31 else code - (1 << 32))


def _kill_at_end(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1):
        pass
    child.kill()


def _open_more_files() -> None:
    """Raise the limit of open files: jobs that are threads share that of one process."""
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    if sys.argv[1] == "-":
        watch_over(sys.argv[2:])
    else:
        become(int(sys.argv[1]), sys.argv[2:])
