"""A small simulated drive as a host would see the large one that it stands for.

A byte of the large drive is a share of the small one's capacity, and a second as much longer as the
large one's fill takes; each write is recorded with the host's noise and with effects that an
analysis knows nothing of. Invariants: what is handed over is what a host sees, without an X-ray;
the same seed and steps give the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.analysis.curve import Curve
from flashtwin.model.histogram import bins_of, bucket_of, middle_of
from flashtwin.model.job import Job, jobs_json
from flashtwin.model.series import COLUMNS, Counts, Series
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
from flashtwin.model.target import Capabilities, DriveInfo
from flashtwin_lab.blind import disturb, generate

# A host's sample is made of so many of the small drive's, as far as these hold a command or two.
FINE = 8
FINE_NS = 1_000_000
# Reads are recorded in samples of so much of the small drive's time; a stall falls on so many.
READ_SAMPLE_NS = 1_000_000_000
STALLS = 0.01
CAN = Capabilities(virtual_time=True, repeatable=True, trim=True, purge=True)

Ints = NDArray[np.int64]


class Stretched:
    """A drive of `capacity_bytes`, simulated as `spec` is; `slower`: its seconds a simulated one.

    `knee` is where a fill of the erased drive ends its first plateau, in bytes of the large drive:
    one of the effects is a stall there.
    """

    def __init__(
        self,
        spec: _core.Spec,
        *,
        seed: int,
        capacity_bytes: int,
        slower: float,
        prior: Mapping[str, Any],
        rng: np.random.Generator,
        knee: float | None,
    ) -> None:
        self._core = _core.Twin(spec, seed=seed)
        self._small = spec.capacity_bytes
        self._stretch, self._slower, self._knee = capacity_bytes / self._small, slower, knee
        self._prior, self._rng = prior, rng
        self._clock_ns = 0
        self.effects: dict[str, None] = {}
        self.info = DriveInfo(
            name="blind", kind="blind", capacity_bytes=capacity_bytes, can=CAN, identity={}
        )

    def do(self, step: Step) -> Result | NotPossible:
        """Carry out one step of a battery."""
        match step:
            case Purge():
                return self._quiet(step, self._core.purge())
            case Trim():
                return self._quiet(step, self._core.trim(0, self._small))
            case Rest():
                ns = max(round(step.seconds / self._slower * 1e9), 1)
                return self._quiet(step, self._core.rest(ns, ns, generate.go_on))
            case Fill():
                job = Job(
                    name="fill",
                    rw="write",
                    block_bytes=128 << 10,
                    depth=32,
                    offset=step.offset,
                    size=step.size,
                )
                jobs = jobs_json([self._smaller(job)])
                return self._quiet(step, self._core.run(jobs, 1_000_000_000, generate.go_on))
            case Run() if step.jobs[0].rw.endswith(("read", "rw")):
                return self._single(step)
            case Run():
                return self._recorded(step)
            case Chain():
                parts = tuple(self._part(part) for part in step.parts)
                return replace(chained(step.label, parts), parts=parts)
            case _:
                return NotPossible(reason="a drive of a blind campaign is written and rests")

    def _part(self, step: Run | Rest) -> Result:
        answer = self.do(step)
        assert isinstance(answer, Result), "it can do the parts of a chain"
        return answer

    def _single(self, step: Run) -> Result:
        """Reads, and writes among them, as many as are asked for: a host adds noise to how long
        they take, and now and then one of its own stalls."""
        (job,) = step.jobs
        small = replace(self._smaller(job), io_bytes=job.io_bytes)
        answer = self._core.run(jobs_json([small]), READ_SAMPLE_NS, generate.go_on)
        series = answer["series"]
        low, high = self._prior["ranges"]["noise"]
        slower = self._slower * float(np.exp(self._rng.normal(0.0, np.sqrt(low * high))))
        columns = {name: np.asarray(series[name], dtype=np.int64) for name in COLUMNS}
        for name in ("t_ns", "dt_ns", "lat_sum_ns", "lat_min_ns", "lat_max_ns"):
            columns[name] = np.round(columns[name] * slower).astype(np.int64)
        if self._rng.random() < STALLS:
            ns = int(self._rng.uniform(*self._prior["effects"]["stall"]["seconds"]) * 1e9)
            columns["lat_sum_ns"][0] += ns
            columns["lat_max_ns"][0] += ns
        done = self._result(step.label, Series(**columns), int(answer["duration_ns"] * slower))
        return replace(done, hist=_longer(answer["hist"], slower))

    def _quiet(self, step: Step, answer: Mapping[str, Any]) -> Result:
        return self._result(step.label, Series.empty(), int(answer["duration_ns"] * self._slower))

    def _result(self, label: str, series: Series, duration_ns: int) -> Result:
        start, self._clock_ns = self._clock_ns, self._clock_ns + duration_ns
        return Result(label=label, start_ns=start, duration_ns=duration_ns, series=series)

    def _smaller(self, job: Job) -> Job:
        """The job in bytes of the small drive, in whole blocks."""

        def small(count: int | None) -> int | None:
            if count is None:
                return None
            return max(int(count / self._stretch) // job.block_bytes, 1) * job.block_bytes

        offset = int(job.offset / self._stretch) // job.block_bytes * job.block_bytes
        size = small(job.size if job.size is not None else self.info.capacity_bytes - job.offset)
        assert size is not None, "a job has a size"
        size = min(size, (self._small - offset) // job.block_bytes * job.block_bytes)
        return replace(job, offset=offset, size=size, io_bytes=small(job.io_bytes), host_ns=0)

    def _recorded(self, step: Run) -> Result:
        (job,) = step.jobs
        fine_ns = max(int(step.sample_s * 1e9 / self._slower / FINE), FINE_NS)
        answer = self._core.run(jobs_json([self._smaller(job)]), fine_ns, generate.go_on)
        series = answer["series"]
        curve = Curve(
            dt=series["dt_ns"] / 1e9 * self._slower,
            size=series["bytes"].astype(np.float64) * self._stretch,
        )
        fills = job.io_bytes is None and job.size in (None, self.info.capacity_bytes)
        knee = self._knee if fills else None
        host = {"sample_s": [step.sample_s], "least_samples": 1, "most_samples": 10**9}
        seen = disturb.disturbed(curve, {**self._prior, "host": host}, self._rng, knee)
        self.effects |= dict.fromkeys(seen.effects)
        columns = _columns(series, seen, self._slower)
        answered = self._result(step.label, Series(**columns), int(seen.dt_ns.sum()))
        return replace(answered, hist=_longer(answer["hist"], self._slower))


def _longer(hist: Mapping[str, NDArray[np.uint64]], slower: float) -> dict[str, Counts]:
    """Latency counts of a drive that takes so many times as long."""
    result: dict[str, Counts] = {}
    for direction, counts in hist.items():
        result[direction] = np.zeros_like(counts)
        for bucket, count in bins_of(counts).items():
            result[direction][bucket_of(round(middle_of(bucket) * slower))] += count
    return result


def _columns(
    fine: Mapping[str, NDArray[np.int64]], seen: disturb.Seen, slower: float
) -> dict[str, Ints]:
    """A recorded series with its latencies: of the requests that its bytes are made of."""
    count = len(seen.bytes)
    ends = np.cumsum(seen.bytes)
    done = np.cumsum(fine["bytes"]) * (float(ends[-1]) / max(float(fine["bytes"].sum()), 1.0))
    of = np.clip(np.searchsorted(ends, done - 0.5), 0, count - 1)
    there = fine["ios"] > 0
    columns = {name: np.zeros(count, dtype=np.int64) for name in COLUMNS}
    columns |= {"t_ns": seen.t_ns, "dt_ns": seen.dt_ns, "bytes": seen.bytes}
    columns["direction"] = np.ones(count, dtype=np.int64)
    np.add.at(columns["ios"], of, fine["ios"])
    latency = {
        name: np.round(fine[name] * slower).astype(np.int64)
        for name in ("lat_sum_ns", "lat_min_ns", "lat_max_ns")
    }
    np.add.at(columns["lat_sum_ns"], of, latency["lat_sum_ns"])
    np.maximum.at(columns["lat_max_ns"], of, latency["lat_max_ns"])
    least = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(least, of[there], latency["lat_min_ns"][there])
    columns["lat_min_ns"] = np.where(columns["ios"] > 0, least, 0)
    return columns
