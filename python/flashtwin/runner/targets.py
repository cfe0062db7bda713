"""Targets to be, and where their runs go: a directory each, in a parent where there are several.

A target's drive is made when its turn comes: a twin of 240 GB holds its map in memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from flashtwin.drives.protocol import Drive
from flashtwin.runs.listing import DEFAULT_PARENT as DEFAULT_PARENT


@dataclass(frozen=True, kw_only=True)
class Target:
    """A drive to be: its name for directories, how to make it, what to write of it in host.json.

    `form` is the same as JSON values (see `runner.again`), for a run that begins in a later
    process; empty for a drive that only this process can make. `memory_bytes` is what the drive
    takes of this machine's memory.
    """

    name: str
    make: Callable[[], Drive]
    host: Mapping[str, object] = field(default_factory=dict)
    form: Mapping[str, object] = field(default_factory=dict)
    memory_bytes: int = 0


def directories(names: Sequence[str], out: Path) -> list[Path]:
    """Where each target's run goes: `out` itself for one, a directory each under it for several."""
    if len(names) == 1:
        return [out]
    taken: list[str] = []
    for name in map(plain_name, names):
        same = sum(1 for other in taken if other == name or other.startswith(f"{name}~"))
        taken.append(name if not same else f"{name}~{same + 1}")
    return [out / name for name in taken]


def default_out(names: Sequence[str], now: datetime) -> Path:
    """`flashtwin-runs/<time>-<target>+<target>`; the second of one second gets a number."""
    name = f"{now:%Y%m%d-%H%M%S}-{'+'.join(map(plain_name, names))[:120]}"
    numbered = (name, *(f"{name}~{number}" for number in range(2, 100)))
    return next(
        (place for one in numbered if not (place := DEFAULT_PARENT / one).exists()),
        DEFAULT_PARENT / name,
    )


def plain_name(name: str) -> str:
    """A name that can be a directory: of a path its last part, nothing but letters, digits, ._-"""
    last = Path(name).name or name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip(".-") or "target"
