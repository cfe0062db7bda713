"""What a twin counted for the processes of fio, as JSON: one entry a process or group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from flashtwin.fiojob.language.text import written
from flashtwin.fiojob.plan.plan import Process
from flashtwin.fiojob.report_json import (
    BATCHES,
    DEPTHS,
    DIRECTIONS,
    Direction,
    JobReport,
    Spread,
    Sync,
    Windows,
)

Counted = tuple[Process, Mapping[str, Any]]


def reports(counted: Sequence[Counted]) -> list[JobReport]:
    """An entry for each process, as without `group_reporting`."""
    return [_report(process, row) for process, row in counted]


def options_of(process: Process) -> dict[str, str]:
    """fio's `job options`: what the job says, as text, its name first."""
    job = process.clone.job
    found = {"name": job.name}
    for name, setting in job.settings.items():
        text = written(name, setting.value)
        found[name] = text.partition("=")[2]
    return found


def _report(process: Process, row: Mapping[str, Any]) -> JobReport:
    steady = row["steady"]
    failure = row["failure"]
    report = JobReport(
        name=process.job.name,
        options=options_of(process),
        directions={name: _direction(row[name]) for name in DIRECTIONS},
        sync=Sync(
            ios=row["sync"]["issued"],
            lat=_spread(row["sync"]["lat"]),
            counts=row["sync"]["lat_hist"],
        ),
        group=process.clone.group,
        error=failure[0] if failure else 0,
        elapsed_s=-(-row["ended_ns"] // 1_000_000_000),
        runtime_ms=max(row["ended_ns"] - row["measured_ns"], 0) // 1_000_000,
        latency_depth=row["depth_found"] or process.job.depth,
        levels=_shares(DEPTHS, row["depths"]),
        submits=_shares(BATCHES, row["submits"]),
        completes=_shares(BATCHES, row["completes"]),
    )
    return report if steady is None else replace(report, more={"steadystate": dict(steady)})


def _direction(side: Mapping[str, Any]) -> Direction:
    return Direction(
        ios=side["ios"],
        bytes=side["bytes"],
        runtime_ms=side["runtime_ns"] // 1_000_000,
        slat=_spread(side["slat"]),
        clat=_spread(side["clat"]),
        lat=_spread(side["lat"]),
        counts=side["clat_hist"],
        bw=_windows(side["bw"]),
        iops=_windows(side["iops"]),
    )


def _spread(moments: Mapping[str, Any]) -> Spread:
    return Spread(
        minimum=int(moments["min"]),
        maximum=int(moments["max"]),
        mean=float(moments["mean"]),
        stddev=float(moments["stddev"]),
        count=int(moments["count"]),
    )


def _windows(moments: Mapping[str, Any]) -> Windows:
    return Windows(
        minimum=int(moments["min"]),
        maximum=int(moments["max"]),
        mean=float(moments["mean"]),
        stddev=float(moments["stddev"]),
        count=int(moments["count"]),
    )


def _shares(names: Sequence[str], counts: Sequence[int]) -> dict[str, float]:
    total = sum(counts)
    return {
        name: 100 * count / total if total else 0.0
        for name, count in zip(names, counts, strict=True)
    }


def summary(counted: Sequence[Counted]) -> str:
    """A line for each process and direction."""
    lines = []
    for process, row in counted:
        lines.append(f"{process.job.name}: (groupid={process.clone.group})")
        for name in DIRECTIONS:
            side = row[name]
            seconds = side["runtime_ns"] / 1e9
            if side["ios"] and seconds:
                lines.append(
                    f"  {name}: IOPS={side['ios'] / seconds:.0f},"
                    f" BW={side['bytes'] / seconds / 1e6:.1f}MB/s ({side['bytes']} bytes in"
                    f" {seconds:.3f} s), lat {side['lat']['mean'] / 1000:.1f} us"
                )
        if row["failure"]:
            lines.append(f"  error {row['failure'][0]}: {row['failure'][1]}")
    return "\n".join(lines) + "\n"
