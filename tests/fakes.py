"""A drive in closed form: a cache, a fold phase, a time a command. It needs no simulation.

Sequential writes go at `cache_rate` while the cache has room, then at `direct_rate`, and past
`fold_begin_bytes` at `fold_rate`; everything else takes a fixed time a request. The curve is known
exactly, so whatever a battery, the runner or the analysis concludes about it can be checked on
paper. It keeps the drive contract: steps in order, a clock of its own, the watch heard, a purge
that brings it back to new.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from flashtwin.batteries.base.record import Answered, Record
from flashtwin.batteries.base.registry import Request
from flashtwin.model.finding import Finding
from flashtwin.model.histogram import BUCKETS, bucket_of
from flashtwin.model.series import COLUMNS, READ, WRITE, Series
from flashtwin.model.step import (
    Ask,
    Chain,
    Fill,
    Flush,
    Job,
    JobTotals,
    Mark,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Step,
    Trim,
    chained,
)
from flashtwin.model.target import Capabilities, DriveInfo, Interrupted, Progress, Watch

GB = 10**9
MB = 10**6
# How many times smaller the smallest copy of the BX500 is.
SMALLEST_COPY = 176
ON_PAPER = Capabilities(
    virtual_time=True, repeatable=True, host_time=True, trim=True, purge=True, xray=True
)
IN_A_FILE = Capabilities(whole_drive=False, filled_first=True, xray=True)


@dataclass(frozen=True, kw_only=True)
class Law:
    """The drive's numbers; rates in bytes a second."""

    capacity_bytes: int = 240 * GB
    cache_bytes: int = 24 * GB
    fold_begin_bytes: int = 192 * GB
    cache_rate: float = 461 * MB
    direct_rate: float = 111 * MB
    fold_rate: float = 81 * MB
    second_cache_bytes: int = 3 * GB
    read_rate: float = 540 * MB
    request_s: float = 80e-6

    def stages(self, written: int) -> list[tuple[int, float]]:
        """(end in bytes since the pass began, rate) of a sequential pass on a drive so full."""
        if written == 0:
            return [
                (self.cache_bytes, self.cache_rate),
                (self.fold_begin_bytes, self.direct_rate),
                (self.capacity_bytes, self.fold_rate),
            ]
        return [(self.second_cache_bytes, self.cache_rate), (self.capacity_bytes, self.fold_rate)]


@dataclass
class FakeDrive:
    """`purge`: none where it can be erased, else why not; `fails_at`: a step that breaks it."""

    law: Law = field(default_factory=Law)
    purge: str | None = None
    name: str = "paper"
    kind: str = "twin"
    fails_at: str | None = None
    done: list[Step] = field(default_factory=list)
    written: int = 0
    now_ns: int = 0
    closed: int = 0

    @property
    def info(self) -> DriveInfo:
        return DriveInfo(
            name=self.name,
            kind=self.kind,  # type: ignore[arg-type]
            capacity_bytes=self.law.capacity_bytes,
            can=ON_PAPER if self.kind == "twin" else IN_A_FILE,
            identity={"law": "closed form", "raw_bytes": 274_877_906_944},
        )

    def open(self) -> Self:
        return self

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.done.append(step)
        if step.label == self.fails_at:
            raise RuntimeError(f"the fake drive broke at {step.label}")
        return self._do(step, watch)

    def close(self) -> None:
        self.closed += 1

    def _do(self, step: Step, watch: Watch) -> Result | NotPossible:
        match step:
            case Run():
                return self._run(step, watch)
            case Fill():
                size = step.size if step.size is not None else self.law.capacity_bytes
                self.written += size
                return self._quiet(step, size / self.law.direct_rate, watch)
            case Rest():
                return self._quiet(step, step.seconds, watch)
            case Purge():
                if self.purge is not None:
                    return NotPossible(reason=self.purge)
                self.written = 0
                return self._quiet(step, 0.5, watch)
            case Ask():
                return NotPossible(reason="a law on paper has no instruments")
            case Trim() | Flush() | Mark():
                return self._quiet(step, 0.0, watch)
            case Chain():
                parts = tuple(self._part(part, watch) for part in step.parts)
                return replace(chained(step.label, parts), parts=parts)

    def _part(self, step: Run | Rest, watch: Watch) -> Result:
        answer = self._do(step, watch)
        assert isinstance(answer, Result), "it can do the parts of a chain"
        return answer

    def _quiet(self, step: Step, seconds: float, watch: Watch) -> Result:
        if seconds and not watch(Progress(bytes=0, drive_s=seconds / 2)):
            raise Interrupted(step.label)
        return self._result(step.label, round(seconds * 1e9), Series.empty())

    def _run(self, step: Run, watch: Watch) -> Result:
        # What runs beside the stream with the most bytes is neither counted nor waited for.
        job = max(step.jobs, key=lambda job: job.io_bytes or 0)
        if job.rw == "write" and (job.runtime_s is None or job.io_bytes == job.size):
            moved, seconds = self._sequential(job)
            if job.runtime_s is not None and job.runtime_s < seconds[-1]:
                moved, seconds = _until(job.runtime_s, moved, seconds)
            self.written += int(moved[-1])
        else:
            moved, seconds = self._timed(job)
        for share in (0.25, 0.5, 0.75):
            at = int(len(moved) * share)
            if not watch(Progress(bytes=int(moved[at]), drive_s=float(seconds[at]))):
                raise Interrupted(step.label)
        return self._measured(step, job, moved, seconds)

    def _sequential(self, job: Job) -> tuple[np.ndarray, np.ndarray]:
        """Corners of bytes over time."""
        size = job.size or self.law.capacity_bytes
        ends, times = [0.0], [0.0]
        for end, rate in self.law.stages(self.written):
            end = min(end, size)
            if end > ends[-1]:
                each = job.block_bytes / rate + job.host_ns / 1e9 / job.depth
                times.append(times[-1] + (end - ends[-1]) / job.block_bytes * each)
                ends.append(end)
        return np.array(ends), np.array(times)

    def _timed(self, job: Job) -> tuple[np.ndarray, np.ndarray]:
        each = self.law.request_s + job.host_ns / 1e9
        rate = min(job.depth * job.threads * job.block_bytes / each, self.law.read_rate)
        size = rate * (job.runtime_s or 1.0)
        if job.io_bytes is not None and (job.runtime_s is None or job.io_bytes < size):
            size = float(job.io_bytes)
        seconds = size / rate
        return np.array([0.0, size]), np.array([0.0, seconds])

    def _measured(self, step: Run, job: Job, moved: np.ndarray, seconds: np.ndarray) -> Result:
        """The samples of a curve given by its corners."""
        ends = np.append(np.arange(step.sample_s, seconds[-1], step.sample_s), seconds[-1])
        starts = np.append(0.0, ends[:-1])
        at = np.floor(np.interp(ends, seconds, moved) / job.block_bytes) * job.block_bytes
        at[-1] = moved[-1] // job.block_bytes * job.block_bytes
        amount = np.diff(at, prepend=0.0).astype(np.int64)
        ios = amount // job.block_bytes
        latency = round(seconds[-1] * 1e9 * job.depth * job.threads / max(int(ios.sum()), 1))
        direction = READ if "read" in job.rw or job.rw in ("rw", "randrw") else WRITE
        t_ns = np.round(starts * 1e9).astype(np.int64)
        columns = {
            "t_ns": t_ns,
            "dt_ns": np.round(ends * 1e9).astype(np.int64) - t_ns,
            "direction": np.full(len(ends), direction, dtype=np.int64),
            "ios": ios,
            "bytes": amount,
            "lat_sum_ns": ios * latency,
            "lat_min_ns": np.where(ios > 0, latency, 0),
            "lat_max_ns": np.where(ios > 0, latency, 0),
        }
        assert tuple(columns) == COLUMNS
        counts = np.zeros(BUCKETS, dtype=np.uint64)
        counts[bucket_of(latency)] = int(ios.sum())
        totals = JobTotals(
            name=job.name,
            ios=int(ios.sum()),
            bytes=int(amount.sum()),
            duration_ns=round(seconds[-1] * 1e9),
            latency_mean_ns=float(latency),
            latency_min_ns=latency,
            latency_max_ns=latency,
            mean_depth=float(job.depth * job.threads),
        )
        xray = {"t_ns": columns["t_ns"] + columns["dt_ns"], "host_bytes": np.cumsum(amount)}
        result = self._result(step.label, totals.duration_ns, Series(**columns))
        return Result(
            label=result.label,
            start_ns=result.start_ns,
            duration_ns=result.duration_ns,
            series=result.series,
            jobs=(totals,),
            hist={"read" if direction == READ else "write": counts},
            xray=xray,
        )

    def _result(self, label: str, duration_ns: int, series: Series) -> Result:
        start = self.now_ns
        self.now_ns += duration_ns
        return Result(label=label, start_ns=start, duration_ns=duration_ns, series=series)


@dataclass
class Stops:
    """A drive that is interrupted before the step of this number."""

    drive: Any
    at: int
    count: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.drive, name)

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        self.count += 1
        if self.count > self.at:
            raise Interrupted(step.label)
        answer: Result | NotPossible = self.drive.do(step, watch)
        return answer


def _until(end: float, moved: np.ndarray, seconds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a curve that ends sooner."""
    there = seconds < end
    last = np.interp(end, seconds, moved)
    return np.append(moved[there], last), np.append(seconds[there], end)


def labels(steps: list[Step]) -> Iterator[str]:
    """The labels of steps without the marks."""
    return (step.label for step in steps if not isinstance(step, Mark))


def played(
    request: Request, drive: FakeDrive, *, upto: int | None = None
) -> tuple[list[Step], list[Finding]]:
    """A battery on a drive without a run around it: the steps, and what it concludes of them."""
    going = request.battery.measure(request.parameters, drive.info)
    steps: list[Answered] = []
    answer: Result | NotPossible | None = None
    try:
        while upto is None or len(steps) < upto:
            step = going.send(answer)  # type: ignore[arg-type]
            answer = drive.do(step, lambda progress: True)
            steps.append(answered(step, answer))
    except StopIteration:
        pass
    record = Record(parameters=request.parameters, info=drive.info, steps=steps)
    return drive.done, request.battery.findings(record)


def answered(step: Step, answer: Result | NotPossible) -> Answered:
    """A step of a record."""
    there = answer if isinstance(answer, Result) else None
    return Answered(
        label=step.label,
        kind=type(step).__name__.lower(),
        detail={},
        jobs=there.jobs if there else (),
        duration_ns=there.duration_ns if there else 0,
        not_possible=None if isinstance(answer, Result) else answer.reason,
        cut=there.cut if there else False,
        read=lambda: answer,
    )
