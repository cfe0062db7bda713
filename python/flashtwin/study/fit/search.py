"""The search: which structure with which values shows what the run showed.

A candidate's misfit is the sum of squared distances of its series to the measured ones, in units of
what is noise and what is left between a drive and its small copy, plus the squares of its values'
distances from what is usual (in spreads), so that what the run does not determine stays there.
Structures are searched on the fills alone first, the best few on everything, the best one to the
end (CMA-ES). Invariants: the same run, seed and count give the same answer on any number of cores.

Intervals are the widest of two, made longer at both ends by what `calibration.toml` says (see
coverage.py). The first: all values that a candidate near the best had; near is 3.84 (95 %) times
what the best misfit is per independent value, 1 at least, above what neighbours of the best that no
host could tell from it have. The second: 1.96 deviations of the normal distribution around the best
that the slopes of all series in all values make together with the prior (Laplace), so that values
which make up for each other are as uncertain as that leaves them. A slope is taken over the
smallest move that changes the series more than such neighbours differ by themselves.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from cmaes import CMA
from numpy.typing import NDArray

from flashtwin import __version__, _core
from flashtwin.catalogue.loader import BadSpecError
from flashtwin.study.fit import candidate
from flashtwin.study.fit.candidate import Space, Structure
from flashtwin.study.fit.observed import Chapter, Observed, binned, curve_of_columns
from flashtwin.study.fit.shared import Shared, opened

Floats = NDArray[np.float64]

POPULATION = 12
FILL_GENERATIONS, WHOLE_GENERATIONS = 6, 5
FINALISTS = 4
# A structure whose misfit is so many times another's after two generations is given up.
HOPELESS = 2.5
# Other dies than usual have to have so much of the misfit or less.
CLEARLY = 0.6
# A candidate that is no drive: the search turns away from it.
NO_DRIVE = 1e9
NEAR = 3.84
# A value whose interval spans this many spreads or more (the prior's own are 3.9) was not
# determined.
UNDETERMINED = 2.2
STEPS = (0.05, 0.15, 0.4, 0.9, 1.6, 2.6)
# Drives that differ by so little (in spreads) do not differ to a host, but their misfit does: that
# is the simulation's own noise, seen on so many of them.
NEXT, NEIGHBOURS = 0.004, 12
# A move's squared change is clear from so many times what neighbours differ by.
CLEAR = 4.0
CALIBRATION = Path(__file__).with_name("calibration.toml")

Tell = Callable[[int, str], None]


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A place of a space with its misfit: `data` of the series alone, `total` with the prior."""

    z: tuple[float, ...]
    data: float
    total: float
    # Distances of its series in units of the noise: `data` is the sum of their squares.
    apart: Floats = field(repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What came of a search. `intervals` has what the run determines, by name.

    `near`: rivals whose misfit is no farther above the best one fit as well.
    """

    space: Space
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    data: float
    counts: float
    simulations: int
    near: float
    rivals: tuple[tuple[str, str, str, float], ...]

    @property
    def scatter(self) -> float:
        """The misfit of an independent value; about 1 where the model is as good as the noise."""
        return self.data / max(self.counts, 1.0)


@dataclass(kw_only=True)
class Search:
    """Simulates candidates of a run, and counts them."""

    seen: Observed
    seed: int
    tell: Tell = field(default=lambda _count, _label: None)
    shared: Shared | None = None
    done: int = 0
    label: str = ""

    def misfits(
        self, space: Space, places: Sequence[Floats], chapters: Sequence[Chapter]
    ) -> list[Tried]:
        """Each place simulated, here or by another process that shares the search."""

        def simulate(places: Sequence[Floats]) -> list[Floats]:
            return self._simulated(space, places, chapters)

        if self.shared is None:
            distances = simulate(places)
        else:
            distances = self.shared.through(space.free, places, simulate)
        tried = []
        for z, apart_ in zip(places, distances, strict=True):
            data = float(np.sum(np.square(apart_))) if apart_.size else NO_DRIVE
            total = data + float(np.sum(np.square(z)))
            tried.append(Tried(z=tuple(z), data=data, total=total, apart=apart_))
        self.done += len(places) if len(chapters) == len(self.seen.chapters) else 0
        self.tell(self.done, self.label)
        return tried

    def _simulated(
        self, space: Space, places: Sequence[Floats], chapters: Sequence[Chapter]
    ) -> list[Floats]:
        """Distances of each place's series; none of what is no drive."""
        specs = [self._spec(space, z) for z in places]
        plans: list[Any] = [
            (spec, self.seed, list(chapter.steps))
            for spec in specs
            if spec is not None
            for chapter in chapters
        ]
        answers = iter(_core.simulate(plans, os.cpu_count() or 1))
        distances = []
        for spec in specs:
            parts = [
                None if spec is None else apart(chapter, next(answers)) for chapter in chapters
            ]
            shown = [part for part in parts if part is not None]
            distances.append(np.concatenate(shown) if len(shown) == len(parts) else np.zeros(0))
        return distances

    def _spec(self, space: Space, z: Floats) -> _core.Spec | None:
        try:
            return candidate.small_spec(
                space, space.values(z), self.seen.capacity_bytes, self.seen.small_bytes
            )
        except BadSpecError:
            return None

    def evolved(
        self,
        space: Space,
        start: Floats,
        sigma: float,
        generations: int,
        chapters: Sequence[Chapter],
        best: float = math.inf,
    ) -> list[Tried]:
        """All that CMA-ES tried from a place on; `best`: the least misfit of another structure."""
        count = len(space.free)
        bounds = np.array([[-candidate.FARTHEST, candidate.FARTHEST]] * count)
        optimizer = CMA(
            mean=start, sigma=sigma, bounds=bounds, population_size=POPULATION, seed=self.seed
        )
        tried: list[Tried] = []
        for number in range(generations):
            places = [optimizer.ask() for _ in range(POPULATION)]
            shown = self.misfits(space, places, chapters)
            optimizer.tell([(z, item.total) for z, item in zip(places, shown, strict=True)])
            tried += shown
            hopeless = number > 0 and _best(tried).total > HOPELESS * best
            if hopeless or optimizer.should_stop():
                break
        return tried


def apart(chapter: Chapter, answer: Sequence[Mapping[str, Any]]) -> Floats | None:
    """How far a candidate's series are from a chapter's; none where it moved nothing."""
    distances = []
    for seen in chapter.seen:
        curve = curve_of_columns(answer[seen.at]["series"])
        if curve.total_bytes <= 0:
            return None
        distances.append(seen.apart(binned(curve, len(seen.rate))))
    return np.concatenate(distances)


def searched(
    seen: Observed,
    spaces: Sequence[Space],
    simulations: int,
    seed: int,
    tell: Tell,
    study: str | None = None,
) -> Fitted:
    """The best structure with its values; about so many candidates are simulated whole.

    `study`: the database that the search is kept in, a file or a URL.
    """
    shared = None
    if study is not None:
        shared = opened(study, seen.name, _what(seen, spaces, simulations, seed))
    search = Search(seen=seen, seed=seed, tell=tell, shared=shared)
    all_chapters = list(seen.chapters)
    by_fill = [
        _run(
            search,
            space,
            np.zeros(len(space.free)),
            0.5,
            FILL_GENERATIONS,
            all_chapters[:1],
            "fill",
        )
        for space in spaces
    ]
    by_fill.sort(key=_total)
    runs: list[Searched] = []
    for space, tried in by_fill[:FINALISTS]:
        best = min(map(_total, runs), default=math.inf)
        start = _place(tried)
        runs.append(_run(search, space, start, 0.4, WHOLE_GENERATIONS, all_chapters, "all", best))
    runs.sort(key=_total)
    space, tried = runs[0]
    for factor in (0.5, 2.0):
        dies = candidate.dies_of(runs[0][0].usual["dies"] * factor)
        if dies == runs[0][0].usual["dies"]:
            continue
        other = replace(space, usual={**space.usual, "dies": float(dies)})
        start = _place(runs[0][1])
        runs.append(
            _run(
                search, other, start, 0.4, WHOLE_GENERATIONS, all_chapters, "dies", _total(runs[0])
            )
        )
    # Other dies fit a little better by chance: it takes more to leave what is usual.
    clearer = [pair for pair in runs if _total(pair) < CLEARLY * _total(runs[0]) - NEAR]
    space, tried = min(clearer, key=_total) if clearer else runs[0]
    rivals = [pair for pair in runs if pair[0] is not space]
    left = simulations - search.done - NEIGHBOURS - 4 * len(STEPS) * len(space.free)
    generations = max(left // POPULATION, WHOLE_GENERATIONS)
    _, more = _run(search, space, _place(tried), 0.25, generations, all_chapters, "values")
    search.label = "intervals"
    return _fitted(search, (space, [*tried, *more]), [*rivals, *by_fill[FINALISTS:]])


def _what(seen: Observed, spaces: Sequence[Space], simulations: int, seed: int) -> list[Any]:
    """All that decides how a search goes, as JSON."""
    return [
        __version__,
        candidate.table(),
        seen.capacity_bytes,
        seen.small_bytes,
        [asdict(chapter) for chapter in seen.chapters],
        [asdict(space) for space in spaces],
        simulations,
        seed,
    ]


Searched = tuple[Space, list[Tried]]


def _run(
    search: Search,
    space: Space,
    start: Floats,
    sigma: float,
    generations: int,
    chapters: Sequence[Chapter],
    label: str,
    best: float = math.inf,
) -> Searched:
    search.label = f"{space.structure.name}, {space.structure.past}, {space.cell}: {label}"
    return space, search.evolved(space, start, sigma, generations, chapters, best)


def _total(pair: Searched) -> float:
    return _best(pair[1]).total


def _place(tried: Sequence[Tried]) -> Floats:
    return np.array(_best(tried).z)


def _best(tried: Sequence[Tried]) -> Tried:
    return min(tried, key=lambda item: item.total)


def _fitted(search: Search, winner: Searched, rivals: Sequence[Searched]) -> Fitted:
    space, tried = winner
    best = _best(tried)
    counts = search.seen.counts
    all_chapters = list(search.seen.chapters)
    moved = _profiles(search, space, best, all_chapters)
    tried = [*tried, *moved]
    if _best(tried) is not best:
        best = _best(tried)
        moved = _profiles(search, space, best, all_chapters)
        tried = [*tried, *moved]
    neighbours = _neighbours(search, space, best, all_chapters)
    near = _near(best, neighbours, counts)
    deviations = _deviations(best, moved, neighbours, counts)
    if space.usual["first_rate"] > space.usual["link"] and "first_rate" in space.free:
        # The link held the host all the time: what differs is no sight of the rate behind it.
        deviations[space.free.index("first_rate")] = 1.0
    intervals = {
        name: _ends(
            best, tried, index, near, 1.96 * deviations[index], _longer(space.structure, name)
        )
        for index, name in enumerate(space.free)
    }
    best = _usual_again(search, space, best, intervals, near)
    z = np.array(best.z)
    dies = sorted(
        other.usual["dies"]
        for other, shown in (winner, *rivals)
        if other.structure == space.structure
        and other.cell == space.cell
        and (other is space or _best(shown).total <= near)
    )
    return Fitted(
        space=space,
        values=space.values(z),
        intervals={
            "dies": _dies_between(space.structure, dies),
            **{
                name: (space.at(name, low), space.at(name, high))
                for name, (low, high) in intervals.items()
            },
        },
        data=best.data,
        counts=counts,
        simulations=search.done,
        near=near - best.total,
        rivals=tuple(
            (other.structure.name, other.structure.past, other.cell, _best(shown).total)
            for other, shown in (winner, *rivals)
        ),
    )


def _dies_between(structure: Structure, near: Sequence[float]) -> tuple[float, float]:
    """From the fewest to the most dies, which are powers of two."""
    factor = 2.0 ** math.ceil(_longer_log(structure, "dies") / math.log(2.0) - 1e-2)
    return max(near[0] / factor, 1.0), min(near[-1] * factor, candidate.MOST_DIES)


@lru_cache(maxsize=1)
def _calibration() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    table: dict[str, dict[str, dict[str, float]]] = tomllib.loads(CALIBRATION.read_text())["values"]
    return table


def _longer_log(structure: Structure, name: str) -> float:
    """By how much of its logarithm an interval is longer at both ends than a search says."""
    rows = _calibration().get(structure.way, {})
    return float(rows.get(name, {}).get("longer", 0.0))


def _longer(structure: Structure, name: str) -> float:
    """The same in spreads."""
    return _longer_log(structure, name) / float(candidate.table()["values"][name]["spread"])


def _usual_again(
    search: Search,
    space: Space,
    best: Tried,
    intervals: dict[str, tuple[float, float]],
    near: float,
) -> Tried:
    """What is not determined goes back to what is usual, if the misfit lets it; `intervals` lose
    it then."""
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
    """The misfit up to which a candidate is as good as the best."""
    totals = [item.total for item in neighbours] or [best.total]
    return float(np.median(totals) + np.std(totals)) + NEAR * _scatter(best, counts)


def _scatter(best: Tried, counts: float) -> float:
    """The misfit of an independent value, 1 at least."""
    return max(best.data / max(counts, 1.0), 1.0)


def _profiles(
    search: Search, space: Space, best: Tried, chapters: Sequence[Chapter]
) -> list[Tried]:
    """Each value moved alone, both ways."""
    places = []
    for index in range(len(space.free)):
        for step in STEPS:
            for sign in (-1.0, 1.0):
                z = np.array(best.z)
                z[index] = np.clip(z[index] + sign * step, -candidate.FARTHEST, candidate.FARTHEST)
                places.append(z)
    return search.misfits(space, places, chapters)


def _deviations(
    best: Tried, moved: Sequence[Tried], neighbours: Sequence[Tried], counts: float
) -> Floats:
    """The standard deviation of each value, whatever the others are, in spreads.

    `moved`: `_profiles` of the best.
    """
    count = len(best.z)
    own = sum(float(np.sum(np.square(item.apart - best.apart))) for item in neighbours)
    noise = 2.0 * own / max(len(neighbours), 1)
    pairs = iter(zip(moved[::2], moved[1::2], strict=True))
    slopes = np.zeros((best.apart.size, count))
    for index in range(count):
        for low, high in [next(pairs) for _ in STEPS]:
            move = high.z[index] - low.z[index]
            if not (low.apart.size and high.apart.size) or move <= 0:
                continue
            change = high.apart - low.apart
            clear = float(np.sum(np.square(change)))
            if clear > CLEAR * noise + 1e-12:
                slopes[:, index] = change / move * math.sqrt(1.0 - noise / clear)
                break
    certain = slopes.T @ slopes / _scatter(best, counts) + np.eye(count)
    deviations: Floats = np.sqrt(np.diag(np.linalg.inv(certain)))
    return deviations


def _ends(
    best: Tried, tried: Sequence[Tried], index: int, near: float, least: float, longer: float
) -> tuple[float, float]:
    """From the lowest to the highest z that is near, `least` at least, and `longer` on top."""
    inside = [item.z[index] for item in tried if item.total <= near] + [best.z[index]]
    low, high = min(*inside, best.z[index] - least), max(*inside, best.z[index] + least)
    return low - longer, high + longer
