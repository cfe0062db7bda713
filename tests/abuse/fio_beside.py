"""Job files at random, each in real fio with its null engine and on a twin: the same requests.

`job_file` makes a small job file from a seed: options of some kinds (`KINDS`, each a function that
draws lines), combined as no person would. `compare` runs it on both sides and raises an
`AssertionError` where they differ, with a line to type that shows the case again. What is decided
has to be equal request for request; what is drawn has to touch the same places with the same sizes
in the same numbers, within bounds that a fair draw misses once in millions of cases.

A job file that the twin refuses by name and line is no difference; `outcome` tells the reason, so
that a campaign can count what is refused.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin.battery.fio import Blocks, Fio
from flashtwin.battery.job import Job
from flashtwin.catalogue.loader import load
from flashtwin.drives.fio_twin import FioTwin
from flashtwin.errors import FlashtwinError
from flashtwin.fiojob.language.words import script
from flashtwin.fiojob.plan.files import Target
from flashtwin.fiojob.plan.plan import Plan, Process, plan
from flashtwin.runner.fio_jobs import run_plan

FIO = shutil.which("fio")
DIRECTIONS = ("read", "write", "trim")
# A side that has not ended by then is seen as hanging.
HANG_S = 20
# Requests beyond which the twin is stopped: no case asks for as many.
MOST_BYTES = 1 << 34
# So many standard deviations off is no chance.
SIGMAS = 6.0

Row = tuple[int, str, int, int]


@dataclass
class Stream:
    """The requests of one process: (file, direction, offset, bytes) in the order of issue."""

    rows: list[Row] = field(default_factory=list)


# ------------------------------------------------------------------------------- cases by seed


def _modes(draw: random.Random) -> list[str]:
    mode = draw.choice(["read", "write", "trim", "rw", "trimwrite"])
    mode = draw.choice(["", "rand"]) + mode
    every = draw.choice(["", "", "", ":4", ":2", ":8k", ":-8k", ":-4k", ":512", ":-512", ":12k"])
    lines = [f"rw={mode}{every}"]
    if draw.random() < 0.15:
        lines.append(f"rw_sequencer={draw.choice(['sequential', 'identical'])}")
    if draw.random() < 0.15:
        lines.append(f"percentage_random={draw.choice([0, 30, 70])}")
    return lines


def _blocks(draw: random.Random) -> list[str]:
    lines = [
        draw.choice(
            [
                *[
                    "bs=4k",
                    "bs=512",
                    "bs=8k",
                    "bs=16k",
                    "bs=1k,2k,4k",
                    "bs=5k",
                    "bs=3000",
                    "bs=64k",
                ],
                *["bsrange=4k-16k", "bsrange=512-8k", "bsrange=4k-8k,8k-8k", "bsrange=1k-3k"],
                *[
                    "bssplit=4k/50:16k/",
                    "bssplit=4k/10:64k/",
                    "bssplit=4k/:8k/50",
                    "bssplit=8k/:4k/",
                ],
                *["bssplit=4k/60:8k/40,16k/", "bssplit=512/20:5k/80", "bssplit=4k/100"],
            ]
        )
    ]
    if draw.random() < 0.15:
        lines.append(f"ba={draw.choice(['512', '4k', '8k', '16k', '6k', '4k,8k'])}")
    lines += [f"{name}=1" for name in ("bs_unaligned", "bs_is_seq_rand") if draw.random() < 0.1]
    return lines


def _sizes(draw: random.Random) -> list[str]:
    sizes = ["1m", "256k", "300000", "1000k", "100001", "65536", "262145", "512k"]
    lines = [f"size={draw.choice(sizes)}"]
    if draw.random() < 0.25:
        lines = [f"filesize={draw.choice(sizes)}"]
        lines += draw.choice([[], ["size=50%"], ["size=33%"], ["size=128k"], ["size=100%"]])
    if draw.random() < 0.25:
        lines.append(f"io_size={draw.choice(['64k', '2m', '100000', '50%', '300k', '1500k'])}")
    return lines


def _offsets(draw: random.Random) -> list[str]:
    lines = []
    if draw.random() < 0.7:
        offsets = ["4k", "64k", "10%", "33%", "50%", "1000", "5k", "512", "99%", "12345"]
        lines.append(f"offset={draw.choice(offsets)}")
    if draw.random() < 0.3:
        lines.append(f"offset_align={draw.choice(['4k', '512', '64k', '3000'])}")
    if draw.random() < 0.4:
        steps = ["10%", "7%", "33%", "4k", "100000", "64k", "1%"]
        lines += [f"offset_increment={draw.choice(steps)}", f"numjobs={draw.randint(1, 3)}"]
    return lines


def _ends(draw: random.Random) -> list[str]:
    lines = []
    if draw.random() < 0.5:
        lines.append(f"number_ios={draw.choice([1, 2, 7, 50, 301])}")
    if draw.random() < 0.6:
        lines.append(f"loops={draw.choice([2, 3])}")
    return lines


def _files(draw: random.Random) -> list[str]:
    lines = [f"nrfiles={draw.randint(1, 5)}"]
    if draw.random() < 0.5:
        service = ["roundrobin", "sequential", "random", "roundrobin:3", "random:2"]
        lines.append(f"file_service_type={draw.choice(service)}")
    return lines


def _maps(draw: random.Random) -> list[str]:
    lines = [line for line in ("norandommap", "randrepeat=0") if draw.random() < 0.4]
    if draw.random() < 0.3:
        kind = draw.choice(["lfsr", "tausworthe64"])
        lines.append(f"random_generator={kind}")
    if draw.random() < 0.2:
        lines.append(f"random_distribution={draw.choice(['zipf:1.2', 'normal:20', 'pareto:0.3'])}")
    return lines


# What a case is drawn from: a name, how often it is there, and the lines that it draws.
Kind = tuple[float, Callable[[random.Random], list[str]]]
KINDS: dict[str, Kind] = {
    "modes": (1.0, _modes),
    "sizes": (1.0, _sizes),
    "blocks": (0.8, _blocks),
    "offsets": (0.5, _offsets),
    "ends": (0.3, _ends),
    "files": (0.2, _files),
    "maps": (0.25, _maps),
}


def job_file(seed: int, kinds: Collection[str] | None = None) -> str:
    """A job file with one job; `kinds` are those that it may be drawn from (all without)."""
    draw = random.Random(seed)
    lines = [f"[case{seed}]", "ioengine=null"]
    for name, (share, kind) in KINDS.items():
        if kinds is None or name in kinds:
            there = share == 1.0 or draw.random() < share
            lines += kind(draw) if there else []
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------- the two sides


@dataclass(frozen=True, kw_only=True)
class Side:
    """What a side did: for each process its counts by direction, and its requests where they are
    known. `refusal` says why it did nothing."""

    refusal: str | None = None
    ios: tuple[tuple[int, ...], ...] = ()
    bytes: tuple[tuple[int, ...], ...] = ()
    streams: tuple[Stream, ...] = ()


def real(text: str, folder: Path) -> Side:
    """Real fio's side of a job file; each job's requests from its iolog, or those of its copies
    from their latency logs, which do not tell the file."""
    (folder / "job.fio").write_text(_logged_text(text))
    try:
        done = subprocess.run(
            [str(FIO), "--output-format=json", "job.fio"],
            cwd=folder, capture_output=True, text=True, check=False, timeout=HANG_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Side(refusal="fio hangs")
    if done.returncode or "{" not in done.stdout:
        return Side(refusal=f"fio: {(done.stderr + done.stdout).strip()[:300]}")
    jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    failed = [job["error"] for job in jobs if job["error"]]
    if failed:
        return Side(refusal=f"fio: error {failed[0]}: {done.stderr.strip()[:200]}")
    return Side(
        ios=tuple(tuple(job[way]["total_ios"] for way in DIRECTIONS) for job in jobs),
        bytes=tuple(tuple(job[way]["io_bytes"] for way in DIRECTIONS) for job in jobs),
        streams=tuple(_streams(folder, len(jobs))),
    )


def _logged_text(text: str) -> str:
    logs = "write_iolog=requests.log\nwrite_lat_log=case\nlog_offset=1\n"
    if "numjobs" in text:
        logs = "write_lat_log=case\nlog_offset=1\n"
    return text + logs


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


def twin(text: str, folder: Path) -> tuple[Side, tuple[Process, ...]]:
    """The twin's side, and the processes that it made of the job file."""
    (folder / "job.fio").write_text(text)
    try:
        read = script([str(folder / "job.fio")])
        spec = load("bx500-240", scale="1/64")
        made = logged(plan(read.jobs, Target(name="bx500-240", bytes=spec.capacity_bytes)))
        phases = run_plan(FioTwin(spec, seed=1), made, lambda done: done.bytes < MOST_BYTES)
    except FlashtwinError as error:
        return Side(refusal=str(error).replace(f"{folder}/", "")), ()
    rows = [pair for one in phases for pair in zip(one.processes, one.counts.rows, strict=True)]
    rows.sort(key=lambda pair: pair[0].clone.thread)
    streams = tuple(stream_of(row["requests"]) for _, row in rows)
    return Side(
        ios=tuple(_by_direction(stream, lambda row: 1) for stream in streams),
        bytes=tuple(_by_direction(stream, lambda row: row[3]) for stream in streams),
        streams=streams,
    ), tuple(process for process, _ in rows)


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


def compare(text: str) -> None:
    """Raises an `AssertionError` with a line to replay where the twin and fio differ."""
    outcome(text)


def outcome(text: str) -> str:
    """`equal`, or why there was nothing to compare; raises where the two sides differ."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        theirs = real(text, folder)
        ours, processes = twin(text, folder)
    try:
        return _outcome(theirs, ours, processes)
    except AssertionError as found:
        raise AssertionError(f"{found}\n{replay_line(text)}\n{text}") from None


def replay_line(text: str) -> str:
    """What to type to see a case again."""
    first = text.partition("]")[0]
    program = f"{os.path.relpath(sys.executable)} {os.path.relpath(__file__)}"
    if first.startswith("[case") and first[5:].isdigit():
        return f"replay: {program} {first[5:]}"
    return f"replay: {program} FILE, with this as FILE:"


def _outcome(theirs: Side, ours: Side, processes: tuple[Process, ...]) -> str:
    if ours.refusal:
        both = "both refuse" if theirs.refusal else "the twin refuses"
        return f"{both}: {ours.refusal}"
    if theirs.refusal == "fio hangs":
        return "fio hangs"
    assert theirs.refusal is None, f"the twin runs what fio does not: {theirs.refusal}"
    assert len(theirs.ios) == len(ours.ios), f"{len(ours.ios)} jobs, fio has {len(theirs.ios)}"
    for number, process in enumerate(processes):
        mine, its = ours.streams[number].rows, theirs.streams[number].rows
        if "numjobs" in process.clone.job.settings:
            mine = [(0, *row[1:]) for row in mine]
        counts = [[side.ios[number], side.bytes[number]] for side in (ours, theirs)]
        _same(process.job, mine, its, counts, f"process {number + 1}")
    return "equal"


def _same(
    job: Job, mine: list[Row], its: list[Row], counts: list[list[tuple[int, ...]]], who: str
) -> None:
    if mine == its:
        assert counts[0] == counts[1], f"{who} counts {counts[0]}, fio {counts[1]}"
        return
    fio = job.fio
    assert fio is not None and fio.blocks is not None
    mixed = job.rw in ("rw", "readwrite", "randrw")
    sized = any(_is_drawn(blocks) for blocks in fio.blocks)
    placed = job.rw.startswith("rand") or fio.file_service in ("random", "law")
    if not (mixed or sized or placed):
        raise AssertionError(f"{who} asks for {_difference(mine, its)}")
    if not (mixed or sized):
        assert counts[0] == counts[1], f"{who} counts {counts[0]}, fio {counts[1]}"
    else:
        _near(fio, counts, who)
    _touches(mine, its, who)


def _is_drawn(blocks: Blocks) -> bool:
    return blocks.least != blocks.most


def _difference(mine: list[Row], its: list[Row]) -> str:
    places = range(min(len(mine), len(its)))
    first = next((place for place in places if mine[place] != its[place]), len(places))
    return (
        f"{mine[first : first + 4]} from request {first + 1} on (of {len(mine)}), and fio for"
        f" {its[first : first + 4]} (of {len(its)})"
    )


def _near(fio: Fio, counts: list[list[tuple[int, ...]]], who: str) -> None:
    """Sizes and directions are drawn: all together alike, each direction by chance."""
    assert fio.blocks is not None
    most = max(blocks.most for blocks in fio.blocks)
    (my_ios, my_bytes), (its_ios, its_bytes) = counts
    sums = [sum(my_ios), sum(its_ios), sum(my_bytes), sum(its_bytes)]
    slack = SIGMAS * sqrt(max(sums[:2])) + 3
    assert abs(sums[0] - sums[1]) <= slack, f"{who} counts {counts[0]}, fio {counts[1]}"
    mean = max(sums[2:]) / max(*sums[:2], 1)
    assert abs(sums[2] - sums[3]) <= 4 * most + slack * mean, (
        f"{who} moves {sums[2]} bytes, fio {sums[3]}"
    )
    for way, one, two in zip(DIRECTIONS, my_ios, its_ios, strict=True):
        assert abs(one - two) <= 2 * slack, f"{who}: {one} of {way}, fio {two}"
        assert (one == 0) == (two == 0) or max(one, two) < 20, f"{who}: {one} of {way}, fio {two}"


def _touches(mine: list[Row], its: list[Row], who: str) -> None:
    """What either side touches often, the other does too; bounds and sizes are the same."""
    for name, part in (("offset", 2), ("size", 3), ("direction", 1), ("file", 0)):
        sides = [Counter(row[part] for row in rows) for rows in (mine, its)]
        for one, two, whose in ((*sides, "fio does not"), (*reversed(sides), "the twin does not")):
            often = [value for value, count in one.items() if count >= 40 and value not in two]
            assert not often, f"{who}: {name} {often[0]} {one[often[0]]} times, and {whose}"
    alone = [set(row[2] % 512 for row in rows) for rows in (mine, its)]
    few = min(len(mine), len(its)) < 40 or max(map(len, alone)) > 4
    assert few or alone[0] == alone[1], f"{who}: offsets end in {alone[0]}, fio's in {alone[1]}"


def main(words: list[str]) -> int:
    """Cases by seed: `N` or `FROM-TO [KIND…]`, or job files; prints what differs."""
    differ: list[str] = []
    told: Counter[str] = Counter()
    first, *kinds = words
    if Path(first).is_file():
        texts = [Path(name).read_text() for name in words]
    else:
        low, _, high = first.partition("-")
        seeds = range(int(low), int(high or low) + 1)
        texts = [job_file(seed, kinds or None) for seed in seeds]
    for text in texts:
        try:
            told[outcome(text).splitlines()[0]] += 1
        except AssertionError as found:
            differ.append(str(found))
            print(found, flush=True)
    for what, count in told.most_common():
        print(f"{count:6} {what}")
    print(f"{len(texts)} cases, {len(differ)} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
