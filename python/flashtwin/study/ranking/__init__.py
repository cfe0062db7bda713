"""Ranking: the drives of runs among the catalogue's twins, by results that are shipped.

`results.json` has what the group quick found of each drive of the catalogue: a table of numbers,
made by `flashtwin_lab.make.ranking`; `columns.toml` says which findings those are. Only findings
that a run has itself are compared. Invariants: a result is of the core's model and of the spec that
the catalogue has (`validated.is_current`), or it is left out and counted; speeds only are ranked,
so that a large drive is not behind a small one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from flashtwin.batteries.base import groups
from flashtwin.catalogue.validated import is_current
from flashtwin.inputs import read_toml
from flashtwin.model.finding import Finding
from flashtwin.runs.rundir import Run

RESULTS = Path(__file__).with_name("results.json")
COLUMNS = Path(__file__).with_name("columns.toml")
GROUP = "quick"
# Values that most drives may share before a column tells nothing; of fewer drives nothing is said.
SHARED, FEWEST = 2, 10


class Column(Struct, frozen=True, kw_only=True):
    """A finding by which drives are ranked; more is better in all of them. `words` are what a
    sentence calls it; `places` is false of one that is shown and ranks nobody."""

    finding: str
    title: str
    words: str
    unit: str
    places: bool = True


@cache
def columns() -> dict[str, Column]:
    """What drives are ranked by, by the names of `flashtwin drives`."""
    return msgspec.convert(_table()["columns"], type=dict[str, Column])


def telling(drives: Sequence[Mapping[str, float]]) -> tuple[Column, ...]:
    """The columns that tell these drives apart: not those without a value, nor those in which two
    values are the ones of most drives, as where nothing was fitted to."""
    columns_left = []
    for column in columns().values():
        values = [row[column.finding] for row in drives if column.finding in row]
        commonest = Counter(float(f"{value:.2g}") for value in values).most_common(SHARED)
        shared = sum(count for _, count in commonest if count > 1)
        if values and 2 * shared <= max(len(values), FEWEST):
            columns_left.append(column)
    return tuple(columns_left)


def order() -> str:
    """The finding in whose order drives stand on a page."""
    return columns()[_table()["order"]].finding


@cache
def _table() -> dict[str, Any]:
    return read_toml(COLUMNS)


class Stored(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was found of one drive; `model` and `spec` say of which core and of which spec."""

    name: str
    model: int
    spec: str
    values: dict[str, float]


class Placed(Struct, frozen=True, kw_only=True):
    """Where a drive stands in a column: the place from 1 on, `of` so many."""

    column: Column
    value: float
    place: int
    of: int
    best: str
    best_value: float


class Ranked(Struct, frozen=True, kw_only=True):
    """A drive of a run among the catalogue's; `twins` are those that it is ranked against.

    `left_out`: twins whose results are of another core or another spec.
    """

    drive: str
    twins: tuple[str, ...]
    places: tuple[Placed, ...]
    left_out: int = 0


def stored() -> dict[str, Stored]:
    """The shipped results by drive."""
    return msgspec.json.decode(RESULTS.read_bytes(), type=dict[str, Stored])


@cache
def current() -> tuple[dict[str, Stored], int]:
    """The results that still hold, and how many do not."""
    everything = stored()
    holds = {
        name: row for name, row in everything.items() if is_current(row.model, {name: row.spec})
    }
    return holds, len(everything) - len(holds)


def ranked(drive: str, findings: Iterable[Finding], own: str | None = None) -> Ranked | None:
    """A drive among the twins; none where nothing is there to compare.

    `own` is the hash of its spec: a drive of the catalogue is not ranked against its own result.
    """
    results, left_out = current()
    twins = {name: row for name, row in results.items() if row.spec != own}
    values = {finding.id: finding.number for finding in findings if finding.number is not None}
    places = [
        placed
        for column in telling([row.values for row in results.values()])
        if column.places and (placed := _placed(column, values, twins)) is not None
    ]
    if not places:
        return None
    return Ranked(drive=drive, twins=tuple(twins), places=tuple(places), left_out=left_out)


def ranked_runs(runs: Sequence[Run]) -> list[Ranked]:
    """The drives of runs, in their order, those that have something to compare."""
    rows = [
        ranked(str(run.target["name"]), run.findings, str(identity_of(run).get("hash")))
        for run in runs
    ]
    return [row for row in rows if row is not None]


def identity_of(run: Run) -> Mapping[str, Any]:
    """What the manifest says of the run's target."""
    identity = run.target.get("identity")
    return identity if isinstance(identity, dict) else {}


def _placed(
    column: Column, values: Mapping[str, float], twins: Mapping[str, Stored]
) -> Placed | None:
    value = values.get(column.finding)
    others = {
        name: row.values[column.finding]
        for name, row in twins.items()
        if column.finding in row.values
    }
    if value is None or not others:
        return None
    best = max(others, key=lambda name: others[name])
    faster = sum(other > value for other in others.values())
    return Placed(
        column=column,
        value=value,
        place=faster + 1,
        of=len(others) + 1,
        best=best,
        best_value=others[best],
    )


def batteries() -> str:
    """What is run for the shipped results, as it is typed."""
    return ",".join(groups.get(GROUP).batteries)


def results_of(runs: Iterable[Run]) -> dict[str, Stored]:
    """What is shipped of runs of the catalogue's drives."""
    known = [column.finding for column in columns().values()]
    return {
        str(identity["spec"]): Stored(
            name=str(identity["name"]),
            model=int(identity["model"]),
            spec=str(identity["hash"]),
            values={
                finding.id: finding.number
                for finding in run.findings
                if finding.id in known and finding.number is not None
            },
        )
        for run in runs
        if (identity := identity_of(run))
    }


def encoded(results: Mapping[str, Stored]) -> bytes:
    """The text of `results.json`: a drive a line, in the order of their ids."""
    lines = [
        f"{msgspec.json.encode(name).decode()}: {msgspec.json.encode(results[name]).decode()}"
        for name in sorted(results)
    ]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()
