"""fio's JSON of `JobReport`s: what `--output-format=json` and `json+` print, field by field.

The same keys in the same order, integers where fio has integers and six places where it has
fractions. Latencies are counted in fio's buckets, so percentiles and bins are its own
for the same requests. Seen in the JSON of fio 3.33.

Invariants: nothing here asks for the time or the machine; what is not known is 0, as fio has it for
a job that did nothing of the kind, and never left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from json.encoder import encode_basestring_ascii
from typing import Any

from flashtwin.fio.report.job import (
    BATCHES,
    DEPTHS,
    IDLE,
    LATENCIES,
    LEAST_DEPTH,
    Direction,
    JobReport,
    Spread,
    Style,
    aggregate,
    latency_classes,
    printable,
    share_of,
    six,
    when,
)
from flashtwin.model.histogram import Bins, middle_of, percentiles_of

# The value that fio prints for the time left once a job is over.
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
    shares = aggregate(jobs)
    common = global_options or (jobs[0].common if jobs else {})
    return {
        "fio version": version,
        "timestamp": unix_ms // 1000,
        "timestamp_ms": unix_ms,
        "time": when(unix_ms),
        # fio leaves it out where nothing is said for all jobs.
        **({"global options": dict(common)} if common else {}),
        "jobs": [_job(job, shares, plus) for job in jobs],
    }


def _job(
    job: JobReport, group_bytes_s: Mapping[tuple[int, str], int], plus: bool
) -> dict[str, Any]:
    directions = {
        name: _direction(side, group_bytes_s.get((job.group, name), 0), job.style, plus)
        for name, side in job.directions_shown.items()
    }
    # Where all directions are one, fio leaves the syncs out.
    sync = {} if job.style.unified == "mixed" else {"sync": _sync(job, plus)}
    mixed = {"mixed": directions.pop("mixed")} if job.style.unified != "none" else {}
    latency = latency_classes(job)
    return {
        "jobname": job.name,
        "groupid": job.group,
        "error": job.error,
        **({"total_err": job.total_err} if job.total_err else {}),
        "eta": NO_ETA,
        "elapsed": job.elapsed_s,
        "job options": dict(job.options),
        **directions,
        **sync,
        **mixed,
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
        **(_target(job) if job.latency_depth else {}),
        **({"desc": job.description} if job.description else {}),
        **job.more,
    }


def _target(job: JobReport) -> dict[str, Any]:
    return {
        "latency_depth": job.latency_depth,
        "latency_target": job.latency_target,
        "latency_percentile": six(job.latency_percentile),
        "latency_window": job.latency_window,
    }


def _direction(
    direction: Direction, group_bytes_s: int, style: Style, plus: bool
) -> dict[str, Any]:
    """What a job did in one direction; for a direction without requests it is the same for all
    jobs."""
    return (
        _idle(style, plus) if direction == IDLE else _moved(direction, group_bytes_s, style, plus)
    )


@cache
def _idle(style: Style, plus: bool) -> dict[str, Any]:
    return _moved(IDLE, 0, style, plus)


def _moved(direction: Direction, group_bytes_s: int, style: Style, plus: bool) -> dict[str, Any]:
    seconds = direction.runtime_ms / 1000
    rate = direction.bytes * 1000 // direction.runtime_ms if direction.runtime_ms else 0
    share = share_of(int(direction.bw.mean), group_bytes_s / 1024) if direction.bw.count else 0.0
    return {
        "io_bytes": direction.bytes,
        "io_kbytes": direction.bytes >> 10,
        "bw_bytes": rate,
        "bw": rate >> 10,
        "iops": six(direction.ios / seconds if seconds else 0.0),
        "runtime": direction.runtime_ms,
        "total_ios": direction.ios,
        "short_ios": 0,
        "drop_ios": 0,
        **{f"{name}_ns": _latency(direction, name, style, plus) for name in LATENCIES},
        "bw_min": direction.bw.min,
        "bw_max": direction.bw.max,
        "bw_agg": six(share),
        "bw_mean": six(direction.bw.mean),
        "bw_dev": six(direction.bw.stddev),
        "bw_samples": direction.bw.count,
        "iops_min": direction.iops.min,
        "iops_max": direction.iops.max,
        "iops_mean": six(direction.iops.mean),
        "iops_stddev": six(direction.iops.stddev),
        "iops_samples": direction.iops.count,
    }


def _latency(direction: Direction, name: str, style: Style, plus: bool) -> dict[str, Any]:
    row = _samples(direction.spread(name))
    if name in style.latencies:
        row |= _distribution(direction.bins(name), style, plus)
    return row


def _samples(spread: Spread) -> dict[str, Any]:
    return {
        "min": spread.min,
        "max": spread.max,
        "mean": six(spread.mean),
        "stddev": six(spread.stddev),
        "N": spread.count,
    }


def _sync(job: JobReport, plus: bool) -> dict[str, Any]:
    lat = _samples(job.sync.lat)
    if {"clat", "lat"} & set(job.style.latencies):
        lat |= _distribution(job.sync.bins, job.style, plus)
    return {"total_ios": job.sync.ios, "lat_ns": lat}


def _distribution(bins: Bins, style: Style, plus: bool) -> dict[str, Any]:
    """Percentiles, and in json+ the bins under the middles of their buckets."""
    if not bins:
        return {}
    latencies = percentiles_of(bins, style.percentiles)
    row: dict[str, Any] = {"percentile": {f"{share:.6f}": at for share, at in latencies.items()}}
    if plus:
        row["bins"] = {str(middle_of(bucket)): count for bucket, count in sorted(bins.items())}
    return row


def _named(names: Sequence[str], shares: Mapping[str, float]) -> dict[str, float]:
    unknown = set(shares) - set(names)
    assert not unknown, f"shares of {sorted(unknown)}, which fio does not know"
    return printable({name: shares.get(name, 0.0) for name in names}, LEAST_DEPTH)


def indented(value: object) -> str:
    """A value as JSON, byte for byte as `json.dumps(value, indent=2)` has it, and faster.

    The standard library's encoder is Python where there is an indent, a generator for each level of
    each value; the answer of thousands of fio's processes took it seconds. A value that stands in
    several places (what a direction says that asked for nothing) is written once. Values are what
    JSON has: dictionaries with text for keys, lists, text, numbers, booleans and nothing.
    """
    return _text(value, "\n", {})


def _text(value: object, line: str, known: dict[tuple[int, str], str]) -> str:
    """The text of a value whose lines begin with `line`; `known` holds values that were written
    before."""
    kind = type(value)
    if kind is int:
        return int.__repr__(value)
    if kind is str:
        return encode_basestring_ascii(value)  # type: ignore[arg-type]
    if kind is float and math.isfinite(value):  # type: ignore[arg-type]
        return float.__repr__(value)
    if kind not in (dict, list, tuple):
        return json.dumps(value)
    key = (id(value), line)
    text = known.get(key)
    if text is None:
        text = known[key] = _filled(value, line, known)  # type: ignore[arg-type]
    return text


def _filled(
    value: Mapping[str, object] | Sequence[object], line: str, known: dict[tuple[int, str], str]
) -> str:
    deeper = line + "  "
    if isinstance(value, Mapping):
        parts = [
            f"{encode_basestring_ascii(name)}: {_text(part, deeper, known)}"
            for name, part in value.items()
        ]
        begin, end = "{", "}"
    else:
        parts = [_text(part, deeper, known) for part in value]
        begin, end = "[", "]"
    return begin + deeper + f",{deeper}".join(parts) + line + end if parts else begin + end
