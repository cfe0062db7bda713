"""The interval of each value that a search determined, and which other kinds fit as well.

An interval is the wider of two, lengthened at both ends as `calibration.toml` says (see
coverage.py). The first spans all values of candidates near the best one: their misfit is at most
3.84 (95 %) times the best misfit per independent value, which counts as 1 at least, above that of
neighbours which no host could tell from the best. The second is 1.96 standard deviations of the
normal distribution around the best (Laplace), from the slopes of all rates and the prior; it is
wide where one value makes up for another. A rate's slope is taken over the smallest move that
changes it more than it differs among those neighbours.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from flashtwin.analysis.estimate import DEVIATIONS
from flashtwin.hypothesis import structures as hypothesis
from flashtwin.inputs import read_toml
from flashtwin.study.fit import candidate
from flashtwin.study.fit.candidate import Space, Structure
from flashtwin.study.fit.chapters import Chapter
from flashtwin.study.fit.observed import Observed
from flashtwin.study.fit.trials import (
    NEXT,
    Floats,
    Search,
    Searched,
    Tried,
    best_of,
    place_of,
    scatter_of,
)

NEAR = 3.84
# A value whose interval spans this many spreads or more (the prior's own are 3.9) was not
# determined.
UNDETERMINED = 2.2
# A run shows what limits programs where the other limit's misfit is larger by this multiple of the
# best misfit per independent value: values that make up for each other are found slowly. Other dies
# win where their misfit is lower by as much.
UNTOLD = 20.0
# Drives drawn from the posterior, for answers that rest on the twin; the share of them that their
# weights count for at least, and how finely the power of the weights is searched.
DRAWS, EFFECTIVE, HALVINGS = 16, 0.5, 40
# The misfit is divided by this for them: drives that no candidate is (`flashtwin_lab.proof`) differ
# from the best candidate by more than noise. Chosen on a dozen of such drives.
CALMER = 6.0
# A drawn drive is ruled out where its weight's logarithm is lower than this, and is then brought
# halfway back to the best of its kind, so that it is simulated this many times at most.
RULED_OUT, BACK = -2.0, 4
# A host makes a whole run slower or faster than the drive is, by a deviation of this share: these
# rates, and the time to move a unit, are not known any better.
HOST_OFF, RATES = 0.012, ("first_rate", "native_rate", "core_rate", "move")
# Collection of another maker keeps other reserves and places what it moves elsewhere, which a short
# run does not show: it needs as much flash as a candidate does within this deviation of its
# logarithm. With it the 90 % intervals of steady random writes and of a mix would have held on 35
# and 34 of 37 such drives (two seeds that were looked at), and on 30 of both without.
OTHER_SPARE = 0.14
# Simulated drives that the interval of one value takes.
INTERVALS = 6
STEPS = (0.06, 0.2, 0.6, 1.6)
# How the misfits of drives that look alike differ is noise of the simulation, estimated from this
# number of neighbours.
NEIGHBOURS = 12
# The share of a normal distribution below one standard deviation under its middle.
NORMAL = 0.159
# A rate's change counts where its square is this multiple of what neighbours differ by.
CLEAR = 4.0
CALIBRATION = Path(__file__).with_name("calibration.toml")


@dataclass(frozen=True, kw_only=True)
class Possible:
    """A drive that the run leaves possible, with its weight: how likely it is beside the others."""

    space: Space
    values: Mapping[str, float]
    weight: float


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The result of a search. `intervals` has the values that the run determines, by name.

    `posterior`: drives that the run leaves possible. `near`: a rival fits as well if its misfit
    lies above the best one's by no more than this. `limit_known`: whether the run tells what
    programs wait for, the flash or a core; so `map_known` for where the map is, `reclaim_known` for
    whether what is overwritten in the cache makes room, `separation_known` for where collection
    writes what it moves, `victims_known` for how it chooses what it erases.
    """

    space: Space
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    posterior: tuple[Possible, ...]
    data: float
    counts: float
    simulations: int
    near: float
    limit_known: bool
    map_known: bool
    reclaim_known: bool
    separation_known: bool
    victims_known: bool
    rivals: tuple[tuple[Structure, str, float], ...]

    @property
    def scatter(self) -> float:
        """The misfit of an independent value; about 1 where the model is as good as the noise."""
        return self.data / max(self.counts, 1.0)


def fitted(
    search: Search, winner: Searched, rivals: Sequence[Searched], others: Sequence[Searched] = ()
) -> Fitted:
    """The best of all that was tried, with an interval of each value. `others`: the same kind with
    other ways in which collection chooses."""
    space, tried = winner
    counts = search.counts
    best, near, intervals, covariance = _with_intervals(search, space, tried)
    best = _usual_again(search, space, best, intervals, near)
    values = space.values(np.array(best.z))
    untold = near + UNTOLD * scatter_of(best, counts)
    near_ones = [other for other, shown in rivals if best_of(shown).total <= untold]
    other_limit = [
        other
        for other in near_ones
        if other.is_core_of(space) or space.is_core_of(other)
        if other.structure.map == space.structure.map
        if other.structure.reclaims == space.structure.reclaims
        if other.structure.separates == space.structure.separates
    ]
    near_others = [
        (other, best_of(shown)) for other, shown in others if best_of(shown).total <= untold
    ]
    kinds, ways = (
        [(other, best_of(shown)) for other, shown in runs if best_of(shown).apart.size]
        for runs in (rivals, others)
    )
    posterior = _posterior(search, covariance, [(space, best), *kinds], ways)
    known = {
        name: (space.at(name, low), space.at(name, high)) for name, (low, high) in intervals.items()
    }
    if "spare" in known:
        # One way to choose does with less spare flash than another.
        shares = [other.values(np.array(item.z))["spare"] for other, item in near_others]
        known["spare"] = min([known["spare"][0], *shares]), max([known["spare"][1], *shares])
    if "core_rate" in known:
        # Where data is overwritten in the cache, nothing makes up for the copy's shorter blocks.
        flash = candidate.geometry(space, values, search.seen.capacity_bytes, False)
        low, high = known["core_rate"]
        known["core_rate"] = low / (1 + candidate.more_erases(space, flash.wordlines)), high
    structure = space.structure
    map_known = search.seen.has_requests and not _fits_too(
        near_ones, space, lambda other: other.with_map(structure.map)
    )
    if not map_known:
        # A read may read a page of the map first.
        known = {name: ends for name, ends in known.items() if name not in candidate.READS}
    if search.seen.has_requests:
        # Otherwise dies show in the size of superblocks alone, and those of the copy are its own.
        known = {"dies": _dies_between(search, winner, rivals, untold), **known}
    return Fitted(
        space=space,
        values=values,
        intervals=_by_either(known, space, other_limit),
        posterior=posterior,
        data=best.data,
        counts=counts,
        simulations=search.done,
        near=near - best.total,
        limit_known=not other_limit,
        map_known=map_known,
        reclaim_known=not _fits_too(
            near_ones, space, lambda other: other.with_reclaim(structure.reclaims)
        ),
        separation_known=search.seen.collects
        and not _fits_too(
            near_ones, space, lambda other: other.with_separation(structure.separates)
        ),
        victims_known=space.victims is not None and not near_others,
        rivals=tuple(
            (other.structure, other.cell, best_of(shown).total)
            for other, shown in (winner, *rivals)
        ),
    )


def _fits_too(near_ones: Sequence[Space], space: Space, answered: Callable[[Space], Space]) -> bool:
    """True if one of `near_ones` differs from `space` in one answer alone: that which `answered`
    puts in its place."""
    return any(
        answered(other).structure == space.structure != other.structure for other in near_ones
    )


def _posterior(
    search: Search,
    covariance: Floats,
    kinds: Sequence[tuple[Space, Tried]],
    ways: Sequence[tuple[Space, Tried]],
) -> tuple[Possible, ...]:
    """Drives drawn around the best by the normal distribution that slopes and prior give (Laplace),
    each with the weight that its own misfit gives it (importance sampling). What is no drive has no
    weight. The run counts for 1 / `CALMER` of what its noise says: a drive of another maker is no
    candidate, and differs from the best of these by more than noise.

    Weights are taken to a power between 0 and 1, the largest at which they count for `EFFECTIVE` of
    the drives: how small copies differ by chance would give all weight to one.

    `kinds`: the winner, other kinds, and the best of each. One is drawn the more rarely the larger
    its misfit is: by 1 / e at `UNTOLD`. `ways`: the winner with each other way to choose victims.
    Ways are drawn in the same manner, and meet all kinds: a kind that is drawn with another way
    gets as much more or less spare flash as the winner needs with that way. What no step asks for
    is drawn by the prior.
    """
    space, best = kinds[0]
    scatter = CALMER * scatter_of(best, search.counts)
    rng = np.random.default_rng(search.seed + 1)
    choices = [kinds[0], *ways]
    spare = {other.victims: _spare(other, own) for other, own in choices}
    roots = _roots(search, covariance, kinds)
    of_kinds, of_choices = (
        _in_turn(spaces, UNTOLD * scatter / CALMER, rng) for spaces in (kinds, choices)
    )
    pairs = Counter(zip(of_kinds, map(int, rng.permutation(of_choices)), strict=True))
    drawn: list[tuple[Space, Mapping[str, float], float]] = []
    for (kind, choice), count in sorted(pairs.items()):
        fitted_as, own = kinds[kind]
        other = replace(fitted_as, victims=choices[choice][0].victims)
        more = spare[other.victims] - spare.get(fitted_as.victims, spare[other.victims])
        shift = np.array([more if name == "spare" else 0.0 for name in other.free])
        # All draws of a pair at once, so that every core has some.
        normals = rng.normal(0.0, 1.0, (count, len(other.free)))
        places, logs = _as_far_as_the_run_allows(
            search, (other, own), shift, normals @ roots[kind].T, normals, scatter
        )
        others = _as_others_collect(search, other, places, rng)
        for log, values in zip(logs, others, strict=True):
            by_prior = {name: other.at(name, rng.normal()) for name in other.unseen}
            if math.isfinite(log):
                drawn.append((other, values | by_prior, log))
    if not drawn:
        return (Possible(space=space, values=space.values(np.array(best.z)), weight=1.0),)
    weights = weights_of(np.array([log for *_, log in drawn]))
    return tuple(
        Possible(space=other, values=values, weight=float(weight))
        for (other, values, _), weight in zip(drawn, weights, strict=True)
        if weight > 0
    )


def _as_far_as_the_run_allows(
    search: Search,
    kind: tuple[Space, Tried],
    shift: Floats,
    moves: Floats,
    normals: Floats,
    scatter: float,
) -> tuple[list[Floats], list[float]]:
    """Places that lie by `moves` beside the best of a kind and by `shift`, with the logarithms of
    their weights. Slopes that were carried over from another kind may lead too far: a draw that the
    run rules out is brought halfway back, and again. `normals`: the draws behind the moves."""
    space, own = kind
    middle, back = np.array(own.z) + shift, np.ones(len(moves))
    places = [_kept_in(middle + move) for move in moves]
    logs = [-math.inf] * len(places)
    ruled_out = list(range(len(places)))
    for again in range(BACK):
        if again:
            back[ruled_out] /= 2
            for number in ruled_out:
                places[number] = _kept_in(middle + back[number] * moves[number])
        tried = [places[number] for number in ruled_out]
        shown = search.misfits(space, tried, list(search.seen.chapters))
        for number, item in zip(ruled_out, shown, strict=True):
            log = float(np.square(back[number] * normals[number]).sum() + np.square(own.z).sum())
            log -= float(np.square(places[number]).sum()) + (item.data - own.data) / scatter
            logs[number] = log / 2 if item.apart.size else -math.inf
        ruled_out = [number for number in ruled_out if logs[number] < RULED_OUT]
        if not ruled_out:
            break
    return places, logs


def _roots(
    search: Search, covariance: Floats, kinds: Sequence[tuple[Space, Tried]]
) -> list[Floats]:
    """A root of each kind's covariance, with the run counting for 1 / `CALMER`. The first kind's
    is `covariance`. That of another follows from the slopes that its search had in the end; where
    it had none, its values vary as those of the first do."""
    space, best = kinds[0]
    scatter = scatter_of(best, search.counts)
    first = np.linalg.inv(covariance) - np.eye(len(space.free))
    roots = []
    for number, (other, _) in enumerate(kinds):
        slopes = search.slopes(other) if number else None
        if slopes is not None and slopes.shape[1] == len(other.free):
            certain = slopes.T @ slopes / scatter
        else:
            carried = np.array([[name == own for own in space.free] for name in other.free])
            certain = carried @ first @ carried.T
        spread = np.asarray(np.linalg.inv(certain / CALMER + np.eye(len(other.free))), np.float64)
        roots.append(np.asarray(np.linalg.cholesky(_with_host(spread, other)), np.float64))
    return roots


def _in_turn(
    spaces: Sequence[tuple[Space, Tried]], apart: float, rng: np.random.Generator
) -> list[int]:
    """Which of the spaces each draw is from: one whose misfit lies above the first one's by `apart`
    as often as 1 / e of that one's. Variants of one design share what the best of them has. Evenly
    over the shares (systematic resampling): a space with a sixth of the draws has two or three."""
    above = np.array([own.total - spaces[0][1].total for _, own in spaces])
    likely = np.exp(-above / apart)
    designs = [_design(space) for space, _ in spaces]
    alike = np.array([[design == other for other in designs] for design in designs])
    shares = np.cumsum(likely * (alike * likely).max(axis=1) / (alike @ likely))
    at = (np.arange(DRAWS) + rng.random()) / DRAWS
    return [int(number) for number in np.searchsorted(shares[:-1] / shares[-1], at)]


def _design(space: Space) -> tuple[object, ...]:
    """What a drive of a space is, but for its dies and for answers to what was overwritten."""
    structure = space.structure
    return structure.number, structure.limit, structure.map, space.cell, space.victims


def _spare(space: Space, own: Tried) -> float:
    """The place of the spare flash, in deviations of the prior; 0 where it is not searched."""
    return dict(zip(space.free, own.z, strict=True)).get("spare", 0.0)


def _as_others_collect(
    search: Search, space: Space, places: Sequence[Floats], rng: np.random.Generator
) -> list[dict[str, float]]:
    """The values of places, with flash beside the capacity as another maker's collection needs it;
    as they are where that is no drive."""
    if "spare" not in space.free or not places:
        return [space.values(place) for place in places]
    spread = OTHER_SPARE / hypothesis.values()["spare"].spread
    moved = [_moved(space, place, {"spare": spread * rng.normal()}) for place in places]
    shortest = min(search.seen.chapters, key=lambda chapter: chapter.requests)
    return [
        space.values(there if item.apart.size else place)
        for place, there, item in zip(
            places, moved, search.misfits(space, moved, [shortest]), strict=True
        )
    ]


def _moved(space: Space, place: Floats, by: Mapping[str, float]) -> Floats:
    return _kept_in(
        np.array([z + by.get(name, 0.0) for name, z in zip(space.free, place, strict=True)])
    )


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


def _with_intervals(
    search: Search, space: Space, tried: Sequence[Tried]
) -> tuple[Tried, float, dict[str, tuple[float, float]], Floats]:
    """The best place, the misfit up to which others are as good, how far each value can be, and
    the covariance of all values, in spreads."""
    chapters, counts = search.seen.chapters, search.counts
    best = best_of(tried)
    for again in (True, True, False):
        neighbours = _neighbours(search, space, best, chapters)
        near = _near(best, neighbours, counts)
        moves = _profiles(search, space, best, neighbours, near)
        tried = [*tried, *(item for pairs in moves for pair in pairs for item in pair)]
        if not again or best_of(tried).total >= best.total - NEAR:
            break
        # A value moved alone has found a better place: it is the first of another step.
        tried += search.descended(space, place_of(tried), 1, chapters)
        best = best_of(tried)
    covariance = _covariance(best, moves, _noise(best, neighbours), counts)
    for index in map(space.free.index, _hidden(space)):
        covariance[index, :] = covariance[:, index] = 0.0
        covariance[index, index] = 1.0
    deviations = np.sqrt(np.diag(_with_host(covariance, space)))
    intervals = {
        name: _ends(
            best, tried, index, near, DEVIATIONS * deviations[index], _longer(search, space, name)
        )
        for index, name in enumerate(space.free)
    }
    return best, near, intervals, covariance


def _hidden(space: Space) -> list[str]:
    """Rates of the flash that no host can see, because the link or the core was the limit all the
    time: a change of the series with them is by chance."""
    hidden = []
    if space.structure.by_core or space.usual["first_rate"] > space.usual["link"]:
        # A second tier's speed is a share of the first one's.
        hidden += ["first_rate", "tier_speed"]
    if space.structure.by_core and space.structure.way == "folded":
        hidden.append("native_rate")
    return [name for name in hidden if name in space.free]


def _by_either(
    known: dict[str, tuple[float, float]], space: Space, others: Sequence[Space]
) -> dict[str, tuple[float, float]]:
    """The intervals where another limit fits as well; `others`: the spaces with that limit.

    The core's times are not determined then. The flash may be as fast as it appears, or up to as
    fast as a core that hides it leaves open.
    """
    if not others:
        return known
    if space.structure.by_core:
        return {name: ends for name, ends in known.items() if name not in candidate.OF_CORE}
    for name in ("first_rate", *(["native_rate"] if space.structure.way == "folded" else [])):
        if name in known:
            most = max(other.at(name, DEVIATIONS) for other in others)
            known[name] = (known[name][0], max(known[name][1], most))
    return known


def _dies_between(
    search: Search, winner: Searched, rivals: Sequence[Searched], untold: float
) -> tuple[float, float]:
    """The fewest and the most dies (powers of two) whose misfit is at most `untold`."""
    space = winner[0]
    dies = [
        other.usual["dies"]
        for other, shown in rivals
        if (other.structure, other.cell) == (space.structure, space.cell)
        if best_of(shown).total <= untold
    ] + [space.usual["dies"]]
    factor = 2.0 ** math.ceil(
        longer_log(search.seen, space.structure, "dies") / math.log(2.0) - 1e-2
    )
    return max(min(dies) / factor, 1.0), min(max(dies) * factor, candidate.MOST_DIES)


@lru_cache(maxsize=1)
def _calibration() -> Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]:
    table: dict[str, dict[str, dict[str, dict[str, float]]]] = read_toml(CALIBRATION)["values"]
    return table


def longer_log(seen: Observed, structure: Structure, name: str) -> float:
    """How much longer `calibration.toml` makes an interval at each end, in the logarithm of the
    value: one that rests on a single fill, in which nothing tells the host from the drive, or on
    several."""
    rows = _calibration().get("once" if seen.fills < 2 else "twice", {}).get(structure.group, {})
    return float(rows.get(name, {}).get("longer", 0.0))


def _longer(search: Search, space: Space, name: str) -> float:
    """What calibration adds to both ends of an interval, in spreads."""
    return longer_log(search.seen, space.structure, name) / hypothesis.values()[name].spread


def _usual_again(
    search: Search,
    space: Space,
    best: Tried,
    intervals: dict[str, tuple[float, float]],
    near: float,
) -> Tried:
    """The best place with each undetermined value put back to what is usual, where the misfit stays
    near; such values are removed from `intervals`."""
    wide = [name for name, (low, high) in intervals.items() if high - low >= UNDETERMINED]
    for name in sorted(wide, key=lambda name: intervals[name][0] - intervals[name][1]):
        z = np.array(best.z)
        z[space.free.index(name)] = 0.0
        (reset,) = search.misfits(space, [z], list(search.seen.chapters))
        if reset.total <= near:
            best = reset
            del intervals[name]
    return best


def _neighbours(
    search: Search, space: Space, best: Tried, chapters: Sequence[Chapter]
) -> list[Tried]:
    """Drives around the best that no host could tell from it."""
    rng = np.random.default_rng(search.seed)
    places = [np.array(best.z) + rng.normal(0.0, NEXT, len(space.free)) for _ in range(NEIGHBOURS)]
    return [item for item in search.misfits(space, places, chapters) if item.apart.size]


def _near(best: Tried, neighbours: Sequence[Tried], counts: float) -> float:
    """The misfit up to which a candidate counts as near the best. How far neighbours are apart is
    measured between quantiles: a few of them are outliers, where the cache of the small copy holds
    a test file in one drive and not in the next."""
    totals = [item.total for item in neighbours] or [best.total]
    low, middle, high = np.quantile(totals, (NORMAL, 0.5, 1 - NORMAL))
    return float(middle + (high - low) / 2) + NEAR * scatter_of(best, counts)


Moves = list[tuple[Tried, Tried]]


def _profiles(
    search: Search, space: Space, best: Tried, neighbours: Sequence[Tried], near: float
) -> list[Moves]:
    """Each value moved alone, down and up, in growing steps, until both moves change the series
    clearly more than neighbours differ and neither of them is near the best any more."""
    noise = _noise(best, neighbours)
    moves: list[Moves] = [[] for _ in space.free]
    left = list(range(len(space.free)))
    for step in STEPS:
        places = []
        for index in left:
            for sign in (-1.0, 1.0):
                z = np.array(best.z)
                z[index] = np.clip(z[index] + sign * step, -candidate.FARTHEST, candidate.FARTHEST)
                places.append(z)
        shown = search.misfits(space, places, search.seen.chapters)
        for index, pair in zip(left, zip(shown[::2], shown[1::2], strict=True), strict=True):
            moves[index].append(pair)
        left = [
            index
            for index in left
            if _slope(moves[index][-1], index, noise) is None
            or min(item.total for item in moves[index][-1]) <= near
        ]
    return moves


def _noise(best: Tried, neighbours: Sequence[Tried]) -> Floats:
    """The squared differences between the series of two places that no host could tell apart, one
    for each rate: a few rates jump, and would hide what all others show."""
    if not neighbours:
        return np.zeros_like(best.apart)
    noise: Floats = 2.0 * np.var([best.apart, *(item.apart for item in neighbours)], axis=0)
    return noise


def _slope(pair: tuple[Tried, Tried], index: int, noise: Floats) -> Floats | None:
    """The slope of the distances in one value; none where no change is beyond the noise."""
    low, high = pair
    move = high.z[index] - low.z[index]
    if not (low.apart.size and high.apart.size) or move <= 0:
        return None
    change = high.apart - low.apart
    clear = np.sign(change) * np.sqrt(np.maximum(np.square(change) - CLEAR * noise, 0.0))
    if float(np.sum(np.square(clear))) <= 1e-12:
        return None
    slope: Floats = clear / move
    return slope


def _with_host(covariance: Floats, space: Space) -> Floats:
    """A covariance with what a host adds to every rate of the flash alike."""
    more = [
        HOST_OFF / hypothesis.values()[name].spread if name in RATES else 0.0 for name in space.free
    ]
    result: Floats = covariance + np.diag(np.square(more))
    return result


def _covariance(best: Tried, moves: Sequence[Moves], noise: Floats, counts: float) -> Floats:
    """The covariance of the values around the best, by slopes and prior, in spreads."""
    slopes = np.zeros((best.apart.size, len(best.z)))
    for index, pairs in enumerate(moves):
        for slope in (_slope(pair, index, noise) for pair in pairs):
            if slope is not None:
                slopes[:, index] = np.where(slopes[:, index] == 0.0, slope, slopes[:, index])
    certain = slopes.T @ slopes / scatter_of(best, counts) + np.eye(len(best.z))
    return np.asarray(np.linalg.inv(certain), dtype=np.float64)


def _ends(
    best: Tried, tried: Sequence[Tried], index: int, near: float, least: float, longer: float
) -> tuple[float, float]:
    """The lowest and the highest z of all that is near, at least `least` from the best, and then
    `longer` farther out."""
    inside = [item.z[index] for item in tried if item.total <= near] + [best.z[index]]
    low, high = min(*inside, best.z[index] - least), max(*inside, best.z[index] + least)
    return low - longer, high + longer
