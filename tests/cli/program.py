"""The program as a child process, for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import fork_server

HERE = Path(__file__).parent
PROGRAM = (sys.executable, "-m", "flashtwin.cli")
SETTINGS = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")


def environment(**more: str) -> dict[str, str]:
    """This process's, with its import path and without settings that change how things look."""
    paths = [str(HERE), str(HERE.parent), *filter(None, sys.path)]
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), "TERM": "xterm-256color", **more}


def flashtwin(*arguments: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run it to the end, in a process that is forked and not started."""
    return fork_server.run(arguments, cwd=cwd, environment=environment(**more))


def begun(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """Start it, in a group of processes of its own."""
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment(),
        start_new_session=True,
    )
