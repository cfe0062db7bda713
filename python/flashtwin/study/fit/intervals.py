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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from flashtwin.study.fit.possible import HOST_OFF, RATES, TIME, Possible, drawn
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
# An interval that was checked on fewer drives is not called one of 95 %: one miss would be a larger
# share of them than intervals of 95 % may miss.
TELLING = 19
CALIBRATION = Path(__file__).with_name("calibration.toml")


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
    search: Search,
    winner: Searched,
    rivals: Sequence[Searched],
    ways: Sequence[tuple[Space, Tried]] = (),
) -> Fitted:
    """The best of all that was tried, with an interval of each value. `ways`: the winner with each
    way to choose victims, its own first, all fitted from one place."""
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
    near_ways = [
        (other, item)
        for other, item in ways[1:]
        if item.total - ways[0][1].total <= untold - best.total
    ]
    kinds = [(other, best_of(shown)) for other, shown in rivals if best_of(shown).apart.size]
    ways = [(other, item) for other, item in ways if item.apart.size]
    possible = drawn(
        search, covariance, [(space, best), *kinds], ways, UNTOLD * scatter_of(best, counts)
    )
    known = {
        name: (space.at(name, low), space.at(name, high)) for name, (low, high) in intervals.items()
    }
    if "spare" in known:
        # One way to choose does with less spare flash than another.
        shares = [other.values(np.array(item.z))["spare"] for other, item in near_ways]
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
        posterior=possible,
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
        victims_known=space.victims is not None and not near_ways,
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
    for index in map(space.free.index, space.hidden):
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
    return float(_calibrated(seen, structure, name).get("longer", 0.0))


def checked_on(seen: Observed, structure: Structure, name: str) -> int:
    """On how many drives with a known inside such an interval was checked."""
    return int(_calibrated(seen, structure, name).get("drives", 0))


def _calibrated(seen: Observed, structure: Structure, name: str) -> Mapping[str, float]:
    table = _calibration().get("once" if seen.fills < 2 else "twice", {})
    return table.get(structure.group, {}).get(name, {})


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
        HOST_OFF / hypothesis.values()[name].spread if name in (*RATES, TIME) else 0.0
        for name in space.free
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
