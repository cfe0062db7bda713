"""Chapters: the steps of a run, scaled so that a small simulated drive can repeat them.

A chapter begins at an erased drive and ends where a step cannot be asked of a small drive. Bytes
and rests are scaled by one factor, so that shares of the capacity and of the time of a fill stay;
block sizes, depths and the host's time a command stay as they are. A chain is played part by part.

Invariants: a step that wrote is repeated by bytes and not by time, so that a candidate goes through
the same states as the drive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flashtwin.analysis.curve import Curve
from flashtwin.analysis.interruptions import without_silence
from flashtwin.model.fio_job import Fio, Syncs
from flashtwin.model.job import Job, job_of, jobs_json
from flashtwin.model.series import WRITE, Series
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.rundir import Run
from flashtwin.study.fit.rates import (
    CURVE_SHARE,
    RANDOM_CURVE_SHARE,
    WHOLE_SHARE,
    Seen,
    curve_of_columns,
    curve_seen,
    rate_seen,
    waits,
)

# A step for `_core.simulate`: jobs and the length of a sample, or no jobs and the length of a rest,
# in ns; none stands for TRIM of everything.
SmallStep = tuple[str, int] | None

SAMPLES, FILL_SAMPLES = 400, 2400
LEAST_SAMPLE_NS = 100_000
# The fewest requests that a load is repeated with; fewer would show nothing. A few reads are
# repeated one for one, since the first of them wait for writes that are still on their way.
LEAST_REQUESTS = 1000
# The most reads that are repeated: more would show no more, and reads leave no other state behind.
MOST_READS = 3000
# Random writes leave no trace once the whole drive has been written again. Of those before such a
# fill at most this number is repeated, and the rate of that fill is not compared.
MOST_BEFORE_FILL = 400_000
# In place of the others as much is written at random in larger blocks, which the copy has sooner
# done, up to this share of the capacity. It leaves as little flash free, and superblocks that hold
# as little.
MOST_OF_REST, BLOCK_OF_REST = 1.0, 64 << 10
# Random writes that were kept up for a time and show one rate: this number of them is repeated, and
# five times as many of writes to the whole drive. Where that leaves some out the chapter ends,
# because what comes after depends on all of them.
MOST_OF_A_RATE, ON_ALL = 20_000, 5
# Two kinds of sequential writes over less than this share of the capacity, some 20 superblocks of
# the small copy, are not compared, since the copy has fewer and larger superblocks than the drive.
# One after random writes is slow until collection has freed the superblocks that it aims at. A file
# that is written again and again stays in the cache if its superblocks become invalid in time: one
# of 85 % of the cache fits into the drive's and not into the copy's.
LEAST_IN_ORDER = 0.06


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """Steps for a small drive, from erased on, and the rates that the measured drive showed.

    `has_requests`: whether it read at random long enough to tell how many requests are served at a
    time; `reads`: a read is compared; `has_syncs`: writes waited for the flash; `collects`: a write
    is compared of a drive all of which was written before.
    """

    steps: tuple[SmallStep, ...]
    seen: tuple[Seen, ...]
    requests: float
    longest_rest_s: float = 0.0
    collects: bool = False
    has_requests: bool = False
    has_syncs: bool = False
    reads: bool = False


def _is_plain(fio: Fio | None) -> bool:
    """True if a small drive can repeat the job: of fio's language it uses block sizes, flushes and
    a time alone."""
    if fio is None:
        return True
    rest = replace(fio, time_based=False, random_map=True, syncs=Syncs(), blocks=None)
    return rest == Fio()


@dataclass(kw_only=True)
class _Played:
    """The steps of a part that were taken over so far.

    `most_requests`: the most requests that the small drive may be asked; `wrote`: whether a step
    has written, and `written` how many bytes; `shortened`: whether the last load was cut; `ended`:
    whether the chapter ends with it; `settled`: whether every write has reached the flash;
    `at_random`: whether the last write since the drive was erased was at random.
    """

    most_requests: float
    steps: list[SmallStep] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    requests: float = 0.0
    written: float = 0.0
    collects: bool = False
    longest_rest_s: float = 0.0
    has_requests: bool = False
    has_syncs: bool = False
    reads: bool = False
    wrote: bool = False
    shortened: bool = False
    ended: bool = False
    settled: bool = True
    at_random: bool = False

    def rest(self, seconds: float, scale: float) -> None:
        """Add a rest, scaled for the small drive."""
        self.steps.append(("", max(int(seconds * 1e9 * scale), 1)))
        self.longest_rest_s = max(self.longest_rest_s, seconds if self.wrote else 0.0)
        self.settled = True

    @property
    def chapter(self) -> Chapter:
        """As a chapter."""
        return Chapter(
            steps=tuple(self.steps),
            seen=tuple(self.seen),
            requests=self.requests,
            longest_rest_s=self.longest_rest_s,
            collects=self.collects,
            has_requests=self.has_requests,
            has_syncs=self.has_syncs,
            reads=self.reads,
        )


@dataclass(kw_only=True)
class Reader:
    """Reads chapters of a run. `fastest`: the highest mean rate of a step, of a read, so far.

    `in_chains`: the series of the parts of chains, by the chain's number and the part's label.
    """

    run: Run
    capacity: int
    scale: float
    in_chains: Mapping[tuple[int, str], Series]
    fastest: float = 0.0
    fastest_read: float = 0.0

    def _series(self, record: StepRecord) -> Series:
        of_part = self.in_chains.get((record.step, record.label))
        return self.run.series(record.step) if of_part is None else of_part

    def is_whole_write(self, record: StepRecord) -> bool:
        """True if the step was meant to write the whole drive in order."""
        jobs: Sequence[Mapping[str, Any]] = record.detail.get("jobs") or ()
        return (
            len(jobs) == 1
            and jobs[0].get("rw") == "write"
            and (jobs[0].get("size") or self.capacity) >= WHOLE_SHARE * self.capacity
            and (record.cut or not jobs[0].get("runtime_s"))
        )

    def fill_of(self, part: list[StepRecord]) -> Curve | None:
        """The fill with which a part begins."""
        first = part[0]
        if first.kind != "run" or first.cut or not self.is_whole_write(first):
            return None
        curve = curve_of_columns(vars(self._series(first).only(WRITE)))
        is_whole = (
            curve.total_bytes >= WHOLE_SHARE * self.capacity and len(curve) >= 2 * SAMPLES // 20
        )
        return curve if is_whole else None

    def chapter(self, part: list[StepRecord], most_requests: float) -> Chapter | None:
        """The beginning of a part, up to what a small drive cannot do or the requests allow."""
        played = _Played(most_requests=most_requests)
        for number, record in enumerate(part):
            if played.ended or not self._is_played(played, record, part[number + 1 :]):
                break
        return played.chapter if played.steps else None

    def _is_played(self, played: _Played, record: StepRecord, later: Sequence[StepRecord]) -> bool:
        """Add a step to `played`; false where the chapter has to end before it."""
        if record.not_possible is not None or record.cut:
            return False
        if record.kind == "rest":
            played.rest(float(record.detail.get("seconds") or 0.0), self.scale)
        elif record.kind == "trim" and record.detail.get("size") is None:
            played.steps.append(None)
            played.at_random = False
        elif record.kind in ("run", "fill"):
            return self._load(played, record, later)
        else:
            return record.kind == "flush"
        return True

    def _load(self, played: _Played, record: StepRecord, later: Sequence[StepRecord]) -> bool:
        """Add a step that reads or writes; false where the chapter has to end before it."""
        whole_jobs = self._jobs(record)
        if whole_jobs is None:
            return False
        jobs, share, is_last = self._shortened(record, whole_jobs, later)
        rest = None if share == 1 or is_last else self._rest_of(whole_jobs[0], jobs[0])
        requests = sum((job.io_bytes or 0) / job.block_bytes for job in (*jobs, *(rest or ())))
        if played.steps and played.requests + requests > played.most_requests:
            return False
        reads = all(job.rw in ("read", "randread") for job in jobs)
        few = sum(total.ios for total in record.jobs) < LEAST_REQUESTS
        total = sum(total.bytes for total in record.jobs)
        short = total < LEAST_IN_ORDER * self.capacity
        collecting = played.at_random and short and all(job.rw == "write" for job in jobs)
        # A few reads directly after a write only wait for the rest of that write.
        waiting = reads and few and not played.settled
        if not (played.shortened or collecting or waiting or self._is_rewritten(jobs)):
            played.seen += self._seen(record, jobs, len(played.steps), share)
            is_full = played.written >= WHOLE_SHARE * self.capacity * self.scale
            played.collects |= is_full and not reads
        played.requests += requests
        played.written += sum(job.io_bytes or 0 for job in jobs if job.rw.endswith("write"))
        played.wrote |= not reads
        played.has_requests |= any(job.rw == "randread" for job in jobs) and not few
        played.reads |= reads and bool(played.seen) and played.seen[-1].at == len(played.steps)
        played.has_syncs |= any(waits(job) for job in jobs)
        played.shortened, played.settled = share < 1, reads
        if not reads:
            played.at_random = any(job.rw == "randwrite" for job in jobs)
        played.steps.append((jobs_json(jobs), self._sample_ns(record)))
        if rest is not None:
            played.steps.append((jobs_json(rest), self._sample_ns(record)))
        played.ended = is_last
        return True

    def _is_rewritten(self, jobs: Sequence[Job]) -> bool:
        """True if a small file is written in order more than once."""
        least = LEAST_IN_ORDER * self.capacity * self.scale
        return any(
            job.rw == "write" and (job.size or 0) < min(job.io_bytes or 0, least) for job in jobs
        )

    def _shortened(
        self, record: StepRecord, jobs: list[Job], later: Sequence[StepRecord]
    ) -> tuple[list[Job], float, bool]:
        """The jobs, the share of them that is repeated, and whether the chapter ends with them:
        random writes are cut where the whole drive is written after them, and where they show one
        rate, however many they are."""
        total, block = jobs[0].io_bytes or 0, jobs[0].block_bytes
        if len(jobs) != 1 or jobs[0].rw != "randwrite":
            return jobs, 1.0, False
        following = next((record for record in later if record.kind in ("run", "fill")), None)
        is_last = following is None or not self._writes_all(following)
        most = MOST_BEFORE_FILL * block
        if is_last:
            rows: Sequence[Mapping[str, Any]] = record.detail.get("jobs") or ({},)
            is_rate = total < RANDOM_CURVE_SHARE * self.capacity * self.scale
            on_all = float(rows[0].get("size") or self.capacity) >= WHOLE_SHARE * self.capacity
            of_rate = MOST_OF_A_RATE * block * (ON_ALL if on_all else 1)
            most = of_rate if is_rate and rows[0].get("runtime_s") else total
        if total <= most:
            return jobs, 1.0, False
        return [replace(jobs[0], io_bytes=most)], most / total, is_last

    def _rest_of(self, job: Job, done: Job) -> list[Job]:
        """A random write of the bytes that are not repeated block by block."""
        least = min(MOST_OF_REST * self.capacity * self.scale, float(job.io_bytes or 0))
        blocks = int(least - (done.io_bytes or 0)) // BLOCK_OF_REST
        return [replace(done, block_bytes=BLOCK_OF_REST, io_bytes=max(blocks, 1) * BLOCK_OF_REST)]

    def _writes_all(self, record: StepRecord) -> bool:
        if record.kind == "run":
            return self.is_whole_write(record)
        size = record.detail.get("size") or self.capacity
        return float(size) >= (1 - CURVE_SHARE) * self.capacity

    def _sample_ns(self, record: StepRecord) -> int:
        samples = FILL_SAMPLES if self.is_whole_write(record) else SAMPLES
        return max(int(record.duration_ns * self.scale / samples), LEAST_SAMPLE_NS)

    def _jobs(self, record: StepRecord) -> list[Job] | None:
        """The step's jobs for the small drive; none where it cannot carry them out."""
        if record.kind == "fill":
            fields = dict(record.detail)
            job = Job(
                name="fill",
                rw="write",
                block_bytes=int(fields.get("block_bytes") or 1 << 20),
                depth=int(fields.get("depth") or 8),
                offset=int(fields.get("offset") or 0),
                size=fields.get("size") or self.capacity - int(fields.get("offset") or 0),
            )
            return [self._small(job, float(job.size or 0))]
        rows: Sequence[Mapping[str, Any]] = record.detail.get("jobs") or ()
        if not rows or any(row.get("handles") for row in rows):
            return None
        totals = [float(total.bytes) for total in record.jobs]
        if len(totals) != len(rows) or min(totals) <= 0:
            return None
        jobs = [job_of(row) for row in rows]
        if any(job.rw in ("trim", "randtrim") or not _is_plain(job.fio) for job in jobs):
            return None
        return [self._small(job, total) for job, total in zip(jobs, totals, strict=True)]

    def _small(self, job: Job, moved: float) -> Job:
        """A job with its range and its bytes scaled."""
        block = job.block_bytes
        small_capacity = int(self.capacity * self.scale) // block * block

        def scaled(value: float, least: int = 0) -> int:
            return max(round(value * self.scale / block), least) * block

        size = min(scaled(job.size or self.capacity, 8), small_capacity)
        offset = min(scaled(job.offset), small_capacity - size)
        least = LEAST_REQUESTS if job.rw.startswith("rand") else 8
        if job.rw == "randread":
            least = int(np.clip(moved / block, 1, LEAST_REQUESTS))
        if job.rw in ("read", "randread"):
            moved = min(moved, MOST_READS * block / self.scale)
        one_pass = job.rw == "write" and job.runtime_s is None and job.io_bytes is None
        return replace(
            job,
            offset=offset,
            size=size,
            io_bytes=size if one_pass else scaled(moved, least),
            runtime_s=None,
            ramp_s=0.0,
            fio=None if job.fio is None else replace(job.fio, time_based=False),
        )

    def _seen(self, record: StepRecord, jobs: list[Job], at: int, share: float) -> list[Seen]:
        """The rates of the first `share` of a step's bytes, the part that is repeated."""
        seconds = record.duration_ns / 1e9
        if seconds <= 0:
            return []
        if record.kind == "fill":
            moved = float(sum(job.io_bytes or 0 for job in jobs)) / self.scale
            return [rate_seen(record.label, at, moved / seconds)]
        curve = without_silence(curve_of_columns(vars(self._series(record))))
        if curve.total_bytes <= 0:
            return []
        mean = curve.total_bytes / curve.total_s
        self.fastest = max(self.fastest, mean)
        if all(job.rw == "read" for job in jobs):
            self.fastest_read = max(self.fastest_read, mean)
        return curve_seen(record.label, at, curve, jobs, self.capacity, share)
