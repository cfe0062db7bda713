"""Bytes to and from the files of a run directory: JSON, Parquet, and what can be wrong with them.

Why here: every file of a run has to come out with the same bytes for the same values (no clock, no
path, no threads in the encoding). How they reach the disk is told in `outputs`.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtwin import outputs
from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    import polars as pl

# One row group up to so many rows: a run is read whole, and the split must not follow the machine.
ROW_GROUP_ROWS = 1 << 20


def write_whole(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Replace a file of a stored run in one go; `durable` costs a wait for the disk."""
    outputs.write(path, data, within=path.parent, durable=durable)


def json_bytes(value: object) -> bytes:
    """Indented JSON; not-a-number is refused because no other reader would take it."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    return outputs.encoded(text + "\n")


def json_line(value: object) -> bytes:
    """One line of a journal."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return outputs.encoded(text + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file, or a sentence about what is wrong with it."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise damaged(path, "the file is missing") from None
    except (ValueError, OSError) as error:
        raise damaged(path, _first_line(error)) from error
    if not isinstance(value, dict):
        raise damaged(path, "it holds no JSON object")
    return value


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

    try:
        data = path.read_bytes()
        if digest is not None and digest_of(data) != digest:
            raise damaged(path, "it is not what was written")
        frame = pl.read_parquet(io.BytesIO(data))
    except FileNotFoundError:
        raise damaged(path, "the file is missing") from None
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # polars panics, and says so on stderr, where it trusts a length in a damaged file.
        raise damaged(path, _first_line(error)) from error
    for name, kind in schema.items():
        if frame.schema.get(name) != kind:
            raise damaged(path, f"column {name} should be {kind}, is {frame.schema.get(name)}")
    return frame


def damaged(
    path: Path, why: str, *, line: int | None = None, hint: str | None = None
) -> FlashtwinError:
    """What to say of a file that cannot be used; `line` counts from 1."""
    place = path if line is None else f"{path}:{line}"
    return FlashtwinError(
        f"{place} cannot be read as part of a run: {why}",
        hint=hint or "the run is damaged or unfinished; make it again with flashtwin test",
        exit_code=USAGE,
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
