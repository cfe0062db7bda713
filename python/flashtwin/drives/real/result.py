"""From what fio leaves behind, its JSON and its logs, to the result that answers a step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from flashtwin.drives.real.jobfile import JobFile
from flashtwin.drives.real.output import parse_output
from flashtwin.drives.real.series import Measured, from_averages, from_requests
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.histogram import Counts
from flashtwin.model.series import COLUMNS, Series
from flashtwin.model.step import Chain, Result, Run


def one_result(
    step: Run | Chain,
    measured: Sequence[Measured],
    notes: Sequence[str],
    clock_ns: int,
    ended_ns: int | None,
) -> Result:
    """The runs under one another, times counted from the first request.

    `clock_ns` leads from the wall clock to the drive's. `ended_ns`: when the step was over on the
    drive's clock, if that was not with its last request.
    """
    offsets = _offsets(measured)
    start_ns = _first(measured) + clock_ns
    duration_ns = offsets[-1] + measured[-1].duration_ns
    if ended_ns is not None:
        duration_ns = max(duration_ns, ended_ns - start_ns)
    said = [*notes, *(note for run in measured for note in run.notes)]
    said += _silences(measured, offsets)
    return Result(
        label=step.label,
        start_ns=start_ns,
        duration_ns=duration_ns,
        series=_joined([run.series for run in measured], offsets),
        jobs=tuple(job for run in measured for job in run.jobs),
        hist=_summed(measured),
        note="; ".join(said) or None,
    )


def _joined(parts: Sequence[Series], offsets: Sequence[int]) -> Series:
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS[1:]
    }
    moved = [part.t_ns + offset for part, offset in zip(parts, offsets, strict=True)]
    return Series(t_ns=np.concatenate(moved), **columns)


def _summed(measured: Sequence[Measured]) -> dict[str, Counts]:
    hist: dict[str, Counts] = {}
    for run in measured:
        for direction, counts in run.hist.items():
            hist[direction] = hist[direction] + counts if direction in hist else counts
    return hist


def _first(measured: Sequence[Measured]) -> int:
    """The wall clock at the first request of all."""
    return next((run.start_unix_ns for run in measured if run.start_unix_ns), 0)


def _offsets(measured: Sequence[Measured]) -> list[int]:
    """When each run began after the first; one without a request begins as the last one ends."""
    offsets = [0]
    for before, run in pairwise(measured):
        ended = offsets[-1] + before.duration_ns
        began = run.start_unix_ns - _first(measured)
        offsets.append(max(began, ended))
    return offsets


def _silences(measured: Sequence[Measured], offsets: Sequence[int]) -> list[str]:
    """How long the target was really left alone between the runs of a chain."""
    ends = [offset + run.duration_ns for offset, run in zip(offsets, measured, strict=True)]
    silent = [began - ended for began, ended in zip(offsets[1:], ends[:-1], strict=True)]
    if not silent:
        return []
    return ["seconds of silence between the runs: " + ", ".join(f"{ns / 1e9:.3f}" for ns in silent)]


def collect(file: JobFile, text: str, directory: Path) -> list[Measured]:
    """Read fio's JSON and the logs in `directory`."""
    output = parse_output(text)
    missing = [section.name for section in file.sections if section.name not in output.jobs]
    if missing:
        raise FlashtwinError(f"fio gave no result for {', '.join(missing)}", exit_code=ENVIRONMENT)
    measured = from_requests if file.exact else from_averages
    return [
        measured(
            [section for section in file.sections if section.part == part],
            output,
            directory,
            sample_ns,
        )
        for part, sample_ns in enumerate(file.samples_ns)
    ]
