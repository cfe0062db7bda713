"""What fio's logs say of a run: its series, its jobs' totals, its latencies.

Out of a log of every request (`from_requests`) nothing is averaged or scaled. A request lands in
the interval in which it ended. fio's clock in logs has a grain of 1 ms, so an interval's edges are
off by up to that; counts, bytes and latencies are exact. Invariant: the sums over the series are
the sums over the log, and without a ramp they are fio's own totals, or a note says by how much they
differ.

Runs with too many requests to log each have fio's averages (`from_averages`). fio's helper writes a
thread's bandwidth each interval, in whole KiB/s, zeros for stalls among them, but not the last,
broken interval. So: each thread's bandwidth times the time between two rows is its bytes so far;
what fio's own total has beyond that belongs to the time after the last row, and is put there. Where
the rows come to more than the total (their times have a grain of 1 ms), all are scaled to it. Bytes
so far are cut to whole blocks, and sums over the series are fio's totals exactly. Latencies are the
logs' means, weighted with the requests and scaled to fio's mean: the least and the greatest of an
interval are not in the logs, its mean stands for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashtwin.drives.real.jobfile import Section
from flashtwin.drives.real.output import DIRECTIONS, DirectionTotals, FioOutput, JobOutput
from flashtwin.errors import ENVIRONMENT, MachineError
from flashtwin.model.histogram import BITS, BUCKETS, WITHIN, bucket_of, summed
from flashtwin.model.job import directions_of
from flashtwin.model.lazy import Lazy
from flashtwin.model.series import COLUMNS, READ, TRIM, WRITE, Counts, Ints, Series
from flashtwin.model.step import Job, JobTotals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Floats = NDArray[np.float64]
else:
    np = Lazy("numpy")

MS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One run of a step."""

    start_unix_ns: int
    duration_ns: int
    series: Series
    jobs: tuple[JobTotals, ...]
    hist: Mapping[str, Counts]
    notes: tuple[str, ...] = ()


def directions(jobs: Sequence[Job]) -> list[int]:
    """The directions that jobs use, in the order of their codes."""
    codes = {"read": READ, "write": WRITE, "trim": TRIM}
    return sorted({codes[name] for job in jobs for name in directions_of(job.rw)})


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Intervals of one length from 0 on; the last ends with the run."""

    sample_ns: int
    duration_ns: int

    @property
    def count(self) -> int:
        return max(-(-self.duration_ns // self.sample_ns), 1)

    def starts(self) -> Ints:
        return np.arange(self.count, dtype=np.int64) * self.sample_ns

    def lengths(self) -> Ints:
        ends = np.append(self.starts()[1:], self.duration_ns)
        lengths: Ints = ends - self.starts()
        return lengths

    def edges(self) -> Ints:
        return np.append(self.starts(), self.duration_ns)


def assembled(grid: Grid, rows: Mapping[int, Mapping[str, Ints]]) -> Series:
    """A series made of the columns of each direction, ordered by time and then by direction."""
    columns = {
        "t_ns": [grid.starts() for _ in rows],
        "dt_ns": [grid.lengths() for _ in rows],
        "direction": [np.full(grid.count, code, dtype=np.int64) for code in rows],
    }
    for name in COLUMNS[3:]:
        columns[name] = [row[name] for row in rows.values()]
    return Series(**{name: np.stack(arrays, axis=1).ravel() for name, arrays in columns.items()})


_COLUMNS = ("t_ms", "value", "direction", "bytes")


@dataclass(frozen=True, kw_only=True)
class Log:
    """The rows of one or several files; equally long."""

    t_ms: Ints
    value: Ints
    direction: Ints
    bytes: Ints


def read_threads(directory: Path, job: str, kind: str) -> list[Log]:
    """The logs of a job's threads, in the order of fio's thread numbers."""
    files = directory.glob(f"{job}_{kind}.*.log")
    paths = sorted(files, key=lambda path: int(path.name.split(".")[-2]))
    return [log for log in map(read, paths) if len(log.t_ms)]


def joined(logs: list[Log]) -> Log:
    """The rows of several logs as one, in no order."""
    none = np.zeros(0, dtype=np.int64)
    return Log(
        **{name: np.concatenate([none, *(getattr(log, name) for log in logs)]) for name in _COLUMNS}
    )


def read(path: Path) -> Log:
    """One log file."""
    if not path.stat().st_size:
        return joined([])
    columns = range(len(_COLUMNS))
    # Only these columns: later versions of fio add others, not all of them decimal.
    rows = np.loadtxt(path, delimiter=",", usecols=columns, dtype=np.int64, ndmin=2)
    return Log(**{name: rows[:, column] for name, column in zip(_COLUMNS, columns, strict=True)})


def counts_of(latencies_ns: Ints) -> Counts:
    """The bucket counts of whole arrays, value by value the same as with `bucket_of`."""
    # frexp's exponent of a double is exact for the lengths of time that there are (below 2^53 ns).
    top = np.frexp(np.maximum(latencies_ns, 1).astype(np.float64))[1].astype(np.int64) - 1
    shift = np.maximum(top - BITS, 0)
    wide = (shift + 1) * WITHIN + ((latencies_ns >> shift) & (WITHIN - 1))
    buckets = np.minimum(np.where(top <= BITS, latencies_ns, wide), BUCKETS - 1)
    counts: NDArray[np.uint64] = np.bincount(buckets, minlength=BUCKETS).astype(np.uint64)
    return counts


def counts_of_bins(bins: Mapping[int, int]) -> Counts:
    """Counts out of json+: each bin is named after the middle of its bucket."""
    counts = np.zeros(BUCKETS, dtype=np.uint64)
    for middle, count in bins.items():
        counts[bucket_of(middle)] += np.uint64(count)
    return counts


_Rows = dict[str, Ints]


def from_requests(
    sections: Sequence[Section], output: FioOutput, directory: Path, sample_ns: int
) -> Measured:
    """One run of a step from its logs."""
    logs = [joined(read_threads(directory, section.name, "lat")) for section in sections]
    counted = sum(_counted(output.jobs[section.name]) for section in sections)
    if counted and not any(len(log.t_ms) for log in logs):
        raise MachineError(
            f"fio counted {counted} requests and logged none of them",
            hint="look at what the program fio on the PATH is, and whether its disk is full",
            exit_code=ENVIRONMENT,
        )
    start = min((_first_issued(log) for log in logs if len(log.t_ms)), default=0)
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
            _totals_of_log(section, log, output.jobs[section.name])
            for section, log in zip(sections, past_ramp, strict=True)
        ),
        hist=_hist_of_log(joined(past_ramp), used) | syncs_of(output.rows),
        notes=tuple(note for note in notes if note),
    )


def _first_issued(log: Log) -> int:
    """The wall clock when the first request was issued; the log has only the ends of requests."""
    return int((log.t_ms * MS - log.value).min())


def _ended(log: Log, job: JobOutput, start: int) -> int:
    """When a job ended: by fio's own runtime, but not before its last request."""
    if not len(log.t_ms):
        return job.runtime_ms * MS
    last = int(log.t_ms.max()) * MS
    return max(_first_issued(log) + job.runtime_ms * MS, last) - start


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
    keep = log.t_ms * MS >= _first_issued(log) + round(section.job.ramp_s * 1e9)
    return Log(
        t_ms=log.t_ms[keep],
        value=log.value[keep],
        direction=log.direction[keep],
        bytes=log.bytes[keep],
    )


def _totals_of_log(section: Section, log: Log, job: JobOutput) -> JobTotals:
    """A job's row. Its duration is that of its own requests, without those of jobs beside it."""
    ios, latency = len(log.t_ms), int(log.value.sum())
    # A time shorter than a millisecond of fio's clock says nothing: no depth follows from it.
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


def _hist_of_log(log: Log, used: Sequence[int]) -> dict[str, Counts]:
    return {DIRECTIONS[code]: counts_of(log.value[log.direction == code]) for code in used}


def _counted(job: JobOutput) -> int:
    """The requests that fio says it made for a job."""
    return sum(totals.ios for totals in job.by_direction.values())


def _missing(log: Log, job: JobOutput) -> str | None:
    counted = _counted(job)
    if counted == len(log.t_ms):
        return None
    return f"fio's log holds {len(log.t_ms)} of {counted} requests of {job.name}"


def from_averages(
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
    rows = {
        code: {name: np.zeros(grid.count, dtype=np.int64) for name in COLUMNS[3:]}
        for code in directions([section.job for section in sections])
    }
    for section, job, logs in zip(sections, jobs, latencies, strict=True):
        rates = read_threads(directory, section.name, "bw")
        for code in directions([section.job]):
            totals = job.by_direction.get(DIRECTIONS[code])
            if totals is not None:
                columns = _direction(
                    [_of(log, code, start) for log in rates],
                    _of(joined(logs), code, start),
                    totals,
                    _grain_bytes(section.job),
                    grid,
                )
                rows[code] = _added(rows[code], columns)
    return Measured(
        start_unix_ns=start,
        duration_ns=grid.duration_ns,
        series=assembled(grid, rows),
        jobs=tuple(totals_of(s.job.name, job) for s, job in zip(sections, jobs, strict=True)),
        hist=_hist(jobs, list(rows)) | syncs_of(jobs),
    )


def _grain_bytes(job: Job) -> int:
    """The largest size of which all of its requests are multiples."""
    blocks = job.fio.blocks if job.fio else None
    if blocks is None:
        return job.block_bytes
    ranges = any(side.least != side.most and not side.split for side in blocks)
    sizes = [size for side in blocks for size, _ in side.split or ((side.least, 100),)]
    return 1 if ranges and job.fio and job.fio.blocks_unaligned else math.gcd(*sizes)


def _began(logs: list[Log], job: JobOutput) -> int:
    """When the job began: fio closes its latency log at the job's end, and its runtime leads
    back from there."""
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
    whole_blocks = (so_far // block * block).astype(np.int64)
    whole_blocks[-1] = totals.bytes
    size = np.diff(whole_blocks)
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
        written = np.concatenate([[0.0], np.cumsum(log.value * 1.024 * np.diff(times))])
        logged += np.interp(edges_ms, times, written)
        sum_at_last += float(written[-1])
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
    """The number of requests in each interval, in proportion to its bytes: whole numbers that
    add up exactly."""
    total = int(size.sum())
    if not total:
        return np.zeros(len(size), dtype=np.int64)
    so_far = np.rint(np.cumsum(size) * (ios / total)).astype(np.int64)
    per_interval: Ints = np.diff(so_far, prepend=0)
    return per_interval


def _mean_latency(latency: Log, grid: Grid, overall: float) -> _Floats:
    """The mean latency of each interval: that of the logged window in which its middle lies."""
    if not len(latency.t_ms):
        return np.full(grid.count, overall)
    order = np.argsort(latency.t_ms, kind="stable")
    times, values = latency.t_ms[order], latency.value[order].astype(np.float64)
    ends, first = np.unique(times, return_index=True)
    means = np.add.reduceat(values, first) / np.diff(np.append(first, len(values)))
    middles = (grid.starts() + grid.lengths() / 2) / MS
    chosen: _Floats = means[np.minimum(np.searchsorted(ends, middles), len(ends) - 1)]
    return chosen


def totals_of(name: str, job: JobOutput) -> JobTotals:
    """A job's row as fio counted it."""
    parts = list(job.by_direction.values())
    ios = sum(part.ios for part in parts)
    latency = sum(part.ios * part.latency_mean_ns for part in parts)
    duration = max(job.runtime_ms * MS, 1)
    return JobTotals(
        name=name,
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


def syncs_of(jobs: Sequence[JobOutput]) -> dict[str, Counts]:
    """The latencies of the flushes of all jobs; nothing where there are none."""
    bins = summed(job.syncs for job in jobs)
    return {"sync": counts_of_bins(bins)} if bins else {}


def _added(rows: _Rows, more: _Rows) -> _Rows:
    """The sum of two jobs of one direction in the same intervals."""
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
