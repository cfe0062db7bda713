"""Job files at random, each in real fio with its null engine and on a twin: the same requests.

`compare` runs a case (see `beside_cases`) on both sides and raises an `AssertionError` where they
differ, with a line to type that shows the case again. What is decided
has to be equal request for request; what is drawn has to touch the same places with the same sizes
in the same numbers, within bounds that a fair draw misses once in millions of cases.

A job file that the twin refuses by name and line is no difference; `outcome` tells the reason, so
that a campaign can count what is refused.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin.catalogue.loader import load
from flashtwin.errors import FlashtwinError
from flashtwin.fio.language.script import script
from flashtwin.fio.plan.files import Target
from flashtwin.fio.plan.plan import Plan, plan
from flashtwin.fio.run import FioTwin, run_plan
from flashtwin.model.job import Job

FIO = shutil.which("fio")
DIRECTIONS = ("read", "write", "trim")
# A side that has not ended by then is seen as hanging.
HANG_S = 5
# Requests beyond which the twin is stopped: no case asks for as many.
MOST_BYTES = 1 << 28
# No case writes a longer log, or needs as much memory in fio.
MOST_LOG_BYTES = 1 << 24
MOST_FIO_BYTES = 1 << 30
# What is drawn on a twin is drawn with so many seeds; so many of their standard deviations off is
# no chance, and neither is never where the other side has as many as often.
SEEDS = 12
SIGMAS = 8.0
OFTEN = 40
# A difference has to come as often, each time with other seeds.
ATTEMPTS = 3

# The name of the iolog that a case replays.
TRACE = "trace.iolog"

Row = tuple[int, str, int, int]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A job file with one job, and the iolog that it replays, if it does."""

    text: str
    trace: str = ""

    @property
    def tells_files(self) -> bool:
        """Whether fio's logs tell the file of a request: those of copies and replays do not."""
        return not (self.trace or "numjobs" in self.text)


@dataclass
class Stream:
    """The requests of one process: (file, direction, offset, bytes) in the order of issue."""

    rows: list[Row] = field(default_factory=list)


# ------------------------------------------------------------------------------- the two sides


@dataclass(frozen=True, kw_only=True)
class Side:
    """What a side did: for each process its counts by direction, and its requests where they are
    known. `refusal` says why it did nothing."""

    refusal: str | None = None
    ios: tuple[tuple[int, ...], ...] = ()
    bytes: tuple[tuple[int, ...], ...] = ()
    streams: tuple[Stream, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Twin:
    """The sides of a twin with several seeds, and the core's jobs."""

    sides: tuple[Side, ...]
    jobs: tuple[Job, ...] = ()


def real(case: Case, folder: Path) -> Side:
    """Real fio's side of a case; each job's requests from its iolog, or those of its copies and
    of a replay from their latency logs, which do not tell the file."""
    logs = "write_lat_log=case\nlog_offset=1\n"
    if case.tells_files:
        logs += "write_iolog=requests.log\n"
    _write(case, folder, logs)
    program = subprocess.Popen(
        [str(FIO), "--output-format=json", "job.fio"],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, preexec_fn=_bound,
    )  # fmt: skip
    try:
        said, wrong = program.communicate(timeout=HANG_S)
    except subprocess.TimeoutExpired:
        # Its jobs are processes with sessions of their own, and would write their logs for ever.
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        for child in (program.pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        program.communicate()
        return Side(refusal="fio hangs")
    longest = max((path.stat().st_size for path in folder.glob("*.log")), default=0)
    if longest >= MOST_LOG_BYTES or program.returncode < 0:
        return Side(refusal="fio hangs")
    if program.returncode or "{" not in said:
        return Side(refusal=f"fio: {(wrong + said).strip()[:300]}")
    jobs = json.loads(said[said.index("{") :])["jobs"]
    failed = [job["error"] for job in jobs if job["error"]]
    if failed:
        return Side(refusal=f"fio: error {failed[0]}: {wrong.strip()[:200]}")
    return Side(
        ios=tuple(tuple(job[way]["total_ios"] for way in DIRECTIONS) for job in jobs),
        bytes=tuple(tuple(job[way]["io_bytes"] for way in DIRECTIONS) for job in jobs),
        streams=tuple(_streams(folder, len(jobs))),
    )


def _bound() -> None:
    """A job that asks for ever ends when its log is longer than that of any case, and one that
    keeps what it asked for when it has more than any case needs."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_LOG_BYTES, MOST_LOG_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_FIO_BYTES, MOST_FIO_BYTES))


def _write(case: Case, folder: Path, more: str = "") -> Path:
    """A case's files; the job file."""
    (folder / TRACE).write_text(case.trace)
    path = folder / "job.fio"
    path.write_text(case.text.replace("read_iolog=", f"read_iolog={folder}/") + more)
    return path


def _streams(folder: Path, count: int) -> list[Stream]:
    log = folder / "requests.log"
    if log.exists():
        return [read_log(log)]
    return [read_latencies(folder / f"case_lat.{number + 1}.log") for number in range(count)]


def read_log(path: Path) -> Stream:
    """The requests that an iolog tells."""
    files: list[str] = []
    stream = Stream()
    for line in path.read_text().splitlines()[1:]:
        words = line.split()
        if words[2] == "add":
            files.append(words[1])
        elif words[2] in DIRECTIONS:
            place = files.index(words[1])
            stream.rows.append((place, words[2], int(words[3]), int(words[4])))
    return stream


def read_latencies(path: Path) -> Stream:
    """The requests that a latency log with offsets tells, all as of one file."""
    rows: list[Row] = []
    for line in path.read_text().splitlines() if path.exists() else []:
        words = [word.strip() for word in line.split(",")]
        if int(words[2]) < len(DIRECTIONS):
            rows.append((0, DIRECTIONS[int(words[2])], int(words[4]), int(words[3])))
    return Stream(rows=rows)


def twin(case: Case, folder: Path, seeds: Collection[int] = (1,)) -> Twin:
    """The twin's sides of a case, one for each seed."""
    try:
        read = script([str(_write(case, folder))])
        spec = load("bx500-240", scale="1/64")
        made = logged(plan(read.jobs, Target(name="bx500-240", bytes=spec.capacity_bytes)))
        sides = [_run(FioTwin(spec, seed=seed), made) for seed in seeds]
    except FlashtwinError as error:
        return Twin(sides=(Side(refusal=str(error).replace(f"{folder}/", "")),))
    processes = sorted(made.processes, key=lambda process: process.clone.thread)
    return Twin(sides=tuple(sides), jobs=tuple(process.job for process in processes))


def _run(drive: FioTwin, made: Plan) -> Side:
    phases = run_plan(drive, made, lambda done: done.bytes < MOST_BYTES)
    rows = [pair for one in phases for pair in one.ran]
    rows.sort(key=lambda pair: pair[0].clone.thread)
    streams = tuple(stream_of(row["requests"]) for _, row in rows)
    return Side(
        ios=tuple(_by_direction(stream, lambda row: 1) for stream in streams),
        bytes=tuple(_by_direction(stream, lambda row: row[3]) for stream in streams),
        streams=streams,
    )


def _by_direction(stream: Stream, weight: Callable[[Row], int]) -> tuple[int, ...]:
    return tuple(sum(weight(row) for row in stream.rows if row[1] == way) for way in DIRECTIONS)


def logged(made: Plan) -> Plan:
    """The plan with every request kept."""
    phases = []
    for phase in made.phases:
        processes = []
        for process in phase:
            fio = process.job.fio
            assert fio is not None
            logs = replace(fio.logs, requests=True)
            job = replace(process.job, fio=replace(fio, logs=logs))
            processes.append(replace(process, job=job))
        phases.append(tuple(processes))
    return replace(made, phases=tuple(phases))


def stream_of(requests: Mapping[str, Any]) -> Stream:
    """The requests that a twin kept, in the order of issue."""
    order = np.argsort(requests["number"], kind="stable")
    columns = [requests[name][order].tolist() for name in ("file", "direction", "offset", "bytes")]
    rows = [
        (file, DIRECTIONS[direction], offset, size)
        for file, direction, offset, size in zip(*columns, strict=True)
        if direction < len(DIRECTIONS)
    ]
    return Stream(rows=rows)


# ------------------------------------------------------------------------------- the comparison


def compare(case: Case) -> None:
    """Raises an `AssertionError` with a line to replay where the twin and fio differ."""
    outcome(case)


def outcome(case: Case) -> str:
    """`equal`, or why there was nothing to compare; raises where the two sides differ."""
    found = ""
    for attempt in range(ATTEMPTS):
        # What is drawn is drawn anew, on both sides: only what differs each time is a difference.
        seed = f"randseed={attempt + 100}\n" if attempt else ""
        own = replace(case, text=case.text + seed)
        with tempfile.TemporaryDirectory() as scratch:
            theirs = real(own, Path(scratch))
            ours = twin(own, Path(scratch))
            try:
                if told := _untold(theirs, ours.sides[0]):
                    return told
                if _equal(theirs, ours.sides[0]):
                    return "equal"
                ours = twin(own, Path(scratch), range(1, SEEDS + 1))
                _alike(theirs, ours, not case.tells_files)
                return "equal"
            except AssertionError as error:
                found = str(error)
    raise AssertionError(f"{found}\n{replay_line(case.text)}\n{case.text}{case.trace}")


def replay_line(text: str) -> str:
    """What to type to see a case again."""
    first = text.partition("]")[0]
    cases = Path(__file__).with_name("beside_cases.py")
    program = f"{os.path.relpath(sys.executable)} {os.path.relpath(cases)}"
    if first.startswith("[case") and first[5:].isdigit():
        return f"replay: {program} {first[5:]}"
    return f"replay: {program} FILE, with this as FILE:"


def _untold(theirs: Side, mine: Side) -> str:
    """Why there is nothing to compare."""
    if mine.refusal:
        both = "both refuse" if theirs.refusal else "the twin refuses"
        return f"{both}: {mine.refusal}"
    if theirs.refusal == "fio hangs":
        return theirs.refusal
    assert theirs.refusal is None, f"the twin runs what fio does not: {theirs.refusal}"
    return ""


def _equal(theirs: Side, mine: Side) -> bool:
    return (theirs.ios, theirs.bytes, theirs.streams) == (mine.ios, mine.bytes, mine.streams)


def _alike(theirs: Side, ours: Twin, one_file: bool) -> None:
    assert len(theirs.ios) == len(ours.jobs), f"{len(ours.jobs)} jobs, fio has {len(theirs.ios)}"
    for number in range(len(ours.jobs)):
        who = f"process {number + 1}"
        its = theirs.streams[number].rows
        mine = [side.streams[number].rows for side in ours.sides]
        if one_file:
            # The logs of copies tell no files.
            mine = [[(0, *row[1:]) for row in rows] for rows in mine]
        if all(rows == mine[0] for rows in mine):
            # Nothing is drawn.
            assert mine[0] == its, f"{who} asks for {_difference(mine[0], its)}"
        ios = np.array([side.ios[number] for side in ours.sides], float)
        _near(ios, theirs.ios[number], f"requests of {who}")
        sizes = np.array([side.bytes[number] for side in ours.sides], float)
        _near(sizes, theirs.bytes[number], f"bytes of {who}")
        _touches(mine, its, who)


def _difference(mine: list[Row], its: list[Row]) -> str:
    places = range(min(len(mine), len(its)))
    first = next((place for place in places if mine[place] != its[place]), len(places))
    return (
        f"{mine[first : first + 4]} from request {first + 1} on (of {len(mine)}), and fio for"
        f" {its[first : first + 4]} (of {len(its)})"
    )


def _near(mine: Any, its: tuple[int, ...], what: str) -> None:
    """Counts by direction, a row a seed, beside fio's: within what drawing anew changes."""
    pairs = [(way, mine[:, place], its[place]) for place, way in enumerate(DIRECTIONS)]
    for way, values, value in (*pairs, ("all", mine.sum(axis=1), sum(its))):
        mean, spread = float(values.mean()), float(values.std())
        assert abs(value - mean) <= SIGMAS * spread, (
            f"{what}, {way}: {mean:.8g} ± {spread:.4g}, fio {value}"
        )


def _touches(mine: list[list[Row]], its: list[Row], who: str) -> None:
    """What one side touches often with every seed, the other does too."""
    for name, part in (("offset", 2), ("size", 3), ("file", 0)):
        theirs = Counter(row[part] for row in its)
        ours = [Counter(row[part] for row in rows) for rows in mine]
        always = [value for value in ours[0] if all(one[value] >= OFTEN for one in ours)]
        alone = [value for value in always if value not in theirs]
        assert not alone, f"{who}: {name} {alone[0]} {ours[0][alone[0]]} times, and fio never"
        if any(_drawn(counts, ours) for counts in ours):
            # Which place is touched often is drawn itself: with each seed it is another.
            continue
        theirs_alone = [
            value
            for value, count in theirs.items()
            if count >= OFTEN and not any(one[value] for one in ours)
        ]
        assert not theirs_alone, f"{who}: {name} {theirs_alone[0]} never, and fio often"


def _drawn(counts: Counter[Any], all_counts: list[Counter[Any]]) -> bool:
    """Whether one seed touches often what no other touches at all."""
    often = [value for value, count in counts.items() if count >= OFTEN]
    return any(sum(value in other for other in all_counts) == 1 for value in often)
