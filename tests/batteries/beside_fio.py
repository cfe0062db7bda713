"""What real fio is given for a battery's jobs, beside what a twin is given: counts, bytes, offsets.

fio's null engine answers at once and writes no file; its iolog lists every request. A job that time
ends is bounded by bytes on both sides, as how far it comes in a time depends on the drive.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from flashtwin.catalogue.loader import load
from flashtwin.drives.real.options import options_of, section_text
from flashtwin.drives.twin import Twin
from flashtwin.model.job import Job
from flashtwin.model.series import READ, WRITE
from flashtwin.model.step import Result, Run, Step

WAYS = {"read": READ, "write": WRITE}
REQUESTS = 1000


@dataclass(frozen=True)
class Given:
    """Requests read and written, and bytes in all."""

    counts: tuple[int, int]
    bytes: int


def jobs_of(steps: Iterable[Step]) -> list[Job]:
    """Each kind of job that the steps ask for once, bounded by bytes."""
    kinds: dict[object, Job] = {}
    for step in steps:
        for job in step.jobs if isinstance(step, Run) else ():
            key = (job.rw, job.block_bytes, job.depth, job.threads, job.read_percent)
            kinds.setdefault(key, _bounded(job))
    return list(kinds.values())


def _bounded(job: Job) -> Job:
    size = min(REQUESTS * job.block_bytes, job.io_bytes or REQUESTS * job.block_bytes)
    most = size if job.size is None else min(size, job.size // job.block_bytes * job.block_bytes)
    return replace(job, runtime_s=None, ramp_s=0.0, host_ns=0, io_bytes=most * job.threads)


def check(job: Job, folder: Path, name: str, scale: str) -> None:
    """Both are given as many requests and bytes, the mix alike, and offsets within the range."""
    folder.mkdir(parents=True, exist_ok=True)
    theirs = _fio(job, folder)
    answer = (
        Twin(load(name, scale=scale), seed=1)
        .open()
        .do(Run(label="x", jobs=(job,)), lambda progress: True)
    )
    assert isinstance(answer, Result)
    counts = [int(answer.series.only(way).ios.sum()) for way in WAYS.values()]
    assert sum(counts) == sum(theirs.counts), job
    assert int(answer.series.bytes.sum()) == theirs.bytes, job
    if job.rw in ("rw", "randrw"):
        shares = [reads / (reads + writes) for reads, writes in (counts, theirs.counts)]
        assert abs(shares[0] - shares[1]) < 0.06, job
        assert abs(shares[0] - job.read_percent / 100) < 0.04, job
    else:
        assert tuple(counts) == theirs.counts, job


def check_together(step: Run, folder: Path, drive: Twin) -> None:
    """Each of the processes that run side by side is given as many requests and bytes.

    Where sizes are drawn from a split, the bytes are the same and the number of requests about so:
    both fill the rest of a file with whatever still fits, each with draws of its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{number}-{job.name}" for number, job in enumerate(step.jobs)]
    target = {"ioengine": "null", "filename": str(folder / "target")}
    sections = [
        section_text(
            name, {**options_of(job), **target, "write_iolog": str(folder / f"log.{name}")}
        )
        for name, job in zip(names, step.jobs, strict=True)
    ]
    (folder / "job.fio").write_text("\n".join(sections) + "\n")
    done = subprocess.run(
        ["fio", "--output-format=json", "job.fio"], cwd=folder, check=True, capture_output=True
    )
    rows = {row["jobname"]: row for row in json.loads(done.stdout)["jobs"]}
    answer = drive.do(step, lambda progress: True)
    assert isinstance(answer, Result) and not any(job.errors for job in answer.jobs)
    for name, job, totals in zip(names, step.jobs, answer.jobs, strict=True):
        count = sum(int(rows[name][way]["total_ios"]) for way in WAYS)
        moved = sum(int(rows[name][way]["io_bytes"]) for way in WAYS)
        _check_within(job, _requests_of(folder / f"log.{name}"))
        split = job.fio is not None and job.fio.blocks is not None
        assert abs(totals.ios - count) <= (count // 5 + 10 if split else 0), (name, count)
        assert abs(totals.bytes - moved) <= (2 * job.block_bytes if split else 0), (name, moved)


def _requests_of(log: Path) -> list[tuple[str, int, int]]:
    """Way, offset and size of each request in an iolog of fio's."""
    lines = (line.split() for line in log.read_text().splitlines())
    rows = [(row[-3], int(row[-2]), int(row[-1])) for row in lines if row[-3] in WAYS]
    # A request that finds the queue full is logged again when it is sent.
    return [row for place, row in enumerate(rows) if not place or row != rows[place - 1]]


def _check_within(job: Job, requests: list[tuple[str, int, int]]) -> None:
    """Ways, sizes and shares of them as the job says, no offset outside its range, and as many at
    random places as it says."""
    assert requests, job
    assert {way for way, _, _ in requests} <= {
        way for way in WAYS if way in job.rw or "rw" in job.rw
    }
    end = job.offset + (job.size or 0)
    assert all(job.offset <= at and at + size <= end for _, at, size in requests), job
    fio = job.fio
    if fio is None or len(requests) < 200:
        return
    if fio.blocks is not None and fio.blocks[0].split:
        # What is left of a file at its end is written in whatever still fits.
        for size, percent in fio.blocks[0].split:
            share = sum(there == size for _, _, there in requests) / len(requests)
            assert abs(share - percent / 100) < 0.12, (size, share, percent, job)
    follows = [b[1] == a[1] + a[2] for a, b in pairwise(requests)]
    in_order = 1.0 if not job.rw.startswith("rand") else 1 - fio.random_percent[0] / 100
    assert sum(follows) / len(follows) > in_order - 0.15, (
        in_order,
        sum(follows),
        len(follows),
        job,
    )


def _fio(job: Job, folder: Path) -> Given:
    file = folder / "target"
    options = {**options_of(job), "ioengine": "null", "filename": str(file)}
    text = section_text("job", {**options, "write_iolog": str(folder / "log")})
    (folder / "job.fio").write_text(text + "\n")
    done = subprocess.run(
        ["fio", "--output-format=json", "job.fio"], cwd=folder, check=True, capture_output=True
    )
    rows = json.loads(done.stdout)["jobs"]
    for log in folder.glob("log*"):
        lines = [line.split() for line in log.read_text().splitlines()]
        for way in WAYS:
            _check_offsets(job, [(int(row[-2]), int(row[-1])) for row in lines if row[-3] == way])
    counts = {way: sum(int(row[way]["total_ios"]) for row in rows) for way in WAYS}
    moved = sum(int(row[way]["io_bytes"]) for row in rows for way in WAYS)
    return Given(counts=(counts["read"], counts["write"]), bytes=moved)


def _check_offsets(job: Job, requests: list[tuple[int, int]]) -> None:
    """Of one direction: within the range, whole blocks, in order where the job is sequential."""
    end = job.offset + job.size if job.size is not None else None
    assert all(size == job.block_bytes for _, size in requests)
    assert all(offset >= job.offset and (end is None or offset < end) for offset, _ in requests)
    # A request that finds the queue full is logged again when it is sent.
    steps = {b - a for (a, _), (b, _) in pairwise(requests)} - {0}
    strides = job.fio.strides if job.fio else None
    if strides is not None:
        assert steps <= {job.block_bytes, job.block_bytes + strides.skip}, job
        assert job.block_bytes + strides.skip in steps or len(requests) < 2, job
    elif not job.rw.startswith("rand"):
        assert steps <= {job.block_bytes}, job
    elif requests:
        assert len(steps) > 10, job
