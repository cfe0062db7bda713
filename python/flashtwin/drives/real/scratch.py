"""Directories for the time of some work, in the directory for temporary files.

A process that is killed leaves its own. So each is locked while it is used, and whoever makes the
next one removes those of the same user whose lock nobody holds. Invariants: only a directory with
our name that this user owns is removed, never what a link leads to; one that was made in the last
minute stays, for its maker may not have locked it yet.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import Literal, Self

from flashtwin import system

_OWN_NAME = re.compile(r"flashtwin-(fio|validation|point)-[a-z0-9_]{8}")
_YOUNG_S = 60.0


class Scratch:
    """An empty directory, which is removed by `close`, at the end of a `with`, or with the
    process."""

    def __init__(self, purpose: Literal["fio", "validation", "point"]) -> None:
        remove_abandoned(Path(tempfile.gettempdir()))
        self._directory = tempfile.TemporaryDirectory(
            prefix=f"flashtwin-{purpose}-", ignore_cleanup_errors=True
        )
        self.path = Path(self._directory.name)
        self._handle = system.locked_directory(self.path)

    def close(self) -> None:
        """Remove it. A second call does nothing."""
        self._directory.cleanup()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def remove_abandoned(parent: Path) -> None:
    """Remove the directories that killed processes of this user have left."""
    # A directory that cannot be read or removed stays.
    with contextlib.suppress(OSError):
        for path in parent.iterdir():
            if _OWN_NAME.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    _remove_abandoned(path)


def _remove_abandoned(path: Path) -> None:
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != system.user():
        return
    if time.time() - status.st_mtime < _YOUNG_S:
        return
    # None where its maker still uses it.
    handle = system.locked_directory(path)
    if handle is not None:
        try:
            shutil.rmtree(path)
        finally:
            os.close(handle)
