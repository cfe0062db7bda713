"""Years of a steady load in a minute: timed windows, the firmware alone between them, and jumps.

A window is run in its time, as a host sees it. Between two windows the firmware writes the same
load alone, which leaves the drive as the same writes in their time do (`drives.untimed`); where the
state of a drive depends on time its windows are longer, and nothing lies between them. Some of both
are a stage; its windows are repeated without being simulated (`_core.Twin.repeat`), up to the
next stage, or until the law of the drive changes: a superblock of the cache is used up, or data
that the load leaves alone has to be refreshed. Then comes a stage again.

What is told of rate, p99 and write amplification are means over stages with intervals by batch
means. How far neighbouring stages lie apart is what the jumps between them may have got wrong: the
error of a jump is at most the change of the law within it, and a stage stands at each end.
Invariant: a life says how it was sampled (`Life.note`), and one twin, job and plan have one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct

from flashtwin._core import Stretch
from flashtwin.analysis.estimate import Estimate, half_width, mean_error
from flashtwin.drives.twin import Twin
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.histogram import Bins, bins_of, percentiles_of, summed
from flashtwin.model.job import Job
from flashtwin.model.step import Result, Run
from flashtwin.model.target import Progress

NOTE = "sampled: timed windows, written without time between them, and repeated without simulation"
NOTE_TIMED = "sampled: timed windows, repeated without simulation"
# The share of requests whose latency is told.
P99 = 99.0
# No window is shorter: a percentile needs a few thousand requests.
LEAST_WINDOW = 16 << 20
_SEEDS = 7919
# Passes in which a load writes everything in its range again: collection has moved what
# random writes leave alone, which counts as written.
PASSES = 2.0

# The work of a window, the latencies of its writes, and its bytes a second.
_Window = tuple[Stretch, Bins, float]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a life is sampled, in capacities of the drive: what is written before the first stage,
    the windows of a stage and what lies between them; and how many stages a life has."""

    before: float = 2.0
    window: float = 0.02
    between: float = 0.13
    windows: int = 4
    stages: int = 6


class Stage(Struct, frozen=True, kw_only=True):
    """The mean of a stage's windows, after the host had written `host_bytes`; `used` is the share
    of the rated life before it. `repeated` says how often the windows were repeated after it."""

    host_bytes: int
    waf: float
    rate_bytes_s: float
    p99_ns: int
    used: float
    repeated: int


class Life(Struct, frozen=True, kw_only=True):
    """A sampled life. `drift`: the largest step from one stage to the next beside their mean, of
    WAF, rate and p99. `ended`: why it ended before all was written, or none."""

    stages: tuple[Stage, ...]
    waf: Estimate
    rate_bytes_s: Estimate
    p99_ns: Estimate
    drift: dict[str, float]
    host_bytes: int
    simulated_bytes: int
    used: float
    seconds: float
    ended: str | None
    note: str


def live(
    twin: Twin,
    job: Job,
    host_bytes: int,
    plan: Plan | None = None,
    watch: Callable[[Progress], bool] = lambda progress: True,
) -> Life:
    """Give an open twin a steady job of writes until the host has written `host_bytes`.

    Raises `FlashtwinError` where the drive's wear is left to chance, or the job does more than
    write."""
    if job.fio is not None or "write" not in job.rw or job.rw in ("rw", "randrw"):
        raise FlashtwinError(
            f"{job.name} does more than write, and a sampled life is of writes",
            hint="give a job of writes alone",
            exit_code=USAGE,
        )
    if (why := twin.repeat_refusal) is not None:
        raise FlashtwinError(
            f"a life of {twin.info.name} cannot be sampled: {why}",
            hint="simulate it whole, or change that with --set",
            exit_code=USAGE,
        )
    return _Living(twin, job, host_bytes, plan or Plan(), watch).run()


class _Living:
    """A life as it goes on."""

    def __init__(
        self,
        twin: Twin,
        job: Job,
        host_bytes: int,
        plan: Plan,
        watch: Callable[[Progress], bool],
    ) -> None:
        self._is_timed = twin.precondition_refusal([job]) is not None
        if self._is_timed:
            # A quarter of what would be written in between: it costs several times as much in time.
            window = plan.window + plan.between / 4
            plan = replace(plan, window=window, between=0.0)
        self._twin, self._job, self._plan, self._watch = twin, job, plan, watch
        self._most = host_bytes
        size = job.size or twin.info.capacity_bytes - job.offset
        self._again_bytes = int(PASSES * size)
        self._seed = job.seed
        self._simulated = 0
        self._stages: list[Stage] = []

    def run(self) -> Life:
        plan = self._plan
        self._write(plan.before)
        ended: str | None = None
        while ended is None and self._written() < self._most:
            ended = self._stage()
        # A stage stands at the end of the last jump too.
        return self._told(ended or self._stage())

    def _stage(self) -> str | None:
        """One stage, and its repetition up to the next; the answer is why nothing comes after."""
        windows: list[_Window] = []
        before = self._counts()
        for _ in range(self._plan.windows):
            window = self._window()
            if window is None:
                return "the drive takes no writes any more"
            windows.append(window)
            self._write(self._plan.between)
        after = self._counts()
        stretch = windows[0][0]
        for later, _, _ in windows[1:]:
            stretch = stretch.plus(later)
        wrote = after[0] - before[0]
        left = max(self._most - after[0], 0)
        to_next = min(left, self._most // max(self._plan.stages - 1, 1))
        times = -(-to_next // stretch.written_bytes)
        used = self._used()
        self._stages.append(
            Stage(
                host_bytes=after[0],
                waf=(after[1] - before[1]) / wrote,
                rate_bytes_s=float(np.mean([rate for _, _, rate in windows])),
                p99_ns=percentiles_of(summed([bins for _, bins, _ in windows]), [P99])[P99],
                used=used,
                repeated=self._twin.simulation.repeat(
                    stretch, times, wrote - stretch.written_bytes, self._again_bytes
                ),
            )
        )
        return None

    def _window(self) -> _Window | None:
        """A window in its time; none where the drive takes no writes."""
        simulation, job = self._twin.simulation, self._part(self._plan.window)
        mark = simulation.mark()
        result = self._twin.do(Run(label="window", jobs=(job,), sample_s=3600.0), self._watch)
        assert isinstance(result, Result), "a twin does everything"
        if result.jobs[0].errors:
            return None
        rate = result.jobs[0].bytes / (result.duration_ns / 1e9)
        return simulation.since(mark), bins_of(np.asarray(result.hist["write"])), rate

    def _write(self, share: float) -> None:
        """Write a share of the capacity, without time where the drive's state allows that."""
        if share <= 0:
            return
        job = self._part(share)
        if self._is_timed:
            self._twin.do(Run(label="before", jobs=(job,), sample_s=3600.0), self._watch)
        else:
            job = replace(job, depth=1, think_ns=0, rate_bytes_s=None)
            self._twin.precondition([job], self._watch)

    def _part(self, share: float) -> Job:
        """The next part of the job, on addresses of its own."""
        block = self._job.block_bytes
        capacity = self._twin.info.capacity_bytes
        size = max(int(capacity * share), LEAST_WINDOW) // block * block
        self._seed += _SEEDS
        self._simulated += size
        return replace(self._job, io_bytes=size, runtime_s=None, ramp_s=0.0, seed=self._seed)

    def _inside(self) -> dict[str, Any]:
        inside: dict[str, Any] = self._twin.smart()["flashtwin"]
        return inside

    def _counts(self) -> tuple[int, int]:
        """Bytes from the host and bytes programmed, what was repeated with them."""
        waf = self._inside()["waf"]
        return int(waf["host_bytes"]), int(waf["programmed_bytes"])

    def _written(self) -> int:
        return self._counts()[0]

    def _used(self) -> float:
        return float(self._inside()["endurance"]["percent_used"]) / 100

    def _told(self, ended: str | None) -> Life:
        wafs = [stage.waf for stage in self._stages]
        rates = [stage.rate_bytes_s for stage in self._stages]
        latencies = [float(stage.p99_ns) for stage in self._stages]
        states = self._inside()["energy"]["states_ns"]
        # `held` is a part of other states, and `off` is no life.
        lived_ns = sum(ns for state, ns in states.items() if state not in ("held", "off"))
        return Life(
            stages=tuple(self._stages),
            waf=_estimate(wafs),
            rate_bytes_s=_estimate(rates),
            p99_ns=_estimate(latencies),
            drift={"waf": _drift(wafs), "rate": _drift(rates), "p99": _drift(latencies)},
            host_bytes=self._written(),
            simulated_bytes=self._simulated,
            used=self._used(),
            seconds=lived_ns / 1e9,
            ended=ended,
            note=NOTE_TIMED if self._is_timed else NOTE,
        )


def _estimate(values: Sequence[float]) -> Estimate:
    """The mean of batches and its interval."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(value=mean, low=None, high=None)
    half = half_width(*mean_error(np.asarray(values, dtype=float)))
    return Estimate(value=mean, low=mean - half, high=mean + half)


def _drift(values: Sequence[float]) -> float:
    """The largest step from one batch to the next, beside the mean."""
    steps = [abs(after - before) for before, after in pairwise(values)]
    return max(steps, default=0.0) / float(np.mean(values))
