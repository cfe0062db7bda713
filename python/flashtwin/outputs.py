"""The one place that opens a file for writing: what a command makes appears whole, or not at all.

Invariants:

- Only files are written. A device, a FIFO, a socket or a directory in the way is refused with exit
  code 4; it is neither opened nor replaced.
- A file is written beside its place under a name of its own, and renamed when it is whole. Until
  then the old file is there; a full disk, an error or Ctrl-C leaves nothing behind. Of several
  files none is renamed before all are whole. The old file's mode and owner are kept; a new file
  gets what the umask leaves.
- A path that somebody typed may lie anywhere, and a symbolic link there is followed: the file that
  it names is replaced, the link stays. It may not be part of a stored run.
- A name that comes from a job file, a spec or a run stays `within` its directory: no absolute path,
  no `..`, no symbolic link, no control character.

Outside stay the journal of a run, which grows line by line, lock files, and the file that a
measurement is made in (`drives.real.real_file`); `tests/test_tidy.py` has the list.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from flashtwin import system
from flashtwin.errors import ENVIRONMENT, REFUSED, USAGE, FlashtwinError

UNFINISHED = ".new"
# Most file systems take names of 255 bytes.
LONGEST_NAME_BYTES = 255
_LONGEST_STEM_BYTES = 200
_MOST_LINKS = 40
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link",
}
# The page of a report has the same rule, for its CSV files.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%?", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# What makes a folder a stored run, several runs or a sweep, and what else is theirs in it.
_STORED = ("steps.jsonl", "steps.tables", "plan.json", "sweep.json")
_FILES_OF_A_RUN = ("manifest.json", "findings.json", "host.json", "summary.json")
_OF_A_RUN = (*_STORED, *_FILES_OF_A_RUN, "failures.json", "table.csv")
_FOLDERS_OF_A_RUN = ("parts", "smart", "points")

Data = bytes | str
# Where flashtwin keeps what it can make again, or that it keeps nothing.
CACHE, CACHE_OFF = "FLASHTWIN_CACHE", "off"


def cache_folder() -> Path | None:
    """Where FLASHTWIN_CACHE says, else in the user's cache directory; none if it is off or the
    user has no home."""
    directory = os.environ.get(CACHE, "")
    if directory.strip().lower() == CACHE_OFF:
        return None
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(directory or f"{home}/flashtwin").expanduser()
    except RuntimeError as error:
        if not directory:
            # A user without a home, as in a container, has nowhere to keep anything.
            return None
        raise FlashtwinError(
            f"{CACHE}={directory}: {error}",
            hint="give it a folder by its whole path",
            exit_code=USAGE,
        ) from error


def write(
    path: Path,
    data: Data,
    *,
    within: Path | None = None,
    durable: bool = False,
    folders: bool = False,
) -> None:
    """Write one file; see `write_all`."""
    write_all({path: data}, within=within, durable=durable, folders=folders)


def write_all(
    files: Mapping[Path, Data],
    *,
    within: Path | None = None,
    durable: bool = False,
    folders: bool = False,
) -> None:
    """Write files, all of them or none.

    Text is written as UTF-8; a half of a character that cannot be is written as its escape.
    `within`: the directory that the names may not leave, where nobody typed them. `durable`: they
    are on the disk when this returns, as far as the disk tells the truth. `folders`: missing
    directories are made, and removed again where the files cannot be written.
    """
    with ExitStack() as cleaning:
        parts = [_Part(path, within, cleaning) for path in files]
        _refuse_twins(parts)
        for folder in dict.fromkeys(path.parent for path in files) if folders else ():
            _make(folder, cleaning)
        for part, data in zip(parts, files.values(), strict=True):
            with disk(part.path, "write"):
                part.create()
                part.file.write_bytes(encoded(data))
                part.settle(durable=durable)
        for part in parts:
            with disk(part.path, "write"):
                part.rename(durable=durable)
        cleaning.pop_all()


@contextmanager
def replacing(path: Path, *, within: Path | None = None, durable: bool = False) -> Iterator[Path]:
    """An empty file to be filled, by a library or another program; it becomes `path` at the end.

    An exception under the block removes it.
    """
    with ExitStack() as cleaning:
        part = _Part(path, within, cleaning)
        with disk(path, "write"):
            part.create()
            yield part.file
            part.settle(durable=durable)
            part.rename(durable=durable)
        cleaning.pop_all()


def copy(source: Path, path: Path, *, within: Path | None = None) -> None:
    """Write what another program has made in a directory of ours, however large it is."""
    with replacing(path, within=within) as part:
        shutil.copyfile(source, part)


@contextmanager
def growing(path: Path, *, within: Path | None = None) -> Iterator[IO[str]]:
    """Text to be written piece by piece, which nobody has to hold whole; see `replacing`.

    What is written so far can be read back from the file.
    """
    with (
        replacing(path, within=within) as part,
        part.open("w+", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        yield file


def encoded(data: Data) -> bytes:
    """Text as bytes; a lone surrogate has none, and comes as `\\udc80`, as JSON writes it too."""
    return data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data


def csv_cell(text: str) -> str:
    """Text as a cell of a CSV file: what a spreadsheet would run as a formula gets a quote before
    it. Numbers stay, also those with a sign."""
    live = text.startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if live else text


def check(
    path: Path,
    *,
    within: Path | None = None,
    inputs: Iterable[Path] = (),
    others: Iterable[Path] = (),
) -> None:
    """Refuse an output before the work begins that `write` would refuse after it.

    It may be none of the `inputs` of the same command, and none of its `others` outputs.
    """
    with disk(path, "write"):
        place = place_of(path, within=within)
        if not place.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        if not os.access(place.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    for kinds, role in ((inputs, "read by"), (others, "another output of")):
        if any(_is_same(place, other) for other in kinds):
            raise FlashtwinError(
                f"{path} is {role} the same command, and would be lost",
                hint="give the output another name",
                exit_code=REFUSED,
            )


def place_of(path: Path, *, within: Path | None = None) -> Path:
    """Where an output will lie, links resolved; refused where no file may be written there."""
    try:
        place = _followed(path) if within is None else _inside(path, within)
        there = place.lstat()
    except FileNotFoundError:
        return place
    except ValueError:
        # A zero byte, or half a character that stands for no byte.
        raise _refused(path, "is not the name of a file") from None
    if not stat.S_ISREG(there.st_mode):
        kind = _KINDS.get(stat.S_IFMT(there.st_mode), "no file")
        raise _refused(path, f"is {kind}, and only files are written")
    # A file that may not be written is not replaced either.
    os.close(os.open(place, os.O_WRONLY | system.NOFOLLOW | system.NONBLOCK | system.BYTES))
    return place


def named(folder: Path, name: str) -> Path:
    """The place in `folder` of a name that a job file, a spec or a run gave."""
    place = folder / name
    place_of(place, within=folder)
    return place


@contextmanager
def disk(path: Path, doing: str) -> Iterator[None]:
    """Turn what the disk answers under the block into a sentence with exit code 3."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise FlashtwinError(
            f"cannot {doing} {path}: {reason}", hint=_hint(error), exit_code=ENVIRONMENT
        ) from error


def check_empty(out: Path, hint: str) -> None:
    """Refuse a directory to be made where something is: it is somebody's, perhaps a run."""
    with disk(out, "read"):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise FlashtwinError(
                f"{out} is not empty" if out.is_dir() else f"{out} is not a directory",
                hint=hint,
                exit_code=USAGE,
            )


def sync_directory(path: Path) -> None:
    """The names in a directory are on the disk; where a file system cannot do so, it does not."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


def _hint(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "make room, or write elsewhere; a run goes on with --resume, finished steps are kept"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "name a place where you may write"
    if error.errno == errno.ENOENT:
        return "make the directory first, or name another place"
    return "check the place, or name another one"


class _Part:
    """An output on its way: a file beside its place, which is removed unless all goes well."""

    def __init__(self, path: Path, within: Path | None, cleaning: ExitStack) -> None:
        self.path = path
        with disk(path, "write"):
            self.place = place_of(path, within=within)
            self._old = self.place.stat() if self.place.exists() else None
        stem = os.fsdecode(os.fsencode(self.place.name)[:_LONGEST_STEM_BYTES])
        self.file = self.place.with_name(f".{stem}.{os.urandom(6).hex()}{UNFINISHED}")
        self._cleaning = cleaning

    def create(self) -> None:
        """Make the file, empty: one of ours, whatever somebody put there."""
        self._cleaning.callback(_remove, self.file)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.NOFOLLOW | system.BYTES
        os.close(os.open(self.file, flags, 0o666))

    def settle(self, *, durable: bool) -> None:
        """What is in it is whole; it gets the owner and the mode of what it replaces."""
        # Windows syncs only what may be written to.
        handle = os.open(self.file, os.O_RDWR | system.NOFOLLOW | system.BYTES)
        try:
            if (old := self._old) is not None:
                mode = stat.S_IMODE(old.st_mode) & 0o777
                system.be_like(handle, old.st_uid, old.st_gid, mode)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)

    def rename(self, *, durable: bool) -> None:
        """Put it into its place; what was not there before goes again if another one fails."""
        os.replace(self.file, self.place)
        if self._old is None:
            self._cleaning.callback(_remove, self.place)
        if durable:
            sync_directory(self.place.parent)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _make(folder: Path, cleaning: ExitStack) -> None:
    """Make a directory and those above it; what was made goes again if it stays empty."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        cleaning.callback(_remove_folder, place)
    with disk(folder, "create"):
        folder.mkdir(parents=True, exist_ok=True)


def _remove_folder(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.rmdir()


def _refuse_twins(parts: Sequence[_Part]) -> None:
    places: dict[Path, Path] = {}
    for part in parts:
        if part.place in places:
            raise _refused(part.path, f"is the same file as {places[part.place]}")
        places[part.place] = part.path


def _followed(path: Path) -> Path:
    """A typed path with its links resolved; what is not there yet may be made."""
    place = path
    for _ in range(_MOST_LINKS):
        folder = Path(os.path.realpath(place.parent))
        if folder.parts[1:2] == ("proc",):
            raise _refused(path, "is an open stream or a setting of the system, and no file")
        place = folder / place.name
        try:
            place = folder / place.readlink()
        except OSError:
            _refuse_stored(path, place)
            return place
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _inside(path: Path, within: Path) -> Path:
    """A path below a directory, which no part of it leads out of."""
    names = path.relative_to(within).parts if path.is_relative_to(within) else ()
    if not names or ".." in names:
        raise _refused(path, "leads out of the directory that it belongs to")
    at = within
    for name in names:
        at = at / name
        if _CONTROL.search(name):
            raise _refused(path, "has a control character in its name")
        if len(os.fsencode(name)) > LONGEST_NAME_BYTES:
            raise _refused(path, f"has a name longer than {LONGEST_NAME_BYTES} bytes")
        if at.is_symlink():
            raise _refused(at, "is a symbolic link, which may lead anywhere")
    return path


def _refuse_stored(path: Path, place: Path) -> None:
    """Nobody's typed output replaces a table of a run, or lies among its parts."""
    if place.parent.name in _FOLDERS_OF_A_RUN:
        run, is_stored = place.parent.parent, True
    else:
        run, is_stored = (
            place.parent,
            place.name in _OF_A_RUN or place.suffix in (".parquet", ".snap"),
        )
    if is_stored and any((run / name).is_file() for name in _STORED):
        raise _refused(path, f"is part of the run in {run}")


def _is_same(place: Path, other: Path) -> bool:
    try:
        same = os.path.realpath(place) == os.path.realpath(other)
        return same or place.samefile(other)
    except OSError:
        return False


def _refused(path: Path, why: str) -> FlashtwinError:
    return FlashtwinError(
        f"{path} {why}",
        hint="give the name of a file, there or new; what it now names is left as it is",
        exit_code=REFUSED,
    )


def is_locked(path: Path) -> bool:
    """Whether some process has locked a regular file; anything else is not opened."""
    try:
        # To open another kind of file may be to use it, or to wait.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        handle = os.open(path, os.O_RDONLY | system.NONBLOCK | system.BYTES)
    except OSError:
        return False
    try:
        return not system.lock(handle, shared=True)
    finally:
        os.close(handle)
