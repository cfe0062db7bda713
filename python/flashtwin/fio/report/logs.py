"""fio's log files: bandwidth, latencies, requests a second, histograms; and its iologs.

A line of a log is `ms, value, direction, block size, [offset,] priority`. By request the bandwidth
is that request's own in kB/s, its rate is 1, and latencies are nanoseconds; by window
(`log_avg_msec`) bandwidth is KiB/s and the block size 0. Times count from the start of the
process's measured time; with one of `EPOCHS` from that of the run, as a twin's clock begins with
the run, so that the log is the same in every run. Directions are 0 read, 1 write, 2 trim. Seen in
the logs of fio 3.33.

An iolog has version 3: a time in microseconds before each line. fio reads such a file back with
`read_iolog`, and so do we. A process's requests stand in the order in which they were issued, under
the names of its files; a name is one word there, so that blanks become underscores. Processes that
log into one file, as copies do, stand one behind the other, each with the first line of an iolog,
as fio writes them. Times count from 1: fio takes 0 for no time, and loses the pause behind it.

Where the files may be is decided here: a name on the command line is anywhere, one in a job file is
below the directory that the command runs in, and a job's own name is made such a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin import outputs
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.errors import COMMAND_LINE
from flashtwin.fio.language.job import FioJob
from flashtwin.fio.language.script import Note
from flashtwin.fio.plan.job import EPOCHS
from flashtwin.fio.plan.plan import PhaseResult, Process
from flashtwin.fio.report.job import LATENCIES
from flashtwin.model.histogram import BITS, BUCKETS, bucket_of

KINDS = {"write_bw_log": ("bw",), "write_iops_log": ("iops",), "write_lat_log": LATENCIES}
HIST = "write_hist_log"
LOGS = (*KINDS, HIST)
# fio makes the file of a rate also where nothing is measured for it.
EMPTY = ("bw", "iops")
MS = 1_000_000
MOVES = 3

# The text of a log, made anew each time that it is asked for.
Pieces = Callable[[], Iterable[str]]
# Rows of a log that are text at once.
PIECE_ROWS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Log:
    """A file to write: its name, its text in pieces that are made as they are asked for, and
    whether somebody typed the name.

    A log of single requests is many times larger than what it is made of.
    """

    name: str
    pieces: Pieces
    typed: bool = False


def files_of(phases: Iterable[PhaseResult]) -> list[Log]:
    """All logs and iologs of phases; nothing of them is made before it is written.

    Logs of one name are put together, as fio does where jobs share a file.
    """
    logs: dict[str, list[Log]] = {}
    iologs: dict[str, list[Log]] = {}
    for phase in phases:
        for process, row in phase.ran:
            for log in _logs(process, row, phase.begun_ns + row["measured_ns"]):
                logs.setdefault(log.name, []).append(log)
            job = process.clone.job
            if job["write_iolog"] and row["requests"] is not None:
                names = ["_".join(part.name.split()) for part in process.parts]
                typed, pieces = is_typed(job, "write_iolog"), partial(_iolog, row, names)
                log = Log(name=str(job["write_iolog"]), pieces=pieces, typed=typed)
                iologs.setdefault(log.name, []).append(log)
    return [
        Log(name=name, pieces=partial(_all, same), typed=all(log.typed for log in same))
        for files in (logs, iologs)
        for name, same in files.items()
    ]


def _all(logs: Iterable[Log]) -> Iterator[str]:
    return (piece for log in logs for piece in log.pieces())


def _logs(process: Process, row: Mapping[str, Any], epoch_ns: int) -> Iterator[Log]:
    """The logs of a process; `epoch_ns` is when its own times begin."""
    job = process.clone.job
    unmeasured = without(job)
    epoch_ms = epoch_ns // MS if any(job[option] for option in EPOCHS) else 0
    for option, kind in _kinds(job):
        pieces: Pieces = tuple
        if option == HIST:
            if not job["log_hist_msec"]:
                continue
            interval_ns, coarse = int(job["log_hist_msec"]) * MS, int(job["log_hist_coarseness"])
            pieces = partial(_histograms, row, interval_ns, coarse, epoch_ms)
        elif kind not in unmeasured:
            pieces = partial(_lines, row, kind, bool(job["log_offset"]), epoch_ms)
        elif kind not in EMPTY:
            continue
        typed = is_typed(job, option)
        yield Log(name=_name(process, option, kind), pieces=pieces, typed=typed)


def _kinds(job: FioJob) -> Iterator[tuple[str, str]]:
    """Each log that a job asks for: the option, and what is in it."""
    for option in LOGS:
        if job.has(option):
            yield from ((option, kind) for kind in KINDS.get(option, ("clat_hist",)))


def _name(process: Process, option: str, kind: str) -> str:
    """What fio calls a log; an option without a value takes the job's name."""
    job = process.clone.job
    number = f".{process.clone.thread}" if job["per_job_logs"] else ""
    return f"{job[option] or name_for_files(job)}_{kind}{number}.log"


def without(job: FioJob) -> frozenset[str]:
    """What is not measured.

    fio 3.33 counts the windows of bandwidth even if `disable_bw_measurement` says not to, and under
    `gtod_reduce` too; what is gone are the samples of single requests, which a log of them would
    bring (`samples_of`).
    """
    reduced = bool(job["gtod_reduce"])
    unmeasured = {name for name in LATENCIES if reduced or job[f"disable_{name}"]}
    single = not job["log_avg_msec"]
    if single and job.has("write_bw_log") and (reduced or job["disable_bw_measurement"]):
        unmeasured.add("bw")
    if single and job.has("write_iops_log") and reduced:
        unmeasured.add("iops")
    return frozenset(unmeasured)


def check(processes: Sequence[Process], *, inputs: Iterable[Path], output: Path | None) -> None:
    """Refuse before the jobs run what could not be written after them, by the job file's line.

    No log is one of the `inputs` of the command, nor the `output` that its answer goes to.
    """
    read, others = tuple(inputs), () if output is None else (output,)
    for process in processes:
        job = process.clone.job
        names = [(option, _name(process, option, kind)) for option, kind in _kinds(job)]
        if job["write_iolog"]:
            names.append(("write_iolog", str(job["write_iolog"])))
        for option, name in names:
            within = None if is_typed(job, option) else Path()
            try:
                outputs.check(Path(name), within=within, inputs=read, others=others)
            except FlashtwinError as error:
                reason = f"{job.line(option)}: {option}: {error.message}"
                raise FlashtwinError(reason, hint=error.hint, exit_code=error.exit_code) from error


def is_typed(job: FioJob, option: str) -> bool:
    """Whether the name of a log stands on the command line."""
    return bool(job[option]) and job.line(option).line == COMMAND_LINE.line


def name_for_files(job: FioJob) -> str:
    """A job's name as files begin with it: where it leads out of the directory, in one word."""
    return job.name if _is_within(job.name) else re.sub(r"[/\x00-\x1f\x7f-\x9f]", "_", job.name)


def renamed(jobs: Iterable[FioJob]) -> list[Note]:
    """What to tell of jobs whose logs are not called as the jobs are."""
    notes = []
    for job in dict.fromkeys(jobs):
        name = name_for_files(job)
        if name != job.name and any(job.has(option) and not job[option] for option in LOGS):
            text = f"the logs of job {job.name} are called {name}: they stay here"
            notes.append(Note(where=job.where, text=text))
    return notes


def _is_within(name: str) -> bool:
    """Whether logs that begin with a name stay within the directory that the command runs in."""
    try:
        outputs.check(Path(f"{name}_"), within=Path())
    except FlashtwinError:
        return False
    return True


def _pieces_of(rows: int) -> Iterator[slice]:
    """The rows of a table, some at a time."""
    return (slice(begin, begin + PIECE_ROWS) for begin in range(0, rows, PIECE_ROWS))


def _lines(row: Mapping[str, Any], kind: str, offsets: bool, epoch_ms: int) -> Iterator[str]:
    averages = row["averages"]
    table = _by_window(averages, kind) if averages is not None else _by_request(row, kind)
    for rows in _pieces_of(len(table[0])):
        columns = (column[rows].tolist() for column in table)
        yield "".join(
            f"{at + epoch_ms}, {value}, {direction}, {block}, {f'{place}, ' if offsets else ''}0\n"
            for at, value, direction, block, place in zip(*columns, strict=True)
        )


def _by_window(rows: Mapping[str, Any], kind: str) -> tuple[Any, ...]:
    """Means over windows as columns of a log."""
    none = np.zeros(len(rows["end_ns"]), dtype=np.int64)
    seconds = np.maximum(rows["dt_ns"].astype(np.float64) / 1e9, 1e-9)
    if kind == "bw":
        values = (rows["bytes"] / seconds / 1024).astype(np.int64)
    elif kind == "iops":
        values = (rows["ios"] / seconds).astype(np.int64)
    else:
        values = rows[f"{kind}_ns"].astype(np.int64)
    return rows["end_ns"] // MS, values, rows["direction"], none, none


def _by_request(row: Mapping[str, Any], kind: str) -> tuple[Any, ...]:
    """Each data request that counts as a line, in the order of completion."""
    rows = _measured(row)
    begins, ends = {
        "bw": ("issue_ns", "complete_ns"),
        "iops": ("issue_ns", "complete_ns"),
        "slat": ("start_ns", "issue_ns"),
        "clat": ("issue_ns", "complete_ns"),
        "lat": ("start_ns", "complete_ns"),
    }[kind]
    if kind == "iops":
        values = np.ones(len(rows["bytes"]), dtype=np.int64)
    else:
        values = (rows[ends] - rows[begins]).astype(np.int64)
    if kind == "bw":
        values = rows["bytes"].astype(np.int64) * 1_000_000 // np.maximum(values, 1)
    at = (rows["complete_ns"] - np.uint64(row["measured_ns"])) // np.uint64(MS)
    return at, values, rows["direction"], rows["bytes"], rows["offset"]


def samples_of(row: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """The log's values by direction, as the core gives moments."""
    _, values, direction, _, _ = _by_request(row, kind)
    for code in range(MOVES):
        of_direction = values[direction == code]
        count = len(of_direction)
        yield {
            "count": count,
            "min": int(of_direction.min()) if count else 0,
            "max": int(of_direction.max()) if count else 0,
            "mean": float(of_direction.mean()) if count else 0.0,
            "stddev": float(of_direction.std(ddof=1)) if count > 1 else 0.0,
        }


def _measured(row: Mapping[str, Any]) -> dict[str, Any]:
    """Data requests since the ramp; columns as they are, where all of them count."""
    rows = row["requests"]
    counts = (rows["direction"] < MOVES) & (rows["complete_ns"] >= row["measured_ns"])
    return dict(rows) if counts.all() else {name: rows[name][counts] for name in rows}


def _histograms(
    row: Mapping[str, Any], interval_ns: int, coarse: int, epoch_ms: int
) -> Iterator[str]:
    """`ms, direction, block size, bin, bin, …`: completion latencies of each interval."""
    rows = _measured(row)
    if not len(rows["bytes"]):
        return
    since = (rows["complete_ns"] - np.uint64(row["measured_ns"])).astype(np.int64)
    interval = np.maximum(-(-since // interval_ns), 1)
    # Requests stand in the order of their completions, and so do the intervals.
    edges = [0, *(np.flatnonzero(np.diff(interval)) + 1).tolist(), len(interval)]
    for first, end in pairwise(edges):
        ms = int(interval[first]) * interval_ns // MS + epoch_ms
        in_interval = {name: rows[name][first:end] for name in _TIMED}
        for direction in range(MOVES):
            counts, block = _histogram(in_interval, direction)
            if block:
                bins = ", ".join(map(str, coarsened(counts, coarse).tolist()))
                yield f"{ms}, {direction}, {block}, {bins}\n"


_TIMED = ("direction", "bytes", "issue_ns", "complete_ns")


def _histogram(rows: Mapping[str, Any], direction: int) -> tuple[Any, int]:
    """Counts of completion latencies in one direction, and the largest block; 0 without any."""
    counts, block = np.zeros(BUCKETS, dtype=np.int64), 0
    for chunk in _pieces_of(len(rows["direction"])):
        matching = rows["direction"][chunk] == direction
        if matching.any():
            clat = (rows["complete_ns"][chunk] - rows["issue_ns"][chunk])[matching]
            buckets = [bucket_of(ns) for ns in clat.tolist()]
            counts += np.bincount(np.array(buckets, dtype=np.int64), minlength=BUCKETS)
            block = max(block, int(rows["bytes"][chunk][matching].max()))
    return counts, block


def coarsened(counts: Any, times: int) -> Any:
    """Neighbouring bins added up, so that 2^times become one."""
    assert 0 <= times <= BITS, f"{times} halvings of {1 << BITS} bins"
    return counts.reshape(-1, 1 << times).sum(axis=1)


# The last one is the sync of a file at the end of a pass.
ACTIONS = ("read", "write", "trim", "sync", "datasync", "sync")
MICROSECOND = 1_000
FIRST_US = 1


def _iolog(row: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """The requests of a process, with the names of its files, in pieces."""
    requests = row["requests"]
    order = np.lexsort((requests["number"], requests["start_ns"]))
    started_us = _time(int(row["started_ns"]))
    yield "fio version 3 iolog\n"
    for name in names:
        yield f"{started_us} {name} add\n"
    for name in names:
        yield f"{started_us} {name} open\n"
    columns = ("start_ns", "file", "direction", "offset", "bytes")
    last = started_us
    for chunk in _pieces_of(len(order)):
        lines = []
        for at, file, direction, offset, size in zip(
            *(requests[name][order[chunk]].tolist() for name in columns), strict=True
        ):
            last = _time(at)
            place = f" {offset} {size}" if direction < 3 else " 0 0"
            lines.append(f"{last} {names[file]} {ACTIONS[direction]}{place}\n")
        yield "".join(lines)
    for name in names:
        yield f"{max(last, _time(int(row['ended_ns'])))} {name} close\n"


def _time(at_ns: int) -> int:
    return FIRST_US + at_ns // MICROSECOND
