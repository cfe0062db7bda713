"""The files beside the answer: which logs the processes of a plan want, under fio's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flashtwin.fiojob.plan.convert import EPOCHS
from flashtwin.fiojob.plan.plan import Process
from flashtwin.fiojob.report.style import without
from flashtwin.fiojob.report.wish import HIST, KINDS, Log, Wish

MS = 1_000_000

# A process, its row, and when its phase began.
Ran = tuple[Process, Mapping[str, Any], int]


def files_of(rows: Sequence[Ran]) -> list[Log]:
    """All logs and iologs of processes."""
    wanting = [one for one in rows if _wants(one[0])]
    if not wanting:
        return []
    from flashtwin.fiojob.report.iolog import iolog
    from flashtwin.fiojob.report.logs import joined, logs_of

    logs = [
        log
        for process, row, begun_ns in wanting
        for log in logs_of(row, wish_of(process, begun_ns + int(row["measured_ns"])))
    ]
    iologs: dict[str, list[tuple[Mapping[str, Any], list[str]]]] = {}
    for process, row, _ in wanting:
        name = process.clone.job["write_iolog"]
        if name and row["requests"] is not None:
            files = [part.name for part in process.parts]
            iologs.setdefault(_numbered(str(name), process), []).append((row, files))
    return joined(logs) + [Log(name=name, text=iolog(some)) for name, some in iologs.items()]


def _wants(process: Process) -> bool:
    return any(process.clone.job.has(option) for option in (*KINDS, HIST, "write_iolog"))


def wish_of(process: Process, epoch_ns: int) -> Wish:
    """What a process wants logged; an option without a value takes the job's name.

    A twin's clock begins with the run, whichever clock fio would have read: times of a clock count
    from there, so that the log is the same in every run. `epoch_ns` is when the process's own times
    begin.
    """
    job = process.clone.job
    asked = {option: str(job[option] or job.name) for option in (*KINDS, HIST) if job.has(option)}
    unmeasured = without(job)
    return Wish(
        logs=asked,
        number=process.clone.thread if job["per_job_logs"] else None,
        offsets=bool(job["log_offset"]),
        hist_ns=int(job["log_hist_msec"]) * MS,
        coarse=int(job["log_hist_coarseness"]),
        slat="slat" not in unmeasured,
        clat="clat" not in unmeasured,
        lat="lat" not in unmeasured,
        bw="bw" not in unmeasured,
        iops="iops" not in unmeasured,
        epoch_ms=epoch_ns // MS if any(job[option] for option in EPOCHS) else 0,
    )


def _numbered(name: str, process: Process) -> str:
    """The first copy has the name itself; fio's copies would overwrite one another's there."""
    return name if process.clone.number == 0 else f"{name}.{process.clone.number}"
