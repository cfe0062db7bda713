"""What a host records of a small copy of a drive: with noise, and with what an analysis knows
nothing of.

`hypothesis.SmallCopy` shows the large drive; here each write is recorded with the host's noise and
effects of the prior, and how long reads take with its noise. Invariant: the same seed and steps
give the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.analysis.curve import Curve
from flashtwin.drives.twin import Twin
from flashtwin.hypothesis.small_copy import TIMES, SmallCopy, longer
from flashtwin.model.series import COLUMNS, Series
from flashtwin.model.step import NotPossible, Result, Run
from flashtwin.model.target import Watch
from flashtwin_lab.blind import disturb

# A host's sample is made of so many of the small drive's, as far as these hold a command or two.
FINE = 8
FINE_S = 0.001
# Reads are recorded in samples of so much of the small drive's time; a stall falls on so many.
READ_SAMPLE_S = 1.0
STALLS = 0.01

Ints = NDArray[np.int64]


class NoisyHost(SmallCopy):
    """A drive of `capacity_bytes`, simulated as `spec` is; `slower`: its seconds a simulated one.

    `knee` is where a fill of the erased drive ends its first plateau, in bytes of the large drive:
    one of the effects is a stall there. `shares_of_s`: the prior's shares of effects are
    those of a write of this length, and a shorter one has them more rarely in proportion; without
    it every write has them alike.
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
        shares_of_s: float | None = None,
    ) -> None:
        super().__init__(Twin(spec, seed=seed), capacity_bytes=capacity_bytes, slower=slower)
        self._prior, self._rng, self._knee = prior, rng, knee
        self._shares_of_s = shares_of_s
        self.effects: dict[str, None] = {}

    def recorded(self, step: Run, watch: Watch) -> Result | NotPossible:
        """What the host records of a step that reads or writes."""
        is_read = step.jobs[0].rw.endswith(("read", "rw"))
        return self._single(step, watch) if is_read else self._written(step, watch)

    def _single(self, step: Run, watch: Watch) -> Result | NotPossible:
        """Reads, and writes among them, as many as are asked for: a host adds noise to how long
        they take, and now and then one of its own stalls."""
        answer = self.played(step, READ_SAMPLE_S, watch)
        if isinstance(answer, NotPossible):
            return answer
        low, high = self._prior["ranges"]["noise"]
        slower = self._slower * float(np.exp(self._rng.normal(0.0, np.sqrt(low * high))))
        columns = {
            name: np.asarray(value, dtype=np.int64).copy()
            for name, value in vars(answer.series).items()
        }
        for name in TIMES:
            columns[name] = np.round(columns[name] * slower).astype(np.int64)
        if self._rng.random() < STALLS:
            ns = int(self._rng.uniform(*self._prior["effects"]["stall"]["seconds"]) * 1e9)
            columns["lat_sum_ns"][0] += ns
            columns["lat_max_ns"][0] += ns
        duration_ns = int(answer.duration_ns * slower)
        hist = longer(answer.hist, slower)
        return self.answered(step.label, Series(**columns), duration_ns, hist)

    def _written(self, step: Run, watch: Watch) -> Result | NotPossible:
        (job,) = step.jobs
        fine_s = max(step.sample_s / self._slower / FINE, FINE_S)
        answer = self.played(step, fine_s, watch)
        if isinstance(answer, NotPossible):
            return answer
        series = answer.series
        curve = Curve(
            dt=series.dt_ns / 1e9 * self._slower,
            size=series.bytes.astype(np.float64) * self.stretch,
        )
        fills = job.io_bytes is None and job.size in (None, self.info.capacity_bytes)
        knee = self._knee if fills else None
        host = {"sample_s": [step.sample_s], "least_samples": 1, "most_samples": 10**9}
        seen = disturb.disturbed(
            curve, {**self._prior_of(curve.total_s), "host": host}, self._rng, knee
        )
        self.effects |= dict.fromkeys(seen.effects)
        columns = _columns(vars(series), seen, self._slower)
        hist = longer(answer.hist, self._slower)
        return self.answered(step.label, Series(**columns), int(seen.dt_ns.sum()), hist)

    def _prior_of(self, seconds: float) -> Mapping[str, Any]:
        """The prior for a write of this length."""
        if self._shares_of_s is None:
            return self._prior
        part = min(seconds / self._shares_of_s, 1.0)
        effects = {
            name: {**values, "share": part * values["share"]}
            for name, values in self._prior["effects"].items()
        }
        return {**self._prior, "effects": effects}


def _columns(fine: Mapping[str, Ints], seen: disturb.Seen, slower: float) -> dict[str, Ints]:
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
