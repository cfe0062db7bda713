"""What host.json says: the machine, the versions, the paths and the wall clock of a run.

All of it may differ from run to run; it is written down so that a reader can tell why a real drive
was slow that day, and it is read by nothing that concludes.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from flashtwin import system

_PACKAGES = ("numpy",)


class Clock:
    """The wall clock of one run: the session of this process, and earlier ones as host.json has
    them. A session that was killed has no end there and adds no time."""

    def __init__(self, before: Mapping[str, Any] | None = None) -> None:
        self._began, self._at = datetime.now(UTC), time.monotonic()
        self._before = [dict(session) for session in (before or {}).get("sessions", [])]

    def begin(self) -> dict[str, Any]:
        """As a session begins: what host.json says while it goes on."""
        began = self._began.isoformat(timespec="seconds")
        sessions = [*self._before, {"began": began}]
        return {"began": sessions[0]["began"], "sessions": sessions, "process": os.getpid()}

    def read(self) -> dict[str, Any]:
        """When the run began and ended, how long it took, and by session."""
        ended = datetime.now(UTC).isoformat(timespec="seconds")
        wall_s = round(time.monotonic() - self._at, 3)
        first = self.begin()
        first["sessions"][-1] |= {"ended": ended, "wall_s": wall_s}
        whole_s = sum(float(session.get("wall_s", 0.0)) for session in first["sessions"])
        return {**first, "ended": ended, "wall_s": round(whole_s, 3)}


def describe(out: Path, more: Mapping[str, object]) -> dict[str, Any]:
    """The machine as it is, and what the caller knows besides."""
    return {
        "directory": str(out.resolve()),
        "machine": platform.machine(),
        "system": platform.system(),
        "kernel": platform.release(),
        "processor": _processor(),
        "cpus": os.cpu_count(),
        "memory_bytes": system.memory_bytes(),
        "python": platform.python_version(),
        "arguments": sys.argv[1:],
        "packages": {name: metadata.version(name) for name in _PACKAGES},
        **more,
    }


def _processor() -> str | None:
    """The processor's name as Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or None
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else None
