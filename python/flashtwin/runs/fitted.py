"""The run of a fitted twin, beside the run that it was fitted to.

`flashtwin fit RUN` measures the twin by the fill that RUN has, into a directory of the same name
with `-twin` behind it. Pages and comparisons of RUN alone take it in. Invariant: a directory of
that name is only taken for it if it is a finished run that this fit made of a run of this name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flashtwin.errors import FlashtwinError
from flashtwin.runs.rundir import Run

COMMAND = ("flashtwin", "fit")


def place_of_twin(run: Path) -> Path:
    """The directory for the run of the twin that was fitted to a run; it may not be there."""
    return run.with_name(f"{run.name}-twin")


def command_of_twin(run: Path) -> tuple[str, ...]:
    """The command that the manifest of such a twin's run has."""
    return (*COMMAND, run.name)


def is_made_by_fit(place: Path, run: Path) -> bool:
    """Whether a directory is the run of a twin that was fitted to a run of this name, finished
    or not."""
    try:
        command = Run(place).manifest.get("command")
    except FlashtwinError:
        return False
    return isinstance(command, list) and tuple(command) == command_of_twin(run)


def twin_of(run: Run) -> Run | None:
    """The run of the twin that was fitted to a run, if there is one that is finished."""
    path = run.path.resolve()
    place = place_of_twin(path)
    twin = Run(place)
    return twin if is_made_by_fit(place, path) and twin.finished else None


def with_twins(runs: Sequence[Run]) -> list[Run]:
    """The runs, each followed by the run of its fitted twin, where there is one that is not
    among them."""
    paths = {run.path.resolve() for run in runs}
    both: list[Run] = []
    for run in runs:
        twin = twin_of(run)
        both.append(run)
        if twin is not None and twin.path.resolve() not in paths:
            both.append(twin)
    return both
