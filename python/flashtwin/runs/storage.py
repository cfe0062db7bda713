"""Bytes to and from the files of a run directory: JSON, Parquet, and what can be wrong with them.

Why here: every file of a run has to come out with the same bytes for the same values (no clock, no
path, no threads in the encoding). How they reach the disk is told in `outputs`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtwin import outputs
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import InputError, parse_json, read_regular

if TYPE_CHECKING:
    import polars as pl

# One row group up to so many rows: a run is read whole, and the split must not follow the machine.
ROW_GROUP_ROWS = 1 << 20
# Bytes that are read of a file of JSON, of a journal, and of one of its lines.
MOST_JSON, MOST_JOURNAL, MOST_LINE = 16 << 20, 128 << 20, 16 << 20
# A table may take such a part of the machine's memory, on the disk and as a frame.
TABLE_SHARE = 4


def write_whole(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Replace a file of a stored run in one go; `durable` costs a wait for the disk."""
    outputs.write(path, data, within=path.parent, durable=durable)


def json_bytes(value: object) -> bytes:
    """Indented JSON; not-a-number is refused because no other reader would take it."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode(errors="replace")


def json_line(value: object) -> bytes:
    """One line of a journal."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode(errors="replace")


def read_file(path: Path, most_bytes: int) -> bytes:
    """All bytes of a file of a run, or a sentence about what is wrong with it."""
    try:
        return read_regular(path, most_bytes=most_bytes)
    except InputError as error:
        raise damaged(path, "the file is missing" if error.missing else error.why) from None


def object_of(path: Path, data: bytes) -> dict[str, Any]:
    """The object in a file's JSON text."""
    try:
        value = parse_json(data)
    except ValueError as error:
        raise damaged(path, _first_line(error)) from error
    if not isinstance(value, dict):
        raise damaged(path, "it holds no JSON object")
    return value


def is_there(path: Path) -> bool:
    """Whether a name is in its directory, whatever it stands for: a link into nowhere is there."""
    return os.path.lexists(path)


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as Parquet: one chunk, fixed row groups, so that equal frames give equal bytes."""
    sink = io.BytesIO()
    frame.rechunk().write_parquet(
        sink, compression="zstd", compression_level=3, row_group_size=ROW_GROUP_ROWS
    )
    return sink.getvalue()


def digest_of(data: bytes) -> str:
    """What tells whether a file is still what was written."""
    return hashlib.sha256(data).hexdigest()


def read_parquet(path: Path, schema: dict[str, Any], digest: object = None) -> pl.DataFrame:
    """The frame in a file; it has to have the columns and types of `schema`.

    With the `digest` of what was written nothing else is looked into: polars trusts the lengths in
    a file, and may ask for more memory than there is.
    """
    import polars as pl

    data = read_file(path, memory_bytes() // TABLE_SHARE)
    if digest is not None and digest_of(data) != digest:
        raise damaged(path, "it is not what was written")
    try:
        _check_rows(path, data)
        frame = pl.read_parquet(io.BytesIO(data))
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # polars panics, and says so on stderr, where it trusts a length in a damaged file.
        raise damaged(path, _first_line(error)) from error
    for name, kind in schema.items():
        if frame.schema.get(name) != kind:
            raise damaged(path, f"column {name} should be {kind}, is {frame.schema.get(name)}")
    return frame


def _check_rows(path: Path, data: bytes) -> None:
    """Refuse a table that would not fit into the memory: a few bytes may stand for many rows."""
    import polars as pl

    scan = pl.scan_parquet(io.BytesIO(data))
    columns, rows = len(scan.collect_schema()), scan.select(pl.len()).collect().item()
    if rows * columns * 8 > memory_bytes() // TABLE_SHARE:
        raise damaged(path, f"its {rows:,} rows are more than this machine can hold")


def memory_bytes() -> int:
    """What the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


AS_PART = " cannot be read as part of a run: "


def damaged(
    path: Path, why: str, *, line: int | None = None, hint: str | None = None
) -> FlashtwinError:
    """What to say of a file that cannot be used; `line` counts from 1."""
    place = path if line is None else f"{path}:{line}"
    return FlashtwinError(
        f"{place}{AS_PART}{why}",
        hint=hint or "the run is damaged or unfinished; make it again with flashtwin test",
        exit_code=USAGE,
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
