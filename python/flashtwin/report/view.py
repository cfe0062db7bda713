"""A run as the page sees it: a drive with a name of its own, its steps sorted into phases.

A phase is a step that lasted: a pass of a fill, the rest between two. Its label says where it
belongs, `battery/group/phase`; a label without these parts is a group of its own. Invariant: no two
drives of a page have the same name, whatever the runs are called.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from flashtwin.model.finding import Finding
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.naming import unique_names
from flashtwin.runs.rundir import Run

# Batteries whose steps are cells of a grid; their bars come out of the findings.
GRIDS = frozenset({"crystaldiskmark"})
KINDS = {"twin": "simulated drive", "file": "file on a real drive"}


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A step under its group: `group` is "battery/pattern", `name` is "pass-1" or "rest-1"."""

    step: StepRecord
    group: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Drive:
    """One run of the page. `name` is unique on it."""

    index: int
    name: str
    run: Run
    kind: str
    capacity_bytes: int
    state: str
    identity: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    phases: tuple[Phase, ...] = ()

    @property
    def long_name(self) -> str | None:
        """What the spec calls it, where that says more than the name."""
        text = self.identity.get("name")
        return str(text) if text and str(text) != self.name else None

    @property
    def kind_name(self) -> str:
        return KINDS.get(self.kind, self.kind)


def drives_of(runs: Sequence[Run]) -> list[Drive]:
    """The runs as drives, in the order given."""
    names = unique_names(runs)
    return [_drive(index, names[index], run) for index, run in enumerate(runs)]


def phases_of(steps: Sequence[StepRecord]) -> tuple[Phase, ...]:
    """Steps in which time passed, but for the cells of a grid."""
    found = []
    for step in steps:
        if step.battery in GRIDS or step.kind not in ("run", "rest") or not step.duration_ns:
            continue
        parts = step.label.split("/")
        if parts[0] == step.battery and len(parts) > 1:
            parts = parts[1:]
        pattern, name = ("/".join(parts[:-1]), parts[-1]) if len(parts) > 1 else (parts[0], "run")
        found.append(Phase(step=step, group=f"{step.battery}/{pattern}", name=name))
    return tuple(found)


def pattern_title(group: str) -> str:
    """A group for a reader: "fill/128k-q32" is "128 KiB, queue depth 32"."""
    pattern = group.partition("/")[2] or group
    match = re.fullmatch(r"(\d+)([km])-q(\d+)", pattern)
    if not match:
        return pattern
    unit = {"k": "KiB", "m": "MiB"}[match[2]]
    return f"{match[1]} {unit}, queue depth {match[3]}"


def phase_title(name: str) -> str:
    """ "pass-1" is "pass 1"."""
    return name.replace("-", " ")


def _drive(index: int, name: str, run: Run) -> Drive:
    target = run.target
    identity = target.get("identity")
    capacity = target.get("capacity_bytes")
    return Drive(
        index=index,
        name=name,
        run=run,
        kind=str(target.get("kind", "drive")),
        capacity_bytes=capacity if isinstance(capacity, int) else 0,
        state=run.state,
        identity=identity if isinstance(identity, dict) else {},
        findings=tuple(run.findings),
        phases=phases_of(run.steps),
    )
