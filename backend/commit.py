"""The commit that a package is built from: python/flashtwin/commit.txt while it is built.

A source archive carries the file and has no repository, so that it stays as it is there. In a
checkout it goes again after the build: `flashtwin --version` asks git where it is not.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "python/flashtwin/commit.txt"


@contextmanager
def written() -> Iterator[None]:
    """The file is there within, and outside only where it was before."""
    if PLACE.exists():
        yield
        return
    PLACE.write_text(f"{named()}\n")
    try:
        yield
    finally:
        PLACE.unlink(missing_ok=True)


def named() -> str:
    """The commit by the environment (a release names it) or by git; "unknown" without either."""
    if by_environment := os.environ.get("FLASHTWIN_COMMIT"):
        return by_environment[:12]
    describe = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        answer = subprocess.run(
            [*describe, "--exclude=*"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return answer.stdout.strip()
