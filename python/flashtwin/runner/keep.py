"""What a twin was, kept in the run directory so that a run that is taken up has not far to go.

A file `state-00012.snap` is the drive after the first 12 steps of the journal. One is written once
the steps since the last took so long that repeating them would be a nuisance; the one before goes
then, and the last with the run's end. Invariants: the file is whole and on the disk, or not there;
nothing that goes wrong here ends a run or changes a result: without the file, or with one that the
drive refuses, the steps are simulated again.
"""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

from flashtwin import outputs
from flashtwin.drives.protocol import Drive, Keeps
from flashtwin.errors import FlashtwinError
from flashtwin.results.writer import STATE

# Seconds of work that are worth a file, and how many times longer than its writing they have to be.
WORTH_S = 10.0
WORTH_TIMES = 5.0

_NAME = re.compile(rf"{STATE}-(\d+)\.snap")


class Keeper:
    """Keeps one drive's state; does nothing for a drive that has none to keep."""

    def __init__(self, drive: Drive, place: Path) -> None:
        self._drive, self._place = drive, place
        self._took_s, self._saving_s = 0.0, 0.0

    def after(self, steps: int, took_s: float) -> None:
        """So many steps are in the journal; the last took so long on the wall's clock."""
        self._took_s += took_s
        if self._took_s >= max(WORTH_S, WORTH_TIMES * self._saving_s):
            self._save(steps)

    def restore(self, steps: int) -> int:
        """Make the drive what it was after as many of the first `steps` as can be; how many."""
        if not isinstance(self._drive, Keeps):
            return 0
        for covered, path in sorted(self._found(), reverse=True):
            if covered <= steps:
                with contextlib.suppress(FlashtwinError):
                    self._drive.restore(path)
                    return covered
        return 0

    def _save(self, steps: int) -> None:
        if not isinstance(self._drive, Keeps):
            return
        began = time.monotonic()
        older = [path for _, path in self._found()]
        path = self._place / f"{STATE}-{steps:05}.snap"
        # For want of room, say: the file goes, what it would have saved is only time.
        with contextlib.suppress(OSError, FlashtwinError):
            with outputs.replacing(path, within=self._place, durable=True) as part:
                self._drive.save(part)
            for old in older:
                old.unlink(missing_ok=True)
        self._took_s, self._saving_s = 0.0, time.monotonic() - began

    def _found(self) -> list[tuple[int, Path]]:
        named = ((_NAME.fullmatch(path.name), path) for path in self._place.glob(f"{STATE}-*"))
        return [(int(match[1]), path) for match, path in named if match]
