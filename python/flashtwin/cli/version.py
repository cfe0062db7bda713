"""What `flashtwin --version` says: version, model, commit and build, for a report of a fault.

A package carries the commit that it was built from in a file that `backend/prepared.py` writes; in
a checkout git is asked.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import flashtwin
from flashtwin import _core

PACKAGE = Path(flashtwin.__file__).parent
COMMIT = PACKAGE / "commit.txt"
GIT_S = 5.0


def text() -> str:
    """One line."""
    return (
        f"flashtwin {flashtwin.__version__}, model {_core.MODEL}, commit {commit()}, {_core.BUILD}"
    )


def commit() -> str:
    """The commit that the program was built from, "-dirty" where files differed from it."""
    try:
        return COMMIT.read_text().strip()
    except OSError:
        return _of_checkout(PACKAGE.parent.parent)


def _of_checkout(root: Path) -> str:
    if not (root / ".git").exists():
        return "unknown"
    describe = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        answer = subprocess.run(
            [*describe, "--exclude=*"], capture_output=True, text=True, timeout=GIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return answer.stdout.strip()
