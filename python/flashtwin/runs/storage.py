"""Bytes to and from the files of a run directory: JSON, Parquet, and what can be wrong with them.

Why here: every file of a run has to come out with the same bytes for the same values (no clock, no
path, no threads in the encoding). How they reach the disk is told in `outputs`.

A sealed JSON file tells whether it is still what was written: its last member, `check`, is the
SHA-256 of what the file is to be and of all text before that member. Invariant: one flipped bit
anywhere in such a file is seen, and so is a file that was put into another's place, for `of` names
the file and, where several runs have one, the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from flashtwin import _core, outputs, system
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import InputError, Place, open_regular, parse_json, read_regular
from flashtwin.model.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

# Bytes that are read of a file of JSON, of a journal, and of one of its lines.
MOST_JSON, MOST_JOURNAL, MOST_LINE = 16 << 20, 128 << 20, 16 << 20
# A table may take such a part of the machine's memory, on the disk and as arrays.
TABLE_SHARE = 4
# The last member of a sealed file.
CHECK = "check"


def write_whole(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Replace a file of a stored run as a whole; `durable` waits for the disk."""
    outputs.write(path, data, within=path.parent, durable=durable)


def remove_tree(path: Path) -> None:
    """Remove a file, a link, or a directory with what is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def json_bytes(value: object) -> bytes:
    """Indented JSON. Not-a-number is refused, because other readers would not take it."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode(errors="replace")


def json_line(value: object) -> bytes:
    """One line of a journal."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode(errors="replace")


_UNKNOWN = "0" * 64
# Bytes at the end of a sealed file in which its check stands.
CHECK_BYTES = 256
_TAIL = re.compile(rb'"check": "([0-9a-f]{64})"\n\}\n\Z')


def sealed_bytes(value: Mapping[str, Any], of: str) -> bytes:
    """The value as JSON text with its check."""
    text = json_bytes({**{k: v for k, v in value.items() if k != CHECK}, CHECK: _UNKNOWN})
    body = text[: text.rindex(b'"check"')]
    return body + text[len(body) :].replace(_UNKNOWN.encode(), _digest(body, of).encode())


def unsealed(path: Path, data: bytes, value: dict[str, Any], of: str) -> None:
    """Refuse a file that is not what was written, and remove the check from its value."""
    if not is_sealed(data, of):
        raise damaged(path, "its contents are not what flashtwin wrote")
    value.pop(CHECK, None)


def is_sealed(data: bytes, of: str) -> bool:
    """Whether the text of a file ends in the check of what is before it."""
    tail = _TAIL.search(data, max(len(data) - CHECK_BYTES, 0))
    return tail is not None and _digest(memoryview(data)[: tail.start()], of) == tail[1].decode()


def check_of(end: bytes) -> str:
    """The check that the end of a sealed file says, empty where it says none."""
    tail = _TAIL.search(end)
    return "" if tail is None else tail[1].decode()


def _digest(body: bytes | memoryview, of: str) -> str:
    digest = hashlib.sha256(of.encode() + b"\n")
    digest.update(body)
    return digest.hexdigest()


def read_file(path: Place, most_bytes: int) -> bytes:
    """All bytes of a file of a run; raises with a sentence where it cannot be read."""
    try:
        return read_regular(path, most_bytes=most_bytes)
    except InputError as error:
        raise damaged(path, "the file is missing" if error.missing else error.why) from None


def open_file(path: Place) -> int:
    """A file of a run, open for reading."""
    try:
        return open_regular(path)
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
    """Whether a directory has that name, also where it is a link that leads nowhere."""
    return os.path.lexists(path)


@dataclass(frozen=True, kw_only=True)
class Words:
    """A column of text: the place of each row's among `words`, below zero where it has none."""

    places: NDArray[np.int64]
    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.places)

    @staticmethod
    def of(texts: Iterable[str | None]) -> Words:
        """The column with these texts."""
        known: dict[str, int] = {}
        places = [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
        return Words(places=np.array(places, dtype=np.int64), words=tuple(known))

    def texts(self) -> list[str | None]:
        """The text of every row."""
        words = (*self.words, None)
        return [words[place] for place in self.places.tolist()]


# Whole numbers; numbers, NaN where one is lacking; text.
Column: TypeAlias = "NDArray[np.int64] | NDArray[np.float64] | Words"


def parquet_bytes(columns: Mapping[str, Column]) -> bytes:
    """A table as Parquet; equal tables give equal bytes."""
    return _core.write_parquet([(name, _plain(column)) for name, column in columns.items()])


def _plain(column: Column) -> Any:
    if isinstance(column, Words):
        words = [word.encode("utf-8", "replace").decode() for word in column.words]
        return np.ascontiguousarray(column.places), words
    return np.ascontiguousarray(column)


def digest_of(data: bytes) -> str:
    """The digest that tells whether a file is still what was written."""
    return hashlib.sha256(data).hexdigest()


def read_parquet(path: Path, digest: str) -> dict[str, NDArray[np.int64]]:
    """The columns of whole numbers in a file; one that is not what was written, which its digest
    tells, is refused before it is read any further."""
    data = read_file(path, memory_bytes() // TABLE_SHARE)
    if digest_of(data) != digest:
        raise damaged(path, "its contents are not what flashtwin wrote")
    try:
        return _core.read_parquet(data, memory_bytes() // TABLE_SHARE // 8)
    except _core.TableError as error:
        raise damaged(path, str(error)) from error


def memory_bytes() -> int:
    """The memory of this machine; of one that does not tell, what a small one has."""
    return system.memory_bytes() or 4 << 30


AS_PART = " cannot be read as part of a run: "


def damaged(
    path: Place, why: str, *, line: int | None = None, hint: str | None = None
) -> FlashtwinError:
    """The error for a file that cannot be used; `line` counts from 1."""
    place = path if line is None else f"{path}:{line}"
    return FlashtwinError(
        f"{place}{AS_PART}{why}",
        hint=hint or "the run is damaged or unfinished; make it again with flashtwin test",
        exit_code=USAGE,
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
