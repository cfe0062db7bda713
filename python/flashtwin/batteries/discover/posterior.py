"""Which structures still fit what a drive showed, how likely each is, and which test would tell.

Approximate Bayesian computation with a population of simulated candidates (Sisson, Fan and Tanaka,
PNAS 104, 2007): drawn around what the fill showed, weighted by how well their curves fit the
measured ones, and moved in a few rounds. A curve fits bin by bin: a bin counts as apart by what its
speed lies outside of the candidate's in this bin and its neighbours (a small drive's edges lie a
bin off), with a tail so that a stall costs a bin and no more; bins add up, so that a cache of a few
bins weighs as much as it is seen. A structure weighs as much as its best few candidates on average,
times the share that fits of the range of each value that only it has; kinds are equally likely
before anything is measured.

Invariants: probabilities follow from the facts and the curves alone; nothing draws from a clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.batteries.discover import candidates as small
from flashtwin.batteries.discover import levels, places
from flashtwin.batteries.discover import tests as known_tests
from flashtwin.batteries.discover.candidates import Candidate, Facts
from flashtwin.batteries.discover.tests import Test
from flashtwin.hypothesis import distance
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.hypothesis.structures import FOLD_FIRST, HYBRID, STAGED, TIERS
from flashtwin.inputs import read_toml
from flashtwin.model.target import Capabilities

Floats = NDArray[np.float64]

SEED = 17
DATA = Path(__file__).with_name("calibration.toml")
# Standard deviations of how much faster or slower all of a test's fast bins, or its slow ones, are
# than the fill says, as logarithms, and the most that is allowed for.
FAST_OFF, SLOW_OFF, MOST_OFF = 0.15, 0.1, 0.35
# After random writes nothing slower than this share of the speed past the cache counts.
COLLECTS = 0.9
# What a small drive's buffer takes at the beginning of a test, as a share of its capacity.
BUFFERED = 0.0012
# So many drives have more flash over their capacity than 12 %: a reserve of less than this stands
# for that (`candidates.flash`).
MUCH_FLASH, LEAST_RESERVE = 0.1, 0.0
# In so many tests something that is not the drive slows a write down for a while.
DISTURBANCES = 0.2
# So often one of the figures that reads after a write past the cache say is something else.
MISREAD = 0.002
# The share of drives in which reads of both kinds of cells take alike beside what else they take.
ALIKE = 0.03
# A curve of the right structure fits about so well; what fits worse is off for other reasons.
EXPECTED = 5.0
# Steps of folding that are tried where reads were followed by single writes.
STEPS = 8
# A test that no candidate fits better than this is run again.
UNFIT = -22.0
# A structure less likely than this is simulated no further.
UNLIKELY = 0.0005
ROUNDS = 2
PARENTS, CHILDREN, FRESH, TRANSPLANTED = 4, 2, 3, 3
# Of each structure so many of the new candidates are simulated on all tests.
MOST_NEW = 7
BEST = 3
# A range is looked at in so many parts.
PARTS = 5
# What is left of a borrowed cache at the levels that are asked for, as shares of the capacity.
SMALL = (0.004, 0.012)
# Of so many candidates it is asked on which test they differ.
SAMPLE = 6
# Below this chance that a test parts two candidates it is not worth its time.
WORTH = 0.02
STEP = 0.06


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A test that was run, and the curve that it showed, without stretches that were slower for a
    while; `slower`: with them, empty where there were none. They are the host's, or heat; or the
    drive's, which folds before it takes data as fast again."""

    test: str
    curve: tuple[float, ...]
    slower: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Posterior:
    """Candidates with their weights, which add up to 1 over all, and over a structure to its
    probability. `last_fit`: how well the last test fits the candidate that fits it best."""

    candidates: tuple[Candidate, ...]
    weights: tuple[float, ...]
    last_fit: float = 0.0

    def by(self, part: int) -> dict[str, float]:
        """Probabilities of the names of structures (0), or of what is past the cache (1)."""
        known = small.structures()
        total = {pair[part]: 0.0 for pair in known}
        for candidate, weight in zip(self.candidates, self.weights, strict=True):
            total[known[candidate.structure][part]] += weight
        return total

    def without(self, name: str) -> Posterior:
        """The same where structures of that name weigh nothing."""
        return self._of(lambda other: other != name)

    def only(self, name: str) -> Posterior:
        """The same where structures of other names weigh nothing."""
        return self._of(lambda other: other == name)

    def _of(self, counts: Callable[[str], bool]) -> Posterior:
        known = small.structures()
        pairs = zip(self.candidates, self.weights, strict=True)
        left = [(c, weight) for c, weight in pairs if counts(known[c.structure][0])]
        total = sum(weight for _, weight in left) or 1.0
        return Posterior(
            candidates=tuple(c for c, _ in left), weights=tuple(w / total for _, w in left)
        )

    def quantiles(self, values: Sequence[float], shares: Sequence[float]) -> list[float]:
        """Weighted quantiles of a value that each candidate has."""
        order = np.argsort(values)
        summed = np.cumsum(np.asarray(self.weights)[order])
        at = np.searchsorted(summed, np.asarray(shares) * summed[-1]).clip(0, len(order) - 1)
        return [float(np.asarray(values)[order][place]) for place in at]


@lru_cache(maxsize=1)
def calibration() -> dict[str, Any]:
    """What makes probabilities and intervals hold as often as they say; see the file."""
    return read_toml(DATA)


def reads_noise() -> Floats:
    """Standard deviations of what reads after a write past the cache say (`places.pattern`), and of
    how many programs long single writes wait (`latency.in_programs`)."""
    return np.array(calibration()["reads"]["noise"])


def fit(facts: Facts, measured: Floats, shown: Floats, test: Test | None = None) -> float:
    """How well a candidate's curve of a test fits (none: of the fill), as a logarithm up to 0."""
    if test is not None and test.reads:
        # Waits of single writes lack where either says nothing of them.
        count = min(len(measured), len(shown))
        apart = (measured[:count] - shown[:count]) / reads_noise()[:count]
        # What reads say is not calmed: nothing that slows a host's writes is in it.
        logs = float(distance.tailed(apart, MISREAD).sum())
        if not places.is_apart(measured[:count]):
            logs = max(logs, float(np.log(ALIKE)))
        return logs * float(calibration()["structure"]["calmer"])
    if test is not None and test.overwrites:
        # What is slower than past the cache is collection's doing, and says nothing of the cache.
        least = np.log(COLLECTS * facts.second)
        measured, shown = np.maximum(measured, least), np.maximum(shown, least)
    if test is not None:
        # The buffer of a small drive is larger against it, and takes the first of a write.
        from_here = int((small.bin_ends(facts, test) <= BUFFERED).sum())
        if from_here == len(shown):
            return 0.0  # all of it goes to the buffer, and tells nothing
        measured, shown = measured[from_here:], shown[from_here:]
        shown, off = _as_fast(measured, shown, facts)
    else:
        off = 0.0
    return distance.log_likelihood(measured, shown) - off


def _as_fast(measured: Floats, shown: Floats, facts: Facts) -> tuple[Floats, float]:
    """A candidate's curve with its fast and its slow bins as fast as the measured ones in the
    middle, and what that costs: where a cache ends tells of its kind, and a host that was slow in
    the fill makes all tests look fast."""
    shown, cost = shown.copy(), 0.0
    fast = shown > 0.5 * np.log(facts.second)
    for part, spread in ((fast, FAST_OFF), (~fast, SLOW_OFF)):
        if part.any():
            off = float(np.clip(np.median(measured[part] - shown[part]), -MOST_OFF, MOST_OFF))
            shown[part] += off
            cost += 0.5 * (off / spread) ** 2
    return shown, cost


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
        return _normalized(population, seen)
    before = posterior(facts, seen[:-1], count)
    likely = _by_structure(before)
    pairs = zip(before.candidates, before.weights, strict=True)
    # Reads are the first to say whether data goes past the cache or through it. Until then none is
    # given up: of the kinds that fit the fill only with the other way hardly anything would be
    # left, and the kind that has both would win.
    asks = known_tests.named(seen[-1].test).reads and not any(
        known_tests.named(item.test).reads for item in seen[:-1]
    )
    alive = [
        (c, float(np.log(max(w, 1e-300))))
        for c, w in pairs
        if asks or likely[c.structure] > UNLIKELY
    ]
    pool = [candidate for candidate, _ in _best(alive, PARENTS)]
    # What nothing has shown so far is drawn anew: the best may lie elsewhere.
    kinds = sorted({candidate.structure for candidate in pool})
    pool += [small.drawn(facts, number, rng) for number in kinds for _ in range(FRESH)]
    sizes = _sizes(facts, seen)
    pool += [item for c, _ in _best(alive, 1) for item in levels.proposed(facts, sizes, c)]
    if known_tests.named(seen[-1].test).reads:
        pool += [replace(c, step_mib=step) for c in _folding_first(pool) for step in _steps_mib()]
        pool += [replace(c, buffer_kib=kib) for c in pool for kib in small.BUFFERS_KIB]
    population = _fits(facts, seen, pool)
    for _ in range(ROUNDS):
        population |= _moved(facts, seen, population, rng)
    return _normalized(population, seen)


def _sizes(facts: Facts, seen: Sequence[Seen]) -> list[tuple[float, float]]:
    """Levels that were tested after a rest, and the sizes of the cache there."""
    pairs = [(item.curve, known_tests.named(item.test)) for item in seen]
    return [
        (test.level + test.overwrites, levels.size_seen(facts, curve, test))
        for curve, test in pairs
        if test.rests
    ]


def _folding_first(pool: Sequence[Candidate]) -> list[Candidate]:
    """The first of each structure that folds before it takes more."""
    known = small.structures()
    firsts = {c.structure: c for c in reversed(pool) if known[c.structure][1] == FOLD_FIRST}
    return list(firsts.values())


def _steps_mib() -> list[float]:
    low, high = hypothesis.values()["step"].ends
    return [float(step) for step in np.geomspace(low, high, STEPS)]


Weighed = list[tuple[Candidate, float]]
# How well each candidate fits the fill and each test, as logarithms.
Fits = dict[Candidate, tuple[float, ...]]


def _fits(facts: Facts, seen: Sequence[Seen], pool: Sequence[Candidate]) -> Fits:
    """How well each fits everything that was seen; of many, of those that fit the fill and the last
    test best."""
    pool = list(dict.fromkeys(pool))
    if len(seen) >= 2:
        tried = _fits_of(facts, (seen[-1],), pool)
        by: dict[int, Weighed] = {}
        for candidate, values in tried.items():
            by.setdefault(candidate.structure, []).append((candidate, sum(values)))
        pool = [
            candidate
            for members in by.values()
            for candidate, _ in sorted(members, key=lambda pair: -pair[1])[:MOST_NEW]
        ]
    return _fits_of(facts, seen, pool)


def _fits_of(facts: Facts, seen: Sequence[Seen], pool: Sequence[Candidate]) -> Fits:
    tests = [known_tests.named(item.test) for item in seen]
    curves = _curves(facts, pool, tests)
    fill = np.array(facts.fill)
    return {
        candidate: (
            fit(facts, fill, shown[0]),
            *(_test_fit(facts, item, b) for item, b in zip(seen, shown[1:], strict=True)),
        )
        for candidate, shown in zip(pool, curves, strict=True)
    }


def _test_fit(facts: Facts, item: Seen, shown: Floats) -> float:
    """How well a candidate's curve of a test fits, whosever the stretches are that were slower for
    a while."""
    test = known_tests.named(item.test)
    value = fit(facts, np.array(item.curve), shown, test)
    if not item.slower:
        return value
    value += float(np.log(DISTURBANCES) * calibration()["structure"]["calmer"])
    return max(value, fit(facts, np.array(item.slower), shown, test))


def _weighed(population: Fits, seen: Sequence[Seen]) -> Weighed:
    """Candidates with the logarithm of their weight. A test that not even the best of all fits says
    as much less as it is off: what is off is the host, or what the structures do not know. Of a
    test that was run twice the run counts that fits better."""
    table = np.array(list(population.values()))
    best = table.max(axis=0)
    counts = np.ones(len(best))
    names = ["", *(item.test for item in seen)]
    for at, name in enumerate(names):
        if any(best[k] > best[at] or (best[k] == best[at] and k < at) for k in _same(names, name)):
            counts[at] = 0.0
    scale = np.maximum(-best / np.array([_expected(name) for name in names]), 1.0)
    # Nothing but the flash itself says how much of it there is: few drives have much.
    seldom = float(np.log(MUCH_FLASH) * calibration()["structure"]["calmer"])
    priors = np.array([seldom * (c.reserve_share < LEAST_RESERVE) for c in population])
    weights = (table * counts / scale).sum(axis=1) + priors
    return list(zip(population, weights.tolist(), strict=True))


def _expected(name: str) -> float:
    """How well the right structure fits a test; what reads say is not calmed (`fit`)."""
    reads = bool(name) and known_tests.named(name).reads
    return EXPECTED * (float(calibration()["structure"]["calmer"]) if reads else 1.0)


def _same(names: Sequence[str], name: str) -> list[int]:
    return [at for at, other in enumerate(names) if other == name]


@lru_cache(maxsize=2)
def _filled(facts: Facts) -> dict[Candidate, tuple[Floats, float]]:
    """The fills of what was simulated for a drive so far, with the speeds of their beginnings."""
    return {}


@lru_cache(maxsize=2)
def _simulated(facts: Facts) -> dict[tuple[Candidate, str], Floats]:
    """The same of tests, by the test's name."""
    return {}


def _curves(facts: Facts, pool: Sequence[Candidate], tests: Sequence[Test]) -> list[list[Floats]]:
    """Curves of the fill and of tests; what was simulated before is not again."""
    filled, memo = _filled(facts), _simulated(facts)
    pool = list(pool)
    lacking = [candidate for candidate in dict.fromkeys(pool) if candidate not in filled]
    filled |= dict(zip(lacking, small.fills(facts, lacking), strict=True))
    pairs = [
        (candidate, test)
        for candidate in dict.fromkeys(pool)
        for test in tests
        if (candidate, test.name) not in memo
    ]
    questions = [(candidate, test, filled[candidate][1]) for candidate, test in pairs]
    curves = small.simulated(facts, questions)
    memo |= {(c, test.name): curve for (c, test), curve in zip(pairs, curves, strict=True)}
    return [[filled[c][0], *(memo[c, test.name] for test in tests)] for c in pool]


def _moved(facts: Facts, seen: Sequence[Seen], population: Fits, rng: np.random.Generator) -> Fits:
    """Neighbours of the best of each structure; and the best of all in every other structure:
    values that fit well in one may in another too."""
    weighed = _weighed(population, seen)
    best = [candidate for candidate, _ in _best(weighed, PARENTS)]
    kinds = sorted({candidate.structure for candidate in best})
    tops = [c for c, _ in sorted(weighed, key=lambda pair: -pair[1])[:TRANSPLANTED]]
    pool = [small.moved(facts, parent, rng, STEP) for parent in best for _ in range(CHILDREN)]
    pool += [replace(top, structure=number) for top in tops for number in kinds]
    return _fits(facts, seen, [candidate for candidate in pool if candidate not in population])


def _best(population: Weighed, count: int) -> Weighed:
    """The best of each structure, best first."""
    by: dict[int, Weighed] = {}
    for candidate, weight in sorted(population, key=lambda pair: -pair[1]):
        by.setdefault(candidate.structure, []).append((candidate, weight))
    return [pair for number in sorted(by) for pair in by[number][:count]]


def _normalized(fits: Fits, seen: Sequence[Seen]) -> Posterior:
    """Each structure as likely as its best fit, made calmer as calibration says, and as much of the
    range of values that only some structures have as fits; its candidates share that by their own
    weights."""
    population = _weighed(fits, seen)
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
        for values, ends in _own_values(number, [candidate for candidate, _ in members]):
            probability *= _fitting(values, (logs - logs[0]) / calmer, ends)
        shares = np.exp((logs - logs[0]) / calmer)
        candidates += [candidate for candidate, _ in members]
        weights.append(shares * (probability / float(shares.sum())))
    together = np.concatenate(weights)
    return Posterior(
        candidates=tuple(candidates),
        weights=tuple(together / together.sum()),
        last_fit=max(values[-1] for values in fits.values()),
    )


def _own_values(
    number: int, members: Sequence[Candidate]
) -> Iterator[tuple[Floats, Sequence[float]]]:
    """The values that a structure has and others have not, with their ranges: one that can be
    anything explains more, and has to be less likely for it."""
    name, past = small.structures()[number]
    free = hypothesis.values()
    if name == HYBRID:
        yield np.array([candidate.static_share for candidate in members]), free["static"].ends
    if name == TIERS:
        # A tier that finds no room beside the first one is the smallest, whatever was drawn.
        held = np.array([small.tier_held(candidate) for candidate in members])
        yield np.maximum(held, free["tier"].ends[0]), free["tier"].ends
        yield np.array([candidate.tier_speed for candidate in members]), free["tier_speed"].ends
    if past == FOLD_FIRST:
        yield np.array([candidate.step_mib for candidate in members]), free["step"].ends


def _fitting(values: Floats, logs: Floats, ends: Sequence[float]) -> float:
    """Which share of a range fits as well as the best value, on a logarithmic scale: the mean over
    parts of it of the best weight in each."""
    places = (np.log(values) - np.log(ends[0])) / (np.log(ends[1]) - np.log(ends[0]))
    parts = np.clip((places * PARTS).astype(np.int64), 0, PARTS - 1)
    best = np.zeros(PARTS)
    np.maximum.at(best, parts, np.exp(logs))
    return float(best.mean())


def _by_structure(belief: Posterior) -> dict[int, float]:
    total: dict[int, float] = dict.fromkeys(range(len(small.structures())), 0.0)
    for candidate, weight in zip(belief.candidates, belief.weights, strict=True):
        total[candidate.structure] += weight
    return total


@lru_cache(maxsize=64)
def chosen(
    facts: Facts,
    seen: tuple[Seen, ...],
    count: int,
    can: Capabilities,
    part: int | None = None,
) -> tuple[str, float] | None:
    """The test on which what still fits disagrees most, and the chance that it parts two
    candidates; none where no test would. A test that nothing fits is run once more: what slowed the
    host down then will hardly do so again. `part`: only candidates count that differ in the names
    of structures (0), or in what is past the cache (1)."""
    belief = posterior(facts, seen, count)
    names = [item.test for item in seen]
    if seen and belief.last_fit < UNFIT and names.count(names[-1]) == 1:
        return names[-1], 1.0
    sample, weights = _sample(belief)
    done = {item.test for item in seen}
    tests = [
        test
        for test in known_tests.menu(can, _levels(facts, belief))
        if test.name not in done and (facts.begin_s is not None or not test.rests)
    ]
    scored = [(_parting(facts, sample, weights, test, part), test.name) for test in tests]
    if not scored:
        return None
    score, name = max(scored)
    return (name, score) if score >= WORTH else None


def _levels(facts: Facts, belief: Posterior) -> list[float]:
    """Levels in percent at which a borrowed cache would be small, by the candidates that fit best:
    there one that has blocks of its own too is larger or gone."""
    order = np.argsort(belief.weights)[::-1][:BEST]
    tops = [belief.candidates[at] for at in order]
    return [100 * small.level_with(candidate, left) for candidate in tops for left in SMALL]


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
        good = members[:each]
        total = sum(weight for _, weight in good)
        sample += [candidate for candidate, _ in good]
        weights += [probability * weight / total for _, weight in good]
    return sample, np.array(weights)


def _as_drawn(kind: tuple[str, str], part: int | None) -> tuple[str, ...]:
    """A structure, or a part of its name, as curves of writes show it."""
    name, past = kind
    shown = (name, STAGED if past == FOLD_FIRST else past)
    return shown if part is None else shown[part : part + 1]


def _parting(
    facts: Facts, sample: list[Candidate], weights: Floats, test: Test, part: int | None
) -> float:
    """The chance that two candidates that differ, drawn by their weights, are told apart by a
    test. How large a step of folding is shows in no test but single writes, so that a drive that
    stages and one that folds first draw the same curve in all others."""
    known = small.structures()
    kinds = [_as_drawn(known[c.structure], part) for c in sample]
    curves = [shown[-1] for shown in _curves(facts, sample, [test])]
    total = 0.0
    for a, b in combinations(range(len(sample)), 2):
        apart = -fit(facts, curves[a], curves[b], test) / calibration()["structure"]["calmer"]
        if kinds[a] != kinds[b]:
            total += 2 * float(weights[a] * weights[b]) * (1 - np.exp(-apart / 2))
    return total
