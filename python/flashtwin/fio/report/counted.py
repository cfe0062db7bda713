"""From what the core counted of each process to what fio reports: jobs, or groups told as one.

fio's rules for a group (`group_reporting`), seen in its output: counts and histograms add up,
runtimes are the longest, and the windows of bandwidth and rate add up too, as if all processes had
had theirs at the same moments: minimum, maximum, mean and number of samples are sums, and the
deviation comes from the summed squares. A process of its own is a group of one. What a job does not
want to be measured (`disable_lat` and its like) is as if nobody had counted it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from flashtwin.fio.language.job import FioJob, spelled
from flashtwin.fio.plan.plan import Process
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
    class_names,
    joined,
    together,
)
from flashtwin.fio.report.logs import KINDS, samples_of
from flashtwin.fio.report.text import size
from flashtwin.model.histogram import summed

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


Phase = tuple[Iterable[Process], Iterable[Any], int]


def counted(process: Process, row: Mapping[str, Any] | None, begun_ns: int) -> Counted:
    """One process; `begun_ns` is when its phase began, since the first one did.

    Without a row its phase was not reached, and it has counted nothing.
    """
    clone, fio = process.clone, process.job.fio
    assert fio is not None, "a plan has fio's jobs only"
    job, target, steady = clone.job, fio.latency_target, clone.job["steadystate"]
    return Counted(
        name=job.name,
        number=clone.thread,
        group=clone.group,
        row=nothing(job.name) if row is None else _sampled(process, row),
        begun=row is not None and row["ended_ns"] > row["started_ns"],
        options=options_of(process),
        description=str(job["description"]) if job["description"] else None,
        depth=process.job.depth,
        together=bool(job["group_reporting"]),
        begun_ns=begun_ns,
        latency_target_ns=target.ns if target else 0,
        latency_window_ns=target.window_ns if target else 0,
        latency_percentile=target.percentile if target else 100.0,
        steady=spelled("steadystate", steady) if steady else None,
        without=without(job),
        style=style_of(job),
    )


def nothing(name: str) -> FioRow:
    """What a process has counted that never began."""
    none: Moments = {"count": 0, "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0}
    side: FioSide = {
        "ios": 0,
        "bytes": 0,
        "issued": 0,
        "errors": 0,
        "runtime_ns": 0,
        "slat": none,
        "clat": none,
        "lat": none,
        "bw": none,
        "iops": none,
        "slat_hist": {},
        "clat_hist": {},
        "lat_hist": {},
    }
    return {
        "name": name,
        "failure": None,
        "started_ns": 0,
        "measured_ns": 0,
        "ended_ns": 0,
        "depth_found": None,
        "ended_all": False,
        "read": side,
        "write": side,
        "trim": side,
        "sync": {"issued": 0, "datasyncs": 0, "lat": none, "lat_hist": {}},
        "depths": [0] * len(DEPTHS),
        "submits": [0] * len(BATCHES),
        "completes": [0] * len(BATCHES),
        "latency_ns": [0] * len(class_names("ns")),
        "latency_us": [0] * len(class_names("us")),
        "latency_ms": [0] * len(class_names("ms")),
        "steady": None,
        "requests": None,
        "averages": None,
    }


def _sampled(process: Process, row: Mapping[str, Any]) -> FioRow:
    """fio takes the samples of its rates from a log of single requests, where it writes one."""
    job = process.clone.job
    logged = [option for option in ("write_bw_log", "write_iops_log") if job.has(option)]
    if job["log_avg_msec"] or not logged or row["requests"] is None:
        return row  # type: ignore[return-value]
    found = dict(row)
    for kind in (KINDS[option][0] for option in logged):
        for way, moments in zip(DIRECTIONS, samples_of(row, kind), strict=True):
            found[way] = {**found[way], kind: moments}
    return found  # type: ignore[return-value]


def options_of(process: Process) -> dict[str, str]:
    """fio's `job options`: what the job says, in its own words, its name first."""
    job = process.clone.job
    found = {"name": job.name}
    for name, setting in job.settings.items():
        _, equals, value = setting.text.partition("=")
        own = bool(equals) and "$" not in value
        found[name] = value.strip() if own else spelled(name, setting.value) or ""
    return found


def all_of(phases: Iterable[Phase]) -> list[Counted]:
    """The processes of phases, each with its rows and when it began, in fio's order.

    A phase that was not reached has no rows. Who does not want to be in the results (`stats=0`) is
    left out.
    """
    made = [
        counted(process, row, begun_ns)
        for processes, rows, begun_ns in phases
        for process, row in zip_longest(processes, rows)
        if process.clone.job["stats"]
    ]
    return sorted(made, key=lambda one: one.number)


def preamble(processes: Iterable[Process], program: str) -> str:
    """What fio says before it starts: a line a job, dots for its copies, how many there are."""
    lines: list[str] = []
    count = 0
    for process in processes:
        count += 1
        clone = process.clone
        if clone.number == 0:
            lines.append(_announced(process))
        elif lines[-1] != "...":
            lines.append("...")
    many = f"{count} processes" if count > 1 else "1 process"
    return "\n".join([*lines, program, f"Starting {many}", "", ""])


def _announced(process: Process) -> str:
    job, fio = process.clone.job, process.job.fio
    sizes = fio.blocks if fio is not None else None
    ends = (
        [(one.least, one.most) for one in sizes] if sizes else [(process.job.block_bytes,) * 2] * 3
    )
    named = ", ".join(
        f"({letter}) {size(low)}-{size(high)}"
        for letter, (low, high) in zip("RWT", ends, strict=True)
    )
    return (
        f"{job.name}: (g={process.clone.group}): rw={job['rw'].rw}, "
        f"bs={named}, ioengine={job['ioengine'] or 'psync'}, iodepth={job['iodepth']}"
    )


# fio's default list has 99.99 in it.
USUAL_PRECISION = 2


def style_of(job: FioJob) -> Style:
    """The options that shape the answer; a latency that is not measured has no percentiles."""
    return Style(
        percentiles=tuple(sorted(job["percentile_list"])),
        precision=_precision(job),
        latencies=tuple(
            name
            for name in LATENCIES
            if job[f"{name}_percentiles"] and not job[f"disable_{name}"] and not job["gtod_reduce"]
        ),
        significant=job["significant_figures"],
        kb_base=int(job["kb_base"]),
        bits=job["unit_base"] == "1",
        unified=job["unified_rw_reporting"],
    )


def without(job: FioJob) -> frozenset[str]:
    """What is not measured.

    fio 3.33 counts the windows of bandwidth even if `disable_bw_measurement` says not to, and under
    `gtod_reduce` too; what is gone are the samples of single requests, which a log of them would
    bring (`logs.samples_of`).
    """
    reduced = bool(job["gtod_reduce"])
    found = {name for name in LATENCIES if reduced or job[f"disable_{name}"]}
    single = not job["log_avg_msec"]
    if single and job.has("write_bw_log") and (reduced or job["disable_bw_measurement"]):
        found.add("bw")
    if single and job.has("write_iops_log") and reduced:
        found.add("iops")
    return frozenset(found)


def _precision(job: FioJob) -> int:
    """As many decimals as the longest of the list has."""
    if not job.has("percentile_list"):
        return USUAL_PRECISION
    written = job.settings["percentile_list"].text.partition("=")[2]
    return max(len(one.strip().partition(".")[2]) for one in written.split(":"))
