"""From what the core counted of each process to what fio reports: jobs, or groups told as one.

fio's rules for a group (`group_reporting`), seen in its output: counts and histograms add up,
runtimes are the longest, and the windows of bandwidth and rate add up too, as if all processes had
had theirs at the same moments: minimum, maximum, mean and number of samples are sums, and the
deviation comes from the summed squares. A process of its own is a group of one. What a job does not
want to be measured (`disable_lat` and its like) is as if nobody had counted it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashtwin.fio.report.classes import class_names
from flashtwin.fio.report.job import (
    BATCHES,
    DEPTHS,
    DIRECTIONS,
    LATENCIES,
    Direction,
    JobReport,
    Spread,
    Style,
    Sync,
    Windows,
    joined,
    together,
)
from flashtwin.model.buckets import summed

if TYPE_CHECKING:
    from flashtwin._core import FioRow, FioSide, FioSteady, Moments

MS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Counted:
    """One of fio's processes that ran: a clone of a section.

    `number` counts from 1 over all processes; `group` is the reporting group; `options` are those
    of its own section as text; `together`: the group is told as one. `begun`: it ran at all.
    `begun_ns`: when its phase began, since the whole run did. `without`: latencies and rates
    that are not measured (`slat`, `clat`, `lat`, `bw`, `iops`); without `clat` there are no classes
    of latency and no times of syncs.
    """

    name: str
    number: int
    group: int
    row: FioRow
    begun: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    description: str | None = None
    depth: int = 1
    together: bool = False
    begun_ns: int = 0
    latency_target_ns: int = 0
    latency_window_ns: int = 0
    latency_percentile: float = 100.0
    steady: str | None = None
    without: frozenset[str] = frozenset()
    style: Style = field(default_factory=Style)


def reports(processes: Sequence[Counted]) -> list[JobReport]:
    """A report for each process, or for each group that is told as one, in their order.

    As in fio, a process that is told with its group joins the one before it in that group, whether
    that one says so or not.
    """
    groups: list[list[Counted]] = []
    for one in processes:
        if groups and one.together and groups[-1][-1].group == one.group:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [report(members) for members in groups]


def report(members: Sequence[Counted]) -> JobReport:
    """The processes as one job, under the name and options of the first."""
    first = members[0]
    rows = [one.row for one in members]
    failure = next((row["failure"] for row in rows if row["failure"]), None)
    issued = [sum(side(row, name)["issued"] for row in rows) for name in DIRECTIONS]
    syncs = _fsyncs(members)
    moved = max(sum(issued), 1)
    spent = [row["ended_ns"] - row["measured_ns"] for row in rows]
    return JobReport(
        name=first.name,
        options=first.options,
        directions={
            name: together([_direction(side(one.row, name), one.without) for one in members])
            for name in DIRECTIONS
        },
        sync=_sync(members),
        group=first.group,
        error=failure[0] if failure else 0,
        total_err=sum(side(row, name)["errors"] for row in rows for name in DIRECTIONS),
        elapsed_s=_elapsed(members),
        runtime_ms=sum(_ms(ns) for ns in spent),
        latency_depth=(first.row["depth_found"] or first.depth) if first.begun else 0,
        levels=_shares(DEPTHS, [row["depths"] for row in rows], moved),
        submits=_shares(BATCHES, [row["submits"] for row in rows]),
        completes=_shares(BATCHES, [row["completes"] for row in rows]),
        classes=_classes(members),
        latency_target=first.latency_target_ns,
        latency_window=first.latency_window_ns // 1000,
        latency_percentile=first.latency_percentile,
        jobs=len(members),
        description=first.description,
        issued=_issued(issued, syncs, first.style),
        more=_steady(first, rows),
        style=first.style,
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


def _issued(moved: Sequence[int], syncs: int, style: Style) -> tuple[int, int, int, int]:
    if style.unified == "mixed":
        return (sum(moved), 0, 0, 0)
    return (moved[0], moved[1], moved[2], syncs)


def _direction(one: FioSide, without: frozenset[str]) -> Direction:
    slat, clat, lat = (
        Spread() if name in without else _spread(_moments(one, name)) for name in LATENCIES
    )
    return Direction(
        ios=one["ios"],
        bytes=one["bytes"],
        runtime_ms=_runtime(one),
        slat=slat,
        clat=clat,
        lat=lat,
        slats=one["slat_hist"] if slat.count else {},
        clats=one["clat_hist"] if clat.count else {},
        lats=one["lat_hist"] if lat.count else {},
        bw=Windows() if "bw" in without else _windows(one["bw"]),
        iops=Windows() if "iops" in without else _windows(one["iops"]),
    )


def _runtime(one: FioSide) -> int:
    """fio rounds up what took less than a millisecond, so that there is a rate."""
    return max(_ms(one["runtime_ns"]), 1) if one["ios"] else 0


def _sync(members: Sequence[Counted]) -> Sync:
    timed = [one.row["sync"] for one in members if "clat" not in one.without]
    return Sync(
        ios=_fsyncs(members),
        lat=joined([_spread(row["lat"]) for row in timed]),
        bins=summed(row["lat_hist"] for row in timed),
    )


def _fsyncs(members: Sequence[Counted]) -> int:
    """fio tells the number of the syncs by fsync, and the times of those by fdatasync too."""
    syncs = [one.row["sync"] for one in members]
    return sum(sync["issued"] - sync["datasyncs"] for sync in syncs)


def _moments(one: FioSide, name: str) -> Moments:
    found: Moments = one[name]  # type: ignore[literal-required]
    return found


def _spread(one: Moments) -> Spread:
    return Spread(
        minimum=one["min"],
        maximum=one["max"],
        mean=one["mean"],
        stddev=one["stddev"],
        count=one["count"],
    )


def _windows(one: Moments) -> Windows:
    return Windows(
        minimum=one["min"],
        maximum=one["max"],
        mean=one["mean"],
        stddev=one["stddev"],
        count=one["count"],
    )


def _shares(
    names: Sequence[str], counts: Sequence[Sequence[int]], total: int | None = None
) -> dict[str, float]:
    """Percent of `total`, or of all that was counted."""
    summed = [sum(some) for some in zip(*counts, strict=True)]
    whole = total or sum(summed)
    # Of jobs without latencies (gtod_reduce) there is nothing to share out.
    if not whole or not summed:
        return {}
    return {name: count / whole * 100 for name, count in zip(names, summed, strict=True)}


def _classes(members: Sequence[Counted]) -> dict[str, dict[str, float]]:
    total = sum(side(one.row, name)["ios"] for one in members for name in DIRECTIONS)
    timed = [one.row for one in members if "clat" not in one.without]
    found = {}
    for unit in ("ns", "us", "ms"):
        counts = [row[f"latency_{unit}"] for row in timed]  # type: ignore[literal-required]
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
