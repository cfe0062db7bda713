"""The search: which structure with which values shows what the run showed.

All structures are fitted to the fill first, then the best few to every chapter. How far small
copies of the best one differ that no host could tell apart counts as noise from there on. Then come
the neighbours of the best one until none is better. Steps of least squares refine the winner, and
CMA-ES draws the simulated drives that remain of the count. Invariants: the same run, seed and count
give the same answer on any number of cores.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from flashtwin import __version__, _core
from flashtwin.hypothesis.structures import BITS, DYNAMIC, FOLD_FIRST, HYBRID, NONE, STAGED
from flashtwin.study.fit import candidate
from flashtwin.study.fit.candidate import Space, Structure
from flashtwin.study.fit.intervals import INTERVALS, NEAR, NEIGHBOURS, UNTOLD, Fitted, fitted
from flashtwin.study.fit.observed import Observed
from flashtwin.study.fit.shared import opened
from flashtwin.study.fit.trials import (
    ENOUGH,
    MOVES,
    POPULATION,
    Floats,
    Search,
    Searched,
    Tried,
    best_of,
    floor_of,
    place_of,
    scatter_of,
)

# A space with the place where its fill left it, and the misfit of that fill.
Started = tuple[Space, Floats, float]

FILL_STEPS = 3
# Kinds of which a simulation is timed, to foretell the search.
TIMED = 5
# This number of kinds make a first step on every chapter, and the best of these the next ones;
# steps of least squares at each stage.
FINALISTS, LAST = 8, 3
FIRST_STEPS, NEXT_STEPS, LAST_STEPS = 1, 3, 5
REQUEST_STEPS, VICTIM_STEPS = 2, 2
# So often at most the winner's neighbours are looked at.
ROUNDS = 3
# A kind whose misfit is this multiple of the best one's is given up: by its fill alone, and later.
HOPELESS_AT_FIRST, HOPELESS = 4.0, 2.5
# A kind of cache with more values is taken where its Bayesian information criterion is lower by
# more than this: from 6 on Kass and Raftery (1995) call evidence strong. The misfit is divided by
# `DOUBT` for it: the drive is no candidate, and what all are off by for that reason is no noise.
STRONG, DOUBT = 6.0, 2.0
# One that is better by less than this, in the misfit of an independent value, does not win: Kass
# and Raftery call such evidence not worth more than a bare mention.
NO_BETTER = 2.0
# Rests before folding that are tried, in spreads around the usual one (0.7 s to five minutes), and
# those tried next around the best of them.
RESTS = tuple(-1.9 + 0.2 * number for number in range(20))
NEXT_RESTS = (-0.1, -0.05, 0.05, 0.1)
# Rests tried around a kind's own before it is compared with another kind. A read during folding
# waits and one before it does not, so that 3 % of the rest decide; these steps have that size.
NEAREST_RESTS = tuple(0.02 * number for number in range(-5, 6) if number)
# Random reads alone put other dies, or a map on flash, in the place of the usual ones where these
# lower the misfit to this share.
CLEARLY = 0.6
# Places of the map; the values that a fill shows; those that decide how long a request takes.
MAPS = ("dram", "demand")
OF_FILL = (
    *("first_rate", "native_rate", "link", "cache", "static", "tier", "tier_speed"),
    *("reserve", "rearm", "spare", "core_rate", "move"),
)
# Values that decide where a write becomes slower: slopes lead to such an edge only from nearby.
OF_EDGES = ("cache", "static", "tier", "reserve", "rearm", "spare")
OF_REQUESTS = ("slc_read", "native_read", "command", "core_rate", "link", "reach")


def searched(
    search: Search, spaces: Sequence[Space], simulations: int, *, study: str | None = None
) -> Fitted:
    """The best structure with its values, from about `simulations` candidates on every chapter.

    `study`: the database that the search is kept in, a file or a URL.
    """
    if study is None:
        return _searched(search, spaces, simulations)
    seen = search.seen
    with closing(opened(study, seen.name, _what(seen, spaces, simulations, search.seed))) as shared:
        search.shared = shared
        return _searched(search, spaces, simulations)


def _searched(search: Search, spaces: Sequence[Space], simulations: int) -> Fitted:
    by_fill = _by_fill(search, spaces, simulations)
    # A fill tells nothing of cells: the usual ones are taken, which the usual dies go with.
    usual = next((pair for pair in by_fill if pair[0].cell == next(iter(BITS))), by_fill[0])
    factor, where = _by_requests(search, usual)
    by_fill = [(space.with_dies(factor), tried) for space, tried in by_fill]
    runs = _by_all(
        search,
        by_fill,
        [space.with_dies(factor) for space in spaces],
        where,
        _by_rests(search, by_fill[0], where),
    )
    space, tried = runs[0]
    search.take_chaos(space, place_of(tried))
    runs = [(space, [search.taken_again(item) for item in tried]) for space, tried in runs]
    winner, rivals = _among_neighbours(search, runs, spaces)
    winner, ways = _by_victims(search, winner)
    space, tried = winner
    _, tried = _descent(search, space, place_of(tried), LAST_STEPS, "values", tried)
    before = _total((space, tried))
    tried += search.scanned(space, place_of(tried), search.seen.chapters, OF_EDGES)
    if _total((space, tried)) < ENOUGH * before:
        _, tried = _descent(search, space, place_of(tried), LAST_STEPS, "values", tried)
    left = simulations - search.done - NEIGHBOURS - INTERVALS * len(space.free)
    _, more = _run(search, space, place_of(tried), 0.15, max(left // POPULATION, 0), "values")
    search.label = "intervals"
    return fitted(search, (space, [*tried, *more]), rivals, ways)


def _by_victims(search: Search, winner: Searched) -> tuple[Searched, list[tuple[Space, Tried]]]:
    """The winner with the way in which collection chooses that fits best, and the best of each way,
    this one first: all with as much spare flash as they need. A run that shows no collection, or
    that has told the way already, has no ways."""
    space, tried = winner
    if not search.seen.collects or space.victims is not None:
        return winner, []
    place, runs = place_of(tried), [winner]
    for word in candidate.table()["victims"]["others"]:
        other = replace(space, victims=word)
        search.label = _label(other, f"collection {word}")
        shown = search.descended(other, place, VICTIM_STEPS, search.seen.chapters, ("spare",))
        runs.append((other, shown))
    best = min(runs, key=_total)
    scatter = scatter_of(best_of(tried), search.counts)
    # The usual way stays where another is not clearly better.
    chosen = best if _total(winner) - _total(best) >= STRONG * scatter else winner
    runs.sort(key=lambda pair: pair is not chosen)
    return chosen, [(other, best_of(shown)) for other, shown in runs]


def _by_fill(search: Search, spaces: Sequence[Space], simulations: int) -> list[Searched]:
    """Kinds of caches fitted to the fill alone, best first. A fill does not show what limits
    programs, so a kind is fitted with the core as its limit only where it has no other."""
    flash = {
        (space.structure.number, space.cell) for space in spaces if not space.structure.by_core
    }
    kinds = [
        space
        for space in spaces
        if not space.structure.by_core or (space.structure.number, space.cell) not in flash
    ]
    runs: list[Searched] = []
    for space in sorted(kinds, key=lambda space: _is_like(space) is not None):
        search.label = _label(space, "fill")
        same = [pair for pair in runs if _key_of(pair[0]) == _is_like(space)]
        start = _carried(same[0][0], place_of(same[0][1]), space, rates=True) if same else None
        runs.append((space, _of_fill(search, space, start)))
        if len(runs) == 1:
            first = sum(_is_like(space) is None for space in kinds)
            fills = len(runs[0][1]) * first + (len(OF_FILL) + 1) * (len(kinds) - first)
            search.foretell(_expected_s(search, kinds, fills, simulations))
    runs.sort(key=_total)
    return runs


def _of_fill(search: Search, space: Space, start: Floats | None) -> list[Tried]:
    """A kind fitted to the fill; `start`: the place of one that shows nearly the same fill."""
    fill = [search.seen.fill_alone]
    if start is not None:
        return search.descended(space, start, FIRST_STEPS, fill, OF_FILL)
    tried = search.descended(space, np.zeros(len(space.free)), FILL_STEPS, fill, OF_FILL)
    tried += search.scanned(space, place_of(tried), fill, OF_EDGES)
    return tried + search.descended(space, place_of(tried), FILL_STEPS, fill, OF_FILL)


def _is_like(space: Space) -> tuple[str, str, str] | None:
    """The kind of which a fill of an empty drive shows nearly what it shows of this one: no fill
    tells a hybrid cache's own part, what is folded first from what is staged, or cells from others
    as fast."""
    name, past, cell = _key_of(space)
    like = (
        DYNAMIC if name == HYBRID else name,
        STAGED if past == FOLD_FIRST else past,
        next(iter(BITS)),
    )
    return None if like == (name, past, cell) else like


def _key_of(space: Space) -> tuple[str, str, str]:
    return space.structure.name, space.structure.kind.past, space.cell


def _expected_s(search: Search, kinds: Sequence[Space], fills: int, simulations: int) -> float:
    """Seconds that the search takes, from a few timed kinds: one that folds takes three times as
    long as one that writes past its cache directly. `fills`: simulations of the fill alone."""
    chapters = search.seen.chapters
    timed = kinds[:: max(len(kinds) // TIMED, 1)]
    fill_s, whole_s = (
        sum(search.seconds_each(space, of) for space in timed) / len(timed)
        for of in ([search.seen.fill_alone], chapters)
    )
    return fills * fill_s + simulations * whole_s


def _by_requests(search: Search, searched: Searched) -> tuple[float, str]:
    """Dies over the usual ones, and where the map is, from the chapters with random reads: they
    show how many requests the flash serves at a time, and what each of them costs."""
    space, tried = searched
    chapters = [chapter for chapter in search.seen.chapters if chapter.has_requests]
    if not chapters:
        return 1.0, space.structure.map
    search.label = _label(space, "requests")
    runs: list[Searched] = []
    for where in MAPS:
        for dies in (space, *_other_dies(space, (0.5, 2.0, 4.0))):
            other = dies.with_map(where)
            start = _carried(space, place_of(tried), other, rates=True)
            runs.append((other, search.misfits(other, [start], chapters)))
    most = HOPELESS * min(map(_total, runs))
    runs = [
        (other, search.descended(other, place_of(shown), REQUEST_STEPS, chapters, OF_REQUESTS))
        for other, shown in runs
        if other is runs[0][0] or _total((other, shown)) <= most
    ]
    clearest = _clearest(runs[0], runs)[0]
    return clearest.usual["dies"] / space.usual["dies"], clearest.structure.map


def _by_rests(search: Search, searched: Searched, where: str) -> float:
    """The rest before folding begins, in spreads, from the chapters with rests. All drives that
    fold in every rest, or in none, show the same, so that slopes lead there only from nearby. A
    rest that a battery found is kept."""
    space, tried = searched
    chapters = [chapter for chapter in search.seen.chapters if chapter.longest_rest_s > 0]
    same = space.with_map(where)
    if "idle" not in same.free or not chapters or search.seen.found_rest is not None:
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
    """A kind with the rest before folding, near its own, that reproduces the run best."""
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


def _other_dies(space: Space, factors: Sequence[float]) -> list[Space]:
    others = [space.with_dies(factor) for factor in factors]
    return [other for other in others if other.usual["dies"] != space.usual["dies"]]


def _clearest(usual: Searched, runs: Sequence[Searched]) -> Searched:
    """The best run, where it is clearly better than the usual dies: others fit slightly better by
    chance."""
    clearer = [pair for pair in runs if _total(pair) < CLEARLY * _total(usual) - NEAR]
    return min(clearer, key=_total) if clearer else usual


def _by_all(
    search: Search,
    by_fill: Sequence[Searched],
    spaces: Sequence[Space],
    where: str,
    rest: float,
) -> list[Searched]:
    """The best kinds on every chapter, best first.

    `where`: the place of the map that requests showed; `rest`: the rest that chapters showed. Each
    kind is simulated once as the fill left it and once with the core as its limit, both with both
    answers to what is overwritten and to where collection writes, a hybrid one also with other own
    parts: the fill of an empty drive shows none of these. The best make one step, the best of these
    more.
    """
    starts: list[Started] = []
    for space, tried in by_fill:
        place, same = place_of(tried), space.with_map(where)
        if "idle" in space.free:
            place = _moved_to(place, space.free.index("idle"), rest)
        least = best_of(tried).data
        starts.append((same, _carried(space, place, same, rates=True), least))
        cores = [other.with_map(where) for other in spaces if other.is_core_of(space)]
        starts += [(other, _carried(space, place, other), 0.0) for other in cores]
    search.label = "every kind of cache"
    once = _simulated_once(search, starts)
    first = _hopeful(_of_each_structure(once)[:FINALISTS], HOPELESS)
    runs = [_descent(search, space, place_of(tried), FIRST_STEPS, "all") for space, tried in first]
    runs.sort(key=_total)
    most = _most(search, runs[0])
    last = [runs[0], *(pair for pair in runs[1:] if _promises(search, pair) <= most)][:LAST]
    more = [
        _descent(search, space, place_of(tried), NEXT_STEPS, "all", tried, MOVES[:2])
        for space, tried in last
    ]
    runs = sorted(more, key=_total) + [pair for pair in runs if pair not in last]
    best = _simplest(more, search.counts)
    return [best, *(pair for pair in runs if pair is not best)]


def _simulated_once(search: Search, starts: Sequence[Started]) -> list[Searched]:
    """Kinds on every chapter where their fill left them, best first. One whose fill alone is
    hopeless is left out, and the best few kinds of caches have variants."""
    chapters, once = search.seen.chapters, list[Searched]()
    least = math.inf
    for space, place, of_fill in starts:
        if of_fill > HOPELESS_AT_FIRST * least:
            continue
        # A fill shows nothing of a hybrid cache's own part, and all later steps do.
        once.append((space, search.misfits(space, space.with_own_parts(place), chapters)))
        least = min(least, _total(once[-1]))
    hopeful = _hopeful(_of_each_structure(sorted(once, key=_total))[:FINALISTS], HOPELESS)
    variants = list[Searched]()
    for space, tried in hopeful:
        places = space.with_own_parts(place_of(tried))
        for other in _other_answers(space, search.seen):
            variants.append((other, search.misfits(other, places, chapters)))
    return sorted((*once, *variants), key=_total)


def _of_each_structure(runs: Sequence[Searched]) -> list[Searched]:
    """The same runs, the best one of each structure in front: one simulation each does not separate
    cells and limits, which are decided later."""
    first: list[Searched] = []
    others: list[Searched] = []
    numbers: set[int] = set()
    for pair in runs:
        number = pair[0].structure.number
        (others if number in numbers else first).append(pair)
        numbers.add(number)
    return [*first, *others]


def _hopeful(runs: Sequence[Searched], times: float) -> list[Searched]:
    """Those of `runs`, best first, whose misfit is at most `times` the best one's."""
    return [pair for pair in runs if _total(pair) <= times * _total(runs[0])]


def _simplest(runs: Sequence[Searched], counts: float, dies: float | None = None) -> Searched:
    """The kind with the fewest values among those against which there is no strong evidence.

    A kind with other dies than `dies` has to be clearly better: by chance some are slightly better.
    """
    scatter = scatter_of(best_of(min(runs, key=_total)[1]), counts)

    def criterion(pair: Searched) -> float:
        by_chance = UNTOLD / DOUBT if dies not in (None, pair[0].usual["dies"]) else 0.0
        values = pair[0].structure.of_cache * math.log(counts)
        return _total(pair) / (DOUBT * scatter) + values + by_chance

    least = min(criterion(pair) for pair in runs)
    near = [pair for pair in runs if criterion(pair) <= least + STRONG]
    return min(near, key=lambda pair: (pair[0].structure.of_cache, criterion(pair)))


Kind = tuple[Structure, str, float]


def _kind_of(space: Space) -> Kind:
    return space.structure, space.cell, space.usual["dies"]


def _among_neighbours(
    search: Search, runs: Sequence[Searched], spaces: Sequence[Space]
) -> tuple[Searched, list[Searched]]:
    """The kind that no neighbour beats, and all others that were searched.

    It begins with the best of `runs`. Each kind that differs from the winner in one respect is
    searched from the winner's place; if one of them is clearly better, its own neighbours come
    next.
    """
    known = {_kind_of(pair[0]): pair for pair in sorted(runs, key=_total, reverse=True)}
    winner = _with_its_rest(search, runs[0])
    known[_kind_of(winner[0])] = winner
    done, counts = {_kind_of(winner[0])}, search.counts
    winners: set[Kind] = set()
    # Both answers change every kind alike, so the search decides on them before other kinds.
    for with_kinds in (False, *(True,) * ROUNDS):
        winners.add(_kind_of(winner[0]))
        beside = []
        neighbours = _other_answers(winner[0], search.seen)
        neighbours += _neighbours_of(winner[0], spaces, search.seen) if with_kinds else []
        for space in neighbours:
            kind = _kind_of(space)
            if kind not in done:
                known[kind] = _beside(search, winner, space, known.get(kind))
                done.add(kind)
            if kind not in winners:
                beside.append(known[kind])
        best = _simplest([winner, *beside], counts, winner[0].usual["dies"])
        scatter = scatter_of(best_of(winner[1]), counts)
        is_clear = best is not winner and _total(winner) - _total(best) >= NO_BETTER * scatter
        # One that is no simpler and not clearly better takes nobody's place.
        if is_clear or best[0].structure.of_cache < winner[0].structure.of_cache:
            winner = best
        if not is_clear and with_kinds:
            break
    return winner, [pair for pair in known.values() if pair is not winner]


def _other_answers(space: Space, seen: Observed) -> list[Space]:
    """The kind with the other answer to what is overwritten in the cache, and with the other one to
    where collection writes, as far as there is a cache and the run shows collection."""
    structure, others = space.structure, []
    if structure.name != NONE:
        others.append(space.with_reclaim(not structure.reclaims))
    if seen.collects:
        others.append(space.with_separation(not structure.separates))
    return others


def _neighbours_of(space: Space, spaces: Sequence[Space], seen: Observed) -> list[Space]:
    """Kinds with half or twice the dies, the other limit, other cells or the map in the other
    place, and kinds with the same way past the cache and fewer values."""
    structure = space.structure
    others = [
        space.with_map(where) for where in MAPS if seen.has_requests and where != structure.map
    ]
    for other in spaces:
        row = other.structure
        same_limit, same_cell = row.limit == structure.limit, other.cell == space.cell
        same_row = row.number == structure.number
        simpler = (
            row.name != NONE and row.way == structure.way and row.of_cache < structure.of_cache
        )
        if (same_row and same_limit != same_cell) or (simpler and same_limit and same_cell):
            factor = space.usual["dies"] / other.usual["dies"]
            beside = other.with_dies(factor).with_map(structure.map)
            answered = beside.with_reclaim(structure.reclaims)
            others.append(answered.with_separation(structure.separates))
    return [*others, *_other_dies(space, (0.5, 2.0))]


def _beside(search: Search, winner: Searched, space: Space, before: Searched | None) -> Searched:
    """A neighbour of the winner, searched from the winner's place and from its own earlier one: at
    first by the winner's slopes, then by its own.

    It is given up where it is hopeless, and where its slopes promise that no step decides whether
    it wins or fits as well. A kind with the other limit is not given up: it begins with the usual
    times of a core and needs steps to reach its own.
    """
    other_limit = space.structure.limit != winner[0].structure.limit
    starts = [_carried(winner[0], place_of(winner[1]), space, rates=not other_limit)]
    if before is not None:
        starts.append(place_of(before[1]))
    search.label = _label(space, "beside the best")
    tried = search.misfits(space, starts, search.seen.chapters)
    slopes = search.slopes(winner[0])
    if slopes is not None and best_of(tried).apart.size:
        best = best_of(tried)
        of_space = _carried_slopes(winner[0], slopes, space, best.apart.size)
        tried += search.led(space, best, of_space)
    run = space, tried
    for count in (FIRST_STEPS, LAST_STEPS - FIRST_STEPS):
        if not other_limit and _total(run) > HOPELESS * _total(winner):
            return run
        start = place_of(run[1])
        run = _descent(search, space, start, count, "beside the best", run[1], MOVES[:2])
        if not other_limit and _is_decided(search, run, winner):
            return run
    return _with_its_rest(search, run) if _total(run) <= _most(search, winner) else run


def _is_decided(search: Search, run: Searched, winner: Searched) -> bool:
    """True if further steps of `run` cannot change the answer: by its slopes it will not win, and
    whether it fits as well as the winner is settled."""
    most, floor = _most(search, winner), _promises(search, run)
    return floor > _total(winner) and (_total(run) <= most or floor > most)


def _most(search: Search, winner: Searched) -> float:
    """What fits no worse than this may be told as fitting as well."""
    return _total(winner) + UNTOLD * scatter_of(best_of(winner[1]), search.counts)


def _promises(search: Search, run: Searched) -> float:
    """The least misfit that a kind's slopes promise; its own where none are known."""
    space, tried = run
    best, slopes = best_of(tried), search.slopes(space)
    if slopes is None or len(slopes) != best.apart.size:
        return best.total
    return floor_of(best, slopes)


def _carried_slopes(space: Space, slopes: Floats, other: Space, rows: int) -> Floats:
    """The slopes of `space` for the values of `other`; none for what `space` does not have."""
    carried = np.zeros((rows, len(other.free)))
    both = min(rows, len(slopes))
    for index, name in enumerate(other.free):
        if name in space.free:
            carried[:both, index] = slopes[:both, space.free.index(name)]
    return carried


def _carried(space: Space, place: Floats, other: Space, *, rates: bool = False) -> Floats:
    """The place of `space` as a place of `other`. Without `rates`, both rates of the flash go back
    to usual, since something else may limit them there."""
    at = dict(zip(space.free, place, strict=True))
    if not rates:
        at |= {"first_rate": 0.0, "native_rate": 0.0}
    return np.array([at.get(name, 0.0) for name in other.free])


def _code() -> str:
    """A digest of the code that searches: a study is gone on with by the same code alone."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _what(seen: Observed, spaces: Sequence[Space], simulations: int, seed: int) -> list[Any]:
    """Everything on which the course of a search depends, as JSON."""
    return [
        __version__,
        _code(),
        _core.MODEL,
        candidate.table(),
        seen.capacity_bytes,
        seen.small_bytes,
        [asdict(chapter) for chapter in seen.chapters],
        None if seen.found_rest is None else asdict(seen.found_rest),
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
    moves: Sequence[float] = MOVES,
) -> Searched:
    """Steps of least squares from a place on, on all chapters; `before`: what was tried already."""
    search.label = _label(space, label)
    tried = search.descended(space, start, steps, search.seen.chapters, moves=moves)
    return space, [*before, *tried]


def _label(space: Space, doing: str) -> str:
    structure = space.structure
    limit = ", by its core" if structure.by_core else ""
    return f"{structure.name}, {structure.past}{limit}, {space.cell}: {doing}"


def _total(pair: Searched) -> float:
    return best_of(pair[1]).total
