"""Names for runs that stand side by side: no two the same, whatever their targets are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from flashtwin.runs.rundir import Run


def unique_names(runs: Sequence[Run]) -> list[str]:
    """The targets' names; where two are the same, with their directories', else with a number."""
    names = [str(run.target.get("name") or run.path.name) for run in runs]
    names = _apart(
        names, [f"{name} ({run.path.name})" for name, run in zip(names, runs, strict=True)]
    )
    return _apart(names, [f"{name} #{at}" for at, name in enumerate(names, 1)])


def _apart(names: list[str], otherwise: list[str]) -> list[str]:
    count = Counter(names)
    return [
        other if count[name] > 1 else name for name, other in zip(names, otherwise, strict=True)
    ]
