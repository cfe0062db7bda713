"""A series out of fio's averaged logs, for runs with too many requests to log each.

fio's helper writes a thread's bandwidth each interval, in whole KiB/s, zeros for stalls among them,
but not the last, broken interval. So: each thread's bandwidth times the time between two rows is
its bytes so far; what fio's own total has beyond that belongs to the time after the last row, and
is put there. Where the rows come to more than the total (their times have a grain of 1 ms), all are
scaled to it. Bytes so far are cut to whole blocks, and sums over the series are fio's totals
exactly. Latencies are the logs' means, weighted with the requests and scaled to fio's mean: the
least and the greatest of an interval are not in the logs, its mean stands for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtwin.drives.real.bins import counts_of_bins
from flashtwin.drives.real.jobfile import Section
from flashtwin.drives.real.logs import Log, joined, read_threads
from flashtwin.drives.real.measured import MS, Grid, Measured, assembled, directions
from flashtwin.drives.real.output import DIRECTIONS, DirectionTotals, FioOutput, JobOutput
from flashtwin.model.histogram import BUCKETS, Counts
from flashtwin.model.series import COLUMNS, Ints
from flashtwin.model.step import JobTotals

_Floats = NDArray[np.float64]
_Rows = dict[str, Ints]


def measured(
    sections: Sequence[Section], output: FioOutput, directory: Path, sample_ns: int
) -> Measured:
    """One run of a step from its logs."""
    jobs = [output.jobs[section.name] for section in sections]
    latencies = [read_threads(directory, section.name, "lat") for section in sections]
    starts = [_began(logs, job) for logs, job in zip(latencies, jobs, strict=True) if logs]
    start = min(starts, default=0)
    grid = Grid(
        sample_ns=sample_ns,
        duration_ns=max(*(job.runtime_ms * MS for job in jobs), *(s - start for s in starts), 1),
    )
    rows = {code: _empty(grid) for code in directions([section.job for section in sections])}
    for section, job, logs in zip(sections, jobs, latencies, strict=True):
        rates = read_threads(directory, section.name, "bw")
        for code in directions([section.job]):
            totals = job.by_direction.get(DIRECTIONS[code])
            if totals is not None:
                found = _direction(
                    [_of(log, code, start) for log in rates],
                    _of(joined(logs), code, start),
                    totals,
                    section.job.block_bytes,
                    grid,
                )
                rows[code] = _added(rows[code], found)
    return Measured(
        start_unix_ns=start,
        duration_ns=grid.duration_ns,
        series=assembled(grid, rows),
        jobs=tuple(_totals(s, job) for s, job in zip(sections, jobs, strict=True)),
        hist=_hist(jobs, list(rows)),
    )


def _began(logs: list[Log], job: JobOutput) -> int:
    """fio closes its latency log as the job ends, its runtime leads back to the beginning."""
    return (int(max(log.t_ms.max() for log in logs)) - job.runtime_ms) * MS


def _of(log: Log, code: int, start: int) -> Log:
    """The rows of one direction, times counted from the start, still in milliseconds."""
    keep = log.direction == code
    return Log(
        t_ms=log.t_ms[keep] - start // MS,
        value=log.value[keep],
        direction=log.direction[keep],
        bytes=log.bytes[keep],
    )


def _direction(
    rates: list[Log], latency: Log, totals: DirectionTotals, block: int, grid: Grid
) -> _Rows:
    so_far = bytes_so_far(rates, totals.bytes, grid)
    whole = (so_far // block * block).astype(np.int64)
    whole[-1] = totals.bytes
    size = np.diff(whole)
    ios = _shared(size, totals.ios)
    mean = _mean_latency(latency, grid, totals.latency_mean_ns)
    weighed = ios * mean
    factor = totals.latency_mean_ns * totals.ios / weighed.sum() if weighed.sum() else 0.0
    means = np.where(ios > 0, np.rint(mean * factor), 0).astype(np.int64)
    return {
        "ios": ios,
        "bytes": size,
        "lat_sum_ns": np.rint(weighed * factor).astype(np.int64),
        "lat_min_ns": means,
        "lat_max_ns": means,
    }


def bytes_so_far(rates: Sequence[Log], total: int, grid: Grid) -> _Floats:
    """Bytes done at each edge of the grid, 0 at the first and the total at the last."""
    edges_ms = grid.edges() / MS
    last_ms = max((float(log.t_ms[-1]) for log in rates if len(log.t_ms)), default=0.0)
    logged = np.zeros(len(edges_ms))
    sum_at_last = 0.0
    for log in rates:
        times = np.concatenate([[0.0], np.maximum(log.t_ms, 0)])
        done = np.concatenate([[0.0], np.cumsum(log.value * 1.024 * np.diff(times))])
        logged += np.interp(edges_ms, times, done)
        sum_at_last += float(done[-1])
    missing, tail_ms = total - sum_at_last, float(edges_ms[-1]) - last_ms
    if missing >= 0 and tail_ms >= 1.0:
        late: _Floats = np.clip((edges_ms - last_ms) / tail_ms, 0.0, 1.0)
        return logged + missing * late
    if sum_at_last > 0:
        logged *= total / sum_at_last
        return logged
    evenly: _Floats = total * edges_ms / edges_ms[-1]
    return evenly


def _shared(size: Ints, ios: int) -> Ints:
    """The requests of each interval: as many as its bytes' share, whole, and their sum exact."""
    total = int(size.sum())
    if not total:
        return np.zeros(len(size), dtype=np.int64)
    upto = np.rint(np.cumsum(size) * (ios / total)).astype(np.int64)
    each: Ints = np.diff(upto, prepend=0)
    return each


def _mean_latency(latency: Log, grid: Grid, overall: float) -> _Floats:
    """The mean latency of each interval: of the logged window that its middle lies in."""
    if not len(latency.t_ms):
        return np.full(grid.count, overall)
    order = np.argsort(latency.t_ms, kind="stable")
    times, values = latency.t_ms[order], latency.value[order].astype(np.float64)
    ends, first = np.unique(times, return_index=True)
    means = np.add.reduceat(values, first) / np.diff(np.append(first, len(values)))
    middles = (grid.starts() + grid.lengths() / 2) / MS
    chosen: _Floats = means[np.minimum(np.searchsorted(ends, middles), len(ends) - 1)]
    return chosen


def _totals(section: Section, job: JobOutput) -> JobTotals:
    parts = list(job.by_direction.values())
    ios = sum(part.ios for part in parts)
    latency = sum(part.ios * part.latency_mean_ns for part in parts)
    duration = max(job.runtime_ms * MS, 1)
    return JobTotals(
        name=section.job.name,
        ios=ios,
        bytes=sum(part.bytes for part in parts),
        duration_ns=duration,
        latency_mean_ns=latency / ios if ios else 0.0,
        latency_min_ns=min((part.latency_min_ns for part in parts), default=0),
        latency_max_ns=max((part.latency_max_ns for part in parts), default=0),
        mean_depth=latency / duration,
        errors=job.errors,
    )


def _hist(jobs: Sequence[JobOutput], used: Sequence[int]) -> dict[str, Counts]:
    hist = {DIRECTIONS[code]: np.zeros(BUCKETS, dtype=np.uint64) for code in used}
    for job in jobs:
        for name, totals in job.by_direction.items():
            hist[name] = hist[name] + counts_of_bins(totals.bins)
    return hist


def _empty(grid: Grid) -> _Rows:
    return {name: np.zeros(grid.count, dtype=np.int64) for name in COLUMNS[3:]}


def _added(rows: _Rows, more: _Rows) -> _Rows:
    """Two jobs of one direction in the same intervals."""
    ios = rows["ios"] + more["ios"]
    least = [
        np.where(row["ios"] > 0, row["lat_min_ns"], np.iinfo(np.int64).max) for row in (rows, more)
    ]
    return {
        "ios": ios,
        "bytes": rows["bytes"] + more["bytes"],
        "lat_sum_ns": rows["lat_sum_ns"] + more["lat_sum_ns"],
        "lat_min_ns": np.where(ios > 0, np.minimum(*least), 0),
        "lat_max_ns": np.maximum(rows["lat_max_ns"], more["lat_max_ns"]),
    }
