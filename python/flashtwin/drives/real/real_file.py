"""The file that stands for a drive: made by us, never anything that was there before, and removed.

Invariants: the file is created exclusively and only in a place that held nothing; what is removed
is the very file that was created (device and inode agree), by the process that made it, also when
that ends through an exception or a signal but SIGKILL. It stays open until then, and fio opens what
is open here (`OwnFile.link`): whoever puts another file into its place is not written to. A kill -9
leaves it, which is why its path is printed at the start.

Whose file that is: it bears two marks, extended attributes. One is a random name of its own, which
the run's host.json repeats; the other is the run's directory, by device and inode (`claim`). A copy
of a run has the first and lies elsewhere, so that it neither takes the file over nor removes it;
`adopt` moves the claim. Whoever measures or removes the file holds a lock on it (`flock`), which
ends with the process.

On Windows an open file keeps its path, so that fio may open it by that, and is closed before it is
removed. Paths that Windows or its fio would read otherwise are refused (`unfit`).
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import re
import secrets
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from types import FrameType
from typing import Any

from flashtwin import outputs, system
from flashtwin.errors import ENVIRONMENT, REFUSED, USAGE, FlashtwinError
from flashtwin.model.units import readable_size

# In a directory that the user names, our file has this name, so that it can be found and told.
NAME = "flashtwin-target.bin"

# Room that the file system keeps for itself beside the file: its own blocks, and the logs.
MARGIN_BYTES = 16 << 20

# A file whose size nobody says leaves this share of its file system free, a tenth, and no less than
# this; a smaller file than the last is not made.
RESERVE_SHARE, RESERVE_BYTES, LEAST_BYTES = 10, 1 << 30, 64 << 20

DEVICES = Path("/dev")

# Names that are devices in every directory of Windows, with any suffix.
_RESERVED = re.compile(
    r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])(\..*)?"
)

_ATTRIBUTE, _CLAIM = "user.flashtwin", "user.flashtwin.run"

# File systems between a file and its drive, and what that does to a measurement.
_SYSTEMS = (
    (("tmpfs", "ramfs"), "which is in memory: no drive is measured"),
    (
        ("btrfs", "zfs", "bcachefs", "nilfs2", "f2fs"),
        "which writes changed blocks to new places and may compress them: the drive gets other"
        " requests than the test makes",
    ),
    (("overlay", "aufs"), "a layer over another file system, which is measured too"),
    (
        ("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph", "gfs2", "ocfs2"),
        "which is another machine's: its caches and the way there are measured too",
    ),
    (("ecryptfs",), "which encrypts in the processor: that is measured too"),
)

_KINDS: tuple[tuple[Callable[[int], bool], str, str], ...] = (
    (stat.S_ISLNK, "a symbolic link", "name what it leads to"),
    (stat.S_ISBLK, "a block device, and its data would be lost", "name a directory on it"),
    (stat.S_ISCHR, "a character device", "name a directory on the drive to test"),
    (stat.S_ISREG, "a file that is there already", "name a directory, or a file to be made"),
)


@dataclass(frozen=True, kw_only=True)
class OwnFile:
    """A file that flashtwin made: its path, its identity (device and inode), and the process
    that made it. `handle` is open in that process until the file is removed."""

    path: Path
    device: int
    inode: int
    process: int
    handle: int

    @property
    def link(self) -> str:
        """A path that leads a child with the inherited `handle` to the file, whatever lies at
        its own path by now."""
        descriptor_path = f"/proc/self/fd/{self.handle}"
        return descriptor_path if os.path.exists(descriptor_path) else str(self.path.absolute())

    def is_there(self) -> bool:
        """Whether the path still leads to the file that we made."""
        try:
            about = os.lstat(self.path)
        except OSError:
            return False
        same = (about.st_dev, about.st_ino) == (self.device, self.inode)
        return same and stat.S_ISREG(about.st_mode)


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """The file of a run that may have been killed, as `left_behind` wrote it down.

    `mark` is what the file bears as an extended attribute: a path and an inode prove nothing, as
    both are given out again. Without one, where the file system has no such attributes, the file
    is not known again. `run` is the directory of the run that asks for it.
    """

    path: Path
    size_bytes: int
    mark: str | None
    run: Path

    @classmethod
    def of(cls, row: Mapping[str, Any], run: Path) -> Leftover:
        """The file that a row of host.json names, for the run that asks for it."""
        path, size_bytes = Path(row["path"]), int(row["size_bytes"])
        return cls(path=path, size_bytes=size_bytes, mark=row["mark"], run=run)

    @property
    def is_there(self) -> bool:
        """Whether the path leads to the file that was written down, whosever run it belongs to."""
        return self.mark is not None and _mark_of(self.path) == self.mark

    @property
    def is_ours(self) -> bool:
        """Whether the file is there and belongs to the run that asks, and not to a copy of it."""
        return self.is_there and system.attribute(self.path, _CLAIM) == _identity(self.run)

    def leads_to(self, handle: int) -> bool:
        """Whether the path still leads to a file that was opened there."""
        try:
            return os.path.samestat(os.lstat(self.path), os.fstat(handle))
        except OSError:
            return False


# No link, no pipe is opened, and no child inherits what is.
_OPENS = system.NOFOLLOW | system.NONBLOCK | system.BYTES

_Handler = Callable[[int, FrameType | None], None] | signal.Handlers

# What ends a process that does not listen, of which it can still tidy up.
_DEADLY = tuple(number for number in system.STOPS if number is not signal.SIGINT)

_open_files: set[OwnFile] = set()
# A signal may come while it is held, and its handler ends in `remove`.
_lock = threading.RLock()


def place(path: Path, *, was_ours: bool = False) -> Path:
    """The path where the file would be made; refused where flashtwin may not write. `was_ours`: a
    run that is resumed had its file there."""
    if not system.UNIX and (reason := unfit(PureWindowsPath(path.absolute()))):
        hint = "name a directory on the drive to test, in plain letters"
        raise FlashtwinError(f"{path} {reason}", hint=hint, exit_code=REFUSED)
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return _in_directory(path)
    except OSError as error:
        raise _failed(path, error) from error
    if stat.S_ISDIR(mode):
        return place(path / NAME, was_ours=was_ours)
    kind, hint = next(
        ((kind, hint) for is_kind, kind, hint in _KINDS if is_kind(mode)),
        ("not a regular file", "name a directory on the drive to test"),
    )
    if stat.S_ISLNK(mode):
        hint = f"name what it leads to: {os.path.realpath(path)}"
    if stat.S_ISREG(mode) and (path.name == NAME or _mark_of(path)):
        hint = f"a run that was killed may have left it: go on with --resume, or rm {path}"
        if outputs.is_locked(path):
            hint = "another process is measuring it: wait for that, or name another place"
    if was_ours and stat.S_ISREG(mode):
        hint = f"it does not bear the run's mark; if the run left it, remove {path} and resume"
    raise FlashtwinError(f"{path} is {kind}", hint=hint, exit_code=REFUSED)


def unfit(path: PureWindowsPath) -> str | None:
    """Why no file is made at a path of Windows': it names something else, or fio reads it as
    another one."""
    below = path.parts[1:] if path.anchor else path.parts
    if str(path).startswith(("\\\\.\\", "\\\\?\\")):
        return "names a device, and devices are measured on Linux alone"
    if any(_RESERVED.fullmatch(part.rstrip(" .").split(":")[0]) for part in below):
        return "names a device of Windows"
    if any(":" in part for part in below):
        return "names a stream of another file"
    if not str(path).isascii() or set("$;#") & set(str(path)):
        return "has letters that fio does not take there: $ ; # and all but ASCII"
    return None


def name_for_fio(path: Path) -> str:
    """A path as fio takes it for a file's name: it splits them at colons that have no stroke."""
    return str(path.absolute()).replace(":", "\\:")


def _in_directory(path: Path) -> Path:
    if not path.parent.is_dir():
        raise FlashtwinError(
            f"{path.parent} is not a directory",
            hint="make it, or name a directory on the drive to test",
            exit_code=USAGE,
        )
    if _among_devices(path.parent):
        raise FlashtwinError(
            f"there is no device {path}, and a file there would lie in memory",
            hint="name a directory on the drive to test",
            exit_code=REFUSED,
        )
    return path


def _among_devices(directory: Path) -> bool:
    """Whether a path lies under /dev, where regular files do not belong; /dev/shm is made for
    them."""
    place = directory.resolve()
    return place.is_relative_to(DEVICES) and not place.is_relative_to(DEVICES / "shm")


def check_space(path: Path, size_bytes: int) -> None:
    """Refuse when the file system has no room for the file."""
    free = shutil.disk_usage(path.parent).free
    missing = size_bytes + MARGIN_BYTES - free
    if missing > 0:
        raise FlashtwinError(
            f"{path.parent} has {readable_size(free)} free: {readable_size(missing, 3)} are missing"
            f" for a file of {readable_size(size_bytes)}",
            hint="give a smaller --size, or free some space",
            exit_code=ENVIRONMENT,
        )


def room_in(directory: Path) -> int:
    """Bytes of a file that leaves a reserve free in a directory's file system: what lies beside it
    goes on to need room, and a drive that is full to its last byte is slow by that."""
    room = shutil.disk_usage(directory)
    free, reserve = room.free, max(room.total // RESERVE_SHARE, RESERVE_BYTES)
    if free - reserve < LEAST_BYTES:
        raise FlashtwinError(
            f"{directory} has {readable_size(free)} free, and {readable_size(reserve)} stay free",
            hint="free some space, or say with --size how large the file is to be",
            exit_code=ENVIRONMENT,
        )
    return free - reserve


def remains(path: Path) -> Path | None:
    """The file that a killed run left at a path or in a directory, which nobody measures now; none
    where it does not bear our mark."""
    place = path / NAME if path.is_dir() else path
    is_file = place.is_file() and not place.is_symlink()
    return place if is_file and _mark_of(place) and not outputs.is_locked(place) else None


def remove_remains(place: Path) -> None:
    """Remove what a killed run left; refused where somebody measures it or it is no longer ours."""
    handle = os.open(place, os.O_RDONLY | _OPENS)
    try:
        _lock_file(handle, place)
        if _mark_of(handle) is None or not os.path.samestat(os.lstat(place), os.fstat(handle)):
            raise FlashtwinError(
                f"{place} is not a file of flashtwin's",
                hint="remove it yourself if nothing needs it",
                exit_code=REFUSED,
            )
    except BaseException:
        os.close(handle)
        raise
    system.remove_open(place, handle)


def file_system(path: Path) -> tuple[str, str]:
    """The type of the file system that a file lies on, and its options; which one it is would name
    the host."""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return "unknown", ""
    place, nearest, about = path.resolve(), -1, ("unknown", "")
    for line in lines:
        before, _, after = line.partition(" - ")
        # /proc/mounts writes blanks of a mount point in octal.
        mount = Path(before.split()[4].encode().decode("unicode_escape"))
        if place.is_relative_to(mount) and len(mount.parts) >= nearest:
            nearest, about = len(mount.parts), (after.split()[0], after.split()[-1])
    return about


def remarks(file: OwnFile) -> list[str]:
    """Notes on how a file system changes a measurement in a file of it, and where it keeps no mark
    by which a killed run's file is found again."""
    kind, options = file_system(file.path)
    notes = [f"the file lies on {kind}, {words}" for kinds, words in _SYSTEMS if kind in kinds]
    if kind.startswith("fuse"):
        notes.append(f"the file lies on {kind}, which a program answers: it is measured too")
    if re.search(r"\bcompress(-force)?=(?!no\b)", options):
        notes.append("the file system compresses: data that can be made smaller write less")
    if _mark_of(file.handle) is None:
        where = "this file system" if kind == "unknown" else kind
        notes.append(
            f"{where} keeps no mark on the file: what a killed run leaves is not found again, and"
            f" {file.path.name} has to be removed by hand"
        )
    return notes


def create(path: Path, size_bytes: int) -> OwnFile:
    """Make the file, a hole of its full size; from now on it goes when the process does."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _OPENS
    with _lock:
        try:
            handle = os.open(path, flags, 0o600)
        except FileExistsError as error:
            raise FlashtwinError(
                f"{path} is there already",
                hint="give the name of a file that is not there yet",
                exit_code=REFUSED,
            ) from error
        except OSError as error:
            raise _failed(path, error) from error
        file = _hold(path, handle)
    try:
        _lock_file(handle, path)
        _mark(handle)
        system.set_length(handle, size_bytes)
    except OSError as error:
        remove(file)
        raise _failed(path, error) from error
    _catch_signals()
    return file


def _hold(path: Path, handle: int) -> OwnFile:
    """Keep the open file in the list of those that are removed when the process ends."""
    there = os.fstat(handle)
    file = OwnFile(
        path=path, device=there.st_dev, inode=there.st_ino, process=os.getpid(), handle=handle
    )
    if not _open_files:
        atexit.register(remove_all)
    _open_files.add(file)
    return file


def left_behind(file: OwnFile, size_bytes: int) -> dict[str, object]:
    """What is needed to find the file again after this process was killed; see `Leftover`."""
    return {
        "path": str(file.path.absolute()),
        "size_bytes": size_bytes,
        "mark": _mark_of(file.handle),
    }


def claim(file: OwnFile, run: Path) -> None:
    """Say in the file which run directory it belongs to; nothing where it cannot be said."""
    with contextlib.suppress(OSError):
        system.set_attribute(file.handle, _CLAIM, _identity(run))


def adopt(leftovers: Sequence[Leftover]) -> list[Path]:
    """Give the files of a run to the directory that asks for them, such as a copy or a run that
    was moved to another file system; the answer is their paths. A file that is gone is left out.
    Refused, before any changes hands, where all are gone or somebody measures one of them."""
    with ExitStack() as leaving:
        locked: list[tuple[Leftover, int]] = []
        for leftover in leftovers:
            if (handle := _locked(leftover)) is not None:
                leaving.callback(os.close, handle)
                locked.append((leftover, handle))
        if leftovers and not locked:
            first = leftovers[0]
            raise FlashtwinError(
                f"{first.path} is not there, or is not the file that {first.run} measured",
                hint="there is nothing to adopt: the run goes on with --resume on a file of its"
                " own",
                exit_code=USAGE,
            )
        for leftover, handle in locked:
            try:
                system.set_attribute(handle, _CLAIM, _identity(leftover.run))
            except OSError as error:
                raise _failed(leftover.path, error) from error
        return [leftover.path for leftover, _ in locked]


def _identity(run: Path) -> str:
    """A directory as no other is at the same time: its device and its inode."""
    try:
        about = os.stat(run)
    except OSError:
        return ""
    return f"{about.st_dev:x}:{about.st_ino:x}"


def _lock_file(handle: int, path: Path) -> None:
    """Lock the file while it is measured or removed; refused where another process measures it."""
    if not system.lock(handle):
        raise FlashtwinError(
            f"another process is measuring {path}",
            hint="wait for it, or end it",
            exit_code=REFUSED,
        )


def _locked(leftover: Leftover) -> int | None:
    """The file that was written down, open and locked; none if it is not there."""
    handle = _opened(leftover)
    if handle is None:
        return None
    try:
        _lock_file(handle, leftover.path)
        # Whoever held the lock until now may have removed the file.
        if leftover.leads_to(handle):
            return handle
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _opened(leftover: Leftover) -> int | None:
    """The file that was written down, open; none if it is not there."""
    try:
        if not stat.S_ISREG(os.lstat(leftover.path).st_mode):
            return None
        handle = os.open(leftover.path, os.O_RDWR | _OPENS)
    except OSError:
        return None
    about = os.fstat(handle)
    is_same = leftover.mark is not None and _mark_of(handle) == leftover.mark
    if is_same and stat.S_ISREG(about.st_mode) and about.st_size == leftover.size_bytes:
        return handle
    os.close(handle)
    return None


def take_over(leftover: Leftover) -> OwnFile | None:
    """Take over the file that a killed run left; none if it is not there. Another file at that
    path is refused by `place`, not here. Refused too: a file that another process measures, and
    one that belongs to another directory than the run's, of which this one is a copy."""
    with _lock:
        handle = _locked(leftover)
        if handle is None:
            return None
        try:
            if system.attribute(handle, _CLAIM) != _identity(leftover.run):
                raise FlashtwinError(
                    f"{leftover.path} belongs to another directory than {leftover.run}, which is"
                    " a copy of that run or was moved to another file system",
                    hint=f"flashtwin runs adopt {leftover.run} makes it that of this directory",
                    exit_code=REFUSED,
                )
        except BaseException:
            os.close(handle)
            raise
        file = _hold(leftover.path, handle)
    _catch_signals()
    return file


def _mark(handle: int) -> None:
    """Give a new file a mark that no other file has; not every file system can keep one."""
    with contextlib.suppress(OSError):
        system.set_attribute(handle, _ATTRIBUTE, secrets.token_hex(16))


def _mark_of(file: Path | int) -> str | None:
    return system.attribute(file, _ATTRIBUTE)


def remove(file: OwnFile) -> None:
    """Remove the file if it is still ours; a second call does nothing."""
    with _lock:
        if file in _open_files:
            is_ours = file.process == os.getpid() and file.is_there()
            _open_files.discard(file)
            if is_ours:
                system.remove_open(file.path, file.handle)
            else:
                os.close(file.handle)
        if not _open_files:
            _let_signals_go()


def remove_all() -> None:
    """Remove whatever is left, as the process ends."""
    for file in list(_open_files):
        remove(file)


def _catch_signals() -> None:
    """Die of these signals as before, but not without cleaning; other handlers stay."""
    _exchange(signal.SIG_DFL, _dying)


def _let_signals_go() -> None:
    """Restore the former signal handlers: no file is open any more."""
    _exchange(_dying, signal.SIG_DFL)


def _exchange(old: _Handler, new: _Handler) -> None:
    # Only the main thread may do so; elsewhere `close` and atexit have to do.
    if threading.current_thread() is threading.main_thread():
        for number in _DEADLY:
            if signal.getsignal(number) is old:
                signal.signal(number, new)


def _dying(number: int, frame: FrameType | None) -> None:
    # An exception, so that whoever runs fio ends it first; atexit then removes the file.
    raise SystemExit(128 + number)


def _failed(path: Path, error: OSError) -> FlashtwinError:
    lacking = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC)
    hint = "name a directory that you may write to" if lacking else None
    if error.errno in (errno.EFBIG, errno.EDQUOT):
        hint = "give a smaller --size: FAT takes files below 4 GiB, ulimit -f and quotas bound them"
    return FlashtwinError(
        f"{path} cannot be made: {error.strerror}",
        hint=hint,
        exit_code=ENVIRONMENT if hint else USAGE,
    )
