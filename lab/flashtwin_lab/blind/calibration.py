"""What makes the probabilities and intervals of discover hold as often as they say, from drives.

Of each drive the truth is known and what discover said. `calmer` is what logarithms of weights are
divided by: the one under which the true kinds and ways are most likely. `wider` is the share of its
value that an interval of a rest reaches at least: as far as 95 % of them have to (conformal).
`reads` are the standard deviations of what reads say of a write past the cache, beside the small
drive of the true kind that fits best: as far as 95 % of them are off, over 1.96. Each is also had
with one drive left out, and what the others say is tried on that one. Invariants: pure; `calmer`
takes a drive's probabilities to have been made with the one that it bears.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from flashtwin import outputs
from flashtwin.batteries.discover import Parameters, posterior
from flashtwin.batteries.discover import candidates as small
from flashtwin.batteries.discover import tests as known_tests
from flashtwin.runner.pool import Send
from flashtwin_lab.blind import generate, kinds, structure
from flashtwin_lab.blind.kinds import Discovered

# No probability is less than this: they are rounded.
LEAST = 5e-5
# What is tried, and how much a campaign of a few drives is trusted over no change: as much as so
# many drives whose kind is sure either way.
TRIED = np.geomspace(1.0, 16.0, 49)
TRUST = 0.5
HOLDS, STANDARD = 0.95, 1.96
# Reads are not taken to be nearer than this: there are other drives than those that were drawn.
# Single writes wait 0.26 off on the twin of the BX500, which has four dies and a core that limits
# them; drives with as many dies as the candidates say 0.08.
LEAST_NOISE = (0.1, 0.1, 0.1, 0.2)

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A drive with what discover said of it; `calmer`: what that was made with. `apart`: how far
    reads of a write past the cache were from those of the true kind; none where none were made."""

    drive: Discovered
    calmer: float
    apart: tuple[float, ...] | None


def kept(path: Path, seed: int, number: int, _send: Send) -> Discovered:
    """A drive of our own prior, discovered, or read from the file in which it was kept before."""
    if path.exists():
        before: Tried = pickle.loads(path.read_bytes())
        return before.drive
    drive = kinds.discovered(generate.read_prior(), seed, number)
    # With as many candidates as the battery took, what was simulated for the drive is at hand.
    apart = apart_of(drive, Parameters().candidates)
    calmer = float(posterior.calibration()["structure"]["calmer"])
    path.parent.mkdir(parents=True, exist_ok=True)
    outputs.write(path, pickle.dumps(Tried(drive=drive, calmer=calmer, apart=apart)))
    return drive


def apart_of(drive: Discovered, count: int) -> tuple[float, ...] | None:
    """How far reads are from those of the small drive of the true kind that fits best, of as many
    candidates as the battery took."""
    if drive.measured is None or not drive.measured.seen or drive.truth.past is None:
        return None
    facts, seen = drive.measured.facts, drive.measured.seen
    if not known_tests.named(seen[0].test).reads:
        return None
    belief = posterior.posterior(facts, tuple(seen[:1]), count)
    true = small.structures().index((drive.truth.structure or "", drive.truth.past))
    pairs = zip(belief.candidates, belief.weights, strict=True)
    right = [(weight, at) for at, (item, weight) in enumerate(pairs) if item.structure == true]
    if not right:
        return None
    best = belief.candidates[max(right)[1]]
    ((_, first),) = small.fills(facts, [best])
    (shown,) = small.simulated(facts, [(best, known_tests.named(seen[0].test), first)])
    # Where too little was written, or reads do not wait for programs, the last figure lacks.
    figures = zip(seen[0].curve, shown.tolist(), strict=False)
    return tuple(measured - simulated for measured, simulated in figures)


def scores(tried: Tried, calmer: float) -> list[float]:
    """The logarithms of what the true kind and way are given."""
    power = tried.calmer / calmer
    logs = []
    for part in structure.PARTS:
        true, _, _ = structure.choice(tried.drive, part)
        likely = tried.drive.likely[part]
        if true is not None and likely:
            powers = {word: max(value, LEAST) ** power for word, value in likely.items()}
            logs.append(float(np.log(powers[true] / sum(powers.values()))))
    return logs


def calmer_of(drives: Sequence[Tried]) -> float:
    """Under which the truth is most likely."""
    now = float(np.median([drive.calmer for drive in drives]))
    totals = [
        sum(score for drive in drives for score in scores(drive, float(calmer)))
        - TRUST * float(np.log(calmer / now)) ** 2
        for calmer in TRIED
    ]
    return float(TRIED[int(np.argmax(totals))])


def beyond(tried: Tried) -> list[float]:
    """By which share of its value each interval of a rest has to reach beyond it."""
    reaches = []
    for name in structure.RESTS:
        estimate = tried.drive.rests[name]
        if estimate is not None and estimate.low is not None:
            true = structure.true_rest(tried.drive, name)
            reaches.append(max(true / estimate.value, estimate.value / true) - 1)
    return reaches


def wider_of(drives: Sequence[Tried]) -> float:
    """How far 95 % of the intervals have to reach."""
    return _ranked([reach for drive in drives for reach in beyond(drive)])


def _ranked(values: Sequence[float]) -> float:
    """At most so large are 95 % of more such values."""
    at = min(int(np.ceil(HOLDS * (len(values) + 1))), len(values)) - 1
    return sorted(values)[at] if values else 0.0


def reads_of(drives: Sequence[Tried]) -> tuple[float, ...]:
    """The standard deviation of each figure of reads; of waits of single writes where all data
    passes through the cache and no step of folding was fitted to them."""
    known = [(d.apart, d.drive.truth.past == "staged") for d in drives if d.apart is not None]
    noise = []
    for at, least in enumerate(LEAST_NOISE):
        there = [(apart[at], staged) for apart, staged in known if at < len(apart)]
        off = [abs(value) for value, staged in there if at < len(LEAST_NOISE) - 1 or staged]
        usual = float(np.sqrt(np.mean(np.square(off)))) if off else 0.0
        noise.append(max(_ranked(off) / STANDARD, usual, least))
    return tuple(noise)


def left_out(drives: Sequence[Tried], of: Callable[[Sequence[Tried]], Value]) -> list[Value]:
    """The value for each drive that the other drives say."""
    return [of([*drives[:at], *drives[at + 1 :]]) for at in range(len(drives))]
