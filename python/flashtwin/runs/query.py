"""Questions over stored runs: an SQL condition, answered by DuckDB over a table of the runs.

`runs` has a row a run: the columns in `COLUMNS`, and for each finding that any of the runs has
  - under its whole id, quoted, a struct: "fill.cache_size[128k-q32]".value, .low, .high, .unit
  - under its name the first of its variants: cache_size, cache_size_low, cache_size_high and
    cache_size_unit, and with its variant each: cache_size_1m_q1. Letters, digits and _ only, in
    small letters; the battery comes in front where the name would be taken.
`findings` has a row a finding: run (its path), id, name, variant, battery, title, value, choice,
low, high, means, unit, note. Invariants: a condition reads these tables and nothing else; it is one
expression that is true or false; it is judged in a process of its own (`judge`) that has so much
time and memory and no more, so that nothing it asks for hangs the caller or takes the machine's
memory.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from flashtwin import system
from flashtwin.arguments import checked
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.runs import schema
from flashtwin.runs.condition import COLUMNS, OUT_OF_MEMORY, SORTS
from flashtwin.runs.listing import DEFAULT_PARENT, Stored, StoredRuns, stored

SIDES = {"value": "DOUBLE", "low": "DOUBLE", "high": "DOUBLE", "unit": "VARCHAR"}
_FINDINGS = {
    "run": "VARCHAR",
    "id": "VARCHAR",
    "name": "VARCHAR",
    "variant": "VARCHAR",
    "battery": "VARCHAR",
    "title": "VARCHAR",
    **SIDES,
    "choice": "VARCHAR",
    "means": "VARCHAR",
    "note": "VARCHAR",
}
# Short names that a hint names.
NAMES_TOLD = 24
# What a condition may take: it looks at some thousand rows, which takes milliseconds.
MOST_S = 8
MOST_BYTES = 1 << 30
MOST_CHARACTERS = 65_536


def search(
    places: Sequence[str | Path] = (), *, where: str | None = None, sort: str | None = None
) -> StoredRuns:
    """What lies in the places, by default ./flashtwin-runs: everything, or the runs for which a
    condition holds. It is sorted by a key or a finding, and with - in front the other way round."""
    no_place = not places and not DEFAULT_PARENT.exists()
    chosen = [] if no_place else stored([Path(place) for place in places] or [DEFAULT_PARENT])
    if where is not None:
        chosen = matching([run for run in chosen if run.is_run], where)
    return StoredRuns(chosen if sort is None else _sorted(chosen, sort))


@checked
def runs(
    *places: str | Path, where: str | None = None, sort: str = "-time", limit: int | None = None
) -> StoredRuns:
    """What is stored in folders, by default in ./flashtwin-runs: what `flashtwin runs` lists.

    `where` is a condition in SQL ("target = 'bx500-240' and cache_size > 20"; it needs DuckDB),
    `sort` a key or a finding, with - in front for the other way round. `ft.load_run(one.path)` is
    the run of what is listed; `print` shows the list as a table.
    """
    if limit is not None and limit < 1:
        raise FlashtwinError(f"limit is {limit}", hint="it is from 1 on", exit_code=USAGE)
    return search(places, where=where, sort=sort)[:limit]


def _sorted(runs: list[Stored], sort: str) -> list[Stored]:
    """Sort runs by a key or a finding. Runs without the value come last in either direction."""
    name, backwards = sort.removeprefix("-"), sort.startswith("-")
    keys = [_key(run, name) for run in runs]
    if name not in SORTS and not any(key is not None for key in keys) and runs:
        raise FlashtwinError(
            f"--sort {sort}: no run has a finding of that name",
            hint=f"sort by {', '.join(SORTS)} or a finding such as cache_size",
            exit_code=USAGE,
        )
    there = [(key, run) for key, run in zip(keys, runs, strict=True) if key is not None]
    there.sort(key=lambda pair: pair[0], reverse=backwards)
    rest = [run for key, run in zip(keys, runs, strict=True) if key is None]
    return [run for _, run in there] + rest


def _key(run: Stored, name: str) -> Any:
    if name not in SORTS:
        finding = run.findings.get(name)
        if finding is None or finding.value is None:
            return None
        return isinstance(finding.value, str), finding.value
    return {
        "time": run.started,
        "target": run.target or None,
        "battery": ",".join(run.batteries) or None,
        "state": run.state,
        "seed": run.seed,
        "size": run.bytes,
        "path": str(run.path),
    }[name]


def matching(runs: Sequence[Stored], condition: str) -> list[Stored]:
    """The runs for which an SQL condition holds, in their order."""
    # Without its name a condition cannot ask the table of findings, which takes longest to fill.
    asks_findings = "findings" in condition.lower()
    tables = _tables(runs, condition, with_findings=asks_findings)
    answer = _answer(condition, "runs", tables, lambda: (_known(runs), _hint(runs)))
    return [runs[number] for number in answer]


def holding(
    condition: str, table: str, tables: Mapping[str, tuple[Mapping[str, Any], Sequence[Any]]]
) -> list[int]:
    """The numbers (from 0 on) of those rows of a table for which an SQL condition holds. Each of
    `tables` has its columns with DuckDB's types, and its rows."""
    shape, rows = tables[table]
    numbered = {"_row": "BIGINT", **shape}, [{"_row": i, **row} for i, row in enumerate(rows)]
    names = list(shape)
    known = names, f"columns: {', '.join(names)}"
    return _answer(condition, table, {**tables, table: numbered}, lambda: known)


def _answer(
    condition: str,
    table: str,
    tables: Mapping[str, Any],
    known: Callable[[], tuple[Sequence[str], str]],
) -> list[int]:
    """The rows for which a condition holds; `known` gives the names for a refusal, and its hint."""
    if find_spec("duckdb") is None:
        raise FlashtwinError(
            "--where asks DuckDB, which is not installed",
            hint="pip install 'flashtwin[query]'",
            exit_code=ENVIRONMENT,
        )
    if wrong := _no_text(condition):
        raise FlashtwinError(f"--where: {wrong}", hint=known()[1], exit_code=USAGE)
    answer = _judged(json.dumps({"condition": condition, "table": table, "tables": tables}))
    if reason := answer.get("wrong"):
        names, hint = known()
        reason = _unknown(reason, names) or reason
        raise FlashtwinError(f"--where: {reason}", hint=hint, exit_code=USAGE)
    return sorted(answer["rows"])


def _no_text(condition: str) -> str | None:
    """Why a text cannot be a condition; none where it can."""
    if len(condition) > MOST_CHARACTERS:
        return f"a condition of {len(condition)} characters, and {MOST_CHARACTERS} are possible"
    odd = next(
        (letter for letter in condition if not letter.isprintable() and letter not in "\t\n\r"),
        None,
    )
    return None if odd is None else f"the character {odd!a} is not part of a condition"


def ask_child(question: str) -> subprocess.CompletedProcess[bytes]:
    """The judging process, once it has ended."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "flashtwin.runs.condition", str(MOST_S), str(MOST_BYTES)],
        input=question.encode(),
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )


def _judged(question: str) -> dict[str, Any]:
    """The answer of the judging process. If it ended without one, the condition exceeded its
    limits."""
    process = ask_child(question)
    if system.ALARM and process.returncode == -system.ALARM:
        return {"wrong": f"judging the condition takes longer than {MOST_S} s"}
    if process.returncode == -signal.SIGINT:
        # Both got the same Ctrl-C, and the other process was the quicker one.
        raise KeyboardInterrupt
    if process.returncode < 0 or process.returncode == OUT_OF_MEMORY:
        return {"wrong": f"judging the condition takes more than {MOST_BYTES >> 20} MiB of memory"}
    if process.returncode != 0:
        complaint = process.stderr.decode(errors="replace").strip().splitlines() or [
            "DuckDB gave no reason"
        ]
        raise FlashtwinError(
            f"--where cannot be evaluated: {complaint[-1]}",
            hint="flashtwin runs --help has examples of conditions",
            exit_code=ENVIRONMENT,
        )
    answer: dict[str, Any] = json.loads(process.stdout)
    return answer


def short_names(runs: Sequence[Stored]) -> dict[str, tuple[str, ...]]:
    """The short column names of each finding, by its id: one from its name, which the first
    variant gets, and one from its name and variant. A finding whose short name is taken has
    none."""
    return _short_names(_kinds(run.finding_rows() for run in runs))


# A finding of any run stands for all of its id.
Kinds = dict[tuple[str, str, str], Finding]


def _kinds(rows_of_runs: Iterable[Sequence[schema.Finding]]) -> Kinds:
    kinds: Kinds = {}
    for rows in rows_of_runs:
        for row in rows:
            key = row.battery, row.name, row.variant
            if key not in kinds or (row.choices and not kinds[key].choices):
                kinds[key] = row.read()
    return kinds


def _short_names(kinds: Kinds) -> dict[str, tuple[str, ...]]:
    taken_columns = {column.lower() for column in COLUMNS}
    columns: dict[str, str | None] = {}

    def column(key: str, name: str, longer: str) -> str | None:
        if key not in columns:
            free = (
                spelling
                for spelling in (_plain(name), _plain(longer))
                if not taken_columns & {*_columns(spelling)}
            )
            columns[key] = next(free, None)
            taken_columns.update(_columns(columns[key] or ""))
        return columns[key]

    general = {
        finding.id: column(finding.stem, finding.short, f"{finding.battery}_{finding.short}")
        for finding in kinds.values()
    }
    own = {
        finding.id: column(
            finding.id, f"{finding.short}_{finding.variant}", f"{finding.stem}_{finding.variant}"
        )
        for finding in kinds.values()
        if finding.variant
    }
    return {
        name: tuple(short for short in (general[name], own.get(name)) if short is not None)
        for name in general
    }


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")


def _columns(name: str) -> list[str]:
    """Of a short name: the value, and its other sides."""
    return [name if side == "value" else f"{name}_{side}" for side in SIDES]


# A condition of these words, numbers, texts and the columns of every run asks for no finding.
_OPERATORS = ("and", "or", "not", "in", "is", "null", "like", "ilike", "between", "true", "false")
_PLAIN_WORDS = {*COLUMNS, *_OPERATORS}
_TEXT = re.compile(r"'[^']*'")
_NAME = re.compile(r"[a-z_]\w*|\"[^\"]*\"")


def _asks_for_findings(condition: str) -> bool:
    """Whether a condition may name a finding; those take longest to read and to fill in."""
    left = _TEXT.sub("", condition.lower())
    return any(name.strip('"') not in _PLAIN_WORDS for name in _NAME.findall(left)) or "*" in left


# A condition with one of these may ask for columns that it does not name.
_ANY_COLUMN = ("*", "columns", "runs")


def _tables(runs: Sequence[Stored], condition: str, *, with_findings: bool) -> dict[str, Any]:
    """Each table's columns with their types, and its rows. Of the findings' columns those alone
    that the condition may name: all of them are hundreds, and take longest to fill in."""
    shape: dict[str, Any] = {"_row": "BIGINT", **COLUMNS}
    rows = [{"_row": index, **_row(run)} for index, run in enumerate(runs)]
    if not _asks_for_findings(condition):
        return {"runs": (shape, _cells(rows)), "findings": (_FINDINGS, [])}
    rows_of_runs = [run.finding_rows() for run in runs]
    kinds = _kinds(rows_of_runs)
    columns = _named_columns(kinds, condition.lower())
    for key, kind in kinds.items():
        sides = {**SIDES, "value": "VARCHAR"} if kind.choices else SIDES
        shape.update((column, sides[side] if side else sides) for column, side in columns[key])
    for row, finding_rows in zip(rows, rows_of_runs, strict=True):
        for finding in finding_rows:
            for column, side in columns[finding.battery, finding.name, finding.variant]:
                cells = _sides(finding)
                row.setdefault(column, cells[side] if side else cells)
    told_rows = [
        _finding_row(kinds, run, finding)
        for run, finding_rows in zip(runs, rows_of_runs, strict=True)
        for finding in (finding_rows if with_findings else ())
    ]
    return {"runs": (shape, _cells(rows)), "findings": (_FINDINGS, _cells(told_rows))}


def _named_columns(
    kinds: Kinds, condition: str
) -> dict[tuple[str, str, str], list[tuple[str, str | None]]]:
    """The columns of each finding that a condition may name, and the side of it that is in each;
    none where it is the struct of all sides."""
    every = any(word in condition for word in _ANY_COLUMN)
    names = _short_names(kinds)
    columns: dict[tuple[str, str, str], list[tuple[str, str | None]]] = {}
    for key, kind in kinds.items():
        columns[key] = [(kind.id, None)]
        for short in names[kind.id]:
            columns[key] += zip(_columns(short), SIDES, strict=True)
        if not every:
            columns[key] = [pair for pair in columns[key] if pair[0].lower() in condition]
    return columns


def _finding_row(kinds: Kinds, run: Stored, finding: schema.Finding) -> dict[str, Any]:
    kind = kinds[finding.battery, finding.name, finding.variant]
    is_number = not isinstance(finding.value, str)
    return {
        **_sides(finding),
        "run": str(run.path),
        "id": kind.id,
        "name": kind.short,
        **{key: getattr(finding, key) for key in ("variant", "battery", "title", "means", "note")},
        "value": finding.value if is_number else None,
        "choice": finding.value if finding.choices else None,
    }


def _cells(value: Any) -> Any:
    """Values as a table can hold them: numbers beyond 64 bits become NULL, broken characters
    question marks."""
    if isinstance(value, dict):
        return {key: _cells(cell) for key, cell in value.items()}
    if isinstance(value, list):
        return [_cells(cell) for cell in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if isinstance(value, int) and abs(value) >= 1 << 63 else value


def _row(run: Stored) -> dict[str, Any]:
    started = None
    if run.started is not None:
        started = run.started.astimezone().replace(tzinfo=None).isoformat(sep=" ")
    return {
        "path": str(run.path),
        "name": run.path.name,
        "target": run.target,
        "label": run.label or None,
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


def _sides(finding: schema.Finding) -> dict[str, Any]:
    ends = (finding.low, finding.high) if finding.means else (None, None)
    return dict(zip(SIDES, (finding.value, *ends, finding.unit), strict=True))


# DuckDB's own words about a name that it does not know.
_NO_COLUMN = re.compile(r'Referenced column "(.+)" not found')
_NO_TABLE = re.compile(r'Referenced table "(.+)" not found')


def _unknown(reason: str, known: Sequence[str]) -> str | None:
    """The message about a name that is no column, with the nearest ones."""
    if column := _NO_COLUMN.search(reason):
        return f"there is no column {column[1]}{_nearest(column[1], known)}"
    if table := _NO_TABLE.search(reason):
        ids = [name for name in known if name.startswith(f"{table[1]}.")]
        if ids:
            return (
                f'{table[1]} is no table; whole ids of findings stand in "double quotes",'
                f" as in {_quoted(ids[0])}.value"
            )
        return f"there is no {_quoted(table[1])}{_nearest(table[1], known)}"
    return None


def _nearest(name: str, known: Sequence[str]) -> str:
    lower = {match.lower(): match for match in known}
    near = get_close_matches(name.lower(), lower, n=3, cutoff=0.7)
    return f"; did you mean {' or '.join(_quoted(lower[match]) for match in near)}" if near else ""


def _quoted(name: str) -> str:
    """A whole id in quotes, as a condition needs it."""
    return name if re.fullmatch(r"[a-z_][a-z0-9_]*", name) else f'"{name}"'


def _known(runs: Sequence[Stored]) -> list[str]:
    """Every name that a condition may have."""
    names = short_names(runs)
    every = dict.fromkeys(name for columns in names.values() for name in columns)
    short_ones = [column for name in every for column in _columns(name)]
    ids = dict.fromkeys(finding.id for run in runs for finding in run.findings)
    return [*COLUMNS, *short_ones, *ids]


def _hint(runs: Sequence[Stored]) -> str:
    short_ones = list(dict.fromkeys(names[0] for names in short_names(runs).values() if names))
    more = len(short_ones) - NAMES_TOLD
    listed = ", ".join(short_ones[:NAMES_TOLD]) + (f" and {more} more" if more > 0 else "")
    findings = f"; findings: {listed} (each with _low, _high and _unit)" if listed else ""
    return f"columns: {', '.join(COLUMNS)}{findings}"
