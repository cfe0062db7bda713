"""`export` writes a run's numbers into a directory that was not there before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.results import tables
from flashtwin.results.storage import disk, parquet_bytes, write_whole

if TYPE_CHECKING:
    import polars as pl

    from flashtwin.results.rundir import Run

Format = Literal["csv", "parquet", "fio-json"]
FORMATS: tuple[Format, ...] = get_args(Format)


def export(run: Run, form: Format, out: Path) -> list[Path]:
    """Write the run's tables (csv, parquet) or a file a step (fio-json) to `out`.

    Everything is read before the first byte is written. Raises `FlashtwinError` where the directory
    holds something, or the run nothing of the kind.
    """
    files = _fio(run) if form == "fio-json" else _tables(run, form)
    with disk(out, "create"):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise FlashtwinError(
                f"{out} is not empty" if out.is_dir() else f"{out} is not a directory",
                hint="choose another directory with --out",
                exit_code=USAGE,
            )
        out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_whole(out / name, data)
    return [out / name for name in files]


def _tables(run: Run, form: Format) -> dict[str, bytes]:
    """The X-ray of a real drive and what else has no row is left out, but for the four that every
    reader expects."""
    found = {}
    for name in tables.NAMES:
        frame = tables.table(run, name)
        if frame.height or name in ("findings", "steps", "series", "hist"):
            data = parquet_bytes(frame) if form == "parquet" else _csv(frame)
            found[f"{name}.{form}"] = data
    return found


def _csv(frame: pl.DataFrame) -> bytes:
    return frame.write_csv().encode()


def _fio(run: Run) -> dict[str, bytes]:
    from flashtwin.export.fio import documents

    found = {
        name: (json.dumps(one, indent=2, allow_nan=False) + "\n").encode()
        for name, one in documents(run).items()
    }
    if not found:
        raise FlashtwinError(
            f"{run.path} has no step in which jobs ran",
            hint="csv and parquet export what it has",
            exit_code=USAGE,
        )
    return found
