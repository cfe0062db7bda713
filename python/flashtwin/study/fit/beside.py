"""A fitted twin is measured as the run was that it was fitted to, and its run kept beside that.

Only the battery with the fill is run again, with the same parameters: what a page shows of both
are two curves of one test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flashtwin.batteries.base import registry
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.runner import request
from flashtwin.runner.events import Observer
from flashtwin.runs.fitted import command_of_twin, is_made_by_fit, place_of_twin
from flashtwin.runs.rundir import Run
from flashtwin.runs.storage import remove_tree
from flashtwin.runs.writer import abandoned
from flashtwin.study.fit.fit import Twin


def check(run: Run) -> None:
    """Raises `FlashtwinError` where something lies that no fit of this run has made."""
    path = run.path.resolve()
    place = place_of_twin(path)
    # One that was killed before its manifest was written left nothing that says whose it is.
    if place.exists() and not is_made_by_fit(place, path) and not abandoned(place):
        raise FlashtwinError(
            f"{place} is there already, and is no twin of {run.path.name}",
            hint="move it away, or fit without measuring the twin: --no-run",
            exit_code=USAGE,
        )


def measure(run: Run, twin: Twin) -> Path:
    """Run the battery of the fill on the twin; where its run is. An earlier twin's goes."""
    check(run)
    path = run.path.resolve()
    place = place_of_twin(path)
    if place.exists():
        remove_tree(place)
    wanted = request.Request(
        targets=(twin.toml,),
        batteries=(_battery(run, twin.seen.fill_battery),),
        seed=int(run.manifest.get("seed") or 1),
        out=place,
        command=command_of_twin(path),
        kept=False,
    )
    request.test(wanted, unseen)
    return place


def _battery(run: Run, name: str) -> registry.Request:
    rows = {str(row["name"]): row.get("parameters") for row in run.manifest["batteries"]}
    return registry.request(name, rows.get(name) or {})


@contextmanager
def unseen() -> Iterator[Callable[[str], Observer]]:
    """Observers of runs that nobody watches."""
    yield lambda _name: Observer()
