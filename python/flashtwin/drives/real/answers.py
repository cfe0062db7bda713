"""What fio measured as the answer to a step: one process's runs, with the silences between them.

Times count from the first request. Invariant: a rest of a chain begins where the part before it
ends, and ends where the next one begins, whatever was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from flashtwin.drives.real.jobfile import JobFile
from flashtwin.drives.real.output import parse_output
from flashtwin.drives.real.series import Measured, from_averages, from_requests
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.series import Series
from flashtwin.model.step import Chain, Rest, Result, Run, chained


def one_result(
    step: Run | Chain,
    measured: Sequence[Measured],
    notes: Sequence[str],
    clock_ns: int,
    ended_ns: int | None,
) -> Result:
    """All runs as one result, with times counted from the first request. `clock_ns` leads from
    the wall clock to the drive's. `ended_ns` is when the step ended on the drive's clock, if
    that was not with its last request."""
    offsets = _offsets(measured)
    begins = [_first(measured) + clock_ns + offset for offset in offsets]
    step_parts = step.parts if isinstance(step, Chain) else (step,)
    parts = part_results(step_parts, measured, begins, ended_ns)
    texts = [*notes, *(note for run in measured for note in run.notes)]
    texts += _silences(measured, offsets)
    return replace(
        chained(step.label, parts),
        note="; ".join(texts) or None,
        parts=parts if isinstance(step, Chain) else (),
    )


def part_results(
    parts: Sequence[Run | Rest],
    measured: Sequence[Measured],
    begins: Sequence[int],
    ended_ns: int | None,
) -> tuple[Result, ...]:
    """The answer of each part of a step, on the drive's clock; `begins` are the beginnings of
    the runs. A rest begins where the part before it ends, and ends where the next one begins;
    the last one ends with the step."""
    runs = iter(zip(measured, begins, strict=True))
    leading_s = sum(part.seconds for part in _first_rests(parts))
    clock_ns = next(iter(begins), ended_ns or 0) - round(leading_s * 1e9)
    results: list[Result] = []
    for part in parts:
        if isinstance(part, Run):
            run, clock_ns = next(runs)
            result = Result(
                label=part.label,
                start_ns=clock_ns,
                duration_ns=run.duration_ns,
                series=run.series,
                jobs=run.jobs,
                hist=run.hist,
            )
        else:
            asked_ns = round(part.seconds * 1e9)
            result = quiet(part.label, clock_ns, asked_ns)
        results.append(result)
        clock_ns = result.start_ns + result.duration_ns
    ends = [*(after.start_ns for after in results[1:]), ended_ns]
    return tuple(
        result
        if isinstance(part, Run) or end is None
        else quiet(part.label, result.start_ns, max(end - result.start_ns, 0))
        for part, result, end in zip(parts, results, ends, strict=True)
    )


def _first_rests(parts: Sequence[Run | Rest]) -> Iterator[Rest]:
    for part in parts:
        if isinstance(part, Run):
            return
        yield part


def quiet(label: str, start_ns: int, duration_ns: int) -> Result:
    """The result of a step in which the host asked for nothing."""
    return Result(label=label, start_ns=start_ns, duration_ns=duration_ns, series=Series.empty())


def _first(measured: Sequence[Measured]) -> int:
    """The wall clock at the first request."""
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
    """How long the target really had no request between the runs of a chain."""
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
        raise FlashtwinError(
            f"fio gave no result for {', '.join(missing)}",
            hint="run it again; fio's own words stand above",
            exit_code=ENVIRONMENT,
        )
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
