"""Series, totals and histograms out of a log of every request: nothing is averaged or scaled.

A request lands in the interval in which it ended. fio's clock in logs has a grain of 1 ms, so an
interval's edges are off by up to that; counts, bytes and latencies are exact. Invariant: the sums
over the series are the sums over the log, and without a ramp they are fio's own totals, or a note
says by how much they differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from flashtwin.drives.real.bins import counts_of
from flashtwin.drives.real.jobfile import Section
from flashtwin.drives.real.logs import Log, joined, read_threads
from flashtwin.drives.real.measured import MS, Grid, Measured, assembled, directions
from flashtwin.drives.real.output import DIRECTIONS, FioOutput, JobOutput
from flashtwin.model.histogram import Counts
from flashtwin.model.series import Ints
from flashtwin.model.step import JobTotals

_Rows = dict[str, Ints]


def measured(
    sections: Sequence[Section], output: FioOutput, directory: Path, sample_ns: int
) -> Measured:
    """One run of a step from its logs."""
    logs = [joined(read_threads(directory, section.name, "lat")) for section in sections]
    start = min((_began(log) for log in logs if len(log.t_ms)), default=0)
    ends = [
        _ended(log, output.jobs[section.name], start)
        for log, section in zip(logs, sections, strict=True)
    ]
    grid = Grid(sample_ns=sample_ns, duration_ns=max(max(ends), 1))
    used = directions([section.job for section in sections])
    every = joined(logs)
    # A request of the grain's last millisecond may seem to have ended after the run.
    at = np.minimum((every.t_ms * MS - start) // sample_ns, grid.count - 1)
    rows = {code: _binned(every, at, every.direction == code, grid) for code in used}
    past_ramp = [_after_ramp(log, section) for log, section in zip(logs, sections, strict=True)]
    notes = [
        _missing(log, output.jobs[section.name])
        for log, section in zip(logs, sections, strict=True)
    ]
    return Measured(
        start_unix_ns=start,
        duration_ns=grid.duration_ns,
        series=assembled(grid, rows),
        jobs=tuple(
            _totals(section, log, output.jobs[section.name])
            for section, log in zip(sections, past_ramp, strict=True)
        ),
        hist=_hist(joined(past_ramp), used),
        notes=tuple(note for note in notes if note),
    )


def _began(log: Log) -> int:
    """The wall clock when the first request was issued; the log has their ends."""
    return int((log.t_ms * MS - log.value).min())


def _ended(log: Log, job: JobOutput, start: int) -> int:
    """When a job was over: fio's own runtime, but never before its last request."""
    if not len(log.t_ms):
        return job.runtime_ms * MS
    last = int(log.t_ms.max()) * MS
    return max(_began(log) + job.runtime_ms * MS, last) - start


def _binned(log: Log, at: Ints, keep: np.ndarray, grid: Grid) -> _Rows:
    at, latency = at[keep], log.value[keep]
    least = np.full(grid.count, np.iinfo(np.int64).max)
    most = np.zeros(grid.count, dtype=np.int64)
    np.minimum.at(least, at, latency)
    np.maximum.at(most, at, latency)
    ios = np.bincount(at, minlength=grid.count)
    return {
        "ios": ios,
        "bytes": _summed(at, log.bytes[keep], grid),
        "lat_sum_ns": _summed(at, latency, grid),
        "lat_min_ns": np.where(ios > 0, least, 0),
        "lat_max_ns": most,
    }


def _summed(at: Ints, values: Ints, grid: Grid) -> Ints:
    # Doubles are exact here: an interval's bytes and nanoseconds stay far below 2^53.
    return np.bincount(at, weights=values, minlength=grid.count).astype(np.int64)


def _after_ramp(log: Log, section: Section) -> Log:
    if not section.job.ramp_s or not len(log.t_ms):
        return log
    keep = log.t_ms * MS >= _began(log) + round(section.job.ramp_s * 1e9)
    return Log(
        t_ms=log.t_ms[keep],
        value=log.value[keep],
        direction=log.direction[keep],
        bytes=log.bytes[keep],
    )


def _totals(section: Section, log: Log, job: JobOutput) -> JobTotals:
    """A job's row. Its duration is that of its own requests, without those of jobs beside it."""
    ios, latency = len(log.t_ms), int(log.value.sum())
    # Less than fio's grain is no time at all: a depth out of it would be nonsense.
    duration = max(job.runtime_ms * MS - round(section.job.ramp_s * 1e9), MS)
    return JobTotals(
        name=section.job.name,
        ios=ios,
        bytes=int(log.bytes.sum()),
        duration_ns=duration,
        latency_mean_ns=latency / ios if ios else 0.0,
        latency_min_ns=int(log.value.min()) if ios else 0,
        latency_max_ns=int(log.value.max()) if ios else 0,
        mean_depth=latency / duration,
        errors=job.errors,
    )


def _hist(log: Log, used: Sequence[int]) -> dict[str, Counts]:
    return {DIRECTIONS[code]: counts_of(log.value[log.direction == code]) for code in used}


def _missing(log: Log, job: JobOutput) -> str | None:
    counted = sum(totals.ios for totals in job.by_direction.values())
    if counted == len(log.t_ms):
        return None
    return f"fio's log holds {len(log.t_ms)} of {counted} requests of {job.name}"
