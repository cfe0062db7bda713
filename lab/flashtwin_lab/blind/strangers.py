"""Drives that no candidate of `fit` is: other firmware around the caches of the prior.

What: a drive of the prior, of one of all designs that `discover` is judged on (two tiers, hybrid
caches that stage, mixed ways past a cache), with another choice of victims, other separation of
data, other marks of collection, a buffer, a bus and a command time of its own. A host measures it
with its noise, its stalls and its dips. Kinds of caches come in turn, so that a campaign has as
many drives of each.

Why: a fit that is tried on its own candidates, without noise, tells how well it searches. What it
predicts of a drive that somebody else built is another question.

Invariant: the same seed and number give the same drive. Source of the numbers: ranges of this
project, around what the catalogue's drives have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flashtwin import _core
from flashtwin.catalogue.loader import load
from flashtwin.errors import FlashtwinError
from flashtwin.model.drive import Drive
from flashtwin.model.step import JobTotals, NotPossible, Result, Run
from flashtwin.model.target import Watch
from flashtwin_lab.blind import generate, kinds
from flashtwin_lab.blind.generate import Drawn
from flashtwin_lab.blind.noisy_host import NoisyHost

POLICIES = ("greedy", "cost-benefit", "d-choices", "fifo")
SEPARATIONS = ("none", "gc", "hot-cold")
# Ranges of values that a candidate has fixed: time a command in us, the buffer in KiB, the bus in
# MT/s, and when collection begins and ends, in superblocks.
COMMAND_US, BUFFER_KIB, BUS_MTS = (3.0, 20.0), (1536, 4096), (800, 2400)
GC_LOW, GC_MORE = (4, 9), (1, 6)
# How a flush makes data durable, the least and the greatest of its own time in us, on a logarithmic
# scale, and the pages of the map's journal that it programs.
FLUSHES, FLUSH_US, FLUSH_PAGES = ("program", "group", "group"), (100.0, 4000.0), (0, 3)
# The prior's effects of a host are those of a fill of minutes: a second is disturbed more rarely.
EFFECTS_S = 60.0
# Firmware that a drive has no room for is drawn again.
TRIES = 20


class _Host(NoisyHost):
    """A host that also counts what each job did, as a run has it."""

    _jobs: tuple[JobTotals, ...] = ()

    def played(self, step: Run, sample_s: float, watch: Watch) -> Result | NotPossible:
        """The step as the drive within tells it; its jobs are kept."""
        answer = super().played(step, sample_s, watch)
        self._jobs = answer.jobs if isinstance(answer, Result) else ()
        return answer

    def recorded(self, step: Run, watch: Watch) -> Result | NotPossible:
        """What the host records, with the totals of the jobs."""
        answer = super().recorded(step, watch)
        return replace(answer, jobs=self._jobs) if isinstance(answer, Result) else answer


@dataclass(frozen=True, kw_only=True)
class Stranger:
    """A drive: its spec, what is inside as the fit calls it, and the prior of its host."""

    name: str
    kind: str
    spec: _core.Spec
    inside: Mapping[str, float]
    prior: Mapping[str, Any]

    def drive(self, number: int) -> Drive:
        """The drive behind its host, to be measured."""
        return behind_a_host(self.spec, self.prior, number)


def behind_a_host(spec: _core.Spec, prior: Mapping[str, Any], number: int) -> Drive:
    """A drive as a host of the prior records it: with noise, stalls and dips that the number
    decides."""
    return _Host(
        spec,
        seed=number + 1,
        capacity_bytes=spec.capacity_bytes,
        slower=1.0,
        prior=prior,
        rng=np.random.default_rng((number, 3)),
        knee=None,
        shares_of_s=EFFECTS_S,
    )


def name_of(prior: Mapping[str, Any], seed: int, number: int, gb: float) -> str:
    """What the drive `number` of a campaign is called."""
    return f"{_drawn(prior, seed, number, gb)[0].design} {number}"


def stranger(prior: Mapping[str, Any], seed: int, number: int, gb: float) -> Stranger:
    """The drive `number` of a campaign; `gb`: its capacity."""
    drawn, rng = _drawn(prior, seed, number, gb)
    low, high = kinds.section(prior)["ranges"]["idle_s"]
    idle_us = float(np.exp(rng.uniform(np.log(low), np.log(high)))) * 1e6
    cached = "slc_cache.mode=none" not in drawn.sets
    sets = (*drawn.sets, *((f"fold.idle_after={idle_us:.0f} us",) if cached else ()))
    return Stranger(
        name=f"{drawn.design} {number}",
        kind=kinds.kind_of(prior, number),
        spec=_with_firmware(drawn.text, sets, rng),
        inside=drawn.inside,
        prior=kinds.of_one_host(prior, rng),
    )


def _drawn(
    prior: Mapping[str, Any], seed: int, number: int, gb: float
) -> tuple[Drawn, np.random.Generator]:
    """A drive of the kind whose turn it is, and what goes on to be drawn from."""
    rng = np.random.default_rng((seed, number, 4))
    own, kind = kinds.section(prior), kinds.kind_of(prior, number)
    wide = {
        **prior,
        "drive": {**prior["drive"], "simulated_gb": gb},
        "designs": [row for row in kinds.designs(prior) if row["structure"] == kind],
        "ranges": {**own["ranges"], **prior["ranges"]},
    }
    return generate.draw(wide, rng), rng


def _with_firmware(text: str, sets: tuple[str, ...], rng: np.random.Generator) -> _core.Spec:
    """The spec with the first firmware that the drive has room for; as it is where none fits."""
    for _ in range(TRIES):
        try:
            return load(text, sets=(*sets, *_firmware(rng)))
        except FlashtwinError:
            continue
    return load(text, sets=sets)


def _firmware(rng: np.random.Generator) -> tuple[str, ...]:
    """Settings that no candidate has."""
    low = int(rng.integers(*GC_LOW))
    flush = str(rng.choice(FLUSHES))
    flush_us = float(np.exp(rng.uniform(*np.log(FLUSH_US))))
    pages = int(rng.integers(*FLUSH_PAGES))
    return (
        f"controller.flush={flush}",
        f"controller.flush_time={flush_us:.1f} us",
        *((f"controller.flush_pages={pages}",) if flush == "group" else ()),
        f"gc.policy={rng.choice(POLICIES)}",
        f"gc.separation={rng.choice(SEPARATIONS)}",
        f"gc.low={low}",
        f"gc.high={low + int(rng.integers(*GC_MORE))}",
        f"controller.command_time={rng.uniform(*COMMAND_US):.1f} us",
        f"controller.write_buffer={int(rng.integers(*BUFFER_KIB))} KiB",
        f"nand.bus_rate={int(rng.integers(*BUS_MTS))} MT/s",
    )
