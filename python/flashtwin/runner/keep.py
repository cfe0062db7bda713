"""What a twin was, kept in the run directory so that a run that is taken up has not far to go.

A file `state-00012-….snap` is the drive after the first 12 steps of the journal; the digest in its
name is over what it holds and those steps. One is written once the steps since the last took so
long that repeating them would be a nuisance; the one before goes then, and the last with the run's
end. Invariants: a file that is not whole is not used; nothing that goes wrong here ends
a run or changes a result: without the file, or with one that is damaged, of another run or of other
steps, the steps are simulated again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from flashtwin import outputs
from flashtwin.drives.protocol import Drive, Keeps
from flashtwin.errors import FlashtwinError
from flashtwin.runs.storage import TABLE_SHARE, memory_bytes
from flashtwin.runs.writer import STATE

# Seconds of work that are worth a file, and how many times longer than its writing they have to be.
WORTH_S = 10.0
WORTH_TIMES = 5.0

_NAME = re.compile(rf"{STATE}-(\d{{1,9}})-([0-9a-f]{{32}})\.snap")


class Keeper:
    """Keeps one drive's state; does nothing for a drive that has none to keep."""

    def __init__(self, drive: Drive, place: Path) -> None:
        self.unusable: list[str] = []
        self._drive, self._place = drive, place
        self._took_s, self._saving_s = 0.0, 0.0

    def after(self, checks: Sequence[str], took_s: float) -> None:
        """A step is in the journal, whose `checks` these are; it took so long on the wall's clock.

        There is one check more than steps.
        """
        self._took_s += took_s
        if self._took_s >= max(WORTH_S, WORTH_TIMES * self._saving_s):
            self._save(len(checks) - 1, checks[-1])

    def restore(self, checks: Sequence[str]) -> int:
        """Make the drive what it was after as many of the journal's steps as can be; how many.

        `unusable` says afterwards which files were no help, and why.
        """
        if not isinstance(self._drive, Keeps):
            return 0
        for covered, path, digest in sorted(self._found(), reverse=True):
            if covered >= len(checks):
                continue
            try:
                if _digest(path, checks[covered]) == digest:
                    self._drive.restore(path)
                    return covered
                why = "it is not what was kept after these steps"
            except FlashtwinError as error:
                why = error.message
            except OSError as error:
                why = os.strerror(error.errno or 0)
            self.unusable.append(f"{path.name} is of no use, steps are simulated again: {why}")
        return 0

    def _save(self, steps: int, check: str) -> None:
        if not isinstance(self._drive, Keeps):
            return
        began = time.monotonic()
        older = [path for _, path, _ in self._found()]
        part = self._place / f"{STATE}-{steps:05}.part"
        # For want of room, say: the file goes, what it would have saved is only time.
        with contextlib.suppress(OSError, FlashtwinError):
            with outputs.replacing(part, within=self._place) as made:
                self._drive.save(made)
            path = self._place / f"{STATE}-{steps:05}-{_digest(part, check)}.snap"
            # Its name follows from what it holds, and so needs no wait for the disk.
            outputs.copy(part, path, within=self._place)
            part.unlink()
            for old in older:
                if old != path:
                    old.unlink(missing_ok=True)
        self._took_s, self._saving_s = 0.0, time.monotonic() - began

    def _found(self) -> list[tuple[int, Path, str]]:
        named = ((_NAME.fullmatch(path.name), path) for path in self._place.glob(f"{STATE}-*"))
        return [(int(match[1]), path, match[2]) for match, path in named if match]


def _digest(path: Path, check: str) -> str:
    """What stands for a file's bytes after the steps that `check` stands for.

    Raises `OSError`, and `FlashtwinError` for what is no file or more than a drive has.
    """
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode) or about.st_size > memory_bytes() // TABLE_SHARE:
        raise FlashtwinError("it is no file that a drive's state would be")
    made = hashlib.sha256(check.encode())
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            made.update(piece)
    return made.hexdigest()[:32]
