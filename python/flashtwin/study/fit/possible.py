"""Drives that a run leaves possible: answers that rest on a twin are simulated on these too.

Each is drawn around the best of some kind by the normal distribution that slopes and prior give
(Laplace), and has the weight that its own misfit gives it. The run counts for 1 / `CALMER` of what
its noise says: a drive of another maker is no candidate, and differs from the best of these by more
than noise.

Source of the numbers: drives whose firmware no candidate has (`flashtwin_lab.proof`), of seeds that
were looked at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flashtwin.hypothesis import structures as hypothesis
from flashtwin.study.fit import candidate
from flashtwin.study.fit.candidate import Space
from flashtwin.study.fit.trials import Floats, Search, Tried, scatter_of

# Drives that are drawn; the share of them that their weights count for at least, and how finely the
# power of the weights is searched.
DRAWS, EFFECTIVE, HALVINGS = 16, 0.5, 40
# The misfit is divided by this. Chosen on a dozen drives.
CALMER = 6.0
# A draw is ruled out where its misfit lies this many deviations above the usual one, and above what
# was expected of it. It is then brought halfway back to the best of its kind, so that it is
# simulated `BACK` times at most.
RULED_OUT, BACK = 2.0, 4
# A host makes a whole run slower or faster than the drive is, by a deviation of this share: these
# rates, and the time to move a unit, are not known any better.
HOST_OFF, RATES, TIME = 0.012, ("first_rate", "native_rate", "core_rate"), "move"
# Collection of another maker keeps other reserves and places what it moves elsewhere, which a short
# run does not show: it needs as much flash as a candidate does within this deviation of its
# logarithm. With it the 90 % intervals of steady random writes and of a mix would have held on 35
# and 34 of 37 such drives (two seeds that were looked at), and on 30 of both without.
OTHER_SPARE = 0.14


@dataclass(frozen=True, kw_only=True)
class Possible:
    """A drive that the run leaves possible, with its weight: how likely it is beside the others."""

    space: Space
    values: Mapping[str, float]
    weight: float


def drawn(
    search: Search,
    covariance: Floats,
    kinds: Sequence[tuple[Space, Tried]],
    ways: Sequence[tuple[Space, Tried]],
    untold: float,
) -> tuple[Possible, ...]:
    """Drives with weights that add up to 1; the winner alone where no draw is a drive.

    `kinds`: the winner, other kinds, and the best of each; `covariance`: the winner's. A kind is
    drawn the more rarely the larger its misfit is, by 1 / e at `untold`; kinds of one design share
    what the best of them has. `ways`: the winner with each way to choose victims, its own first,
    all fitted from one place. They are drawn in the same manner, and meet all kinds: a kind that is
    drawn with another way gets as much more or less spare flash as the winner needs with that way.
    What no step asks for is drawn by the prior.

    Weights are taken to a power between 0 and 1, the largest at which they count for `EFFECTIVE` of
    the drives: how small copies differ by chance would give all weight to one.
    """
    space, best = kinds[0]
    ways = ways or kinds[:1]
    scatter = CALMER * scatter_of(best, search.counts)
    rng = np.random.default_rng(search.seed + 1)
    roots = _roots(search, covariance, kinds)
    of_kinds, of_ways = (_in_turn(spaces, untold, rng) for spaces in (kinds, ways))
    pairs = Counter(zip(of_kinds, map(int, rng.permutation(of_ways)), strict=True))
    draws: list[tuple[Space, Mapping[str, float], float]] = []
    for (number, way), count in sorted(pairs.items()):
        kind, own = kinds[number]
        other = replace(kind, victims=ways[way][0].victims)
        # A kind was fitted with one of the ways; what sets another apart from it, it does here too.
        usual = next((each for each in ways if each[0].victims == kind.victims), ways[way])
        middle = _with_spare(other, own.z, _spare(ways[way]) - _spare(usual))
        expected = _excess(ways[way][1], usual[1], scatter)
        normals = rng.normal(0.0, 1.0, (count, len(other.free)))
        places, logs = _as_far_as_the_run_allows(
            search, other, own, middle, normals, roots[number], expected, scatter
        )
        for log, values in zip(logs, _as_others_collect(search, other, places, rng), strict=True):
            by_prior = {name: other.at(name, rng.normal()) for name in other.unseen}
            without_host = _as_without_host(values, HOST_OFF * rng.normal())
            if math.isfinite(log):
                draws.append((other, without_host | by_prior, log))
    if not draws:
        return (Possible(space=space, values=space.values(np.array(best.z)), weight=1.0),)
    weights = weights_of(np.array([log for *_, log in draws]))
    return tuple(
        Possible(space=other, values=values, weight=float(weight))
        for (other, values, _), weight in zip(draws, weights, strict=True)
        if weight > 0
    )


def _in_turn(
    spaces: Sequence[tuple[Space, Tried]], untold: float, rng: np.random.Generator
) -> list[int]:
    """Which of the spaces each draw is from: one whose misfit lies above the first one's by
    `untold` as often as 1 / e of that one's. Evenly over the shares (systematic resampling): a
    space with a sixth of the draws has two or three."""
    above = np.array([own.total - spaces[0][1].total for _, own in spaces])
    likely = np.exp(-above / untold)
    designs = [_design(space) for space, _ in spaces]
    alike = np.array([[design == other for other in designs] for design in designs])
    together = np.maximum(alike @ likely, np.finfo(np.float64).tiny)
    shares = np.cumsum(likely * (alike * likely).max(axis=1) / together)
    at = (np.arange(DRAWS) + rng.random()) / DRAWS
    return [int(number) for number in np.searchsorted(shares[:-1] / shares[-1], at)]


def _design(space: Space) -> tuple[object, ...]:
    """All that tells one design from another: not dies, `reclaims` and `separates`, which a design
    is tried with."""
    structure = space.structure
    return structure.number, structure.limit, structure.map, space.cell, space.victims


def _roots(
    search: Search, covariance: Floats, kinds: Sequence[tuple[Space, Tried]]
) -> list[Floats]:
    """A root of each kind's covariance. The first kind's is `covariance`. That of another follows
    from the slopes that its search had in the end; where it had none, its values vary as those of
    the first do."""
    space, best = kinds[0]
    scatter = scatter_of(best, search.counts)
    first = np.linalg.inv(covariance) - np.eye(len(space.free))
    roots = []
    for number, (other, own) in enumerate(kinds):
        slopes = search.slopes(other) if number else None
        if slopes is not None and slopes.shape == (own.apart.size, len(other.free)):
            certain = slopes.T @ slopes / scatter
        else:
            carried = np.array([[name == each for each in space.free] for name in other.free])
            certain = carried @ first @ carried.T
        hidden = [other.free.index(name) for name in other.hidden]
        certain[hidden, :] = certain[:, hidden] = 0.0
        spread = np.asarray(np.linalg.inv(certain / CALMER + np.eye(len(other.free))), np.float64)
        roots.append(np.asarray(np.linalg.cholesky(spread), np.float64))
    return roots


def _as_far_as_the_run_allows(
    search: Search,
    space: Space,
    own: Tried,
    middle: Floats,
    normals: Floats,
    root: Floats,
    expected: float,
    scatter: float,
) -> tuple[list[Floats], list[float]]:
    """Places around `middle` with the logarithms of their weights; minus infinity: no drive.

    Slopes that were carried over from another kind, or hold along one way alone, may lead too far.
    A draw that the run rules out is brought halfway back to the middle, and again; from then on it
    counts as one in the middle does, and less only where it is still ruled out. `expected`: by how
    much the middle is known to fit worse than `own`.
    """
    count = len(space.free)
    most = count + RULED_OUT * math.sqrt(2 * count)
    back = np.ones(len(normals))
    places, logs = [middle] * len(normals), [-math.inf] * len(normals)
    ruled_out = list(range(len(normals)))
    for again in range(BACK):
        if again:
            back[ruled_out] /= 2
        for number in ruled_out:
            places[number] = _kept_in(middle + back[number] * root @ normals[number])
        # One batch a pair and round: most have one place, and its chapters share the cores.
        tried = [places[number] for number in ruled_out]
        shown = search.misfits(space, tried, list(search.seen.chapters))
        still = []
        for number, item in zip(ruled_out, shown, strict=True):
            excess = _excess(item, own, scatter) - expected if item.apart.size else math.inf
            likely = float(np.square(normals[number]).sum())
            logs[number] = (min(excess, most) if again else likely) / 2 - excess / 2
            if excess > max(most, back[number] ** 2 * likely):
                still.append(number)
        ruled_out = still
        if not ruled_out:
            break
    return places, logs


def _excess(item: Tried, own: Tried, scatter: float) -> float:
    """Twice the logarithm of how many times likelier run and prior make `own` than `item`."""
    prior = float(np.square(item.z).sum() - np.square(own.z).sum())
    return prior + (item.data - own.data) / scatter


def _as_others_collect(
    search: Search, space: Space, places: Sequence[Floats], rng: np.random.Generator
) -> list[dict[str, float]]:
    """The values of places, with flash beside the capacity as another maker's collection needs it;
    as they are where that is no drive."""
    if "spare" not in space.free or not places:
        return [space.values(place) for place in places]
    spread = OTHER_SPARE / hypothesis.values()["spare"].spread
    moved = [_with_spare(space, place, spread * rng.normal()) for place in places]
    shortest = min(search.seen.chapters, key=lambda chapter: chapter.requests)
    return [
        space.values(there if item.apart.size else place)
        for place, there, item in zip(
            places, moved, search.misfits(space, moved, [shortest]), strict=True
        )
    ]


def _as_without_host(values: Mapping[str, float], off: float) -> dict[str, float]:
    """The values of a drive that the host shows slower by a share; all rates by the same."""
    factor = math.exp(off)
    faster = {name: values[name] * factor for name in RATES if name in values}
    return {**values, **faster, **({TIME: values[TIME] / factor} if TIME in values else {})}


def _spare(way: tuple[Space, Tried]) -> float:
    """The place of the spare flash, in spreads; 0 where it is not searched."""
    space, own = way
    return dict(zip(space.free, own.z, strict=True)).get("spare", 0.0)


def _with_spare(space: Space, z: Sequence[float] | Floats, more: float) -> Floats:
    """A place with more spare flash, in spreads."""
    moved = np.array(z, dtype=np.float64)
    if "spare" in space.free:
        moved[space.free.index("spare")] += more
    return _kept_in(moved)


def _kept_in(place: Floats) -> Floats:
    """The place, within the range that is searched."""
    inside: Floats = np.clip(place, -candidate.FARTHEST, candidate.FARTHEST)
    return inside


def weights_of(logs: Floats) -> Floats:
    """Weights from their logarithms, taken to the largest power at which they count for as many
    equal ones as `EFFECTIVE` of them, 1 / sum of squares (Kish 1965)."""

    def at(power: float) -> Floats:
        weights = np.exp(power * (logs - logs.max()))
        shares: Floats = weights / weights.sum()
        return shares

    def counts(power: float) -> bool:
        return 1 / float(np.sum(np.square(at(power)))) >= EFFECTIVE * logs.size

    low, high = 0.0, 1.0
    if counts(high):
        return at(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if counts(middle) else (low, middle)
    return at(low)
