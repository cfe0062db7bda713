"""What operating systems do differently: locks of files, signals, processors, memory.

Linux has all of it and is what flashtwin is developed on. macOS lacks some of it, and Windows most:
there simulated drives, stored runs and reports work, and real ones say what they need.
Invariant: nothing else in the package asks which system it runs on, and no module that a simulated
drive takes imports what only Unix has. `tests/test_system.py` runs one without all of that.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flashtwin.errors import ENVIRONMENT, FlashtwinError


def _module(name: str) -> Any:
    """A module of the standard library, or none where this system has it not."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# What only Unix has, and what only Windows has; None elsewhere.
fcntl, resource, pwd, msvcrt = map(_module, ("fcntl", "resource", "pwd", "msvcrt"))

# Flags of `os.open` that a system lacks count nothing there. Windows alone changes line ends
# unless it is told that bytes are bytes.
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)
BYTES = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)

# Whether files can be measured: Windows has neither their locks nor the end of fio with us.
MEASURES = hasattr(os, "fork")

# What asks a program to end.
STOPS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)
)
# Where Windows locks: far behind the last byte of any file, as it locks bytes against readers too.
_LOCKED_BYTE = 1 << 40


def only_on(where: str, doing: str) -> FlashtwinError:
    """The error where something is asked for that this system has not."""
    return FlashtwinError(
        f"{doing} on {where} only",
        hint="simulated drives, stored runs and reports work here too",
        exit_code=ENVIRONMENT,
    )


def lock(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed; false where another process has locked it. A file
    system without locks counts as nobody holding one."""
    if fcntl is None:
        return _lock_on_windows(handle)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def locked_directory(path: Path) -> int | None:
    """A lock on a directory, held while the number is open; none where another process holds it,
    or where a system or a file system has no such locks."""
    if not hasattr(os, "O_DIRECTORY"):
        return None
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def control(handle: int, order: int, about: bytes = b"") -> None:
    """An order to the driver of a device (`ioctl`)."""
    fcntl.ioctl(handle, order, about)


def user() -> int:
    """The number of this process's user; 0 where users have none, as files say there too."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _lock_on_windows(handle: int) -> bool:
    if msvcrt is None:
        return True
    place = os.lseek(handle, 0, os.SEEK_CUR)
    try:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except PermissionError:
        return False
    except OSError:
        return True
    finally:
        os.lseek(handle, place, os.SEEK_SET)
    return True


@contextmanager
def stops_wait() -> Iterator[None]:
    """Signals that ask for the end wait while the block runs, where a system can hold them up."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hear_stops() -> None:
    """Let signals through that the process was begun without."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)


def interrupt_soon() -> None:
    """A signal of Ctrl-C or an alarm to this process, once what calls this has returned."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.001)
    else:
        import threading  # the fewer before a program hears signals, the better

        threading.Timer(0.001, signal.raise_signal, [signal.SIGINT]).start()


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> float:
    """How many processes wanted a processor in the last minute; 0 where nobody counts."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def memory_bytes() -> int | None:
    """The memory of this machine, where it tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
