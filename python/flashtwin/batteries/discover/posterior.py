"""Which structures still fit what a drive showed, how likely each is, and which test would tell.

Approximate Bayesian computation with a population of simulated candidates (Sisson, Fan and Tanaka,
PNAS 104, 2007): drawn around what the fill showed, weighted by how well their curves fit the
measured ones, and moved in a few rounds. A curve fits bin by bin: a bin counts as apart by what its
speed lies outside of the candidate's in this bin and its neighbours (a small drive's edges lie a
bin off), with a tail so that a stall costs a bin and no more; bins add up, so that a cache of a few
bins weighs as much as it is seen. The rest before folding is then gone through on a grid for the
best of each structure. A structure weighs as much as its best few candidates on average: a point in
place of an integral, the same for all; kinds are equally likely before anything is measured.

Invariants: probabilities follow from the facts and the curves alone; nothing draws from a clock.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.batteries.discover import candidates as small
from flashtwin.batteries.discover.candidates import Candidate, Facts, Test

Floats = NDArray[np.float64]

SEED = 17
DATA = Path(__file__).with_name("calibration.toml")
# The standard deviation of a bin's logarithm of speed, by noise and by what is left between a drive
# and its small copy; within a bin's reach a difference counts so much; so many bins are disturbed;
# and neighbouring bins say the same: so much of a bin's weight is its own.
NOISE, WITHIN, DISTURBED, OWN = 0.06, 0.2, 0.03, 0.5
# After random writes nothing slower than this share of the speed past the cache counts.
COLLECTS = 0.9
# Bins at the beginning of a test that a small drive's buffer takes.
BUFFERED = 2
# The same of the logarithm of how long single requests wait.
WAITS_NOISE = 0.2
# A curve of the right structure fits about so well; what fits worse is off for other reasons.
EXPECTED = 5.0
# A structure less likely than this is simulated no further.
UNLIKELY = 0.0005
ROUNDS = 2
PARENTS, CHILDREN = 4, 2
BEST = 3
# Rests before folding that are tried for each of the best.
GRID, GRID_PARENTS = 9, 2
# A candidate of a structure counts among those that fit with this share of the best one's weight.
FITS = 0.05
# Of so many candidates it is asked on which test they differ.
SAMPLE = 10
# Below this chance that a test parts two candidates it is not worth its time.
WORTH = 0.02
STEP = 0.06
# A kind that is known to half of what is left open is not yet known: rests count as a part of it.
REST_COUNTS = 0.2


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A test that was run, and the curve that it showed."""

    test: str
    curve: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """Candidates with their weights, which add up to 1 over all, and over a structure to its
    probability."""

    candidates: tuple[Candidate, ...]
    weights: tuple[float, ...]

    def by(self, part: int) -> dict[str, float]:
        """Probabilities of the names of structures (0), or of what is past the cache (1)."""
        known = small.structures()
        total = {pair[part]: 0.0 for pair in known}
        for candidate, weight in zip(self.candidates, self.weights, strict=True):
            total[known[candidate.structure][part]] += weight
        return total

    def without(self, name: str) -> Posterior:
        """The same where structures of that name weigh nothing."""
        known = small.structures()
        pairs = zip(self.candidates, self.weights, strict=True)
        left = [(c, weight) for c, weight in pairs if known[c.structure][0] != name]
        total = sum(weight for _, weight in left) or 1.0
        return Posterior(
            candidates=tuple(c for c, _ in left), weights=tuple(w / total for _, w in left)
        )

    def even_in_rests(self) -> Posterior:
        """The same with rests before folding as likely as they fit, however many candidates have
        each: neighbours crowd around what fitted first."""
        idle = np.round(np.log([item.idle_s for item in self.candidates]), 2)
        places, of = np.unique(idle, return_inverse=True)
        weights = np.asarray(self.weights)
        best, total = np.zeros(len(places)), np.zeros(len(places))
        np.maximum.at(best, of, weights)
        np.add.at(total, of, weights)
        gaps = np.gradient(places) if len(places) > 1 else np.ones(1)
        even = weights / np.maximum(total, 1e-300)[of] * (best * gaps)[of]
        return replace(self, weights=tuple(even / even.sum()))

    def quantiles(self, values: Sequence[float], shares: Sequence[float]) -> list[float]:
        """Weighted quantiles of a value that each candidate has."""
        order = np.argsort(values)
        summed = np.cumsum(np.asarray(self.weights)[order])
        at = np.searchsorted(summed, np.asarray(shares) * summed[-1]).clip(0, len(order) - 1)
        return [float(np.asarray(values)[order][place]) for place in at]


@lru_cache(maxsize=1)
def calibration() -> dict[str, Any]:
    """What makes probabilities and intervals hold as often as they say; see the file."""
    return tomllib.loads(DATA.read_text())


def fit(facts: Facts, measured: Floats, shown: Floats, test: Test | None = None) -> float:
    """How well a candidate's curve of a test fits (none: of the fill), as a logarithm up to 0."""
    if test is not None and test.single:
        apart = np.abs(measured - shown) / WAITS_NOISE
        return float(np.log((1 - DISTURBED) * np.exp(-0.5 * apart[0] ** 2) + DISTURBED))
    if test is not None and test.random:
        # What is slower than past the cache is collection's doing, and says nothing of the cache.
        least = np.log(COLLECTS * facts.second)
        measured, shown = np.maximum(measured, least), np.maximum(shown, least)
    if test is not None:
        # The buffer of a small drive is larger against it, and takes the first of a write.
        measured, shown = measured[BUFFERED:], shown[BUFFERED:]
    padded = np.pad(shown, 1, mode="edge")
    around = np.stack((padded[:-2], shown, padded[2:]))
    outside = np.maximum(np.maximum(around.min(0) - measured, measured - around.max(0)), 0.0)
    apart = np.hypot(outside, WITHIN * (measured - shown)) / NOISE
    logs = np.log((1 - DISTURBED) * np.exp(-0.5 * np.square(apart)) + DISTURBED)
    return OWN * float(logs.sum())


@lru_cache(maxsize=64)
def posterior(facts: Facts, seen: tuple[Seen, ...], count: int) -> Posterior:
    """What fits the fill and the tests; `count` candidates of each structure to begin with."""
    rng = np.random.default_rng((SEED, len(seen)))
    structures = range(len(small.structures()))
    if not seen:
        pool = [small.drawn(facts, number, rng) for number in structures for _ in range(count)]
        population = _fits(facts, seen, pool)
        for _ in range(ROUNDS):
            population |= _moved(facts, seen, population, rng)
        return _normalized(population)
    before = posterior(facts, seen[:-1], count)
    likely = _by_structure(before)
    pairs = zip(before.candidates, before.weights, strict=True)
    alive = [(c, float(np.log(max(w, 1e-300)))) for c, w in pairs if likely[c.structure] > UNLIKELY]
    parents = [candidate for candidate, _ in _best(alive, PARENTS)]
    # What the fill does not show is drawn anew: neighbours have other rests before they fold.
    pool = [*parents, *(small.moved(c, rng, STEP) for c in parents for _ in range(CHILDREN))]
    population = _fits(facts, seen, pool)
    population |= _moved(facts, seen, population, rng)
    if small.named(seen[-1].test).rest_s:
        population = _rested(facts, seen, population)
    return _normalized(population)


Weighed = list[tuple[Candidate, float]]
# How well each candidate fits the fill and each test, as logarithms.
Fits = dict[Candidate, tuple[float, ...]]


def _fits(facts: Facts, seen: Sequence[Seen], pool: Sequence[Candidate]) -> Fits:
    tests = [small.named(item.test) for item in seen]
    measured = [np.array(facts.fill), *(np.array(item.curve) for item in seen)]
    pool = list(dict.fromkeys(pool))
    curves = _curves(facts, pool, tests)
    return {
        candidate: tuple(
            fit(facts, a, b, test)
            for a, b, test in zip(measured, shown, [None, *tests], strict=True)
        )
        for candidate, shown in zip(pool, curves, strict=True)
    }


def _weighed(population: Fits) -> Weighed:
    """Candidates with the logarithm of their weight. A test that not even the best of all fits says
    as much less as it is off: what is off is the host, or what the structures do not know."""
    table = np.array(list(population.values()))
    scale = np.maximum(-table.max(axis=0) / EXPECTED, 1.0)
    return list(zip(population, (table / scale).sum(axis=1).tolist(), strict=True))


@lru_cache(maxsize=2)
def _simulated(facts: Facts) -> dict[tuple[Candidate, str], Floats]:
    """The curves of what was simulated for a drive so far, by the test's name; empty: the fill."""
    return {}


def _curves(facts: Facts, pool: Sequence[Candidate], tests: Sequence[Test]) -> list[list[Floats]]:
    """Curves of the fill and of tests; what was simulated before is not again."""
    memo = _simulated(facts)
    lacking: dict[tuple[str, ...], list[Candidate]] = {}
    for candidate in dict.fromkeys(pool):
        names = tuple(test.name for test in tests if (candidate, test.name) not in memo)
        if names or (candidate, "") not in memo:
            lacking.setdefault(names, []).append(candidate)
    for names, members in lacking.items():
        played = [small.named(name) for name in names]
        for candidate, curves in zip(members, small.simulated(facts, members, played), strict=True):
            memo |= {(candidate, n): curve for n, curve in zip(("", *names), curves, strict=True)}
    return [[memo[c, ""], *(memo[c, test.name] for test in tests)] for c in pool]


def _moved(facts: Facts, seen: Sequence[Seen], population: Fits, rng: np.random.Generator) -> Fits:
    """Neighbours of the best of each structure."""
    best = [candidate for candidate, _ in _best(_weighed(population), PARENTS)]
    return _fits(
        facts, seen, [small.moved(parent, rng, STEP) for parent in best for _ in range(CHILDREN)]
    )


def _rested(facts: Facts, seen: Sequence[Seen], population: Fits) -> Fits:
    """With the best of each structure once for each rest before folding: first of all that may be,
    then of those between the neighbours of the ones that fit."""
    low, high = small.table()["ranges"]["idle_s"]
    least = np.log(FITS) * calibration()["structure"]["calmer"]
    grid = np.geomspace(low, high, GRID)
    for parents in (GRID_PARENTS, 1):
        best = [candidate for candidate, _ in _best(_weighed(population), parents)]
        pool = [replace(candidate, idle_s=float(rest)) for candidate in best for rest in grid]
        population = population | _fits(facts, seen, pool)
        idle = sorted({candidate.idle_s for candidate in population})
        weighed = _weighed(population)
        top = max(weight for _, weight in weighed)
        fits = [candidate.idle_s for candidate, weight in weighed if weight >= top + least]
        low = idle[max(idle.index(min(fits)) - 1, 0)]
        high = idle[min(idle.index(max(fits)) + 1, len(idle) - 1)]
        grid = np.geomspace(low, high, GRID)
    return population


def _best(population: Weighed, count: int) -> Weighed:
    """The best of each structure, best first."""
    by: dict[int, Weighed] = {}
    for candidate, weight in sorted(population, key=lambda pair: -pair[1]):
        by.setdefault(candidate.structure, []).append((candidate, weight))
    return [pair for number in sorted(by) for pair in by[number][:count]]


def _normalized(fits: Fits) -> Posterior:
    """Each structure as likely as its best fit, made calmer as calibration says; its candidates
    share that by their own weights."""
    population = _weighed(fits)
    calmer = calibration()["structure"]["calmer"]
    rows = small.structures()
    kinds = Counter(name for name, _ in rows)
    top = max(weight for _, weight in population)
    candidates: list[Candidate] = []
    weights: list[Floats] = []
    for number in sorted({candidate.structure for candidate, _ in population}):
        members = sorted(
            (pair for pair in population if pair[0].structure == number), key=lambda pair: -pair[1]
        )
        logs = np.array([weight for _, weight in members]) - top
        best = float(np.log(np.mean(np.exp(logs[:BEST] - logs[0])))) + float(logs[0])
        probability = np.exp(best / calmer) / kinds[rows[number][0]]
        shares = np.exp((logs - logs[0]) / calmer)
        candidates += [candidate for candidate, _ in members]
        weights.append(shares * (probability / float(shares.sum())))
    together = np.concatenate(weights)
    return Posterior(candidates=tuple(candidates), weights=tuple(together / together.sum()))


def _by_structure(belief: Posterior) -> dict[int, float]:
    total: dict[int, float] = dict.fromkeys(range(len(small.structures())), 0.0)
    for candidate, weight in zip(belief.candidates, belief.weights, strict=True):
        total[candidate.structure] += weight
    return total


@lru_cache(maxsize=64)
def chosen(
    facts: Facts, seen: tuple[Seen, ...], count: int, possible: tuple[str, ...]
) -> tuple[str, float] | None:
    """The test on which what still fits disagrees most, and the chance that it parts two
    candidates; none where no test would."""
    belief = posterior(facts, seen, count)
    sample, weights = _sample(belief)
    scored = [
        (_parting(facts, sample, weights, test), test.name)
        for test in _candidates(belief, seen, possible)
    ]
    if not scored:
        return None
    score, name = max(scored)
    return (name, score) if score >= WORTH else None


def _candidates(belief: Posterior, seen: Sequence[Seen], possible: Sequence[str]) -> list[Test]:
    """The tests that were not run yet; once a rest was tested also some between what is left."""
    done = {item.test for item in seen}
    tests = [small.named(name) for name in possible if name not in done]
    half = any(small.named(name).half for name in possible)
    if any(small.named(name).rest_s and small.named(name).half is half for name in done):
        belief = belief.even_in_rests()
        idle = [item.idle_s for item in belief.candidates]
        low, middle, high = belief.quantiles(idle, (0.05, 0.5, 0.95))
        # Half of what is left has begun to fold by the middle one.
        between = (float(np.sqrt(low * high)), 1.05 * middle)
        named = [small.rest_of(rest, half=half) for rest in between]
        if high > 1.3 * low:
            tests += [test for test in named if test.name not in done]
    return tests


def _sample(belief: Posterior) -> tuple[list[Candidate], Floats]:
    """Candidates that fit, at most `SAMPLE`: of each structure that is left some over the rests
    before they fold, which share its probability."""
    likely = {n: p for n, p in _by_structure(belief).items() if p >= 0.02}
    each = max(SAMPLE // len(likely), 2)
    sample: list[Candidate] = []
    weights: list[float] = []
    pairs = list(zip(belief.candidates, belief.weights, strict=True))
    for number, probability in likely.items():
        members = sorted((p for p in pairs if p[0].structure == number), key=lambda p: -p[1])
        good = [candidate for candidate, weight in members if weight >= 0.1 * members[0][1]]
        good.sort(key=lambda candidate: candidate.idle_s)
        places = np.unique(np.linspace(0, len(good) - 1, each).round().astype(int))
        sample += [good[place] for place in places]
        weights += [probability / len(places)] * len(places)
    return sample, np.array(weights)


def _parting(facts: Facts, sample: list[Candidate], weights: Floats, test: Test) -> float:
    """The chance that two candidates drawn by their weights are told apart by a test right after
    the fill."""
    curves = [shown[-1] for shown in _curves(facts, sample, [test])]
    total = 0.0
    for a, b in combinations(range(len(sample)), 2):
        apart = -fit(facts, curves[a], curves[b], test) / calibration()["structure"]["calmer"]
        # Those of one structure differ in their rests only, which is a part of the question.
        share = 1.0 if sample[a].structure != sample[b].structure else REST_COUNTS
        total += 2 * share * float(weights[a] * weights[b]) * (1 - np.exp(-apart / 2))
    return total
