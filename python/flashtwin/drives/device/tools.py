"""Programs that are asked about a drive or have it do something: smartctl, nvme, hdparm.

Any program may stand under such a name: each gets no input, little of the environment, a time
limit, and what it prints is bounded and parsed as what comes from outside.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from flashtwin.inputs import parse_json

ASKED_S = 20.0
_MOST_BYTES = 8 << 20
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH")


def path_of(program: str) -> str | None:
    """Where a program is; those of root are often not on a user's PATH."""
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    return shutil.which(program, path=places)


def ran(words: Sequence[str], *, within_s: float = ASKED_S) -> tuple[int, bytes, str]:
    """Run a program: its exit code (127 where it is not there, 124 where it takes too long), what
    it printed, and its last line on stderr."""
    program = path_of(words[0])
    if program is None:
        return 127, b"", f"{words[0]} is not installed"
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    try:
        done = subprocess.run(
            [program, *words[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=within_s,
            env={**environment, "LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, b"", f"{words[0]} did not end within {within_s:g} s"
    except OSError as error:
        return 126, b"", f"{words[0]} cannot be started: {error.strerror}"
    complaints = done.stderr[-4096:].decode(errors="replace").strip().splitlines()
    return done.returncode, done.stdout[:_MOST_BYTES], complaints[-1] if complaints else ""


def asked(words: Sequence[str]) -> dict[str, Any]:
    """The JSON object that a program prints; empty where it prints none. smartctl's exit code
    has bits for a drive's health, so that it is not looked at."""
    try:
        answer = parse_json(ran(words)[1])
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
