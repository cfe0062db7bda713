"""The tables of a run that goes on: a file a step and kind, in the directory `parts`.

The journal's line of a step says which tables it has and what is in them. Invariants: a table that
is not what was written is never looked into; in runs of schemas whose lines do not say so, the
series is there and the others may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtwin.model.series import COLUMNS, Series
from flashtwin.model.step import NotPossible, Result
from flashtwin.runs import frames
from flashtwin.runs.frames import Table, rows
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.storage import damaged, is_there, parquet_bytes, write_whole


def encoded(number: int, result: Result) -> dict[str, bytes]:
    """A step's tables as they are on disk."""
    return {name: parquet_bytes(one) for name, one in frames.of_result(number, result).items()}


def write(run: Path, number: int, tables: Mapping[str, bytes], *, durable: bool) -> None:
    """Put a step's tables on disk."""
    for name, data in tables.items():
        write_whole(at(run, number, name), data, durable=durable)


def answer_of(record: StepRecord, table: Callable[[str], Table]) -> Result | NotPossible:
    """A step out of its line and its tables."""
    if record.not_possible is not None:
        return NotPossible(reason=record.not_possible)
    return Result(
        label=record.label,
        start_ns=record.start_ns,
        duration_ns=record.duration_ns,
        series=series_of(table("series"), record.step),
        jobs=record.jobs,
        hist=frames.histograms(table("hist"), record.step),
        xray=xray_of(table("xray"), record.step),
        meter=meter_of(table("meter"), record.step),
        smart=record.smart,
        note=record.note,
        cut=record.cut,
    )


def series_of(table: Table, step: int) -> Series:
    """What the host saw in a step; empty where it asked for nothing."""
    columns = frames.rows_of(table, step)
    return Series(**{name: columns[name] for name in COLUMNS})


def xray_of(table: Table, step: int) -> dict[str, NDArray[np.int64]]:
    """The inside of a twin during a step, by column; empty for a real drive."""
    columns = frames.rows_of(table, step)
    return columns if columns and len(columns["t_ns"]) else {}


def meter_of(table: Table, step: int) -> dict[str, NDArray[np.int64]]:
    """What a meter read during a step (see `Result`); empty where there was none."""
    columns = frames.rows_of(table, step)
    return columns if columns and len(columns["t_ns"]) else {}


def read(run: Path, record: StepRecord, name: str) -> Table:
    """A table of one step, empty where the step has none of the kind."""
    place, told = at(run, record.step, name), record.tables
    if told is None:
        # A line of an older schema. A step that was possible has a series.
        needed = name == "series" and record.not_possible is None
        there = needed or is_there(place)
    else:
        there = name in told
    if not there:
        return frames.empty(name)
    return frames.checked(place, name, None if told is None else told[name])


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
