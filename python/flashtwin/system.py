"""What operating systems do differently: open files and their locks, children, signals, processors.

Linux has all of it and is what flashtwin is developed on. macOS lacks some of it, and Windows most:
there simulated drives, files, stored runs and reports work, and devices say what they need.
Invariant: nothing else but `drives.real.engines` asks which system it runs on, and no module that a
simulated drive or a file takes imports what only Unix has. `tests/test_system.py` measures both
without all of that.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import mmap
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
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

# Windows gives a child no descriptors and makes links for administrators alone. It removes no file
# that is open, nor lets anybody rename it.
UNIX = hasattr(os, "fork")

# What asks a program to end; Ctrl-Break and the closing of its window are SIGBREAK on Windows.
STOPS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK")
    if hasattr(signal, name)
)
# What an alarm of `end_after` sends, where a system has alarms.
ALARM: int | None = getattr(signal, "SIGALRM", None)
# What nothing outlives; Windows ends a program at once by SIGTERM too.
KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)
# Where Windows locks: behind the last byte of any file that we open, as it locks bytes against
# readers too, and before the last that any file system counts to.
_LOCKED_BYTE = 15 << 40
# For how long a file of Windows' may be open elsewhere before it is removed: scanners read what
# was written.
_SCANNED_S, _SCANNING_S = 5.0, 0.1
# For how long busy threads look at what they get of the processors, and what they hash meanwhile.
_LOOKS_S, _HASHED_BYTES = 0.1, 1 << 17


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


def set_length(handle: int, size_bytes: int) -> None:
    """Give an open file its length and write nothing to it."""
    if msvcrt is None:
        os.ftruncate(handle, size_bytes)
        return
    # Python's own would write zeros there.
    os.lseek(handle, size_bytes, os.SEEK_SET)
    windows = importlib.import_module("ctypes")
    file = windows.c_void_p(msvcrt.get_osfhandle(handle))
    if not windows.windll.kernel32.SetEndOfFile(file):
        raise windows.WinError()


def remove_open(path: Path, handle: int) -> None:
    """Remove a file that is open here and close it: in this order, so that its lock is held until
    it is gone, where a system removes open files."""
    if UNIX:
        try:
            os.unlink(path)
        finally:
            os.close(handle)
        return
    os.close(handle)
    until_s = time.monotonic() + _SCANNED_S
    while True:
        try:
            os.unlink(path)
            return
        except PermissionError:
            if time.monotonic() > until_s:
                raise
        time.sleep(_SCANNING_S)


def read_at(handle: int, count: int, at: int) -> bytes:
    """Bytes of an open file from a place on, fewer at its end; its own place stays as it was."""
    if UNIX:
        return os.pread(handle, count, at)
    with _place_of(handle, at):
        return os.read(handle, count)


def write_at(handle: int, data: bytes, at: int) -> int:
    """Write to a place of an open file; the answer is how much of it was written."""
    if UNIX:
        return os.pwrite(handle, data, at)
    with _place_of(handle, at):
        return os.write(handle, data)


@contextmanager
def _place_of(handle: int, at: int) -> Iterator[None]:
    before = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, at, os.SEEK_SET)
    try:
        yield
    finally:
        os.lseek(handle, before, os.SEEK_SET)


def sync_data(handle: int) -> None:
    """What was written to a file is on the disk, its times perhaps not."""
    getattr(os, "fdatasync", os.fsync)(handle)


def attribute(file: Path | int, name: str) -> str | None:
    """An extended attribute of an open file, or of what lies at a path, links themselves included;
    none where it has none, or where Python has no such attributes."""
    try:
        return os.getxattr(file, name, follow_symlinks=isinstance(file, int)).decode(
            errors="replace"
        )
    except (OSError, AttributeError):
        return None


def set_attribute(handle: int, name: str, value: str) -> None:
    """Give an open file an extended attribute; `OSError` where it takes none."""
    if not hasattr(os, "setxattr"):
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    os.setxattr(handle, name, value.encode())


def be_like(handle: int, owner: int, group: int, mode: int) -> None:
    """Give an open file an owner, as far as this user may, and a mode, where a system has them."""
    if UNIX:
        with suppress(PermissionError):
            os.fchown(handle, owner, group)
        os.fchmod(handle, mode)


def number_of(device: int) -> str:
    """A device's number as /sys has it; "" on a system without them."""
    return f"{os.major(device)}:{os.minor(device)}" if hasattr(os, "major") else ""


def reach_flash(handle: int) -> None:
    """Have what was written to a file reach the flash under it."""
    # macOS's fsync ends in the drive's write cache; only it has the other one.
    order = getattr(fcntl, "F_FULLFSYNC", None)
    if order is None:
        os.fsync(handle)
    else:
        fcntl.fcntl(handle, order)


def apart(inherited: Sequence[int] = ()) -> dict[str, Any]:
    """How `subprocess` starts a child that no Ctrl-C of our terminal reaches, and that inherits
    open files where a system gives them on."""
    if UNIX:
        return {"start_new_session": True, "pass_fds": tuple(inherited)}
    return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}


def signal_group(child: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a child that was started `apart`, and to its own children. Windows has but
    Ctrl-Break for all of them; anything else ends the child."""
    if UNIX:
        os.killpg(child.pid, number)
        return
    polite = getattr(signal, "CTRL_BREAK_EVENT", KILL)
    child.send_signal(KILL if number == KILL else polite)


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


def end_after(seconds: float) -> None:
    """End this process by `ALARM` after a time, where a system has alarms."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def signal_self(number: int) -> None:
    """Send this process a signal that its main thread hears."""
    # os.kill would end it at once on Windows; elsewhere raise_signal is for the thread at hand.
    os.kill(os.getpid(), number) if UNIX else signal.raise_signal(number)


def interrupt_soon() -> None:
    """A signal of Ctrl-C or an alarm to this process, once what calls this has returned."""
    if ALARM is not None:
        end_after(0.001)
    else:
        threading.Timer(0.001, signal.raise_signal, [signal.SIGINT]).start()


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share_of_processors(threads: int) -> float:
    """The share of a processor that each of some busy threads of this process gets just now, at
    most 1: whatever else runs here, at whatever priority, takes the rest."""
    block = bytes(_HASHED_BYTES)
    began_s, began_used_s = time.monotonic(), time.process_time()
    until_s = began_s + _LOOKS_S

    def work() -> None:
        # Hashing leaves Python to the other threads.
        while time.monotonic() < until_s:
            hashlib.sha256(block).digest()

    others = [threading.Thread(target=work) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        thread.join()
    used_s, elapsed_s = time.process_time() - began_used_s, time.monotonic() - began_s
    return min(used_s / (elapsed_s * threads), 1.0)


def page_bytes() -> int:
    """A page of this machine's memory."""
    return mmap.PAGESIZE


def memory_bytes() -> int | None:
    """The memory of this machine, where it tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
