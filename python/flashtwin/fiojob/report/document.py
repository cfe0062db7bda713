"""fio's JSON of `JobReport`s: what `--output-format=json` and `json+` print, field by field.

The same keys in the same order, integers where fio has integers and six places where it has
fractions. Latencies are counted in fio's buckets, so percentiles and bins are its own
for the same requests. Seen in the JSON of fio 3.33.

Invariants: nothing here asks for the time or the machine; what is not known is 0, as fio has it for
a job that did nothing of the kind, and never left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from flashtwin.fiojob.report.classes import LEAST_DEPTH, latency_classes, shown
from flashtwin.fiojob.report.job import (
    BATCHES,
    DEPTHS,
    DIRECTIONS,
    PERCENTILES,
    Direction,
    JobReport,
    Sync,
    aggregate,
    six,
)
from flashtwin.results.hist import Counts, middle_of, percentiles

# What fio says of the time left when there is nothing to estimate.
NO_ETA = 2147483647


def document(
    jobs: Sequence[JobReport],
    *,
    version: str,
    global_options: Mapping[str, str] | None = None,
    unix_ms: int = 0,
    plus: bool = False,
) -> dict[str, Any]:
    """The whole answer; `version` as fio writes it ("fio-3.33"), `plus` for json+ with its bins."""
    when = datetime.fromtimestamp(unix_ms / 1000, UTC)
    shares = aggregate(jobs)
    return {
        "fio version": version,
        "timestamp": unix_ms // 1000,
        "timestamp_ms": unix_ms,
        "time": when.strftime("%a %b %e %H:%M:%S %Y"),
        "global options": dict(global_options or {}),
        "jobs": [_job(job, shares, plus) for job in jobs],
    }


def _job(job: JobReport, shares: Mapping[tuple[int, str], float], plus: bool) -> dict[str, Any]:
    used = {name: job.directions.get(name, Direction()) for name in DIRECTIONS}
    latency = latency_classes(job)
    return {
        "jobname": job.name,
        "groupid": job.group,
        "error": job.error,
        **({"total_err": job.total_err} if job.total_err else {}),
        "eta": NO_ETA,
        "elapsed": job.elapsed_s,
        "job options": dict(job.options),
        **{
            name: _direction(one, shares.get((job.group, name), 0.0), plus)
            for name, one in used.items()
        },
        "sync": _sync(job.sync, plus),
        "job_runtime": job.runtime_ms,
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": _named(DEPTHS, job.levels),
        "iodepth_submit": _named(BATCHES, job.submits),
        "iodepth_complete": _named(BATCHES, job.completes),
        **{f"latency_{unit}": row for unit, row in latency.items()},
        "latency_depth": job.latency_depth,
        "latency_target": job.latency_target,
        "latency_percentile": six(job.latency_percentile),
        "latency_window": job.latency_window,
        **job.more,
    }


def _direction(one: Direction, aggregate: float, plus: bool) -> dict[str, Any]:
    seconds = one.runtime_ms / 1000
    rate = int(one.bytes / seconds) if seconds else 0
    return {
        "io_bytes": one.bytes,
        "io_kbytes": one.bytes >> 10,
        "bw_bytes": rate,
        "bw": rate >> 10,
        "iops": six(one.ios / seconds if seconds else 0.0),
        "runtime": one.runtime_ms,
        "total_ios": one.ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": one.slat.to_json(),
        "clat_ns": {**one.clat.to_json(), **_distribution(one.counts, plus)},
        "lat_ns": one.lat.to_json(),
        "bw_min": one.bw.minimum,
        "bw_max": one.bw.maximum,
        "bw_agg": six(min(one.bw.mean / aggregate * 100, 100.0) if aggregate else 0.0),
        "bw_mean": six(one.bw.mean),
        "bw_dev": six(one.bw.stddev),
        "bw_samples": one.bw.count,
        "iops_min": one.iops.minimum,
        "iops_max": one.iops.maximum,
        "iops_mean": six(one.iops.mean),
        "iops_stddev": six(one.iops.stddev),
        "iops_samples": one.iops.count,
    }


def _sync(sync: Sync, plus: bool) -> dict[str, Any]:
    lat = {**sync.lat.to_json(), **_distribution(sync.counts, plus)}
    return {"total_ios": sync.ios, "lat_ns": lat}


def _distribution(counts: Counts | None, plus: bool) -> dict[str, Any]:
    """Percentiles, and in json+ the bins under the middles of their buckets."""
    if counts is None or not counts.any():
        return {}
    found = {f"{share:.6f}": value for share, value in percentiles(counts, PERCENTILES).items()}
    if not plus:
        return {"percentile": found}
    bins = {str(middle_of(int(at))): int(counts[at]) for at in np.flatnonzero(counts)}
    return {"percentile": found, "bins": bins}


def _named(names: Sequence[str], shares: Mapping[str, float]) -> dict[str, float]:
    unknown = set(shares) - set(names)
    assert not unknown, f"shares of {sorted(unknown)}, which fio does not know"
    return shown({name: shares.get(name, 0.0) for name in names}, LEAST_DEPTH)
