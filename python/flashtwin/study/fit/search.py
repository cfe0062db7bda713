"""The search: which structure with which values shows what the run showed.

Structures are searched on the fills alone first, the best few on everything, the best one to the
end, by steps of least squares; what is left of the simulated drives is drawn by CMA-ES. Invariants:
the same run, seed and count give the same answer on any number of cores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from flashtwin import __version__
from flashtwin.study.fit import candidate
from flashtwin.study.fit.candidate import Space
from flashtwin.study.fit.intervals import INTERVALS, NEAR, NEIGHBOURS, UNTOLD, Fitted, fitted
from flashtwin.study.fit.observed import Observed
from flashtwin.study.fit.shared import opened
from flashtwin.study.fit.trials import (
    POPULATION,
    Floats,
    Search,
    Searched,
    Tell,
    Tried,
    best_of,
    place_of,
    scatter_of,
)

FILL_STEPS = 2
# So many kinds of caches are searched on everything, and so many of these are searched on; steps of
# least squares for each.
FINALISTS, LAST = 8, 3
FIRST_STEPS, NEXT_STEPS, LAST_STEPS = 1, 2, 4
# A kind whose misfit is so many times the best one's is not searched on: at first, after a step,
# and as the winner with its map in the other place.
HOPELESS_AT_FIRST, HOPELESS = 4.0, 2.5
# A kind of cache with more values is taken where its Bayesian information criterion is lower by
# more than this: from 6 on Kass and Raftery (1995) call evidence strong.
STRONG = 6.0
# Where a search for the rest before folding begins looks, in spreads around what is usual, and how
# far around the best of these it looks again: from 0.7 s to five minutes.
RESTS = tuple(-1.9 + 0.2 * number for number in range(20))
NEXT_RESTS = (-0.1, -0.05, 0.05, 0.1)
# Where the rest before folding is looked for once more, around its place, of each kind that is held
# against another. Reads that come during folding wait and those that come before it do not, so
# 3 % of that rest decide; these steps are of that size.
NEAREST_RESTS = tuple(0.02 * number for number in range(-5, 6) if number)
# Of random reads alone other dies than usual, or a map on flash, have to have so much of the misfit
# or less.
CLEARLY = 0.6
# Where a map can be; the values that a fill shows, and those that say how long a request takes.
MAPS = ("dram", "demand")
OF_FILL = (
    *("first_rate", "native_rate", "link", "cache", "static", "reserve", "rearm", "spare"),
    *("core_rate", "move"),
)
# Those that say where a write is no longer as fast: slopes lead to such a place only from near.
OF_EDGES = ("cache", "static", "reserve", "rearm", "spare")
OF_REQUESTS = ("slc_read", "native_read", "command", "core_rate", "link", "reach")


def searched(
    seen: Observed,
    spaces: Sequence[Space],
    simulations: int,
    seed: int,
    tell: Tell,
    *,
    study: str | None = None,
    cores: int = 1,
) -> Fitted:
    """The best structure with its values; about so many candidates are simulated whole.

    `study`: the database that the search is kept in, a file or a URL. `cores`: so many of them are
    simulated at a time.
    """
    shared = None
    if study is not None:
        shared = opened(study, seen.name, _what(seen, spaces, simulations, seed))
    search = Search(seen=seen, seed=seed, cores=cores, tell=tell, shared=shared)
    by_fill = _by_fill(search, spaces)
    factor, where = _by_requests(search, by_fill[0])
    by_fill = [(space.with_dies(factor), tried) for space, tried in by_fill]
    runs = _by_all(
        search,
        by_fill,
        [space.with_dies(factor) for space in spaces],
        where,
        _by_rests(search, by_fill[0], where),
    )
    winner, others = _with_its_dies(search, runs[0])
    runs += others
    winner, others = _among_simpler(search, winner, runs, spaces)
    runs += others
    others = _by_other_limit(search, winner, spaces)
    contenders = [_with_its_rest(search, pair) for pair in (winner, *others)]
    runs = [*contenders, *(pair for pair in runs if pair is not winner)]
    space, tried = min(contenders, key=_total)
    rivals = [pair for pair in runs if pair[0] is not space]
    _, tried = _descent(search, space, place_of(tried), LAST_STEPS, "values", tried)
    tried += search.scanned(space, place_of(tried), seen.chapters, OF_EDGES)
    _, tried = _descent(search, space, place_of(tried), LAST_STEPS, "values", tried)
    left = simulations - search.done - NEIGHBOURS - INTERVALS * len(space.free)
    _, more = _run(search, space, place_of(tried), 0.15, max(left // POPULATION, 0), "values")
    search.label = "intervals"
    return fitted(search, (space, [*tried, *more]), rivals)


def _by_fill(search: Search, spaces: Sequence[Space]) -> list[Searched]:
    """Kinds of caches on the fill alone, best first. What limits their programs a fill does not
    say: those that a core limits are searched where there is no other."""
    fill = search.seen.chapters[:1]
    flash = {
        (space.structure.number, space.cell) for space in spaces if not space.structure.by_core
    }
    runs: list[Searched] = []
    for space in spaces:
        if space.structure.by_core and (space.structure.number, space.cell) in flash:
            continue
        search.label = _label(space, "fill")
        tried = search.descended(space, np.zeros(len(space.free)), FILL_STEPS, fill, OF_FILL)
        tried += search.scanned(space, place_of(tried), fill, OF_FILL)
        tried += search.descended(space, place_of(tried), FILL_STEPS, fill, OF_FILL)
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
            start = _carried(space, place_of(tried), other, rates=True)
            runs.append((other, search.descended(other, start, FIRST_STEPS, chapters, OF_REQUESTS)))
    clearest = _clearest(runs[0], runs)[0]
    return clearest.usual["dies"] / space.usual["dies"], clearest.structure.map


def _by_rests(search: Search, searched: Searched, where: str) -> float:
    """The rest before folding begins, in spreads, as far as chapters with rests say. Slopes lead
    there only from near: a drive that folds in all rests, or in none, shows the same."""
    space, tried = searched
    chapters = [chapter for chapter in search.seen.chapters if chapter.longest_rest_s > 0]
    same = space.with_map(where)
    if "idle" not in same.free or not chapters:
        return 0.0
    search.label = _label(space, "rests")
    at = same.free.index("idle")
    start = _carried(space, place_of(tried), same, rates=True)

    def looked(rests: Sequence[float]) -> list[Tried]:
        return search.misfits(same, [_moved_to(start, at, rest) for rest in rests], chapters)

    coarse = looked((0.0, *RESTS))
    best = best_of(coarse).z[at]
    return best_of([*coarse, *looked([best + rest for rest in NEXT_RESTS])]).z[at]


def _with_its_rest(search: Search, searched: Searched) -> Searched:
    """A kind with the rest before folding that shows the run best near where it is."""
    space, tried = searched
    if "idle" not in space.free:
        return searched
    at, place = space.free.index("idle"), place_of(tried)
    search.label = _label(space, "rest")
    places = [_moved_to(place, at, place[at] + rest) for rest in NEAREST_RESTS]
    return space, [*tried, *search.misfits(space, places, search.seen.chapters)]


def _moved_to(place: Floats, at: int, z: float) -> Floats:
    moved = place.copy()
    moved[at] = z
    return moved


def _with_its_dies(search: Search, best: Searched) -> tuple[Searched, list[Searched]]:
    """The best kind with as many dies as show the run best, and all that was searched for that.

    Other dies have to be clearly nearer after one step, and then those beyond them are tried too.
    """
    runs: list[Searched] = []
    factors: tuple[float, ...] = (0.5, 2.0)
    while True:
        others = [
            _descent(search, other, place_of(best[1]), FIRST_STEPS, "dies")
            for other in _other_dies(best[0], factors)
        ]
        runs += others
        nearer = min(others, key=_total, default=best)
        clearly = UNTOLD * scatter_of(best_of(nearer[1]), search.seen.counts)
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
    search: Search,
    by_fill: Sequence[Searched],
    spaces: Sequence[Space],
    where: str,
    rest: float,
) -> list[Searched]:
    """The best kinds on every chapter, best first, with their map `where` requests say and folding
    after the `rest` that chapters say. All are simulated once, as the fill leaves them and as the
    same kind that a core limits; the best make one step, and the best of these more."""
    starts = []
    for space, tried in by_fill:
        place, same = place_of(tried), space.with_map(where)
        if "idle" in space.free:
            place = _moved_to(place, space.free.index("idle"), rest)
        starts.append((same, _carried(space, place, same, rates=True)))
        cores = [other.with_map(where) for other in spaces if other.is_core_of(space)]
        starts += [(other, _carried(space, place, other)) for other in cores]
    search.label = "every kind of cache"
    once = [
        (space, search.misfits(space, [place], search.seen.chapters)) for space, place in starts
    ]
    once.sort(key=_total)
    first = _hopeful(once[:FINALISTS], HOPELESS_AT_FIRST)
    runs = [_descent(search, space, place_of(tried), FIRST_STEPS, "all") for space, tried in first]
    runs.sort(key=_total)
    last = _hopeful(runs[:LAST], HOPELESS)
    more = [
        _descent(search, space, place_of(tried), NEXT_STEPS, "all", tried) for space, tried in last
    ]
    runs = sorted(more, key=_total) + runs[len(last) :]
    best = _simplest(more, search.seen.counts)
    return [best, *(pair for pair in runs if pair is not best)]


def _hopeful(runs: Sequence[Searched], times: float) -> list[Searched]:
    """Those of runs, best first, whose misfit is less than so many times the best one's."""
    return [pair for pair in runs if _total(pair) <= times * _total(runs[0])]


def _simplest(runs: Sequence[Searched], counts: float) -> Searched:
    """The kind with the fewest values, of those against which there is no strong evidence."""
    scatter = scatter_of(best_of(min(runs, key=_total)[1]), counts)

    def criterion(pair: Searched) -> float:
        return _total(pair) / scatter + pair[0].structure.of_cache * math.log(counts)

    least = min(criterion(pair) for pair in runs)
    near = [pair for pair in runs if criterion(pair) <= least + STRONG]
    return min(near, key=lambda pair: (pair[0].structure.of_cache, _total(pair)))


def _among_simpler(
    search: Search, winner: Searched, runs: Sequence[Searched], spaces: Sequence[Space]
) -> tuple[Searched, list[Searched]]:
    """The best kind held against those with fewer values once more, with as many dies and from
    where it is itself: the dies that were usual may have suited it alone. With all others that were
    searched for this."""
    space, tried = winner
    simpler = [
        other.with_dies(space.usual["dies"] / other.usual["dies"]).with_map(space.structure.map)
        for other in spaces
        if (other.cell, other.structure.limit) == (space.cell, space.structure.limit)
        and other.structure.name != "none"
        and other.structure.way == space.structure.way
        and other.structure.of_cache < space.structure.of_cache
    ]
    others = []
    for other in simpler:
        own = [
            place_of(shown)
            for before, shown in runs
            if (before.structure, before.cell) == (other.structure, other.cell)
        ]
        starts = [_carried(space, place_of(tried), other, rates=True), *own]
        search.label = _label(other, "again")
        shown = search.misfits(other, starts, search.seen.chapters)
        run = (other, shown)
        if _total(run) <= HOPELESS_AT_FIRST * _total(winner):
            run = _descent(search, other, place_of(shown), NEXT_STEPS, "again", shown)
        others.append(run)
    hopeful = [pair for pair in others if _total(pair) <= HOPELESS * _total(winner)]
    return _simplest([winner, *hopeful], search.seen.counts), others


def _by_other_limit(search: Search, winner: Searched, spaces: Sequence[Space]) -> list[Searched]:
    """The winner with the other limit of its programs, and with its map in the other place, as far
    searched and with as many dies: which of these it is has to be told by what they show."""
    space, tried = winner
    place = place_of(tried)
    runs = []
    for other in spaces:
        if other.is_core_of(space) or space.is_core_of(other):
            same = other.with_dies(space.usual["dies"] / other.usual["dies"])
            same = same.with_map(space.structure.map)
            start = _carried(space, place, same)
            # It is not given up after one step: the core's own times are the usual ones until then.
            runs.append(_descent(search, same, start, LAST_STEPS, "limit"))
    for where in MAPS if search.seen.has_requests else ():
        if where != space.structure.map:
            other = space.with_map(where)
            start = _carried(space, place, other, rates=True)
            run = _descent(search, other, start, FIRST_STEPS, "map")
            if _total(run) <= HOPELESS * _total(winner):
                more = LAST_STEPS - FIRST_STEPS
                run = _descent(search, other, place_of(run[1]), more, "map", run[1])
            runs.append(run)
    return runs


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
    return best_of(pair[1]).total
