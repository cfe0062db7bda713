"""Which structures still fit what a drive showed, how likely each is, and which test would tell.

Approximate Bayesian computation with a population of simulated candidates (Sisson, Fan and Tanaka,
PNAS 104, 2007): drawn around what the fill showed, weighted by how far their curves are from the
measured ones, and moved in a few rounds. The distance is the mean absolute difference of the
logarithms of speeds, each held to `FAR`, so that a stall counts as a bin and no more. A structure
weighs as much as the best quarter of its candidates on average: a point in place of an integral,
the same for all structures.

Invariants: probabilities follow from the facts and the curves alone; nothing draws from a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from flashtwin.batteries.discover import candidates as small
from flashtwin.batteries.discover.candidates import Candidate, Facts, Test

Floats = NDArray[np.float64]

SEED = 17
# The distance at which a candidate is as good as one standard deviation off: what is left between
# a drive and its small copy. A choice of this project.
SCALE = 0.08
# A burst of random writes depends on much beside the cache: its distances count a fifth.
RANDOM_COUNTS = 0.2
FAR = 0.5
# A structure less likely than this is simulated no further.
UNLIKELY = 0.01
ROUNDS = 1
PARENTS = 5
CHILDREN = 2
# Below this chance that a test parts two candidates it is not worth its time.
WORTH = 0.01
STEP = 0.05


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

    def quantiles(self, values: Sequence[float], shares: Sequence[float]) -> list[float]:
        """Weighted quantiles of a value that each candidate has."""
        order = np.argsort(values)
        summed = np.cumsum(np.asarray(self.weights)[order])
        at = np.searchsorted(summed, np.asarray(shares) * summed[-1]).clip(0, len(order) - 1)
        return [float(np.asarray(values)[order][place]) for place in at]


def distance(first: Floats, second: Floats, test: Test | None = None) -> float:
    """How far two curves of a test (none: of the fill) are apart."""
    counts = RANDOM_COUNTS if test is not None and test.random else 1.0
    return counts * float(np.minimum(np.abs(first - second), FAR).mean())


@lru_cache(maxsize=64)
def posterior(facts: Facts, seen: tuple[Seen, ...], count: int) -> Posterior:
    """What fits the fill and the tests; `count` candidates of each structure to begin with."""
    rng = np.random.default_rng((SEED, len(seen)))
    known = range(len(small.structures()))
    if not seen:
        pool = [small.drawn(facts, number, rng) for number in known for _ in range(count)]
        population = _weighted(facts, seen, pool, {})
        for _ in range(ROUNDS):
            population = _moved(facts, seen, population, rng, CHILDREN)
        return _normalized(population)
    before = posterior(facts, seen[:-1], count)
    likely = _by_structure(before)
    parents = [
        candidate
        for candidate, _ in _best(
            [
                (candidate, float(np.log(max(weight, 1e-300))))
                for candidate, weight in zip(before.candidates, before.weights, strict=True)
                if likely[candidate.structure] >= UNLIKELY
            ],
            PARENTS,
        )
    ]
    # What the fill does not show is drawn anew: neighbours have other rests before they fold.
    pool = [*parents, *(small.moved(parent, rng, STEP) for parent in parents)]
    return _normalized(_moved(facts, seen, _weighted(facts, seen, pool, {}), rng, CHILDREN))


Weighed = list[tuple[Candidate, float]]


def _weighted(
    facts: Facts, seen: Sequence[Seen], pool: Sequence[Candidate], known: dict[Candidate, float]
) -> Weighed:
    """Candidates with the logarithm of their weight; those in `known` are not simulated again."""
    new = [candidate for candidate in dict.fromkeys(pool) if candidate not in known]
    tests = [small.named(item.test) for item in seen]
    curves = small.simulated(facts, new, tests)
    measured = [np.array(facts.fill), *(np.array(item.curve) for item in seen)]
    for candidate, shown in zip(new, curves, strict=True):
        triples = zip(shown, measured, [None, *tests], strict=True)
        apart = [distance(a, b, test) for a, b, test in triples]
        known[candidate] = -0.5 * float(np.sum(np.square(apart))) / SCALE**2
    return [(candidate, known[candidate]) for candidate in dict.fromkeys(pool)]


def _moved(
    facts: Facts,
    seen: Sequence[Seen],
    population: Weighed,
    rng: np.random.Generator,
    children: int,
) -> Weighed:
    """The population with neighbours of the best of each structure."""
    best = [candidate for candidate, _ in _best(population, PARENTS)]
    pool = [small.moved(parent, rng, STEP) for parent in best for _ in range(children)]
    return [*population, *_weighted(facts, seen, pool, {})]


def _best(population: Weighed, count: int) -> Weighed:
    """The best of each structure, best first."""
    by: dict[int, Weighed] = {}
    for candidate, weight in sorted(population, key=lambda pair: -pair[1]):
        by.setdefault(candidate.structure, []).append((candidate, weight))
    return [pair for number in sorted(by) for pair in by[number][:count]]


def _normalized(population: Weighed) -> Posterior:
    """Each structure as likely as its best quarter fits; its candidates share that."""
    top = max(weight for _, weight in population)
    candidates: list[Candidate] = []
    weights: list[Floats] = []
    for number in sorted({candidate.structure for candidate, _ in population}):
        members = sorted(
            (pair for pair in population if pair[0].structure == number), key=lambda pair: -pair[1]
        )
        values = np.exp(np.array([weight for _, weight in members]) - top)
        quarter = float(values[: max(len(members) // 4, 1)].mean())
        candidates += [candidate for candidate, _ in members]
        weights.append(values * (quarter / max(float(values.sum()), 1e-300)))
    together = np.concatenate(weights)
    return Posterior(candidates=tuple(candidates), weights=tuple(together / together.sum()))


def _by_structure(belief: Posterior) -> dict[int, float]:
    total: dict[int, float] = {}
    for candidate, weight in zip(belief.candidates, belief.weights, strict=True):
        total[candidate.structure] = total.get(candidate.structure, 0.0) + weight
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
        (_parting(facts, seen, sample, weights, test), test.name)
        for test in _candidates(belief, seen, possible)
    ]
    if not scored:
        return None
    score, name = max(scored)
    return (name, score) if score >= WORTH else None


def _candidates(belief: Posterior, seen: Sequence[Seen], possible: Sequence[str]) -> list[Test]:
    """The tests that were not run yet; once a rest was tested also one between what is left."""
    done = {item.test for item in seen}
    tests = [small.named(name) for name in possible if name not in done]
    half = any(small.named(name).half for name in possible)
    if any(small.named(name).rest_s and small.named(name).half is half for name in done):
        low, high = belief.quantiles([item.idle_s for item in belief.candidates], (0.1, 0.9))
        between = small.rest_of(float(np.sqrt(low * high)), half=half)
        if high > 1.3 * low and between.name not in done:
            tests.append(between)
    return tests


def _sample(belief: Posterior) -> tuple[list[Candidate], Floats]:
    """Two candidates of each structure that is left, which share its probability: of those that
    fit, the two at the ends of the rests."""
    likely = _by_structure(belief)
    sample: list[Candidate] = []
    weights: list[float] = []
    pairs = list(zip(belief.candidates, belief.weights, strict=True))
    for number, probability in likely.items():
        members = sorted((p for p in pairs if p[0].structure == number), key=lambda p: -p[1])
        if probability < UNLIKELY or not members:
            continue
        good = [candidate for candidate, weight in members if weight >= 0.1 * members[0][1]]
        ends = (min(good, key=lambda c: c.idle_s), max(good, key=lambda c: c.idle_s))
        ends_only = list(dict.fromkeys(ends))
        sample += ends_only
        weights += [probability / len(ends_only)] * len(ends_only)
    return sample, np.array(weights)


def _parting(
    facts: Facts, seen: Sequence[Seen], sample: list[Candidate], weights: Floats, test: Test
) -> float:
    """The chance that two candidates drawn by their weights are told apart by a test."""
    tests = [*(small.named(item.test) for item in seen), test]
    curves = [shown[-1] for shown in small.simulated(facts, sample, tests)]
    total = 0.0
    for a, b in combinations(range(len(sample)), 2):
        apart = distance(curves[a], curves[b], test) / SCALE
        # Those of one structure differ in their rests only, which is half of the question.
        share = 1.0 if sample[a].structure != sample[b].structure else 0.5
        total += 2 * share * float(weights[a] * weights[b]) * (1 - np.exp(-(apart**2) / 4))
    return total
