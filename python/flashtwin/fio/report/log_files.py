"""The files beside the answer: which logs the processes of a plan want, under fio's names.

Where they may be is decided here: a name on the command line is anywhere, one in a job file is
below the directory that the command runs in, and a job's own name is made such a name. What stands
in them is made by `logs`, when they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from flashtwin import outputs
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.errors import COMMAND_LINE
from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.script import Note
from flashtwin.fio.plan.job import EPOCHS
from flashtwin.fio.plan.plan import Process
from flashtwin.fio.report.counted import without
from flashtwin.fio.report.logs import HIST, KINDS, Log, Wish, iolog, joined, logs_of, name_of

MS = 1_000_000

# A process, its row, and when its phase began.
Ran = tuple[Process, Mapping[str, Any], int]


def files_of(rows: Sequence[Ran]) -> list[Log]:
    """All logs and iologs of processes; nothing of them is made before it is written."""
    wanting = [one for one in rows if _wants(one[0])]
    if not wanting:
        return []
    logs = [
        log
        for process, row, begun_ns in wanting
        for log in logs_of(row, wish_of(process, begun_ns + int(row["measured_ns"])))
    ]
    iologs: dict[tuple[str, bool], list[tuple[Mapping[str, Any], list[str]]]] = {}
    for process, row, _ in wanting:
        name = process.clone.job["write_iolog"]
        if name and row["requests"] is not None:
            files = [part.name for part in process.parts]
            typed = is_typed(process.clone.job, "write_iolog")
            key = (str(name), typed)
            iologs.setdefault(key, []).append((row, files))
    return joined(logs) + [
        Log(name=name, pieces=partial(iolog, some), typed=typed)
        for (name, typed), some in iologs.items()
    ]


def check(processes: Sequence[Process], *, inputs: Iterable[Path], output: Path | None) -> None:
    """Refuse before the jobs run what could not be written after them, by the job file's line.

    No log is one of the `inputs` of the command, nor the `output` that its answer goes to.
    """
    read, others = tuple(inputs), () if output is None else (output,)
    for process in processes:
        for option, name in _names_of(process):
            job = process.clone.job
            within = None if is_typed(job, option) else Path()
            try:
                outputs.check(Path(name), within=within, inputs=read, others=others)
            except FlashtwinError as error:
                where = job.line(option)
                raise FlashtwinError(
                    f"{where}: {option}: {error.message}",
                    hint=error.hint,
                    exit_code=error.exit_code,
                ) from error


def _names_of(process: Process) -> Iterator[tuple[str, str]]:
    """Each file that a process may write, with the option that asks for it."""
    wish = wish_of(process, 0)
    for option in wish.logs:
        for kind in KINDS.get(option, ("clat_hist",)):
            yield option, name_of(wish, option, kind)
    if name := process.clone.job["write_iolog"]:
        yield "write_iolog", str(name)


def is_typed(job: FioJob, option: str) -> bool:
    """Whether the name of a log stands on the command line."""
    return bool(job[option]) and job.line(option).line == COMMAND_LINE.line


def name_for_files(job: FioJob) -> str:
    """A job's name as files begin with it: where it leads out of the directory, in one word."""
    return job.name if _is_within(job.name) else re.sub(r"[/\x00-\x1f\x7f-\x9f]", "_", job.name)


def renamed(jobs: Iterable[FioJob]) -> list[Note]:
    """What to tell of jobs whose logs are not called as the jobs are."""
    wanting = [
        job
        for job in dict.fromkeys(jobs)
        if any(job.has(option) and not job[option] for option in (*KINDS, HIST))
    ]
    names = [(job, name_for_files(job)) for job in wanting]
    return [
        Note(where=job.where, text=f"the logs of job {job.name} are called {name}: they stay here")
        for job, name in names
        if name != job.name
    ]


def _is_within(name: str) -> bool:
    """Whether logs that begin with a name stay within the directory that the command runs in."""
    try:
        outputs.check(Path(f"{name}_"), within=Path())
    except FlashtwinError:
        return False
    return True


def _wants(process: Process) -> bool:
    return any(process.clone.job.has(option) for option in (*KINDS, HIST, "write_iolog"))


def wish_of(process: Process, epoch_ns: int) -> Wish:
    """What a process wants logged; an option without a value takes the job's name.

    A twin's clock begins with the run, whichever clock fio would have read: times of a clock count
    from there, so that the log is the same in every run. `epoch_ns` is when the process's own times
    begin.
    """
    job = process.clone.job
    asked = [option for option in (*KINDS, HIST) if job.has(option)]
    unmeasured = without(job)
    return Wish(
        logs={option: str(job[option] or name_for_files(job)) for option in asked},
        typed=frozenset(option for option in asked if is_typed(job, option)),
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
