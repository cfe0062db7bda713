"""The journal of a run: a line of JSON for every step that ended, and the way back.

Invariants: a line is on the disk when `append` returns, or it is not there at all; the n-th line is
step n. `detail` holds the step's own fields, so that a resumed run can tell whether a step that a
battery asks for is the one that was answered.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from flashtwin.battery.step import JobTotals, NotPossible, Result
from flashtwin.results.storage import damaged, json_line


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A line of the journal: a step and what came of it, but for the tables."""

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
    cut: bool = False

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
) -> StepRecord:
    """The line for an answer."""
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
        cut=answer.cut,
    )


def append(descriptor: int, record: StepRecord) -> None:
    """A whole line, on the disk when this returns; a line that did not fit is taken back."""
    row = asdict(record)
    if not record.smart:
        # Nearly every step's, and older readers know no such field.
        del row["smart"]
    if not record.cut:
        del row["cut"]
    line = json_line(row)
    before = os.fstat(descriptor).st_size
    try:
        written = 0
        while written < len(line):
            written += os.write(descriptor, line[written:])
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        os.lseek(descriptor, before, os.SEEK_SET)
        raise


def read(path: Path, *, finished: bool) -> list[StepRecord]:
    """All steps that ended. A last line without its end was being written when the run died.

    Such a line is dropped: its step has not ended. In a `finished` run there is none.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise damaged(path, "the file is missing") from None
    except OSError as error:
        raise damaged(path, os.strerror(error.errno or 0)) from error
    if lines[-1] and finished:
        raise damaged(path, "its last line breaks off, though the run is finished")
    hint = None if finished else _CUT_HINT
    return [_parsed(path, number, line, hint) for number, line in enumerate(lines[:-1])]


def cut(descriptor: int, records: int) -> None:
    """Keep so many lines and nothing after them."""
    text = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    kept = b"".join(text.splitlines(keepends=True)[:records])
    os.ftruncate(descriptor, len(kept))
    os.lseek(descriptor, 0, os.SEEK_END)


_CUT_HINT = "remove that line and what follows it; flashtwin test --resume does those steps again"


def _parsed(path: Path, number: int, line: bytes, hint: str | None) -> StepRecord:
    try:
        row = json.loads(line)
        jobs = tuple(JobTotals(**job) for job in row.pop("jobs"))
        record = StepRecord(**row, jobs=jobs)
        _check(record)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"the line is no step ({error})"
        raise damaged(path, why, line=number + 1, hint=hint) from error
    if record.step != number:
        why = f"the line is step {record.step}, not {number}"
        raise damaged(path, why, line=number + 1, hint=hint)
    return record


# What a line may hold in each field; the jobs hold a name and numbers.
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("battery", "label", "kind"), str),
    **dict.fromkeys(("step", "start_ns", "duration_ns"), int),
    **dict.fromkeys(("note", "not_possible"), (str, type(None))),
    **dict.fromkeys(("detail", "smart"), dict),
}


def _check(record: StepRecord) -> None:
    """Raises `TypeError` where a field holds what no step has."""
    for name, kind in _KINDS.items():
        if not isinstance(getattr(record, name), kind):
            raise TypeError(f"{name} is {getattr(record, name)!r}")
    for job in record.jobs:
        for name, value in vars(job).items():
            if not isinstance(value, str if name == "name" else int | float):
                raise TypeError(f"{name} of a job is {value!r}")
