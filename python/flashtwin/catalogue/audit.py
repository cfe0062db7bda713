"""A catalogue's own check: its drives and its published outcomes, each fault in a line.

A drive has to be called by its file, parse and build with each of its firmware profiles, and take
no id that flashtwin ships. Where each value comes from the format itself asks for. An outcome of
`published.toml` names its drive and its source, says by what it is judged, and under which
conditions it was measured: without them nobody can run it again.
Invariant: a folder that somebody sent is only read, and whatever is in it ends as faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from flashtwin.catalogue import DRIVES, loader, private
from flashtwin.catalogue.folders import ID, ID_RULE, OUTCOMES, drives_of, specs_in
from flashtwin.errors import shortened
from flashtwin.inputs import InputError, parse_toml, read_regular
from flashtwin.model.document import Document

# Bytes that are read of a file of text.
MOST_BYTES = 16 << 20
# Of outcomes and their drives: bytes of the file, bytes of a line, rows of a kind, characters of a
# text, and the largest number; a hundred times what is shipped.
MOST_OUTCOMES, MOST_LINE, MOST_ROWS, MOST_TEXT, MOST_NUMBER = 4 << 20, 16 << 10, 10_000, 2000, 1e15
# Faults that are told of one file.
MOST_FAULTS = 100
_OF_AN_OUTCOME = {
    *("drive", "test", "metric", "kind", "value", "unit", "tolerance", "low", "high", "check"),
    *("note", "conditions", "battery", "finding"),
}
_UNJUDGED = ("computed", "shown")
_KINDS = ("measured", "qualitative", *_UNJUDGED)
_TEXTS = ("drive", "test", "metric", "unit", "check", "note", "battery", "finding")
_A_NUMBER = "write a number, the unit in `unit`"
_OUTCOME = re.compile(r"\s*\[\[\s*outcome\s*\]\]")
_AT_LINE = re.compile(r"\(at line (\d+)")


class Fault(Document, frozen=True):
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


@dataclass(frozen=True, kw_only=True)
class Checked:
    """How many files or rows were looked at, and their faults."""

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
        data = read_regular(file, most_bytes=MOST_OUTCOMES)
        if longest := _long_line(data):
            return _unreadable(file, f"the line has more than {MOST_LINE:,} bytes", longest)
        table, text = parse_toml(data), data.decode()
    except InputError as error:
        return _unreadable(file, error.why, None)
    except ValueError as error:
        at = _AT_LINE.search(str(error))
        return _unreadable(file, str(error), int(at[1]) if at else None)
    rows = table.get("outcome", [])
    if not _is_rows(rows) or not _is_rows(table.get("drive", [])):
        why = f"`outcome` and `drive` are tables of tables, {MOST_ROWS:,} at most"
        return _unreadable(file, why, None)
    lines = [n for n, line in enumerate(text.splitlines(), 1) if _OUTCOME.match(line)]
    # Rows that are written as a list have no lines of their own.
    places = lines if len(lines) == len(rows) else [None] * len(rows)
    known = {path.stem for path in specs_in(drives_of(folder))} | set(loader.shipped_ids())
    named = {row["id"] for row in table.get("drive", []) if isinstance(row.get("id"), str)}
    faults = chain(
        _of_sources(file, table, known),
        (
            fault(file, *texts, line)
            for row, line in zip(rows, places, strict=True)
            for texts in _of_outcome(row, named)
        ),
        of_text(file, text),
    )
    return Checked(count=len(rows), faults=_first(file, faults))


def _first(file: Path, faults: Iterator[Fault]) -> tuple[Fault, ...]:
    """As many faults of a file as are told."""
    first = tuple(islice(faults, MOST_FAULTS))
    if next(faults, None) is None:
        return first
    return (*first, fault(file, f"it has more than {MOST_FAULTS} faults", "mend these first"))


def _long_line(data: bytes) -> int | None:
    """The first line that is too long."""
    lines = enumerate(data.split(b"\n"), 1)
    return next((number for number, line in lines if len(line) > MOST_LINE), None)


def _unreadable(file: Path, why: str, line: int | None) -> Checked:
    return Checked(count=0, faults=(fault(file, f"it cannot be read: {why}", None, line),))


def _is_rows(value: object) -> bool:
    """Tables, as many as there may be."""
    if not isinstance(value, list) or len(value) > MOST_ROWS:
        return False
    return all(isinstance(row, dict) for row in value)


def _shown(value: object) -> str:
    """A value of somebody's file within a message."""
    return shortened(str(value), 60)


def _of_sources(file: Path, table: Mapping[str, Any], known: Iterable[str]) -> Iterator[Fault]:
    sources = table.get("sources", {})
    texts = sources.values() if isinstance(sources, dict) else [None]
    if not all(isinstance(text, str) and len(text) <= MOST_TEXT for text in texts):
        hint = f'[sources] has a text each, of {MOST_TEXT:,} characters at most: review = "Title"'
        yield fault(file, "sources: not a table of texts", hint)
        sources = {}
    for row in table.get("drive", []):
        drive, source = row.get("id"), row.get("source")
        if not isinstance(drive, str) or drive not in known:
            hint = f"add {_shown(drive)}.toml"
            yield fault(file, f"no drive {_shown(drive)} is in the catalogue", hint)
        if not isinstance(source, str) or source not in sources:
            hint = "name one of [sources], with title, author or place"
            yield fault(file, f"drive {_shown(drive)} has no source", hint)


def _of_outcome(row: Mapping[str, Any], named: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with a row, and what to change."""
    for key in ("drive", "test", "metric"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            yield f"{key}: missing", f'write {key} = "…"'
    if strange := sorted(row.keys() - _OF_AN_OUTCOME):
        yield (
            f"{_shown(', '.join(strange))}: no such key",
            f"one of {', '.join(sorted(_OF_AN_OUTCOME))}",
        )
    if isinstance(row.get("drive"), str) and row["drive"] not in named:
        why = f"drive: {_shown(row['drive'])} has no [[drive]]"
        yield why, "add one with its id and its source"
    yield from _of_texts(row)
    found_by = [row.get(key, "") for key in ("battery", "finding")]
    if not all(isinstance(text, str) for text in found_by) or len([*filter(None, found_by)]) == 1:
        hint = 'battery = "fill:patterns=1m-q1", finding = "fill.speed_past_cache[1m-q1]"'
        yield "battery and finding: texts, and both or none", hint
    kind = row.get("kind", "measured")
    if not isinstance(kind, str) or kind not in _KINDS:
        yield f"kind: {_shown(repr(kind))} is none", f"one of {', '.join(_KINDS)}"
        kind = ""
    numbers = {key: row[key] for key in ("value", "tolerance", "low", "high") if key in row}
    for key, value in numbers.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            yield f"{key}: {_shown(repr(value))} is not a number", _A_NUMBER
        elif abs(value) > MOST_NUMBER:
            yield f"{key}: {_shown(value)} is too large", "choose a unit in which it is smaller"
    if "low" in numbers and "high" in numbers and not _in_order(numbers["low"], numbers["high"]):
        yield "low and high: the first is above the second", "write the lower bound as low"
    judged = numbers.keys() >= {"low", "high"} or "tolerance" in numbers
    if not judged and kind not in _UNJUDGED and "check" not in row:
        yield "nothing says when it is met", "give value and tolerance, or low and high"
    conditions = row.get("conditions")
    texts = list(conditions.values()) if isinstance(conditions, dict) else []
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        hint = 'conditions = { state = "published: erased", depth = "assumed: 1" }, in words'
        yield "conditions: missing", hint


def _of_texts(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Members that are no text, or a text that is too long for a report."""
    conditions = row.get("conditions")
    texts = {key: row[key] for key in _TEXTS if key in row}
    if isinstance(conditions, dict):
        texts |= {f"conditions.{key}": text for key, text in conditions.items()}
    for key, text in texts.items():
        if not isinstance(text, str):
            yield f"{_shown(key)}: {_shown(repr(text))} is not a text", "write it in quotes"
        elif len(text) > MOST_TEXT:
            yield f"{_shown(key)}: more than {MOST_TEXT:,} characters", "say it in fewer words"


def _in_order(low: object, high: object) -> bool:
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return True
    return low <= high
