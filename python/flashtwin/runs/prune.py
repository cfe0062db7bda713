"""Getting rid of stored runs: which ones go, and how a run directory is taken away.

Invariants: only what was read as a run goes, and what flashtwin itself planned (targets and sweeps
that never began); never one under way or part of something under way, and never another folder; the
manifest goes last, so that a removal that was cut off leaves a run that can be removed again; the
folder of several targets or of a sweep goes with its last run if nothing is left in it but what
flashtwin put there. A target that is removed leaves the plan too: nobody resumes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from flashtwin.errors import FlashtwinError
from flashtwin.outputs import disk
from flashtwin.runs import lock, whole
from flashtwin.runs.listing import NOT_BEGUN, UNDER_WAY, Stored
from flashtwin.runs.storage import remove_tree

_OLDEST = datetime.min.replace(tzinfo=UTC)


def chosen(
    runs: Sequence[Stored],
    *,
    keep: int = 0,
    older: timedelta | None = None,
    now: datetime,
) -> list[Stored]:
    """The runs that go, the oldest first: all but the `keep` newest, of those that are older."""
    mine = [run for run in runs if run.is_run and run.state != UNDER_WAY and not run.busy]
    mine.sort(key=lambda run: (run.started or _OLDEST, str(run.path)))
    going = mine[: max(len(mine) - keep, 0)]
    if older is None:
        return going
    return [run for run in going if (run.started or _OLDEST) < now - older]


def remove(run: Stored) -> None:
    """Take a run away; refused where a process has begun to write it meanwhile."""
    if lock.held(run.path) or whole.under_way(run.path.parent):
        raise FlashtwinError(f"{run.path} is being written", hint="leave it until it is finished")
    if run.state == NOT_BEGUN:
        whole.remove(run.path)
        return
    with disk(run.path, "remove"):
        for inside in sorted(run.path.iterdir()):
            if inside.name != "manifest.json":
                remove_tree(inside)
        (run.path / "manifest.json").unlink()
        run.path.rmdir()
        whole.forget(run.path.parent, runs=(run.path.name,))
        if run.group is not None:
            whole.remove_empty(run.group)
