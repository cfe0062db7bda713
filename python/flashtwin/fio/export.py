"""Steps of a run as the JSON that fio would have printed for them.

A run directory knows a step's jobs with their totals, its series and its latencies by direction. So
where every direction of a step belongs to one job alone, each job has an entry of its own; where
jobs share a direction they are one entry, as with fio's `group_reporting`, under the first one's
name and with the threads of all. What fio counts and a run directory does not (processor time, how
requests were batched) is 0; on a twin that is the truth.

Latency is the whole request's: `clat` and `lat` are the same, `slat` is 0. The series is cut at
fio's half seconds where its samples are that fine, else its samples are the windows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flashtwin import __version__
from flashtwin.drives.real.options import options_of as options_of_job
from flashtwin.fio.report.document import document
from flashtwin.fio.report.job import DIRECTIONS, Direction, JobReport, Spread, level_of
from flashtwin.model.histogram import bins_of, middle_of
from flashtwin.model.job import directions_of, job_of
from flashtwin.model.series import Counts, Series
from flashtwin.model.step import JobTotals
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.rundir import Run

WINDOW_NS = 500_000_000
# Characters of a label in a file's name.
LONGEST = 120

_Job = Mapping[str, Any]


def json_files(run: Run) -> dict[str, bytes]:
    """The files of `flashtwin export --format fio-json`."""
    return {
        name: (json.dumps(document, indent=2, allow_nan=False) + "\n").encode()
        for name, document in documents(run).items()
    }


def documents(run: Run, *, plus: bool = True) -> dict[str, dict[str, Any]]:
    """The JSON of each step in which jobs ran, by file name."""
    by_name: dict[str, dict[str, Any]] = {}
    for step in run.steps:
        if step.kind in ("run", "chain") and step.not_possible is None and step.jobs:
            name = f"{step.step:03}-{re.sub(r'[^A-Za-z0-9._-]+', '-', step.label)[:LONGEST]}.json"
            by_name[name] = _document(run, step, plus)
    return by_name


def _document(run: Run, step: StepRecord, plus: bool) -> dict[str, Any]:
    jobs = _jobs(step)
    groups = [[at] for at in range(len(jobs))] if _apart(jobs) else [list(range(len(jobs)))]
    reports = [
        _report(run, step, [jobs[at] for at in group], [step.jobs[at] for at in group])
        for group in groups
    ]
    return document(
        reports,
        version=f"flashtwin-{run.manifest.get('flashtwin', __version__)}",
        global_options={"filename": str(run.target["name"])},
        plus=plus,
    )


def _jobs(step: StepRecord) -> list[_Job]:
    """The jobs as they were asked for, one for each total; older runs may lack them."""
    parts = step.detail.get("parts") or [step.detail]
    jobs = [job for part in parts for job in part.get("jobs") or ()]
    if len(jobs) == len(step.jobs):
        return jobs
    return [{"name": totals.name, "rw": "rw"} for totals in step.jobs]


def _directions(job: _Job) -> tuple[str, ...]:
    return directions_of(str(job.get("rw", "rw")))


def _apart(jobs: Sequence[_Job]) -> bool:
    used = [name for job in jobs for name in _directions(job)]
    return len(used) == len(set(used))


def _report(
    run: Run, step: StepRecord, jobs: Sequence[_Job], totals: Sequence[JobTotals]
) -> JobReport:
    used = dict.fromkeys(name for job in jobs for name in _directions(job))
    runtime_ns = max(max(job_totals.duration_ns for job_totals in totals), 1)
    series, hist = run.series(step.step), run.hist(step.step)
    alone = totals[0] if len(totals) == 1 and len(used) == 1 else None
    directions = {
        name: _direction(series.only(DIRECTIONS.index(name)), hist.get(name), runtime_ns, alone)
        for name in used
    }
    depth = max(int(job.get("depth") or 1) for job in jobs)
    return JobReport(
        name=str(jobs[0].get("name") or totals[0].name),
        options=options_of(jobs),
        directions=directions,
        total_err=sum(job_totals.errors for job_totals in totals),
        elapsed_s=-(-runtime_ns // 10**9),
        runtime_ms=round(runtime_ns / 1e6),
        latency_depth=depth,
        levels={level_of(depth): 100.0},
        submits={"4": 100.0},
        completes={"4": 100.0},
    )


def _direction(series: Series, counts: Any, runtime_ns: int, alone: JobTotals | None) -> Direction:
    """What a job did in one direction: its exact totals where no other job has the direction,
    otherwise what the series says. The series includes the ramp, which totals and latencies do
    not."""
    counted = int(counts.sum()) if counts is not None else 0
    ios, size = int(series.ios.sum()), int(series.bytes.sum())
    if alone is not None:
        ios, size = alone.ios, alone.bytes
    elif counted and counted != ios and ios:
        ios, size = counted, round(size * counted / ios)
    exact: dict[str, float] = {}
    moved = series.ios > 0
    if alone is not None:
        exact = {
            "min": alone.latency_min_ns,
            "max": alone.latency_max_ns,
            "mean": alone.latency_mean_ns,
        }
    elif moved.any() and counted == int(series.ios.sum()):
        exact = {
            "min": int(series.lat_min_ns[moved].min()),
            "max": int(series.lat_max_ns[moved].max()),
            "mean": float(series.lat_sum_ns.sum()) / counted,
        }
    spread = spread_of(counts, **exact) if counted else Spread()
    bytes_s, ios_s = _windows(series)
    return Direction(
        ios=ios,
        bytes=size,
        runtime_ms=max(round(runtime_ns / 1e6), 1),
        slat=Spread(count=spread.count),
        clat=spread,
        lat=spread,
        clats=bins_of(counts) if counted else {},
        bw=windows_of(bytes_s / 1024),
        iops=windows_of(ios_s),
    )


def spread_of(counts: Counts, **exact: float) -> Spread:
    """The spread of bucketed latencies; what is known exactly (`min`, `max`, `mean`) wins.

    A deviation out of buckets is right within half a bucket, 0.8 %.
    """
    used = np.flatnonzero(counts)
    total = int(counts.sum())
    if not total:
        return Spread()
    middles = np.array([middle_of(int(bucket)) for bucket in used], dtype=np.float64)
    weights = counts[used].astype(np.float64)
    mean = float(np.average(middles, weights=weights))
    square = float(np.average((middles - mean) ** 2, weights=weights))
    # fio divides by one less than the number of its samples.
    deviation = (square * total / (total - 1)) ** 0.5 if total > 1 else 0.0
    return Spread(
        min=int(exact.get("min", middles[0])),
        max=int(exact.get("max", middles[-1])),
        mean=exact.get("mean", mean),
        stddev=deviation,
        count=total,
    )


def windows_of(values: np.ndarray) -> Spread:
    """Rates of whole windows as fio sums them up."""
    if not len(values):
        return Spread()
    return Spread(
        min=int(values.min()),
        max=int(values.max()),
        mean=float(values.mean()),
        stddev=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        count=len(values),
    )


def _windows(series: Series) -> tuple[Any, Any]:
    """Bytes and requests a second in windows of half a second, or of a sample where it is longer.

    A last window that is not whole is left out, as fio does.
    """
    if not len(series.t_ns):
        return np.zeros(0), np.zeros(0)
    end = int(series.t_ns[-1] + series.dt_ns[-1])
    grain = max(WINDOW_NS, int(series.dt_ns.max()))
    edges = np.arange(0, end + 1, grain, dtype=np.int64)
    if len(edges) < 2:
        return np.zeros(0), np.zeros(0)
    times = np.append(series.t_ns, end)
    rates = []
    for column in (series.bytes, series.ios):
        so_far = np.append(0, np.cumsum(column))
        rates.append(np.diff(np.interp(edges, times, so_far)) / (grain / 1e9))
    return rates[0], rates[1]


def options_of(jobs: Sequence[_Job]) -> dict[str, str]:
    """The options of the jobs in fio's words; of several, those of the first, with the threads
    of all."""
    first = jobs[0]
    if "block_bytes" not in first:
        return {"name": str(first.get("name", "")), "rw": str(first.get("rw", "rw"))}
    threads = sum(int(job.get("threads") or 1) for job in jobs)
    options = {"name": str(first["name"]), **options_of_job(job_of(first))}
    if len(jobs) > 1:
        options |= {"numjobs": str(threads), "group_reporting": "1"}
    return options
