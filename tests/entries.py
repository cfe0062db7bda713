"""What lies in a folder, to be compared before and after what must leave it alone."""

from __future__ import annotations

import os
from pathlib import Path


def entries(folder: Path) -> dict[str, tuple[int, ...]]:
    """Everything below a folder, by what a write, a rename or a change of rights would change.

    The time of the last access is left out, since reading sets it, as does following a link.
    """
    return {str(path.relative_to(folder)): _facts(path.lstat()) for path in folder.rglob("*")}


def _facts(about: os.stat_result) -> tuple[int, ...]:
    owner = (about.st_mode, about.st_uid, about.st_gid)
    return (
        *owner,
        about.st_ino,
        about.st_nlink,
        about.st_size,
        about.st_mtime_ns,
        about.st_ctime_ns,
    )
