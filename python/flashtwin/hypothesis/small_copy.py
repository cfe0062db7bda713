"""A small drive as a host would see the large one that it stands for.

A byte of the large drive is a share of the small one's capacity, and a second is as much longer as
the large one's fill takes; block sizes, depths and the order of requests stay as they are asked
for. Invariants: what is handed over is what a host sees, without an X-ray; the same steps give the
same answers as the drive within gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from flashtwin.model.drive import Drive
from flashtwin.model.histogram import bins_of, bucket_of, middle_of
from flashtwin.model.job import Job
from flashtwin.model.series import Counts, Series
from flashtwin.model.step import (
    Chain,
    Fill,
    NotPossible,
    Purge,
    Rest,
    Result,
    Run,
    Step,
    Trim,
    chained,
)
from flashtwin.model.target import Capabilities, DriveInfo, Watch

TIMES = ("t_ns", "dt_ns", "lat_sum_ns", "lat_min_ns", "lat_max_ns")
CAN = Capabilities(virtual_time=True, repeatable=True, trim=True, purge=True)


class SmallCopy:
    """A drive of `capacity_bytes`, played on a smaller one; `slower`: its seconds for each of the
    small drive's."""

    def __init__(self, drive: Drive, *, capacity_bytes: int, slower: float) -> None:
        self._drive, self._slower = drive, slower
        self._clock_ns = 0
        self.info = DriveInfo(
            name="small copy", kind="copy", capacity_bytes=capacity_bytes, can=CAN, identity={}
        )

    def open(self) -> Self:
        """Open the small drive."""
        self._drive.open()
        return self

    def close(self) -> None:
        """Close the small drive."""
        self._drive.close()

    @property
    def stretch(self) -> float:
        """Bytes of the large drive for each of the small one."""
        return self.info.capacity_bytes / self._drive.info.capacity_bytes

    def do(self, step: Step, watch: Watch) -> Result | NotPossible:
        """Carry out one step of a battery."""
        match step:
            case Purge() | Trim(offset=0, size=None):
                return self._quiet(step, step, watch)
            case Rest():
                return self._quiet(step, replace(step, seconds=step.seconds / self._slower), watch)
            case Fill():
                job = Job(
                    name="fill",
                    rw="write",
                    block_bytes=128 << 10,
                    depth=32,
                    offset=step.offset,
                    size=step.size,
                )
                run = Run(label=step.label, jobs=(self.smaller(job),), sample_s=1.0)
                return self._quiet(step, run, watch)
            case Run():
                return self.recorded(step, watch)
            case Chain():
                parts = tuple(self._part(part, watch) for part in step.parts)
                return replace(chained(step.label, parts), parts=parts)
            case _:
                return NotPossible(reason="a small copy is written, read, erased and rests")

    def smaller(self, job: Job) -> Job:
        """The job in bytes of the small drive, in whole blocks. One that reads asks for as many
        requests as on the large drive, or their mean would say less."""
        stretch, capacity = self.stretch, self._drive.info.capacity_bytes

        def small(count: int | None) -> int | None:
            if count is None:
                return None
            return max(int(count / stretch) // job.block_bytes, 1) * job.block_bytes

        offset = int(job.offset / stretch) // job.block_bytes * job.block_bytes
        size = small(job.size if job.size is not None else self.info.capacity_bytes - job.offset)
        assert size is not None, "a job has a size"
        size = min(size, (capacity - offset) // job.block_bytes * job.block_bytes)
        moved = job.io_bytes if job.rw.endswith(("read", "rw")) else small(job.io_bytes)
        return replace(job, offset=offset, size=size, io_bytes=moved, host_ns=0)

    def recorded(self, step: Run, watch: Watch) -> Result | NotPossible:
        """What a host records of a step that reads or writes."""
        answer = self.played(step, step.sample_s / self._slower, watch)
        if isinstance(answer, NotPossible):
            return answer
        duration_ns = int(answer.duration_ns * self._slower)
        hist = longer(answer.hist, self._slower)
        return self.answered(step.label, self._larger(answer.series), duration_ns, hist)

    def played(self, step: Run, sample_s: float, watch: Watch) -> Result | NotPossible:
        """The step on the small drive, as that drive tells it."""
        jobs = tuple(self.smaller(job) for job in step.jobs)
        return self._drive.do(replace(step, jobs=jobs, sample_s=sample_s), watch)

    def answered(
        self, label: str, series: Series, duration_ns: int, hist: Mapping[str, Counts]
    ) -> Result:
        """The answer to a step that took so long on the large drive's clock."""
        start_ns, self._clock_ns = self._clock_ns, self._clock_ns + duration_ns
        return Result(
            label=label,
            start_ns=start_ns,
            duration_ns=duration_ns,
            series=series,
            hist=hist,
        )

    def _quiet(self, step: Step, small: Step, watch: Watch) -> Result | NotPossible:
        answer = self._drive.do(small, watch)
        if isinstance(answer, NotPossible):
            return answer
        duration_ns = int(answer.duration_ns * self._slower)
        return self.answered(step.label, Series.empty(), duration_ns, {})

    def _part(self, step: Run | Rest, watch: Watch) -> Result:
        answer = self.do(step, watch)
        assert isinstance(answer, Result), "it can do the parts of a chain"
        return answer

    def _larger(self, series: Series) -> Series:
        columns = {name: np.asarray(value) for name, value in vars(series).items()}
        for name in TIMES:
            columns[name] = np.round(columns[name] * self._slower).astype(np.int64)
        columns["bytes"] = np.round(columns["bytes"] * self.stretch).astype(np.int64)
        return Series(**columns)


def longer(hist: Mapping[str, Any], slower: float) -> dict[str, Counts]:
    """Latency counts of a drive that takes so many times as long."""
    result: dict[str, Counts] = {}
    for direction in hist:
        counts = hist[direction]
        result[direction] = np.zeros_like(counts)
        for bucket, count in bins_of(counts).items():
            result[direction][bucket_of(round(middle_of(bucket) * slower))] += count
    return result
