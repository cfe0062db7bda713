"""The search: which structure with which values shows what the run showed.

A candidate's misfit is the sum of squared distances of its series to the measured ones, in units of
what is noise and what is left between a drive and its small copy, plus the squares of its values'
distances from what is usual (in spreads), so that what the run does not determine stays there.
Structures are searched on the fills alone first, the best few on everything, the best one to the
end (CMA-ES). Invariants: the same run, seed and count give the same answer on any number of cores.

Intervals: all values that a candidate near the best had, and where the misfit of one value alone
rises that far; near is 3.84 (95 %) times what the best misfit is per independent value, 1 at least,
above what neighbours of the best that no host could tell from it have. `twin.toml` says how narrow
an interval may be.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from cmaes import CMA
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.catalogue.loader import BadSpecError
from flashtwin.study.fit import candidate
from flashtwin.study.fit.candidate import Space
from flashtwin.study.fit.observed import Chapter, Observed, binned, curve_of_columns

Floats = NDArray[np.float64]

POPULATION = 12
FILL_GENERATIONS, WHOLE_GENERATIONS = 6, 5
FINALISTS = 4
# A structure whose misfit is so many times another's after two generations is given up.
HOPELESS = 2.5
# Other dies than usual have to have so much of the misfit or less.
CLEARLY = 0.85
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

Tell = Callable[[int, str], None]


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A place of a space with its misfit: `data` of the series alone, `total` with the prior."""

    z: tuple[float, ...]
    data: float
    total: float


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
    done: int = 0
    label: str = ""

    def misfits(
        self, space: Space, places: Sequence[Floats], chapters: Sequence[Chapter]
    ) -> list[Tried]:
        """Each place simulated."""
        plans: list[Any] = []
        began: list[int | None] = []
        for z in places:
            spec = self._spec(space, z)
            began.append(None if spec is None else len(plans))
            if spec is not None:
                plans += [(spec, self.seed, list(chapter.steps)) for chapter in chapters]
        answers = _core.simulate(plans, os.cpu_count() or 1)
        tried = []
        for z, first in zip(places, began, strict=True):
            data = NO_DRIVE
            if first is not None:
                data = sum(
                    misfit(chapter, answers[first + number])
                    for number, chapter in enumerate(chapters)
                )
            tried.append(Tried(z=tuple(z), data=data, total=data + float(np.sum(np.square(z)))))
        self.done += len(places) if len(chapters) == len(self.seen.chapters) else 0
        self.tell(self.done, self.label)
        return tried

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


def misfit(chapter: Chapter, answer: Sequence[Mapping[str, Any]]) -> float:
    """How far a candidate's series are from a chapter's."""
    total = 0.0
    for seen in chapter.seen:
        curve = curve_of_columns(answer[seen.at]["series"])
        if curve.total_bytes <= 0:
            return NO_DRIVE
        total += seen.misfit(binned(curve, len(seen.rate)))
    return total


def searched(
    seen: Observed, spaces: Sequence[Space], simulations: int, seed: int, tell: Tell
) -> Fitted:
    """The best structure with its values; about so many candidates are simulated whole."""
    search = Search(seen=seen, seed=seed, tell=tell)
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
    left = simulations - search.done - NEIGHBOURS - 2 * len(STEPS) * len(space.free)
    generations = max(left // POPULATION, WHOLE_GENERATIONS)
    _, more = _run(search, space, _place(tried), 0.25, generations, all_chapters, "values")
    search.label = "intervals"
    return _fitted(search, (space, [*tried, *more]), [*rivals, *by_fill[FINALISTS:]])


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
    tried = [*tried, *_profiles(search, space, best, all_chapters)]
    best = _best(tried)
    near = _near(search, space, best, all_chapters)
    intervals = {
        name: _ends(best, tried, index, near, _apart(name)) for index, name in enumerate(space.free)
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
            "dies": (dies[0], dies[-1]),
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


def _apart(name: str) -> float:
    """How far a drive's value is from its small copy's, in spreads."""
    row = candidate.table()["values"][name]
    return float(math.log1p(row["apart"]) / row["spread"])


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


def _near(search: Search, space: Space, best: Tried, chapters: Sequence[Chapter]) -> float:
    """The misfit up to which a candidate is as good as the best."""
    rng = np.random.default_rng(search.seed)
    places = [np.array(best.z) + rng.normal(0.0, NEXT, len(space.free)) for _ in range(NEIGHBOURS)]
    totals = [item.total for item in search.misfits(space, places, chapters)]
    scatter = max(best.data / max(search.seen.counts, 1.0), 1.0)
    return float(np.median(totals) + np.std(totals)) + NEAR * scatter


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


def _ends(
    best: Tried, tried: Sequence[Tried], index: int, near: float, apart: float
) -> tuple[float, float]:
    """From the lowest to the highest z that is near, and half way to the next that is not."""
    inside = [item.z[index] for item in tried if item.total <= near] + [best.z[index]]
    low, high = min(inside), max(inside)
    alone = [
        item.z[index]
        for item in tried
        if item.total > near
        and all(
            math.isclose(a, b)
            for number, (a, b) in enumerate(zip(item.z, best.z, strict=True))
            if number != index
        )
    ]
    below, above = [at for at in alone if at < low], [at for at in alone if at > high]
    low = (low + max(below)) / 2 if below else low
    high = (high + min(above)) / 2 if above else high
    return min(low, best.z[index] - apart), max(high, best.z[index] + apart)
