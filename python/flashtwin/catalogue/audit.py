"""A catalogue's own check: its drives and its published outcomes, each fault in a line.

A drive has to be called by its file, parse and build with each of its firmware profiles, and take
no id that flashtwin ships. Where each value comes from the format itself asks for. An outcome of
`published.toml` names its drive and its source, says by what it is judged, and under which
conditions it was measured: without them nobody can run it again.
Invariant: a folder that somebody sent is only read, and whatever is in it ends as faults.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flashtwin.catalogue import DRIVES, loader, private
from flashtwin.catalogue.folders import ID, ID_RULE, OUTCOMES, drives_of, specs_in
from flashtwin.inputs import InputError, read_regular

# Bytes that are read of a file of text.
MOST_BYTES = 16 << 20
_OF_AN_OUTCOME = {
    *("drive", "test", "metric", "kind", "value", "unit", "tolerance", "low", "high", "check"),
    *("note", "conditions", "battery", "finding"),
}
_UNJUDGED = ("computed", "shown")
_KINDS = ("measured", "qualitative", *_UNJUDGED)
_OUTCOME = re.compile(r"\s*\[\[\s*outcome\s*\]\]")
_AT_LINE = re.compile(r"\(at line (\d+)")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that is wrong in a catalogue: where, what, and what to change."""

    file: str
    line: int | None
    message: str
    hint: str | None

    @property
    def text(self) -> str:
        """As compilers print it, the hint behind it: a line a fault."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        line = f"{place}: {self.message}"
        return line if self.hint is None else f"{line} (hint: {self.hint})"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """So many things were looked at, and this is wrong with them."""

    count: int
    faults: tuple[Fault, ...]


def fault(file: Path, message: str, hint: str | None = None, line: int | None = None) -> Fault:
    """A fault of a file."""
    return Fault(file=str(file), line=line, message=message, hint=hint)


def drives(folder: Path) -> Checked:
    """The drives of a catalogue."""
    files = specs_in(drives_of(folder))
    faults = [wrong for file in files for wrong in _of_drive(file)]
    return Checked(count=len(files), faults=tuple(faults))


def _of_drive(file: Path) -> Iterator[Fault]:
    shipped = file.parent.resolve() == DRIVES.resolve()
    if not ID.fullmatch(file.stem):
        yield fault(file, f"a drive cannot be called {file.stem!r}", ID_RULE)
    if not shipped and file.stem in loader.shipped_ids():
        yield fault(file, f"flashtwin has a drive {file.stem} already", "give it an id of its own")
    try:
        spec = loader.check(str(file))
        loader.check_called(file, spec.id)
    except loader.BadSpecError as error:
        for issue in error.issues:
            message = f"{issue.key}: {issue.message}" if issue.key else issue.message
            yield Fault(file=issue.file, line=issue.line, message=message, hint=issue.hint)
        return
    for row in spec.values():
        if not row["unwritten"] and not (row["source"] or "").strip():
            yield fault(file, f"{row['key']} has no source", "say in words who tells it")
    yield from of_text(file, file.read_text(encoding="utf-8"))


def of_text(file: Path, text: str) -> Iterator[Fault]:
    """What of a text may not be read by others."""
    for line, kind in private.traces(text):
        yield fault(file, f"it holds {kind}", "take it out", line)


def outcomes(folder: Path) -> Checked:
    """The outcomes of a catalogue, if it has any."""
    file = folder / OUTCOMES
    if not file.exists():
        return Checked(count=0, faults=())
    try:
        text = read_regular(file, most_bytes=MOST_BYTES).decode()
        table = tomllib.loads(text)
    except (InputError, UnicodeDecodeError) as error:
        return _unreadable(file, str(error), None)
    except tomllib.TOMLDecodeError as error:
        at = _AT_LINE.search(str(error))
        return _unreadable(file, str(error), int(at[1]) if at else None)
    rows = table.get("outcome", [])
    if not _is_rows(rows) or not _is_rows(table.get("drive", [])):
        return _unreadable(file, "`outcome` and `drive` are tables of tables", None)
    lines = [n for n, line in enumerate(text.splitlines(), 1) if _OUTCOME.match(line)]
    # Rows that are written as a list have no lines of their own.
    places = lines if len(lines) == len(rows) else [None] * len(rows)
    known = {path.stem for path in specs_in(drives_of(folder))} | set(loader.shipped_ids())
    faults = [*_of_sources(file, table, known)]
    for row, line in zip(rows, places, strict=True):
        faults += [fault(file, *texts, line) for texts in _of_outcome(row, table)]
    faults += of_text(file, text)
    return Checked(count=len(rows), faults=tuple(faults))


def _unreadable(file: Path, why: str, line: int | None) -> Checked:
    return Checked(count=0, faults=(fault(file, f"it cannot be read: {why}", None, line),))


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _of_sources(file: Path, table: Mapping[str, Any], known: Iterable[str]) -> Iterator[Fault]:
    sources = table.get("sources", {})
    for row in table.get("drive", []):
        if row.get("id") not in known:
            hint = f"add {row.get('id')}.toml"
            yield fault(file, f"no drive {row.get('id')} is in the catalogue", hint)
        if not isinstance(sources, dict) or row.get("source") not in sources:
            hint = "name one of [sources], with title, author or place"
            yield fault(file, f"drive {row.get('id')} has no source", hint)


def _of_outcome(row: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a row, and what to change."""
    for key in ("drive", "test", "metric"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            yield f"{key}: missing", f'write {key} = "…"'
    if strange := sorted(row.keys() - _OF_AN_OUTCOME):
        yield f"{', '.join(strange)}: no such key", f"one of {', '.join(sorted(_OF_AN_OUTCOME))}"
    if row.get("drive") not in [drive.get("id") for drive in table.get("drive", [])]:
        yield f"drive: {row.get('drive')} has no [[drive]]", "add one with its id and its source"
    found_by = [row.get(key, "") for key in ("battery", "finding")]
    if not all(isinstance(text, str) for text in found_by) or len([*filter(None, found_by)]) == 1:
        hint = 'battery = "fill:patterns=1m-q1", finding = "fill.speed_past_cache[1m-q1]"'
        yield "battery and finding: texts, and both or none", hint
    kind = row.get("kind", "measured")
    if kind not in _KINDS:
        yield f"kind: {kind!r} is none", f"one of {', '.join(_KINDS)}"
    numbers = {key: row[key] for key in ("value", "tolerance", "low", "high") if key in row}
    for key, value in numbers.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            yield f"{key}: {value!r} is not a number", "write a number, the unit in `unit`"
    judged = numbers.keys() >= {"low", "high"} or "tolerance" in numbers
    if not judged and kind not in _UNJUDGED and "check" not in row:
        yield "nothing says when it is met", "give value and tolerance, or low and high"
    conditions = row.get("conditions")
    texts = list(conditions.values()) if isinstance(conditions, dict) else []
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        hint = 'conditions = { state = "published: erased", depth = "assumed: 1" }, in words'
        yield "conditions: missing", hint
