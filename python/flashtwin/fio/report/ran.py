"""The processes of a plan with what the core counted of each, as fio's reports take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from flashtwin.fio.language.text import written
from flashtwin.fio.plan.plan import Process
from flashtwin.fio.report.classes import class_names
from flashtwin.fio.report.counted import Counted
from flashtwin.fio.report.job import BATCHES, DEPTHS, DIRECTIONS
from flashtwin.fio.report.style import style_of, without
from flashtwin.fio.report.wish import KINDS
from flashtwin.fio.report.words import size

if TYPE_CHECKING:
    from flashtwin._core import FioRow, FioSide, Moments


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
        steady=written("steadystate", steady).partition("=")[2] if steady else None,
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
    from flashtwin.fio.report.logs import samples_of

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
        found[name] = value.strip() if own else written(name, setting.value).partition("=")[2]
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
