"""The steps of a run directory as the job files that fio would run for them.

A step that asks a drive for requests becomes a job file: runs and chains as on a real file, fills
as sequential writes, trims as sequential trims of 64 MiB. Rests between steps, flushes, purges and
marks ask for none and have no job file. Invariant: nothing but the journal is read, so that a run
of any drive, also one that is no longer in the catalogue, can be converted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashtwin import outputs
from flashtwin.drives.real.jobfile import plain_job_file
from flashtwin.model.job import job_of
from flashtwin.model.step import Chain, Job, Rest, Run
from flashtwin.runs import rundir
from flashtwin.runs.journal import StepRecord

TRIM_BYTES = 64 << 20
SECTOR_BYTES = 512
# Characters of a label in a file's name.
LONGEST = 120


@dataclass(frozen=True, kw_only=True)
class Converted:
    """A step's job file: its name, its text, and its text behind other steps in one file."""

    step: int
    label: str
    text: str
    behind: str

    @property
    def file(self) -> str:
        """A file name that sorts in the order of the steps."""
        slug = re.sub(r"[^A-Za-z0-9]+", "-", self.label)[:LONGEST].strip("-").lower()
        return f"{self.step:03d}-{slug or 'step'}.fio"


def convert(run: rundir.Run) -> list[Converted]:
    """The job files of a run, in the order of its steps; the one that it was begun with, if any."""
    typed = [row["parameters"]["file"] for row in run.manifest["batteries"] if _has_file(row)]
    if typed:
        text = "\n".join(map(str, typed[0])) + "\n"
        return [Converted(step=0, label="jobs", text=text, behind=text)]
    capacity = int(run.target["capacity_bytes"])
    converted = []
    for record in run.steps:
        step = step_of(record, capacity)
        if step is None:
            continue
        head = f"; step {record.step} of a run of flashtwin: {record.battery}, {record.label}\n"
        text = plain_job_file(step, capacity_bytes=capacity)
        walled = plain_job_file(step, capacity_bytes=capacity, delays=False)
        behind = re.sub(r"(?m)^(\[(?:job|rest)\d+\])$", r"\1\nstonewall", walled, count=1)
        converted.append(
            Converted(step=record.step, label=record.label, text=head + text, behind=head + behind)
        )
    return converted


def _has_file(battery: Mapping[str, Any]) -> bool:
    """Whether a battery's steps come from a job file (`batteries.fio`)."""
    return isinstance((battery.get("parameters") or {}).get("file"), list)


def one_file(converted: list[Converted]) -> str:
    """All steps in one job file, each waiting for those before it."""
    return "\n".join(file.behind if place else file.text for place, file in enumerate(converted))


def write(converted: list[Converted], folder: Path) -> list[Path]:
    """A file a step; the folder is made, files of the same names are replaced."""
    files = {folder / file.file: file.text for file in converted}
    outputs.write_all(files, folders=True)
    return list(files)


def step_of(record: StepRecord, capacity: int) -> Run | Chain | None:
    """The step that a line of the journal tells of, if it asks for requests."""
    detail = record.detail
    if record.not_possible is not None:
        return None
    match record.kind:
        case "run":
            return _run(record.label, detail)
        case "chain":
            parts = tuple(
                _run(part["label"], part) if "jobs" in part else _rest(part)
                for part in detail["parts"]
            )
            return (
                Chain(label=record.label, parts=parts)
                if any(isinstance(part, Run) for part in parts)
                else None
            )
        case "fill":
            return _pass(record, capacity, "write", int(detail["block_bytes"]), detail["depth"])
        case "trim":
            return _pass(record, capacity, "trim", TRIM_BYTES, 1)
    return None


def _run(label: str, detail: Mapping[str, Any]) -> Run:
    jobs = tuple(job_of(job) for job in detail["jobs"])
    return Run(label=label, jobs=jobs, sample_s=float(detail.get("sample_s", 0.5)))


def _rest(detail: Mapping[str, Any]) -> Rest:
    return Rest(label=detail["label"], seconds=float(detail["seconds"]))


def _pass(record: StepRecord, capacity: int, rw: Any, block: int, depth: int) -> Run:
    """One pass over a range: a job of whole blocks, and one for the sectors that remain."""
    offset = int(record.detail["offset"])
    size_asked = record.detail["size"]
    size = capacity - offset if size_asked is None else int(size_asked)
    whole_blocks = size // block * block
    pieces = [
        (offset, whole_blocks, block),
        (offset + whole_blocks, size - whole_blocks, SECTOR_BYTES),
    ]
    jobs = tuple(
        Job(name=record.label, rw=rw, block_bytes=grain, depth=depth, offset=at, size=length)
        for at, length, grain in pieces
        if length >= grain
    )
    return Run(label=record.label, jobs=jobs)
