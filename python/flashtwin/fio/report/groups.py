"""From what the core counted of each process to what fio reports: jobs, or groups told as one.

fio's rules for a group (`group_reporting`), seen in its output: counts and histograms add up,
runtimes are the longest, and the windows of bandwidth and rate add up too, as if all processes had
had theirs at the same moments: minimum, maximum, mean and number of samples are sums, and the
deviation comes from the summed squares. A process of its own is a group of one. What a job does not
want to be measured (`disable_lat` and its like) is as if nobody had counted it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from flashtwin.fio.language.job import FioJob, Setting, spelled
from flashtwin.fio.plan.plan import PhaseResult, Process
from flashtwin.fio.report.job import (
    BATCHES,
    CLASSES,
    DEPTHS,
    DIRECTIONS,
    IDLE,
    LATENCIES,
    Direction,
    JobReport,
    Spread,
    Style,
    Sync,
    joined,
    together,
)
from flashtwin.fio.report.logs import KINDS, samples_of, without
from flashtwin.fio.report.text import size
from flashtwin.model.histogram import summed

if TYPE_CHECKING:
    from flashtwin._core import FioRow, FioSide, FioSteady, Moments


MS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class ProcessCounts:
    """A process and its counts; they are empty where its phase was not reached. `begun_ns`: when
    its phase began, since the first one did."""

    process: Process
    row: FioRow | None
    begun_ns: int

    @property
    def job(self) -> FioJob:
        """The job as it was asked for."""
        return self.process.clone.job

    @property
    def ended_ns(self) -> int:
        """Nanoseconds from the beginning of the first phase to the end of this process."""
        return self.begun_ns + (self.row["ended_ns"] if self.row else 0)


def reports(processes: Sequence[ProcessCounts]) -> list[JobReport]:
    """A report for each process, or for each group that is reported as one, in their order. As
    in fio, a process that is reported with its group joins the one before it in that group,
    whether that one says so or not."""
    groups: list[list[ProcessCounts]] = []
    for member in processes:
        before = groups[-1][-1].process.clone.group if groups else None
        if before == member.process.clone.group and member.job["group_reporting"]:
            groups[-1].append(member)
        else:
            groups.append([member])
    return [_report(members) for members in groups]


def _report(members: Sequence[ProcessCounts]) -> JobReport:
    """The processes as one job, under the name and options of the first."""
    first, job = members[0], members[0].job
    clone, fio = first.process.clone, first.process.job.fio
    assert fio is not None, "a plan has fio's jobs only"
    known = [(member.row, without(member.job)) for member in members if member.row]
    rows = [row for row, _ in known]
    sides = {name: [side(row, name) for row in rows] for name in DIRECTIONS}
    timed = [row for row, unmeasured in known if "clat" not in unmeasured]
    issued = [sum(side["issued"] for side in sides[name]) for name in DIRECTIONS]
    # fio tells the number of the syncs by fsync, and the times of those by fdatasync too.
    syncs = sum(row["sync"]["issued"] - row["sync"]["datasyncs"] for row in rows)
    style, moved = style_of(job), max(sum(issued), 1)
    target, has_begun = (
        fio.latency_target,
        (first.row is not None and first.row["ended_ns"] > first.row["started_ns"]),
    )
    return JobReport(
        name=job.name,
        options=options_of(job),
        common=words_of(job.common, sort=any(row.where.line for row in job.common.values())),
        directions={
            name: together([_direction(side(row, name), unmeasured) for row, unmeasured in known])
            for name in DIRECTIONS
        },
        sync=Sync(
            ios=syncs,
            lat=joined([Spread(**row["sync"]["lat"]) for row in timed]),
            bins=summed(row["sync"]["lat_hist"] for row in timed),
        ),
        group=clone.group,
        error=next((row["failure"][0] for row in rows if row["failure"]), 0),
        total_err=sum(side["errors"] for name in DIRECTIONS for side in sides[name]),
        elapsed_s=max(member.ended_ns for member in members) // 1_000_000_000 + 1,
        runtime_ms=sum((row["ended_ns"] - row["measured_ns"]) // MS for row in rows),
        latency_depth=(rows[0]["depth_found"] or first.process.job.depth) if has_begun else 0,
        levels=_shares(DEPTHS, [row["depths"] for row in rows], moved),
        submits=_shares(BATCHES, [row["submits"] for row in rows]),
        completes=_shares(BATCHES, [row["completes"] for row in rows]),
        classes=_classes(timed, sum(side["ios"] for name in DIRECTIONS for side in sides[name])),
        latency_target=target.ns if target else 0,
        latency_window=target.window_ns // 1000 if target else 0,
        latency_percentile=target.percentile if target else 100.0,
        jobs=len(members),
        description=str(job["description"]) if job["description"] else None,
        issued=[sum(issued), 0, 0, 0] if style.unified == "mixed" else [*issued, syncs],
        more=_steady(job, rows),
        style=style,
    )


def side(row: FioRow, name: str) -> FioSide:
    """What was counted of a direction."""
    side: FioSide = row[name]  # type: ignore[literal-required]
    return side


def _direction(side: FioSide, unmeasured: frozenset[str]) -> Direction:
    if not any((side["issued"], side["ios"], side["bw"]["count"], side["iops"]["count"])):
        return IDLE
    moments: Mapping[str, Moments] = side  # type: ignore[assignment]
    spreads = {
        name: Spread() if name in unmeasured else Spread(**moments[name])
        for name in (*LATENCIES, "bw", "iops")
    }
    return Direction(
        ios=side["ios"],
        bytes=side["bytes"],
        # fio rounds up what took less than a millisecond, so that there is a rate.
        runtime_ms=max(side["runtime_ns"] // MS, 1) if side["ios"] else 0,
        slats=side["slat_hist"] if spreads["slat"].count else {},
        clats=side["clat_hist"] if spreads["clat"].count else {},
        lats=side["lat_hist"] if spreads["lat"].count else {},
        **spreads,
    )


def _shares(
    names: Sequence[str], counts: Sequence[Sequence[int]], total: int | None = None
) -> dict[str, float]:
    """Percent of `total`, or of all that was counted."""
    sums = [sum(column) for column in zip(*counts, strict=True)]
    denominator = total or sum(sums)
    # Jobs without latencies (gtod_reduce) have no counts.
    if not denominator or not sums:
        return {}
    return {name: count / denominator * 100 for name, count in zip(names, sums, strict=True)}


def _classes(timed: Sequence[Mapping[str, Any]], ios: int) -> dict[str, dict[str, float]]:
    rows = {unit: [row[f"latency_{unit}"] for row in timed] for unit in CLASSES}
    return {
        unit: dict.fromkeys(names, 0.0) | _shares(names, rows[unit], max(ios, 1))
        for unit, names in CLASSES.items()
    }


def _steady(job: FioJob, rows: Sequence[FioRow]) -> dict[str, Any]:
    """fio's `steadystate`, of jobs that looked for one."""
    state: FioSteady | None = next((row["steady"] for row in rows if row["steady"]), None)
    if state is None or not job["steadystate"]:
        return {}
    criterion = spelled("steadystate", job["steadystate"]) or ""
    bw, iops = state["bw"], state["iops"]
    return {
        "steadystate": {
            "ss": criterion,
            "duration": len(bw),
            "attained": int(state["attained"]),
            "criterion": f"{state['criterion']:f}{'%' if criterion.endswith('%') else ''}",
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


def all_of(phases: Iterable[PhaseResult]) -> list[ProcessCounts]:
    """The processes of phases in fio's order.

    Who does not want to be in the results (`stats=0`) is left out.
    """
    counted = [
        ProcessCounts(
            process=process,
            row=row and _sampled(process.clone.job, row),
            begun_ns=phase.begun_ns,
        )
        for phase in phases
        for process, row in zip_longest(phase.processes, phase.rows)
        if process.clone.job["stats"]
    ]
    return sorted(counted, key=lambda member: member.process.clone.thread)


def _sampled(job: FioJob, row: FioRow) -> FioRow:
    """fio takes the samples of its rates from a log of single requests, where it writes one."""
    logged = [option for option in ("write_bw_log", "write_iops_log") if job.has(option)]
    if job["log_avg_msec"] or not logged or row["requests"] is None:
        return row
    sampled: dict[str, Any] = dict(row)
    for kind in (KINDS[option][0] for option in logged):
        for way, moments in zip(DIRECTIONS, samples_of(row, kind), strict=True):
            sampled[way] = {**sampled[way], kind: moments}
    return sampled  # type: ignore[return-value]


def options_of(job: FioJob) -> dict[str, str]:
    """fio's `job options`: what the job says, in its own words; on the command line its name
    too."""
    name = {"name": job.section} if not job.where.line else {}
    return name | words_of(job.said, sort=bool(job.where.line))


def words_of(settings: Mapping[str, Setting], *, sort: bool) -> dict[str, str]:
    """The words of options, without those that are a name alone, as fio lists them. In a job file
    it takes `kb_base` first and the names of files last."""
    names = list(settings)
    if sort:
        names.sort(key=lambda name: _PLACES.get(name, 0))
    words = {}
    for name in names:
        text = settings[name].text
        if not text:
            # What a kept run holds are values.
            words[name] = spelled(name, settings[name].value) or ""
        elif "=" in text:
            words[name] = text.partition("=")[2].strip()
    return words


_PLACES = {"kb_base": -1, "filename": 1, "filename_format": 1}


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
    started = f"{count} processes" if count > 1 else "1 process"
    return "\n".join([*lines, program, f"Starting {started}", "", ""])


def _announced(process: Process) -> str:
    job, fio = process.clone.job, process.job.fio
    sizes = fio.blocks if fio is not None else None
    ends = (
        [(block.least, block.most) for block in sizes]
        if sizes
        else [(process.job.block_bytes,) * 2] * 3
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


def _precision(job: FioJob) -> int:
    """As many decimals as the longest of the list has."""
    if not job.has("percentile_list"):
        return USUAL_PRECISION
    written = job.settings["percentile_list"].text.partition("=")[2]
    return max(len(number.strip().partition(".")[2]) for number in written.split(":"))
