"""The search: which structure with which values shows what the run showed.

A candidate's misfit is the sum of squared distances of its series to the measured ones, in units of
what is noise and what is left between a drive and its small copy, plus the squares of its values'
distances from what is usual (in spreads), so that what the run does not determine stays there.
Structures are searched on the fills alone first, the best few on everything, the best one to the
end, by steps of least squares; what is left of the simulated drives is drawn by CMA-ES. Invariants:
the same run, seed and count give the same answer on any number of cores.

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
from dataclasses import asdict, dataclass, field
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
from flashtwin.study.fit.observed import Chapter, Observed, SmallStep, binned, curve_of_columns
from flashtwin.study.fit.shared import Shared, opened

Floats = NDArray[np.float64]

POPULATION = 12
FILL_STEPS = 2
# So many kinds of caches are searched on everything, and so many of these are searched on; steps of
# least squares for each.
FINALISTS, LAST = 8, 3
FIRST_STEPS, NEXT_STEPS, LAST_STEPS = 1, 2, 4
# A kind whose misfit is so many times the best one's is not searched on: at first, after a step,
# and as the winner with its map in the other place.
HOPELESS_AT_FIRST, HOPELESS = 4.0, 2.5
# A simpler kind is taken where its misfit is larger by no more than this, for each unit that an
# independent value misses by: a factor of 50 in likelihood.
SIMPLER = 8.0
# How far a value is moved for a slope, in spreads: the next of these where a step leaves more than
# `ENOUGH` of the misfit, for what superblocks decide changes in steps. How far each value is moved
# to look for edges beyond that; how far a step goes, and how much less is trusted in slopes.
MOVES, SCANNED, FARTHEST_STEP = (0.2, 0.8, 0.05), (-1.6, -0.6, 0.6, 1.6), 1.5
DAMPINGS = (0.01, 0.2, 2.0, 20.0)
ENOUGH = 0.98
# Of random reads alone other dies than usual, or a map on flash, have to have so much of the misfit
# or less.
CLEARLY = 0.6
# A candidate that is no drive: the search turns away from it.
NO_DRIVE = 1e9
NEAR = 3.84
# A value whose interval spans this many spreads or more (the prior's own are 3.9) was not
# determined.
UNDETERMINED = 2.2
# What limits programs is told where the other limit's misfit is so much larger per what the best
# misfit is of an independent value: values that make up for each other are found slowly. Other dies
# are taken where their misfit is so much less.
UNTOLD = 20.0
# Where a map can be; the values that a fill shows, and those that say how long a request takes.
MAPS = ("dram", "demand")
OF_FILL = (
    *("first_rate", "native_rate", "link", "cache", "static", "reserve", "rearm", "spare"),
    *("core_rate", "move"),
)
OF_REQUESTS = ("slc_read", "native_read", "command", "core_rate", "link", "reach")
# So many simulated drives a value take intervals.
INTERVALS = 6
STEPS = (0.06, 0.2, 0.6, 1.6)
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
    `limit_known`: whether the run tells what programs wait for, the flash or a core; `map_known`:
    whether it tells where the map is.
    """

    space: Space
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    data: float
    counts: float
    simulations: int
    near: float
    limit_known: bool
    map_known: bool
    rivals: tuple[tuple[Structure, str, float], ...]

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
        played = _played(chapters)
        plans: list[Any] = [
            (spec, self.seed, list(steps))
            for spec in specs
            if spec is not None
            for steps in dict.fromkeys(played)
        ]
        answers = iter(_core.simulate(plans, os.cpu_count() or 1))
        distances = []
        for spec in specs:
            if spec is None:
                distances.append(np.zeros(0))
                continue
            answer = {steps: next(answers) for steps in dict.fromkeys(played)}
            parts = [
                apart(chapter, answer[steps])
                for chapter, steps in zip(chapters, played, strict=True)
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
    ) -> list[Tried]:
        """All that CMA-ES tried from a place on."""
        count = len(space.free)
        bounds = np.array([[-candidate.FARTHEST, candidate.FARTHEST]] * count)
        optimizer = CMA(
            mean=start, sigma=sigma, bounds=bounds, population_size=POPULATION, seed=self.seed
        )
        tried: list[Tried] = []
        for _ in range(generations):
            places = [optimizer.ask() for _ in range(POPULATION)]
            shown = self.misfits(space, places, chapters)
            optimizer.tell([(z, item.total) for z, item in zip(places, shown, strict=True)])
            tried += shown
            if optimizer.should_stop():
                break
        return tried

    def descended(
        self,
        space: Space,
        start: Floats,
        iterations: int,
        chapters: Sequence[Chapter],
        only: Sequence[str] | None = None,
    ) -> list[Tried]:
        """All that steps of least squares tried from a place on (Levenberg and Marquardt).

        Each value (of those named in `only`) moves by itself, which says how all distances change
        with it; then the places are tried to which these slopes lead with more and less trust in
        them.
        """
        moving = [at for at, name in enumerate(space.free) if only is None or name in only]
        tried = self.misfits(space, [start], chapters)
        moves = iter(MOVES)
        move = next(moves)
        for _ in range(iterations):
            best = _best(tried)
            if not best.apart.size:
                break
            moved = self.misfits(space, _moved(best, move, moving), chapters)
            places = _led_to(best, moved, moving)
            tried += [*moved, *self.misfits(space, places, chapters)]
            if _best(tried).total > ENOUGH * best.total:
                move = next(moves, 0.0)
                if not move:
                    break
        return tried

    def scanned(
        self, space: Space, start: Floats, chapters: Sequence[Chapter], only: Sequence[str]
    ) -> list[Tried]:
        """Each value of those in `only` moved far, up and down: steps of least squares see no edge
        that is farther off than a move."""
        places = []
        for index, name in enumerate(space.free):
            for move in SCANNED if name in only else ():
                z = np.array(start)
                z[index] = np.clip(z[index] + move, -candidate.FARTHEST, candidate.FARTHEST)
                places.append(z)
        return self.misfits(space, places, chapters)


def _moved(best: Tried, move: float, moving: Sequence[int]) -> list[Floats]:
    """Each value moved alone, towards what is usual."""
    places = []
    for index in moving:
        z = np.array(best.z)
        z[index] += -move if z[index] > 0 else move
        places.append(z)
    return places


def _led_to(best: Tried, moved: Sequence[Tried], moving: Sequence[int]) -> list[Floats]:
    """Where the slopes lead, with more and less trust in them."""
    z, count = np.array(best.z), len(best.z)
    slopes = np.zeros((best.apart.size, count))
    for index, item in zip(moving, moved, strict=True):
        if item.apart.size:
            slopes[:, index] = (item.apart - best.apart) / (item.z[index] - z[index])
    certain = slopes.T @ slopes + np.eye(count)
    downhill = slopes.T @ best.apart + z
    still = np.setdiff1d(np.arange(count), moving)
    places = []
    for damping in DAMPINGS:
        step = np.linalg.solve(certain + damping * np.diag(np.diag(certain)), -downhill)
        step[still] = 0.0
        step *= min(1.0, FARTHEST_STEP / float(np.max(np.abs(step)) + 1e-12))
        places.append(np.clip(z + step, -candidate.FARTHEST, candidate.FARTHEST))
    return places


def _played(chapters: Sequence[Chapter]) -> list[tuple[SmallStep, ...]]:
    """The steps whose answers a chapter takes: its own, or those of a chapter that begins with
    them."""
    longest = sorted((chapter.steps for chapter in chapters), key=len, reverse=True)
    return [
        next(steps for steps in longest if steps[: len(chapter.steps)] == chapter.steps)
        for chapter in chapters
    ]


def apart(chapter: Chapter, answer: Sequence[Mapping[str, Any]]) -> Floats | None:
    """How far a candidate's series are from a chapter's; none where it moved nothing."""
    distances = []
    for seen in chapter.seen:
        curve = curve_of_columns(answer[seen.at]["series"])
        if curve.total_bytes <= 0:
            return None
        distances.append(seen.apart(binned(curve, len(seen.rate), seen.until)))
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
    by_fill = _by_fill(search, spaces)
    factor, where = _by_requests(search, by_fill[0])
    runs = _by_all(
        search,
        [(space.with_dies(factor), tried) for space, tried in by_fill],
        [space.with_dies(factor) for space in spaces],
        where,
    )
    winner, others = _with_its_dies(search, runs[0])
    runs += others
    others = _by_other_limit(search, winner, spaces)
    runs += others
    space, tried = min([winner, *others], key=_total)
    rivals = [pair for pair in runs if pair[0] is not space]
    _, tried = _descent(search, space, _place(tried), LAST_STEPS, "values", tried)
    left = simulations - search.done - NEIGHBOURS - INTERVALS * len(space.free)
    _, more = _run(search, space, _place(tried), 0.15, max(left // POPULATION, 0), "values")
    search.label = "intervals"
    return _fitted(search, (space, [*tried, *more]), rivals)


def _by_fill(search: Search, spaces: Sequence[Space]) -> list[Searched]:
    """Kinds of caches on the fill alone, best first. What limits their programs a fill does not
    say: those that a core limits are searched where there is no other."""
    fill = search.seen.chapters[:1]
    flash = {(space.structure.number, space.cell) for space in spaces if not _by_core(space)}
    runs: list[Searched] = []
    for space in spaces:
        if _by_core(space) and (space.structure.number, space.cell) in flash:
            continue
        search.label = _label(space, "fill")
        tried = search.descended(space, np.zeros(len(space.free)), FILL_STEPS, fill, OF_FILL)
        tried += search.scanned(space, _place(tried), fill, OF_FILL)
        tried += search.descended(space, _place(tried), FILL_STEPS, fill, OF_FILL)
        runs.append((space, tried))
    runs.sort(key=_total)
    return runs


def _by_requests(search: Search, searched: Searched) -> tuple[float, str]:
    """How many times the usual dies a drive has, and where its map is, as far as chapters with
    random reads say: how many requests its flash takes at a time, and what each costs."""
    space, tried = searched
    chapters = [chapter for chapter in search.seen.chapters if chapter.has_reads]
    if not chapters:
        return 1.0, space.structure.map
    search.label = _label(space, "requests")
    runs: list[Searched] = []
    for where in MAPS:
        for dies in (space, *_other_dies(space, (0.5, 2.0, 4.0))):
            other = dies.with_map(where)
            start = _carried(space, _place(tried), other, rates=True)
            runs.append((other, search.descended(other, start, FIRST_STEPS, chapters, OF_REQUESTS)))
    clearest = _clearest(runs[0], runs)[0]
    return clearest.usual["dies"] / space.usual["dies"], clearest.structure.map


def _with_its_dies(search: Search, best: Searched) -> tuple[Searched, list[Searched]]:
    """The best kind with as many dies as show the run best, and all that was searched for that.

    Other dies have to be clearly nearer after one step, and then those beyond them are tried too.
    """
    runs: list[Searched] = []
    factors: tuple[float, ...] = (0.5, 2.0)
    while True:
        others = [
            _descent(search, other, _place(best[1]), FIRST_STEPS, "dies")
            for other in _other_dies(best[0], factors)
        ]
        runs += others
        nearer = min(others, key=_total, default=best)
        clearly = UNTOLD * _scatter(_best(nearer[1]), search.seen.counts)
        if _total(nearer) > _total(best) - clearly:
            return best, runs
        factors = (2.0 if nearer[0].usual["dies"] > best[0].usual["dies"] else 0.5,)
        best = nearer


def _other_dies(space: Space, factors: Sequence[float]) -> list[Space]:
    others = [space.with_dies(factor) for factor in factors]
    return [other for other in others if other.usual["dies"] != space.usual["dies"]]


def _clearest(usual: Searched, runs: Sequence[Searched]) -> Searched:
    """Other dies fit a little better by chance: it takes more to leave what is usual."""
    clearer = [pair for pair in runs if _total(pair) < CLEARLY * _total(usual) - NEAR]
    return min(clearer, key=_total) if clearer else usual


def _by_all(
    search: Search, by_fill: Sequence[Searched], spaces: Sequence[Space], where: str
) -> list[Searched]:
    """The best kinds on every chapter, best first, with their map `where` requests say. All are
    simulated once, as the fill leaves them and as the same kind that a core limits; the best make
    one step, and the best of these more."""
    starts = []
    for space, tried in by_fill:
        place, same = _place(tried), space.with_map(where)
        starts.append((same, _carried(space, place, same, rates=True)))
        cores = [other.with_map(where) for other in spaces if _is_core_of(other, space)]
        starts += [(other, _carried(space, place, other)) for other in cores]
    search.label = "every kind of cache"
    once = [
        (space, search.misfits(space, [place], search.seen.chapters)) for space, place in starts
    ]
    once.sort(key=_total)
    first = _hopeful(once[:FINALISTS], HOPELESS_AT_FIRST)
    runs = [_descent(search, space, _place(tried), FIRST_STEPS, "all") for space, tried in first]
    runs.sort(key=_total)
    last = _hopeful(runs[:LAST], HOPELESS)
    more = [
        _descent(search, space, _place(tried), NEXT_STEPS, "all", tried) for space, tried in last
    ]
    runs = sorted(more, key=_total) + runs[len(last) :]
    best = _simplest(more, search.seen.counts)
    return [best, *(pair for pair in runs if pair is not best)]


def _hopeful(runs: Sequence[Searched], times: float) -> list[Searched]:
    """Those of runs, best first, whose misfit is less than so many times the best one's."""
    return [pair for pair in runs if _total(pair) <= times * _total(runs[0])]


def _simplest(runs: Sequence[Searched], counts: float) -> Searched:
    """The best of the kinds with the fewest values, of those that fit about as well as the best."""
    best = min(runs, key=_total)
    most = _total(best) + SIMPLER * _scatter(_best(best[1]), counts)
    near = [pair for pair in runs if _total(pair) <= most]
    return min(near, key=lambda pair: (pair[0].structure.of_cache, _total(pair)))


def _by_other_limit(search: Search, winner: Searched, spaces: Sequence[Space]) -> list[Searched]:
    """The winner with the other limit of its programs, and with its map in the other place, as far
    searched and with as many dies: which of these it is has to be told by what they show."""
    space, tried = winner
    place = _place(tried)
    runs = []
    for other in spaces:
        if _is_core_of(other, space) or _is_core_of(space, other):
            same = other.with_dies(space.usual["dies"] / other.usual["dies"])
            same = same.with_map(space.structure.map)
            start = _carried(space, place, same)
            runs.append(_descent(search, same, start, LAST_STEPS, "limit"))
    for where in MAPS if search.seen.has_requests else ():
        if where != space.structure.map:
            other = space.with_map(where)
            start = _carried(space, place, other, rates=True)
            run = _descent(search, other, start, FIRST_STEPS, "map")
            if _total(run) <= HOPELESS * _total(winner):
                run = _descent(
                    search, other, _place(run[1]), LAST_STEPS - FIRST_STEPS, "map", run[1]
                )
            runs.append(run)
    return runs


def _by_core(space: Space) -> bool:
    return space.structure.by_core


def _is_core_of(other: Space, space: Space) -> bool:
    """Whether a kind is another one that a core limits, wherever their maps are."""
    same = (other.structure.number, other.cell) == (space.structure.number, space.cell)
    return same and _by_core(other) and not _by_core(space)


def _carried(space: Space, place: Floats, other: Space, *, rates: bool = False) -> Floats:
    """A place of a space in another one; without `rates` but for these: what limits them may be
    another thing there."""
    at = dict(zip(space.free, place, strict=True))
    if not rates:
        at |= {"first_rate": 0.0, "native_rate": 0.0}
    return np.array([at.get(name, 0.0) for name in other.free])


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
    label: str,
) -> Searched:
    """CMA-ES from a place on, on all chapters."""
    search.label = _label(space, label)
    return space, search.evolved(space, start, sigma, generations, search.seen.chapters)


def _descent(
    search: Search,
    space: Space,
    start: Floats,
    steps: int,
    label: str,
    before: Sequence[Tried] = (),
) -> Searched:
    """Steps of least squares from a place on, on all chapters; `before`: what was tried already."""
    search.label = _label(space, label)
    return space, [*before, *search.descended(space, start, steps, search.seen.chapters)]


def _label(space: Space, doing: str) -> str:
    structure = space.structure
    limit = ", by its core" if structure.by_core else ""
    return f"{structure.name}, {structure.past}{limit}, {space.cell}: {doing}"


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
    for again in (True, True, False):
        neighbours = _neighbours(search, space, best, search.seen.chapters)
        near = _near(best, neighbours, counts)
        moves = _profiles(search, space, best, neighbours, near)
        tried = [*tried, *(item for pairs in moves for pair in pairs for item in pair)]
        if not again or _best(tried).total >= best.total - NEAR:
            break
        # A value moved alone has found a better place: it is the first of another step.
        tried += search.descended(space, _place(tried), FIRST_STEPS, search.seen.chapters)
        best = _best(tried)
    deviations = _deviations(best, moves, _noise(best, neighbours), counts)
    for name in _hidden(space):
        deviations[space.free.index(name)] = 1.0
    intervals = {
        name: _ends(
            best, tried, index, near, 1.96 * deviations[index], _longer(space.structure, name)
        )
        for index, name in enumerate(space.free)
    }
    best = _usual_again(search, space, best, intervals, near)
    z = np.array(best.z)
    other_limit = [
        other
        for other, shown in rivals
        if _is_core_of(other, space) or _is_core_of(space, other)
        if other.structure.map == space.structure.map
        if _best(shown).total <= near + UNTOLD * _scatter(best, counts)
    ]
    other_map = [
        other
        for other, shown in rivals
        if other.with_map(space.structure.map).structure == space.structure != other.structure
        if _best(shown).total <= near + UNTOLD * _scatter(best, counts)
    ]
    dies = sorted(
        other.usual["dies"]
        for other, shown in (winner, *rivals)
        if other.structure == space.structure
        and other.cell == space.cell
        and (other is space or _best(shown).total <= near)
    )
    known = {
        name: (space.at(name, low), space.at(name, high)) for name, (low, high) in intervals.items()
    }
    if search.seen.has_requests:
        # Otherwise dies show in the size of superblocks alone, and those of the copy are its own.
        known = {"dies": _dies_between(space.structure, dies), **known}
    return Fitted(
        space=space,
        values=space.values(z),
        intervals=_by_either(known, space, other_limit),
        data=best.data,
        counts=counts,
        simulations=search.done,
        near=near - best.total,
        limit_known=not other_limit,
        map_known=search.seen.has_requests and not other_map,
        rivals=tuple(
            (other.structure, other.cell, _best(shown).total) for other, shown in (winner, *rivals)
        ),
    )


def _hidden(space: Space) -> list[str]:
    """Rates that no host sees: what differs is no sight of them. The link held the host all the
    time, or the core did."""
    hidden = []
    if space.structure.by_core or space.usual["first_rate"] > space.usual["link"]:
        hidden.append("first_rate")
    if space.structure.by_core and space.structure.way == "folded":
        hidden.append("native_rate")
    return [name for name in hidden if name in space.free]


def _by_either(
    known: dict[str, tuple[float, float]], space: Space, others: Sequence[Space]
) -> dict[str, tuple[float, float]]:
    """Intervals where another limit fits as well: `others` are the space with that.

    A core's times are not determined then, and flash is as fast as it shows, or as a core that
    hides it lets it be.
    """
    if not others:
        return known
    if space.structure.by_core:
        return {name: ends for name, ends in known.items() if name not in candidate.OF_CORE}
    for name in ("first_rate", *(["native_rate"] if space.structure.way == "folded" else [])):
        if name in known:
            most = max(other.at(name, 1.96) for other in others)
            known[name] = (known[name][0], max(known[name][1], most))
    return known


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


Moves = list[tuple[Tried, Tried]]


def _profiles(
    search: Search, space: Space, best: Tried, neighbours: Sequence[Tried], near: float
) -> list[Moves]:
    """Each value moved alone, down and up, farther and farther: until both moves show clearly more
    than neighbours differ by, and neither is near any more."""
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


def _noise(best: Tried, neighbours: Sequence[Tried]) -> float:
    """What the difference of two places that no host could tell apart comes to, squared."""
    own = sum(float(np.sum(np.square(item.apart - best.apart))) for item in neighbours)
    return 2.0 * own / max(len(neighbours), 1)


def _slope(pair: tuple[Tried, Tried], index: int, noise: float) -> Floats | None:
    """How distances change with a value; none where that is no more than noise."""
    low, high = pair
    move = high.z[index] - low.z[index]
    if not (low.apart.size and high.apart.size) or move <= 0:
        return None
    change = high.apart - low.apart
    clear = float(np.sum(np.square(change)))
    if clear <= CLEAR * noise + 1e-12:
        return None
    slope: Floats = change / move * math.sqrt(1.0 - noise / clear)
    return slope


def _deviations(best: Tried, moves: Sequence[Moves], noise: float, counts: float) -> Floats:
    """The standard deviation of each value, whatever the others are, in spreads."""
    slopes = np.zeros((best.apart.size, len(best.z)))
    for index, pairs in enumerate(moves):
        clear = (_slope(pair, index, noise) for pair in pairs)
        slopes[:, index] = next((slope for slope in clear if slope is not None), 0.0)
    certain = slopes.T @ slopes / _scatter(best, counts) + np.eye(len(best.z))
    deviations: Floats = np.sqrt(np.diag(np.linalg.inv(certain)))
    return deviations


def _ends(
    best: Tried, tried: Sequence[Tried], index: int, near: float, least: float, longer: float
) -> tuple[float, float]:
    """From the lowest to the highest z that is near, `least` at least, and `longer` on top."""
    inside = [item.z[index] for item in tried if item.total <= near] + [best.z[index]]
    low, high = min(*inside, best.z[index] - least), max(*inside, best.z[index] + least)
    return low - longer, high + longer
