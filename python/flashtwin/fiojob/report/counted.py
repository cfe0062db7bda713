"""From what the core counted of each process to what fio reports: jobs, or groups told as one.

fio's rules for a group (`group_reporting`), seen in its output: counts and histograms add up,
runtimes are the longest, and the windows of bandwidth and rate add up too, as if all processes had
had theirs at the same moments: minimum, maximum, mean and number of samples are sums, and the
deviation comes from the summed squares. A process of its own is a group of one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from flashtwin.fiojob.report.classes import class_names
from flashtwin.fiojob.report.job import (
    BATCHES,
    DEPTHS,
    DIRECTIONS,
    Direction,
    JobReport,
    Spread,
    Sync,
    Windows,
)

if TYPE_CHECKING:
    from flashtwin._core import FioRow, FioSide, FioSteady, Moments

MS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Counted:
    """One of fio's processes that ran: a clone of a section.

    `number` counts from 1 over all processes; `group` is the reporting group; `options` are those
    of its own section as text; `together`: the group is told as one. `begun_ns`: when the phase in
    which it ran began, since the whole run did. `fsyncs`: its syncs count as requests, which those
    of fdatasync do not in fio.
    """

    name: str
    number: int
    group: int
    row: FioRow
    options: Mapping[str, str] = field(default_factory=dict)
    description: str | None = None
    depth: int = 1
    together: bool = False
    begun_ns: int = 0
    latency_target_ns: int = 0
    latency_window_ns: int = 0
    latency_percentile: float = 100.0
    steady: str | None = None
    fsyncs: bool = True


def reports(processes: Sequence[Counted]) -> list[JobReport]:
    """A report for each process, or for each group that is told as one, in their order."""
    made = []
    for _, some in groupby(processes, key=lambda one: (one.group, one.together)):
        members = list(some)
        if members[0].together:
            made.append(report(members))
        else:
            made += [report([one]) for one in members]
    return made


def report(members: Sequence[Counted]) -> JobReport:
    """The processes as one job, under the name and options of the first."""
    first = members[0]
    rows = [one.row for one in members]
    failure = next((row["failure"] for row in rows if row["failure"]), None)
    issued = [sum(side(row, name)["issued"] for row in rows) for name in DIRECTIONS]
    syncs = sum(one.row["sync"]["issued"] for one in members if one.fsyncs)
    moved = max(sum(issued), 1)
    spent = [row["ended_ns"] - row["measured_ns"] for row in rows]
    return JobReport(
        name=first.name,
        options=first.options,
        directions={name: _direction([side(row, name) for row in rows]) for name in DIRECTIONS},
        sync=_sync(members),
        group=first.group,
        error=failure[0] if failure else 0,
        total_err=sum(side(row, name)["errors"] for row in rows for name in DIRECTIONS),
        elapsed_s=_elapsed(members),
        runtime_ms=sum(_ms(ns) for ns in spent),
        latency_depth=first.row["depth_found"] or first.depth,
        levels=_shares(DEPTHS, [row["depths"] for row in rows], moved),
        submits=_shares(BATCHES, [row["submits"] for row in rows]),
        completes=_shares(BATCHES, [row["completes"] for row in rows]),
        classes=_classes(rows),
        # fio prints the target in thousandths of what it says; its readers expect that.
        latency_target=first.latency_target_ns * 1000,
        latency_window=first.latency_window_ns // 1000,
        latency_percentile=first.latency_percentile,
        jobs=len(members),
        description=first.description,
        issued=(issued[0], issued[1], issued[2], syncs),
        more=_steady(first, rows),
    )


def side(row: FioRow, name: str) -> FioSide:
    """What was counted of a direction."""
    found: FioSide = row[name]  # type: ignore[literal-required]
    return found


def _elapsed(members: Sequence[Counted]) -> int:
    """Seconds from the beginning of the run to the end of the last process, begun ones too."""
    last = max(one.begun_ns + one.row["ended_ns"] for one in members)
    return last // 1_000_000_000 + 1


def _ms(ns: int) -> int:
    return ns // MS


def _direction(sides: Sequence[FioSide]) -> Direction:
    return Direction(
        ios=sum(one["ios"] for one in sides),
        bytes=sum(one["bytes"] for one in sides),
        runtime_ms=max(_runtime(one) for one in sides),
        slat=_spread([one["slat"] for one in sides]),
        clat=_spread([one["clat"] for one in sides]),
        lat=_spread([one["lat"] for one in sides]),
        counts=_summed([one["clat_hist"] for one in sides]),
        bw=_stacked([one["bw"] for one in sides]),
        iops=_stacked([one["iops"] for one in sides]),
    )


def _runtime(one: FioSide) -> int:
    """fio rounds up what took less than a millisecond, so that there is a rate."""
    return max(_ms(one["runtime_ns"]), 1) if one["ios"] else 0


def _sync(members: Sequence[Counted]) -> Sync:
    rows = [one.row for one in members]
    return Sync(
        ios=sum(one.row["sync"]["issued"] for one in members if one.fsyncs),
        lat=_spread([row["sync"]["lat"] for row in rows]),
        counts=_summed([row["sync"]["lat_hist"] for row in rows]),
    )


def _summed(hists: Sequence[Any]) -> Any:
    return np.sum(hists, axis=0, dtype=np.uint64)


def _spread(parts: Sequence[Moments]) -> Spread:
    """Samples put together: the deviation is that of all of them."""
    some = [one for one in parts if one["count"]]
    if not some:
        return Spread()
    count = sum(one["count"] for one in some)
    mean = sum(one["mean"] * one["count"] for one in some) / count
    squares = sum(_squares(one) + one["count"] * (one["mean"] - mean) ** 2 for one in some)
    return Spread(
        minimum=min(one["min"] for one in some),
        maximum=max(one["max"] for one in some),
        mean=mean,
        stddev=math.sqrt(squares / (count - 1)) if count > 1 else 0.0,
        count=count,
    )


def _stacked(parts: Sequence[Moments]) -> Windows:
    """Rates put on top of each other."""
    some = [one for one in parts if one["count"]]
    count = sum(one["count"] for one in some)
    squares = sum(_squares(one) for one in some)
    return Windows(
        minimum=sum(one["min"] for one in some),
        maximum=sum(one["max"] for one in some),
        mean=sum(one["mean"] for one in some),
        stddev=math.sqrt(squares / (count - 1)) if count > 1 else 0.0,
        count=count,
    )


def _squares(one: Moments) -> float:
    """Summed squares of the differences from the mean."""
    return one["stddev"] ** 2 * max(one["count"] - 1, 0)


def _shares(
    names: Sequence[str], counts: Sequence[Sequence[int]], total: int | None = None
) -> dict[str, float]:
    """Percent of `total`, or of all that was counted."""
    summed = [sum(some) for some in zip(*counts, strict=True)]
    whole = total or sum(summed)
    if not whole:
        return {}
    return {name: count / whole * 100 for name, count in zip(names, summed, strict=True)}


def _classes(rows: Sequence[FioRow]) -> dict[str, dict[str, float]]:
    total = sum(side(row, name)["ios"] for row in rows for name in DIRECTIONS)
    found = {}
    for unit in ("ns", "us", "ms"):
        counts = [row[f"latency_{unit}"] for row in rows]  # type: ignore[literal-required]
        names = class_names(unit)
        found[unit] = dict.fromkeys(names, 0.0) | _shares(names, counts, max(total, 1))
    return found


def _steady(first: Counted, rows: Sequence[FioRow]) -> dict[str, Any]:
    """fio's `steadystate`, of jobs that looked for one."""
    state: FioSteady | None = next((row["steady"] for row in rows if row["steady"]), None)
    if state is None or first.steady is None:
        return {}
    percent = "%" if first.steady.endswith("%") else ""
    bw, iops = state["bw"], state["iops"]
    return {
        "steadystate": {
            "ss": first.steady,
            "duration": len(bw),
            "attained": int(state["attained"]),
            "criterion": f"{state['criterion']:f}{percent}",
            "max_deviation": round(state["deviation"], 6),
            "slope": round(state["slope"], 6),
            "data": {
                "bw_mean": sum(bw) // len(bw) if bw else 0,
                "iops_mean": sum(iops) // len(iops) if iops else 0,
                "iops": list(iops),
                "bw": list(bw),
            },
        }
    }
