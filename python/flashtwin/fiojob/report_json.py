"""fio's JSON out of values: what `--output-format=json` and `json+` print, field by field.

Whoever has numbers (a job on a twin, a step of a run directory) fills `JobReport`s, and `document`
gives the object that fio would have printed: the same keys in the same order, the same units
(bytes, KiB/s, nanoseconds, milliseconds of runtime), integers where fio has integers and six places
where it has fractions. Latencies are counted in fio's buckets, so percentiles and bins are its own
for the same requests. Seen in the JSON of fio 3.33.

Invariants: nothing here asks for the time or the machine; what is not known is 0, as fio has it for
a job that did nothing of the kind, and never left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from flashtwin.results.hist import Counts, middle_of, percentiles

DIRECTIONS = ("read", "write", "trim")
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
# Upper ends of the classes of fio's latency tables, the same for ns and us; ms has two more.
CLASSES = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
BATCHES = ("0", "4", "8", "16", "32", "64", ">=64")
# A share that is not nothing is shown as at least so many percent.
LEAST_LATENCY, LEAST_DEPTH = 0.01, 0.1
# What fio says of the time left when there is nothing to estimate.
NO_ETA = 2147483647


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Nanoseconds of `count` requests."""

    minimum: int = 0
    maximum: int = 0
    mean: float = 0.0
    stddev: float = 0.0
    count: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "min": self.minimum,
            "max": self.maximum,
            "mean": _six(self.mean),
            "stddev": _six(self.stddev),
            "N": self.count,
        }


@dataclass(frozen=True, kw_only=True)
class Windows:
    """Rates over fio's windows (500 ms): KiB/s or requests a second."""

    minimum: int = 0
    maximum: int = 0
    mean: float = 0.0
    stddev: float = 0.0
    count: int = 0


@dataclass(frozen=True, kw_only=True)
class Direction:
    """What a job did in one direction. `counts`: completion latencies in fio's buckets."""

    ios: int = 0
    bytes: int = 0
    runtime_ms: int = 0
    slat: Spread = field(default_factory=Spread)
    clat: Spread = field(default_factory=Spread)
    lat: Spread = field(default_factory=Spread)
    counts: Counts | None = None
    bw: Windows = field(default_factory=Windows)
    iops: Windows = field(default_factory=Windows)


@dataclass(frozen=True, kw_only=True)
class Sync:
    """Flushes (fio's sync section); `counts` of their latencies in fio's buckets."""

    ios: int = 0
    lat: Spread = field(default_factory=Spread)
    counts: Counts | None = None


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """A job, or a group of jobs reported as one.

    `options` are those of its own section as text. `levels`, `submits` and `completes` are shares
    in percent by the names in `DEPTHS` and `BATCHES`; names left out are 0. `classes` are fio's
    latency tables where they were counted request by request; else they follow from the buckets.
    `more` is put at the end as it is (fio's `steadystate`, say). `jobs`, `description` and `issued`
    (reads, writes, trims, syncs) are for the text, which says them too.
    """

    name: str
    options: Mapping[str, str]
    directions: Mapping[str, Direction]
    sync: Sync = field(default_factory=Sync)
    group: int = 0
    error: int = 0
    total_err: int = 0
    elapsed_s: int = 0
    runtime_ms: int = 0
    latency_depth: int = 1
    levels: Mapping[str, float] = field(default_factory=dict)
    submits: Mapping[str, float] = field(default_factory=dict)
    completes: Mapping[str, float] = field(default_factory=dict)
    classes: Mapping[str, Mapping[str, float]] | None = None
    latency_target: int = 0
    latency_percentile: float = 100.0
    latency_window: int = 0
    jobs: int = 1
    description: str | None = None
    issued: tuple[int, int, int, int] = (0, 0, 0, 0)
    more: Mapping[str, Any] = field(default_factory=dict)


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


def spread_of(counts: Counts, **exact: float) -> Spread:
    """The spread of bucketed latencies; what is known exactly (`minimum`, `maximum`, `mean`) wins.

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
        minimum=int(exact.get("minimum", middles[0])),
        maximum=int(exact.get("maximum", middles[-1])),
        mean=exact.get("mean", mean),
        stddev=deviation,
        count=total,
    )


def windows_of(values: np.ndarray) -> Windows:
    """Rates of whole windows as fio sums them up."""
    if not len(values):
        return Windows()
    return Windows(
        minimum=int(values.min()),
        maximum=int(values.max()),
        mean=float(values.mean()),
        stddev=float(values.std(ddof=1)) if len(values) > 1 else 0.0,
        count=len(values),
    )


def level_of(depth: int) -> str:
    """The class of `iodepth_level` that a queue depth falls into."""
    return ">=64" if depth >= 64 else str(1 << max(depth.bit_length() - 1, 0))


def classes_of(counts: Counts) -> dict[str, dict[str, float]]:
    """fio's three tables of latency: percent by class in ns (below 1 us), us and ms."""
    used = np.flatnonzero(counts)
    total = float(counts.sum())
    shares = {"ns": dict.fromkeys(class_names("ns"), 0.0), "us": {}, "ms": {}}
    shares["us"] = dict.fromkeys(class_names("us"), 0.0)
    shares["ms"] = dict.fromkeys(class_names("ms"), 0.0)
    for bucket in used:
        unit, name = _class(middle_of(int(bucket)))
        shares[unit][name] += float(counts[bucket]) / total * 100
    return {unit: _shown(row, LEAST_LATENCY) for unit, row in shares.items()}


def latency_classes(job: JobReport) -> dict[str, dict[str, float]]:
    """The tables of a job in percent, all directions together."""
    if job.classes is not None:
        return {unit: _shown(row, LEAST_LATENCY) for unit, row in job.classes.items()}
    counted = [one.counts for one in job.directions.values() if one.counts is not None]
    return classes_of(np.sum(counted, axis=0) if counted else np.zeros(0, dtype=np.uint64))


def class_names(unit: str) -> list[str]:
    return [*map(str, CLASSES), *(["2000", ">=2000"] if unit == "ms" else [])]


def _class(nanoseconds: int) -> tuple[str, str]:
    for unit, size in (("ns", 1), ("us", 1000)):
        if nanoseconds < 1000 * size:
            return unit, _end(nanoseconds // size)
    milliseconds = nanoseconds // 1_000_000
    if milliseconds < CLASSES[-1]:
        return "ms", _end(milliseconds)
    return "ms", "2000" if milliseconds < 2000 else ">=2000"


def _end(value: int) -> str:
    return str(next(end for end in CLASSES if value < end))


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
        "latency_percentile": _six(job.latency_percentile),
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
        "iops": _six(one.ios / seconds if seconds else 0.0),
        "runtime": one.runtime_ms,
        "total_ios": one.ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": one.slat.to_json(),
        "clat_ns": {**one.clat.to_json(), **_distribution(one.counts, plus)},
        "lat_ns": one.lat.to_json(),
        "bw_min": one.bw.minimum,
        "bw_max": one.bw.maximum,
        "bw_agg": _six(min(one.bw.mean / aggregate * 100, 100.0) if aggregate else 0.0),
        "bw_mean": _six(one.bw.mean),
        "bw_dev": _six(one.bw.stddev),
        "bw_samples": one.bw.count,
        "iops_min": one.iops.minimum,
        "iops_max": one.iops.maximum,
        "iops_mean": _six(one.iops.mean),
        "iops_stddev": _six(one.iops.stddev),
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


def aggregate(jobs: Sequence[JobReport]) -> dict[tuple[int, str], float]:
    """KiB/s of each group and direction together, of which `bw_agg` is the share."""
    moved: dict[tuple[int, str], tuple[int, int]] = {}
    for job in jobs:
        for name, one in job.directions.items():
            size, longest = moved.get((job.group, name), (0, 0))
            moved[job.group, name] = (size + one.bytes, max(longest, one.runtime_ms))
    return {key: size / 1024 / (ms / 1000) for key, (size, ms) in moved.items() if ms}


def _named(names: Sequence[str], shares: Mapping[str, float]) -> dict[str, float]:
    unknown = set(shares) - set(names)
    assert not unknown, f"shares of {sorted(unknown)}, which fio does not know"
    return _shown({name: shares.get(name, 0.0) for name in names}, LEAST_DEPTH)


def _shown(shares: Mapping[str, float], least: float) -> dict[str, float]:
    return {name: _six(max(share, least)) if share else 0.0 for name, share in shares.items()}


def _six(value: float) -> float:
    """As fio prints fractions."""
    return round(float(value), 6)
