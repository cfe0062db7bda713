"""The tables of a run of schemas 1 to 3 that is not finished: Parquet files in `parts`.

There is one a step and kind.
From schema 3 on the journal's line of a step says which tables it has and what is in them; before
that the series of a step that was possible is there, and the others may be.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from flashtwin.runs import frames
from flashtwin.runs.frames import Table, rows
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.storage import damaged, is_there


def read(run: Path, record: StepRecord, name: str) -> Table:
    """A table of one step, empty where the step has none of the kind."""
    place, digests = at(run, record.step, name), record.tables
    if digests is None:
        needed = name == "series" and record.not_possible is None
        there = needed or is_there(place)
    else:
        there = name in digests
    if not there:
        return frames.empty(name)
    return frames.read(place, name, None if digests is None else digests[name])


def at(run: Path, number: int, name: str) -> Path:
    """Where a table lies."""
    return run / "parts" / f"{number:05}.{name}.parquet"


def joined(run: Path, name: str, records: Iterable[StepRecord]) -> Table:
    """The parts of the journal's steps as one table, without those of a step that never ended."""
    tables: list[Table] = []
    for record in records:
        table = read(run, record, name)
        if tables and rows(table) and table.keys() != tables[0].keys():
            why = "its columns are not those of the steps before"
            raise damaged(at(run, record.step, name), why)
        tables += [table] if rows(table) else []
    return frames.join(name, tables)
