"""The journal of a run: a line of JSON for every step that ended, and the way back.

Invariants: a line is there whole when `append` returns, or not at all; the n-th line is
step n. `detail` holds the step's own fields, so that a resumed run can tell whether a step that a
battery asks for is the one that was answered. `block` says where the step's tables lie, and their
SHA-256. The last member of a line, `check`, is a SHA-256 over the line before it and the line;
the first line follows on what the manifest says was asked for (`origin_of`). So a line that was
changed, taken out, put in or brought from another run is seen.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from flashtwin import system
from flashtwin.errors import FlashtwinError
from flashtwin.inputs import is_plain, parse_json
from flashtwin.model.step import JobTotals, NotPossible, Result
from flashtwin.runs import schema
from flashtwin.runs.storage import MOST_LINE, damaged, digest_of, json_line


@dataclass(frozen=True, kw_only=True)
class Block:
    """Where the tables of a step lie in `steps.tables`, and the digest of that."""

    at: int
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A line of the journal: a step and what came of it, but for the tables.

    `fio`: of fio's jobs what fio counted, or what it said, without the logs of single requests.
    `block`: where those are.
    """

    step: int
    battery: str
    label: str
    kind: str
    start_ns: int
    duration_ns: int
    jobs: tuple[JobTotals, ...] = ()
    note: str | None = None
    not_possible: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    smart: Mapping[str, Any] = field(default_factory=dict)
    fio: Sequence[Mapping[str, Any]] = ()
    cut: bool = False
    block: Block | None = None

    def heading(self) -> dict[str, Any]:
        """What the manifest says of the step."""
        return {"step": self.step, "battery": self.battery, "label": self.label, "kind": self.kind}


def record_of(
    number: int,
    battery: str,
    label: str,
    kind: str,
    answer: Result | NotPossible,
    detail: Mapping[str, Any],
    block: Block | None = None,
) -> StepRecord:
    """The line for an answer; `block`: where its tables are."""
    if isinstance(answer, NotPossible):
        return StepRecord(
            step=number,
            battery=battery,
            label=label,
            kind=kind,
            start_ns=0,
            duration_ns=0,
            not_possible=answer.reason,
            detail=detail,
        )
    return StepRecord(
        step=number,
        battery=battery,
        label=label,
        kind=kind,
        start_ns=answer.start_ns,
        duration_ns=answer.duration_ns,
        jobs=answer.jobs,
        note=answer.note,
        detail=detail,
        smart=answer.smart,
        fio=[{name: row[name] for name in row if name not in _LOGS} for row in answer.fio],
        cut=answer.cut,
        block=block,
    )


# What a job of fio's logs goes into files of its own.
_LOGS = ("requests", "averages")

# Keys of a manifest that change while the run goes on.
_CHANGES = ("schema", "state", "budget", "tables", "files", "steps")


def origin_of(manifest: Mapping[str, Any]) -> str:
    """What the first line of a journal follows on: the target, the seed and the batteries."""
    return digest_of(json_line({k: v for k, v in manifest.items() if k not in _CHANGES}))


def append(descriptor: int, record: StepRecord, before: str, *, durable: bool) -> str:
    """Write a whole line; with `durable` it is on the disk when this returns. A line that did
    not fit is taken back. `before` is the check of the line before, or the origin; the answer is
    the check of this line."""
    row = asdict(record)
    if not record.smart:
        # Left out where empty: nearly every step has none.
        del row["smart"]
    if not record.cut:
        del row["cut"]
    if not record.fio or len(json_line(row)) > MOST_LINE - _TAIL_BYTES:
        # Readers refuse longer lines, so fio's counts are left out of one that would be too long.
        del row["fio"]
    body = json_line(row)[: -len("}\n")]
    check = _check(before, body)
    _write(descriptor, body + b',"check":"' + check.encode() + b'"}\n', durable=durable)
    return check


def _write(descriptor: int, line: bytes, *, durable: bool) -> None:
    before = os.fstat(descriptor).st_size
    try:
        written = 0
        while written < len(line):
            written += os.write(descriptor, line[written:])
        if durable:
            os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        os.lseek(descriptor, before, os.SEEK_SET)
        raise


def _check(before: str, body: bytes) -> str:
    return digest_of(before.encode() + body)


@dataclass(frozen=True, kw_only=True)
class Journal:
    """The lines up to the first that cannot be read, and what is `wrong` with that one. `checks`
    has one more: the origin, then each line's. `breaks_off`: the last line has no end. It was
    being written when the run died, so its step has not ended."""

    steps: list[StepRecord]
    checks: Sequence[str]
    wrong: FlashtwinError | None
    breaks_off: bool

    def complete(self) -> list[StepRecord]:
        """All steps; raises where a line cannot be read."""
        if self.wrong is not None:
            raise self.wrong
        return self.steps


def scan(path: Path, data: bytes, origin: str, *, finished: bool) -> Journal:
    """What the text of a journal says, whose first line follows on `origin`. In a `finished` run
    no line breaks off."""
    lines = data.split(b"\n")
    steps: list[StepRecord] = []
    checks = [origin]
    wrong = None
    try:
        if lines[-1] and finished:
            raise damaged(path, "its last line breaks off, though the run is finished")
        for number, line in enumerate(lines[:-1]):
            record, check = _parsed(path, number, line, None if finished else CUT_HINT)
            if check != _check(checks[-1], line[:-_TAIL_BYTES]):
                raise _damaged(path, number, _NOT_WRITTEN, None if finished else CUT_HINT)
            steps.append(record)
            checks.append(check)
    except FlashtwinError as error:
        wrong = error
    return Journal(steps=steps, checks=checks, wrong=wrong, breaks_off=bool(lines[-1]))


def cut(descriptor: int, records: int) -> None:
    """Cut the journal after `records` lines."""
    text = system.read_at(descriptor, os.fstat(descriptor).st_size, 0)
    remaining = b"".join(line + b"\n" for line in text.split(b"\n")[:records])
    os.ftruncate(descriptor, len(remaining))
    os.lseek(descriptor, 0, os.SEEK_END)


CUT_HINT = "remove that line and what follows it; flashtwin test --resume does those steps again"
_NOT_WRITTEN = "the line is not what flashtwin wrote"
_TAIL_BYTES = len(b',"check":""}') + 64


def _damaged(path: Path, number: int, why: str, hint: str | None) -> FlashtwinError:
    return damaged(path, why, line=number + 1, hint=hint)


def _parsed(path: Path, number: int, line: bytes, hint: str | None) -> tuple[StepRecord, str]:
    """The step of a line, and the line's check."""
    if len(line) > MOST_LINE:
        raise _damaged(path, number, f"the line has {len(line):,} bytes", hint)
    try:
        if not is_plain(line):
            parse_json(line)
        check = _SHAPE.decode(line).check
        record = _RECORD.decode(line)
    except msgspec.ValidationError as error:
        why = str(schema.in_words(error))
        raise _damaged(path, number, f"the line is not a step ({why})", hint) from error
    except (ValueError, RecursionError) as error:
        why = _no_json(line) or "it is not JSON"
        raise _damaged(path, number, f"the line is not a step ({why})", hint) from error
    if record.step != number:
        raise _damaged(path, number, f"the line is step {record.step}, not {number}", hint)
    return record, check


def _no_json(line: bytes) -> str | None:
    """Why a line is not JSON that can be written again."""
    try:
        parse_json(line)
    except ValueError as error:
        return str(error)
    return None


# Every line is held against its schema, and read as what the rest of flashtwin works with.
_SHAPE = msgspec.json.Decoder(schema.Step)
_RECORD = msgspec.json.Decoder(StepRecord)
