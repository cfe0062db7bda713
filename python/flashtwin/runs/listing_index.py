"""What a listing knows of runs that it has read before, so that it need not read them again.

There is one file a place of runs, in the user's cache directory (`FLASHTWIN_CACHE`, beside the kept
drives) and not among the runs: a listing writes nothing into what it lists, and a place that may
only be read is listed as soon as another. A row stands for a run directory as it was read, which
its stamp names: the names, inodes, sizes and times of all files in it, also the times of change
(ctime), which no program can set and no copy shares.

Invariants: a row whose stamp is not that of the files is not used, so that a run which changed or
was copied is read anew; no row is kept of files that changed within `SETTLED_NS` before they were
read, because a later change might leave the same times; rows of runs that are under way, damaged or
may not be read are not kept at all. A file that is damaged, or of another flashtwin, counts as
none. It is replaced as a whole, so that of two listings at once one is believed, and what it lacks
is read again. Nothing that goes wrong here ends a listing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from flashtwin import __version__, outputs
from flashtwin.errors import FlashtwinError
from flashtwin.inputs import InputError, read_regular

FOLDER = "listings"
# Bytes of a file with a hundred thousand runs; a longer one counts as none.
MOST_BYTES = 1 << 29
# File systems tell times to 2 s (FAT) at worst.
SETTLED_NS = 3 * 10**9
# Runs that were read and have no row: to read so few again takes less than to write the file.
WORTH = 16


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """The files under a folder as they are: mode, inode, size, time of writing and of change of
    each by its path in it (none where they may not be asked for), the sizes of all together, and a
    digest of all of it. `settled`: none has changed within `SETTLED_NS`."""

    files: Mapping[str, tuple[int, ...]]
    bytes: int
    digest: str
    settled: bool

    @classmethod
    def of(cls, folder: Path) -> Stamp:
        """Look at a folder; raises `OSError` where it may not be read."""
        place = os.fspath(folder)
        with os.scandir(place) as entries:
            pending = list(entries)
        # Who may list a folder may not always reach what is in it.
        os.stat(f"{place}/.")
        total_bytes, newest_ns, above = 0, 0, len(place) + 1
        files: dict[str, tuple[int, ...]] = {}
        while pending:
            entry = pending.pop()
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                files[entry.path[above:]] = ()
                continue
            if stat.S_ISDIR(about.st_mode):
                pending += _entries(entry.path)
            else:
                total_bytes += about.st_size
            written_ns, changed_ns = about.st_mtime_ns, about.st_ctime_ns
            newest_ns = max(newest_ns, written_ns, changed_ns)
            row = about.st_mode, about.st_ino, about.st_size, written_ns, changed_ns
            files[entry.path[above:]] = row
        return cls(
            files=files,
            bytes=total_bytes,
            digest=hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest(),
            settled=newest_ns + SETTLED_NS < time.time_ns(),
        )

    def has_all(self, names: Iterable[str]) -> bool:
        """Whether regular files have these names, and no links."""
        return all((about := self.files.get(name)) and stat.S_ISREG(about[0]) for name in names)

    def is_newest(self, name: str, others: Iterable[str]) -> bool:
        """Whether none of the others was written or changed after a file; all are there."""
        changed_ns = self.files[name][-1]
        return all(max(self.files[other][-2:]) <= changed_ns for other in others)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it may not be read, or has vanished meanwhile."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


class Row(Struct, array_like=True, kw_only=True, forbid_unknown_fields=True):
    """A run as the listing tells it; `findings` as findings.json has them."""

    stamp: str
    state: str
    target: str
    label: str
    kind: str
    batteries: tuple[str, ...]
    started: datetime | None
    wall_s: float | None
    seed: int | None
    spec: str | None
    capacity_bytes: int | None
    flashtwin: str
    steps: int
    key_text: str
    findings: msgspec.Raw
    left: tuple[dict[str, Any], ...]


class _Content(Struct, array_like=True):
    """What is in a file: who wrote it for which place, and the rows by the runs' paths."""

    written_by: str
    place: str
    rows: dict[str, Row]


class Index:
    """The rows of one place; `put` and `save` change the file, `get` only looks."""

    def __init__(self, place: Path, file: Path) -> None:
        self._given, self._place = place, os.path.realpath(place)
        self._file, self._rows = file, _read(file, self._place)
        self._used: dict[str, Row] = {}
        self._new = 0

    @classmethod
    def of(cls, place: Path) -> Index | None:
        """The index of a place; none where nothing is to be kept."""
        try:
            folder = outputs.cache_folder()
        except FlashtwinError:
            return None
        name = hashlib.sha256(os.fsencode(os.path.realpath(place))).hexdigest()[:32]
        return None if folder is None else cls(place, folder / FOLDER / f"{name}.json")

    def get(self, folder: Path, stamp: Stamp) -> Row | None:
        """The row of a run directory, if its files are those that were read."""
        key = within(folder, self._given)
        row = self._rows.get(key)
        if row is None or row.stamp != stamp.digest:
            return None
        self._used[key] = row
        return row

    def put(self, folder: Path, row: Row) -> None:
        """Keep the row of a run that was read."""
        self._used[within(folder, self._given)] = row
        self._new += 1

    def save(self) -> None:
        """Write what the file lacks, if that is enough to be worth it; runs that are gone go."""
        stale = len(self._rows) + self._new - len(self._used)
        if max(self._new, stale) < WORTH:
            return
        content = _Content(written_by=_WRITTEN_BY, place=self._place, rows=self._used)
        body = msgspec.json.encode(content)
        with contextlib.suppress(OSError, FlashtwinError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            data = hashlib.sha256(body).hexdigest().encode() + b"\n" + body
            outputs.write(self._file, data, within=self._file.parent)


def within(folder: Path, place: Path) -> str:
    """The path of a folder from the place on that it was found in; what pathlib and os.path take
    for it would be a tenth of a listing."""
    text, above = os.fspath(folder), os.fspath(place)
    return text if above == os.curdir else text[len(above) :].lstrip(os.sep)


# The fields too: a checkout may have other ones under the same version.
_WRITTEN_BY = f"{__version__} {' '.join(Row.__struct_fields__)}"


def _read(file: Path, place: str) -> dict[str, Row]:
    """The rows of a file; none where it is not what flashtwin wrote for that place."""
    try:
        digest, _, body = read_regular(file, most_bytes=MOST_BYTES).partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != digest:
            return {}
        content = msgspec.json.decode(body, type=_Content)
    except (InputError, msgspec.MsgspecError, RecursionError, ValueError):
        return {}
    right = content.written_by == _WRITTEN_BY and content.place == place
    return content.rows if right else {}
