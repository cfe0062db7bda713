"""Questions over stored runs: an SQL condition, answered by DuckDB over a table of the runs.

`runs` has a row a run: the columns in `COLUMNS`, and for each finding that any of the runs has
  - under its whole id, quoted, a struct: "fill.cache_size[128k-q32]".value, .low, .high, .unit
  - under its short name the first of its patterns: cache_size, cache_size_low, cache_size_high and
    cache_size_unit. Letters, digits and _ only, in small letters: seq1m_q8t1_read for
    cdm.SEQ1M-Q8T1.read; the battery comes in front where the name would be taken.
`findings` has a row a finding: run (its path), id, name, battery, title, value, low, high, unit,
note. Invariant: a condition reads these tables and nothing else; DuckDB is shut off from files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.results.finding import Finding
from flashtwin.results.findings import short
from flashtwin.results.listing import Stored

if TYPE_CHECKING:
    import duckdb

COLUMNS = {
    "path": "VARCHAR",
    "name": "VARCHAR",
    "target": "VARCHAR",
    "kind": "VARCHAR",
    "battery": "VARCHAR",
    "state": "VARCHAR",
    "started": "TIMESTAMP",
    "wall_s": "DOUBLE",
    "seed": "BIGINT",
    "spec": "VARCHAR",
    "capacity_bytes": "BIGINT",
    "flashtwin": "VARCHAR",
    "steps": "BIGINT",
    "bytes": "BIGINT",
}
SIDES = {"value": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE", "unit": "VARCHAR"}
_FINDINGS = {
    "run": "VARCHAR",
    "id": "VARCHAR",
    "name": "VARCHAR",
    "battery": "VARCHAR",
    "title": "VARCHAR",
    **SIDES,
    "note": "VARCHAR",
}
# So many short names are told in a hint.
NAMES_TOLD = 24


def where(runs: Sequence[Stored], condition: str) -> list[Stored]:
    """The runs for which an SQL condition holds, in their order."""
    connection = _connected()
    try:
        _fill(connection, runs)
        rows = _ask(connection, condition, _known(runs), _hint(runs))
    finally:
        connection.close()
    return [runs[index] for index in sorted(row[0] for row in rows)]


def short_names(runs: Sequence[Stored]) -> dict[str, str]:
    """The short column of each finding that has one, by id; the first pattern's stands for all."""
    taken = {column.lower() for column in COLUMNS}
    found: dict[str, str] = {}
    of_stem: dict[str, str] = {}
    for finding in (one for run in runs for one in run.findings):
        stem = finding.id.partition("[")[0]
        if stem not in of_stem:
            name = _plain(short(finding.id))
            clash = any(column in taken for column in _columns(name))
            name = _plain(f"{finding.battery}_{name}") if clash else name
            if any(column in taken for column in _columns(name)):
                continue
            of_stem[stem] = name
            taken.update(_columns(name))
        found[finding.id] = of_stem[stem]
    return found


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")


def _columns(name: str) -> list[str]:
    """Of a short name: the value, and its other sides."""
    return [name if side == "value" else f"{name}_{side}" for side in SIDES]


def _connected() -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise FlashtwinError(
            "--where asks DuckDB, which is not installed",
            hint="pip install 'flashtwin[query]'",
            exit_code=ENVIRONMENT,
        ) from None
    return duckdb.connect(
        config={
            "enable_external_access": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )


def _fill(connection: duckdb.DuckDBPyConnection, runs: Sequence[Stored]) -> None:
    names = short_names(runs)
    shape: dict[str, Any] = {"_row": "BIGINT", **COLUMNS}
    for name, column in names.items():
        shape[name] = SIDES
        shape.update(zip(_columns(column), SIDES.values(), strict=True))
    rows = [{"_row": index, **_row(run, names)} for index, run in enumerate(runs)]
    _table(connection, "runs", shape, rows)
    told = [
        {**_sides(one), "run": str(run.path), "name": short(one.id), "note": one.note}
        | {"id": one.id, "battery": one.battery, "title": one.title}
        for run in runs
        for one in run.findings
    ]
    _table(connection, "findings", _FINDINGS, told)


def _table(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    shape: dict[str, Any],
    rows: list[dict[str, Any]],
) -> None:
    """One statement whatever the number of rows, and types that do not follow from the values."""
    text = f"CREATE TABLE {name} AS SELECT one.* FROM (SELECT unnest(from_json(?, ?)) AS one)"
    connection.execute(text, [json.dumps(rows), json.dumps([shape])])


def _row(run: Stored, names: dict[str, str]) -> dict[str, Any]:
    started = None
    if run.started is not None:
        started = run.started.astimezone().replace(tzinfo=None).isoformat(sep=" ")
    row: dict[str, Any] = {
        "path": str(run.path),
        "name": run.path.name,
        "target": run.target,
        "kind": run.kind,
        "battery": ",".join(run.batteries),
        "state": run.state,
        "started": started,
        "wall_s": run.wall_s,
        "seed": run.seed,
        "spec": run.spec,
        "capacity_bytes": run.capacity_bytes,
        "flashtwin": run.flashtwin,
        "steps": run.steps,
        "bytes": run.bytes,
    }
    for finding in run.findings:
        row[finding.id] = _sides(finding)
        for column, side in zip(_columns(names.get(finding.id, "")), SIDES, strict=True):
            if finding.id in names:
                row.setdefault(column, row[finding.id][side])
    return row


def _sides(finding: Finding) -> dict[str, Any]:
    return {side: finding.to_json()[side] for side in SIDES}


def _ask(
    connection: duckdb.DuckDBPyConnection, condition: str, known: Sequence[str], hint: str
) -> list[tuple[int, ...]]:
    import duckdb

    try:
        # A condition that ends in a comment must not take the bracket with it.
        statements = connection.extract_statements(f"SELECT _row FROM runs WHERE ({condition}\n)")
        if len(statements) != 1:
            raise FlashtwinError("--where is more than one condition", hint=hint, exit_code=USAGE)
        return connection.execute(statements[0]).fetchall()
    except duckdb.Error as error:
        said = _unknown(_first(error), known) or _first(error)
        raise FlashtwinError(f"--where: {said}", hint=hint, exit_code=USAGE) from error


# What DuckDB says of a name that is none, in its own words.
_NO_COLUMN = re.compile(r'Referenced column "(.+)" not found')
_NO_TABLE = re.compile(r'Referenced table "(.+)" not found')


def _unknown(said: str, known: Sequence[str]) -> str | None:
    """What to say of a name that is no column, with those that are nearest to it."""
    if column := _NO_COLUMN.search(said):
        return f"there is no column {column[1]}{_nearest(column[1], known)}"
    if table := _NO_TABLE.search(said):
        ids = [name for name in known if name.startswith(f"{table[1]}.")]
        if ids:
            return (
                f'{table[1]} is no table; whole ids of findings stand in "double quotes",'
                f" as in {_quoted(ids[0])}.value"
            )
        return f"there is no {_quoted(table[1])}{_nearest(table[1], known)}"
    return None


def _nearest(name: str, known: Sequence[str]) -> str:
    lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), lower, n=3, cutoff=0.7)
    return f"; did you mean {' or '.join(_quoted(lower[one]) for one in near)}" if near else ""


def _quoted(name: str) -> str:
    """As a condition has it: a whole id in quotes."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else f'"{name}"'


def _known(runs: Sequence[Stored]) -> list[str]:
    """Every name that a condition may have."""
    names = short_names(runs)
    short_ones = [column for name in dict.fromkeys(names.values()) for column in _columns(name)]
    ids = dict.fromkeys(one.id for run in runs for one in run.findings)
    return [*COLUMNS, *short_ones, *ids]


def _first(error: Exception) -> str:
    """DuckDB's own words without what it draws under the statement."""
    line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return line.strip().rstrip("!.")[:200]


def _hint(runs: Sequence[Stored]) -> str:
    short_ones = list(dict.fromkeys(short_names(runs).values()))
    more = len(short_ones) - NAMES_TOLD
    told = ", ".join(short_ones[:NAMES_TOLD]) + (f" and {more} more" if more > 0 else "")
    findings = f"; findings: {told} (each with _low, _high and _unit)" if told else ""
    return f"columns: {', '.join(COLUMNS)}{findings}"
