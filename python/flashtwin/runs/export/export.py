"""`export` writes a run's numbers into a directory that was not there before."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from flashtwin import outputs
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.lazy import named
from flashtwin.runs import tables
from flashtwin.runs.storage import parquet_bytes

if TYPE_CHECKING:
    from flashtwin.runs.rundir import Run

Format = Literal["csv", "parquet", "fio-json", "openmetrics"]
FORMATS: tuple[Format, ...] = get_args(Format)
# Formats that another room writes: a function that makes a run's files, by name.
BY_NAME = {
    "fio-json": "flashtwin.fio.export:json_files",
    "openmetrics": "flashtwin.runs.export.openmetrics:files_of",
}


def export(run: Run, form: Format, out: Path) -> list[Path]:
    """Write the run's tables (csv, parquet) or a file a step (fio-json) to `out`.

    Everything is read before the first byte is written. Raises `FlashtwinError` where the directory
    holds something, or the run nothing of the kind.
    """
    return export_all({out: run}, form)[out]


def export_all(runs: Mapping[Path, Run], form: Format) -> dict[Path, list[Path]]:
    """Like `export`, for several runs, each into its own directory; all are read before anything
    is written. A run without anything of the kind has no directory in the answer; where no run
    has any, it is an error."""
    files_of = named(BY_NAME[form]) if form in BY_NAME else partial(_tables, form=form)
    read: dict[Path, dict[str, bytes]] = {out: files_of(run) for out, run in runs.items()}
    written = {out: files for out, files in read.items() if files}
    if not written:
        raise FlashtwinError(
            f"{', '.join(str(run.path) for run in runs.values())}: no step in which jobs ran",
            hint="csv and parquet export what there is",
            exit_code=USAGE,
        )
    for out in written:
        outputs.check_empty(out, "choose another directory with --out")
    paths = {out / name: data for out, files in written.items() for name, data in files.items()}
    outputs.write_all(paths, folders=True)
    return {out: [out / name for name in files] for out, files in written.items()}


def _tables(run: Run, form: Format) -> dict[str, bytes]:
    """The tables to write. Those without rows (the X-ray of a real drive) are left out, but for
    the four that every reader expects."""
    files = {}
    for name in tables.NAMES:
        sheet = tables.table(run, name)
        if sheet.height or name in ("findings", "steps", "series", "hist"):
            data = parquet_bytes(sheet.columns) if form == "parquet" else _csv(sheet)
            files[f"{name}.{form}"] = data
    return files


def _csv(sheet: tables.Sheet) -> bytes:
    """CSV: a missing value is an empty cell, an empty text is a pair of quotes."""
    cells = [_cells(sheet, name) for name in sheet.columns]
    lines = [",".join(row) for row in zip(*cells, strict=True)]
    return "\n".join([",".join(sheet.columns), *lines, ""]).encode("utf-8", "backslashreplace")


def _cells(sheet: tables.Sheet, name: str) -> list[str]:
    column = sheet.columns[name]
    if isinstance(column, tables.Words):
        words = [*map(_quoted, column.words), ""]
        return [words[place] for place in column.places.tolist()]
    return ["" if value is None else repr(value) for value in sheet.values(name)]


def _quoted(text: str) -> str:
    cell = outputs.csv_cell(text)
    if cell and not any(character in cell for character in ',"\r\n'):
        return cell
    return '"' + cell.replace('"', '""') + '"'
