"""The files beside the answer: which logs the processes of a plan want, under fio's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashtwin.fiojob.plan.plan import Process
from flashtwin.fiojob.report.iolog import iolog
from flashtwin.fiojob.report.logs import HIST, KINDS, Log, Wish, joined, logs_of

MS = 1_000_000


def files_of(rows: Sequence[tuple[Process, Mapping[str, Any]]]) -> list[Log]:
    """All logs and iologs of processes with their rows."""
    logs = [log for process, row in rows for log in logs_of(row, wish_of(process))]
    iologs: dict[str, list[tuple[Mapping[str, Any], list[str]]]] = {}
    for process, row in rows:
        name = process.clone.job["write_iolog"]
        if name and row["requests"] is not None:
            files = [part.name for part in process.parts]
            iologs.setdefault(_numbered(str(name), process), []).append((row, files))
    return joined(logs) + [Log(name=name, text=iolog(some)) for name, some in iologs.items()]


def wish_of(process: Process) -> Wish:
    """What a process wants logged; an option without a value takes the job's name."""
    job = process.clone.job
    asked = {option: str(job[option] or job.name) for option in (*KINDS, HIST) if job.has(option)}
    reduced = bool(job["gtod_reduce"])
    return Wish(
        logs=asked,
        number=process.clone.thread if job["per_job_logs"] else None,
        offsets=bool(job["log_offset"]),
        hist_ns=int(job["log_hist_msec"]) * MS,
        coarse=int(job["log_hist_coarseness"]),
        slat=not (job["disable_slat"] or reduced),
        clat=not (job["disable_clat"] or reduced),
        lat=not (job["disable_lat"] or reduced),
    )


def _numbered(name: str, process: Process) -> str:
    """The first copy has the name itself; fio's copies would overwrite one another's there."""
    return name if process.clone.number == 0 else f"{name}.{process.clone.number}"
