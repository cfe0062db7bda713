"""Folders that hold several runs: those of several targets, and sweeps.

Several targets have `plan.json` beside their run directories as long as not all of them are
finished, so that a later process knows those that never began; a sweep has `sweep.json`. Whoever
carries one out holds that file locked. Invariants: a file of that name which flashtwin did not
write makes a folder nobody's whole, and nothing in it is touched; what leaves a plan is a target
that is not to be begun any more.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.outputs import disk
from flashtwin.runs import lock, schema
from flashtwin.runs.rundir import SCHEMA
from flashtwin.runs.schema import SchemaError
from flashtwin.runs.storage import (
    MOST_JSON,
    damaged,
    object_of,
    read_file,
    sealed_bytes,
    unsealed,
    write_whole,
)
from flashtwin.runs.writer import abandoned

PLAN = "plan.json"
SWEEP, POINTS = "sweep.json", "points"
REPORT, TABLE, FAILURES = "report.html", "table.csv", "failures.json"
_ANEW = "begin it anew with flashtwin test; what it measured can still be read"


def write_plan(folder: Path, plan: dict[str, Any]) -> None:
    """Put a plan into its folder, which is made."""
    with disk(folder, "create"):
        folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PLAN, sealed_bytes({"schema": SCHEMA, **plan}, PLAN))


def read_plan(folder: Path) -> dict[str, Any]:
    """The plan of a folder; raises where its runs cannot be resumed."""
    path = folder / PLAN
    data = read_file(path, MOST_JSON)
    plan = object_of(path, data)
    if plan.get("schema") != SCHEMA:
        raise FlashtwinError(
            f"{path} has schema {plan.get('schema')!r}; this flashtwin resumes {SCHEMA}",
            hint=f"go on with the flashtwin that began it, or {_ANEW}",
            exit_code=ENVIRONMENT,
        )
    unsealed(path, data, plan, PLAN)
    try:
        schema.check(plan, schema.Plan)
    except SchemaError as error:
        raise damaged(path, f"a task is malformed ({error})") from error
    for row in plan["tasks"]:
        if Path(row["place"]).name != row["place"] or "\0" in row["place"]:
            raise damaged(path, f"{row['place']!r} is not the name of a directory")
    return plan


def plan_of(folder: Path) -> dict[str, Any] | None:
    """The plan of a folder; none where there is no plan that flashtwin wrote."""
    if not os.path.isfile(folder / PLAN):
        return None
    with contextlib.suppress(FlashtwinError):
        return read_plan(folder)
    return None


def waiting(folder: Path) -> list[dict[str, Any]]:
    """The targets of a plan that never began."""
    plan = plan_of(folder)
    rows: list[dict[str, Any]] = plan["tasks"] if plan else []
    return [row for row in rows if not os.path.exists(folder / row["place"] / "manifest.json")]


def is_sweep(folder: Path) -> bool:
    """Whether a sweep of ours began there."""
    if not os.path.isfile(folder / SWEEP):
        return False
    with contextlib.suppress(FlashtwinError):
        plan = read_sweep(folder)
        return "axes" in plan and "hashes" in plan
    return False


def write_sweep(folder: Path, plan: dict[str, Any]) -> None:
    """What a sweep was asked for, into its folder."""
    write_whole(folder / SWEEP, sealed_bytes(plan, SWEEP))


def read_sweep(folder: Path) -> dict[str, Any]:
    """What a sweep was asked for."""
    path = folder / SWEEP
    data = read_file(path, MOST_JSON)
    plan = object_of(path, data)
    number = plan.get("schema")
    if isinstance(number, bool) or not isinstance(number, int):
        raise damaged(path, "it holds no sweep")
    unsealed(path, data, plan, SWEEP)
    try:
        schema.check(plan, schema.Sweep)
    except SchemaError as error:
        raise damaged(path, f"it holds no sweep ({error})") from error
    return plan


def under_way(folder: Path) -> bool:
    """Whether some process carries out the plan or the sweep to which the runs in a folder
    belong."""
    if plan_of(folder) is not None and lock.is_held(folder, PLAN):
        return True
    above = folder.parent
    return folder.name == POINTS and is_sweep(above) and lock.is_held(above, SWEEP)


def forget(folder: Path, *, runs: tuple[str, ...] = (), others: bool = False) -> None:
    """Remove targets from a plan: those of some run directories, or all that never began. An
    empty plan is deleted, with directories in which nothing was written yet."""
    plan = plan_of(folder)
    if plan is None:
        return
    with lock.holding(folder, PLAN), disk(folder, "remove"):
        removed = {*runs, *(row["place"] for row in (waiting(folder) if others else []))}
        for name in removed:
            if abandoned(folder / name):
                shutil.rmtree(folder / name)
        remaining = [row for row in plan["tasks"] if row["place"] not in removed]
        if remaining:
            write_plan(folder, {**plan, "tasks": remaining})
        else:
            (folder / PLAN).unlink(missing_ok=True)


def remove_empty(folder: Path) -> None:
    """Remove a folder of several runs once the last of them is gone, unless it holds something
    that is not flashtwin's."""
    if folder.name == POINTS:
        if not any(folder.iterdir()) and is_sweep(folder.parent):
            _remove_sweep(folder.parent)
    elif _holds_only(folder, {REPORT}):
        (folder / REPORT).unlink(missing_ok=True)
        folder.rmdir()


def remove(folder: Path) -> None:
    """Remove a folder without a run in it: a plan or a sweep of which nothing ever began."""
    with disk(folder, "remove"):
        if is_sweep(folder):
            _remove_sweep(folder)
        else:
            forget(folder, others=True)
            remove_empty(folder)


def _remove_sweep(folder: Path) -> None:
    own_files = {SWEEP, POINTS, TABLE, FAILURES, REPORT}
    if _holds_only(folder, own_files):
        with lock.holding(folder, SWEEP):
            shutil.rmtree(folder)


def _holds_only(folder: Path, names: set[str]) -> bool:
    return {inside.name for inside in folder.iterdir()} <= names
