"""The tables of a run that goes on: a file a step and kind, in the directory `parts`.

Invariant: a step's series is written last, so where it is, the step's other tables are too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flashtwin.battery.step import NotPossible, Result
from flashtwin.results import frames
from flashtwin.results.journal import StepRecord
from flashtwin.results.series import COLUMNS, Series
from flashtwin.results.storage import damaged, parquet_bytes, read_parquet, write_whole

if TYPE_CHECKING:
    import polars as pl


def write(run: Path, number: int, result: Result, *, durable: bool) -> None:
    """Put a step's tables on disk."""
    tables = frames.of_result(number, result)
    for name in sorted(tables, key=lambda name: name == "series"):
        write_whole(at(run, number, name), parquet_bytes(tables[name]), durable=durable)


def answer_of(record: StepRecord, table: Callable[[str], pl.DataFrame]) -> Result | NotPossible:
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


def series_of(frame: pl.DataFrame, step: int) -> Series:
    """What the host saw in a step; empty where it asked for nothing."""
    rows = frames.rows_of(frame, step)
    return Series(**{name: rows[name] for name in COLUMNS})


def xray_of(frame: pl.DataFrame, step: int) -> dict[str, NDArray[np.int64]]:
    """The inside of a twin during a step, by column; empty for a real drive."""
    rows = frames.rows_of(frame, step)
    return rows if rows and len(rows["t_ns"]) else {}


def meter_of(frame: pl.DataFrame, step: int) -> dict[str, NDArray[np.int64]]:
    """What a meter read during a step (see `Result`); empty where there was none."""
    rows = frames.rows_of(frame, step)
    return rows if rows and len(rows["t_ns"]) else {}


def read(run: Path, number: int, name: str) -> pl.DataFrame:
    """A table of one step; every step has a series, the others are there where they have rows."""
    place = at(run, number, name)
    if name != "series" and not place.exists():
        return frames.join(name, [])
    return read_parquet(place, frames.required(name))


def at(run: Path, number: int, name: str) -> Path:
    """Where a table lies."""
    return run / "parts" / f"{number:05}.{name}.parquet"


def joined(run: Path, name: str, records: Iterable[StepRecord]) -> pl.DataFrame:
    """The parts of the journal's steps as one frame, without those of a step that never ended."""
    found = []
    for record in records:
        place = at(run, record.step, name)
        if place.exists():
            found.append(read_parquet(place, frames.required(name)))
        elif name == "series" and record.not_possible is None:
            raise damaged(place, "the file is missing")
    return frames.join(name, found)
