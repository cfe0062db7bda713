"""Simulated candidates of a run: how far each is from what the run showed, and steps towards it.

A candidate's misfit has two parts. The first sums the squared distances between its series and the
measured ones, in units of noise, which includes how a drive differs from its small copy and, once
`Search.take_chaos` has measured it, how two copies differ that no host could tell apart. The second
sums the squared distances of its values from what is usual, in spreads: a value that the run does
not determine stays usual. Invariant: the same places give the same answers on any number of cores,
and in any process that shares the search.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from cmaes import CMA
from numpy.typing import NDArray

from flashtwin import _core
from flashtwin.catalogue.loader import BadSpecError
from flashtwin.study.fit import candidate
from flashtwin.study.fit.candidate import Space, Structure
from flashtwin.study.fit.chapters import Chapter, SmallStep
from flashtwin.study.fit.observed import Observed
from flashtwin.study.fit.rates import binned, curve_of_columns
from flashtwin.study.fit.shared import Shared

Floats = NDArray[np.float64]

POPULATION = 12
# How far a value is moved for a slope, in spreads; the next move is taken where a step leaves more
# than `ENOUGH` of the misfit, because whatever whole superblocks decide changes in jumps.
# `SCANNED`: how far each value is moved in search of edges. Then the farthest that a step may go,
# and the dampings that are tried: the larger one is, the less a step trusts the slopes.
MOVES, SCANNED, FARTHEST_STEP = (0.2, 0.8, 0.05), (-1.6, -0.6, 0.6, 1.6), 1.5
DAMPINGS = (0.01, 0.2, 2.0, 20.0)
ENOUGH = 0.98
# The misfit of values that make no drive.
NO_DRIVE = 1e9
# Drives that differ by `NEXT` (in spreads) look alike to a host; how far their small copies differ
# all the same is measured on this number of them.
NEXT, COPIES = 0.004, 8

Tell = Callable[[int, str], None]
# A space as slopes are kept by it: its structure, its cells, its dies, how collection chooses, and
# how many chapters.
Key = tuple[Structure, str, float, str | None, int]


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A place of a space with its misfit: `data` of the series alone, `total` with the prior."""

    z: tuple[float, ...]
    data: float
    total: float
    # Distances of its series in units of the noise: `data` is the sum of their squares.
    apart: Floats = field(repr=False, compare=False)


@dataclass(kw_only=True)
class Search:
    """Simulates candidates of a run, and counts them; `cores` at a time.

    `foretell` hears how many seconds the search is expected to take, by `clock`.
    """

    seen: Observed
    seed: int
    cores: int = 1
    tell: Tell = field(default=lambda _count, _label: None)
    foretell: Callable[[float], None] = field(default=lambda _seconds: None)
    clock: Callable[[], float] = time.monotonic
    shared: Shared | None = None
    done: int = 0
    label: str = ""
    # For each chapter, by its place in the run, what each of its distances is multiplied by.
    calmed: tuple[Floats, ...] = ()
    # The slopes of every distance, by the space and the number of chapters.
    known: dict[Key, Floats] = field(default_factory=dict)

    @property
    def counts(self) -> float:
        """The number of independent values in the run that small copies show steadily."""
        if not self.calmed:
            return self.seen.counts
        sizes = [_units(chapter) for chapter in self.seen.chapters]
        of_steps = sum(
            float(np.sum(np.square(own * calm)))
            for own, calm in zip(sizes, self.calmed, strict=True)
        )
        return of_steps + (self.seen.found_rest is not None)

    def take_chaos(self, space: Space, place: Floats) -> None:
        """Measure how far copies differ around a place, and count that as noise from then on.
        Whether a small cache still holds a test file, say, changes from copy to copy."""
        rng = np.random.default_rng(self.seed)
        places = [place + rng.normal(0.0, NEXT, place.size) for _ in range(COPIES)]
        shown = self.misfits(space, places, self.seen.chapters)
        apart_ = [item.apart for item in shown if item.apart.size]
        if len(apart_) < 2:
            return
        spread = np.std(apart_, axis=0)
        calmed, start = [], 0
        for chapter in self.seen.chapters:
            own = _units(chapter)
            chaos = spread[start : start + own.size] / own
            calmed.append(1 / np.sqrt(1 + np.square(chaos)))
            start += own.size
        self.calmed = tuple(calmed)
        every = np.concatenate(calmed)[:, None]
        self.known = {
            key: np.concatenate([slopes[: every.size] * every, slopes[every.size :]])
            for key, slopes in self.known.items()
            if key[-1] == len(self.seen.chapters)
        }

    def taken_again(self, item: Tried) -> Tried:
        """A place that was simulated before `take_chaos`, with the noise of today."""
        apart_ = self._calm(item.apart, self.seen.chapters)
        data = float(np.sum(np.square(apart_))) if apart_.size else NO_DRIVE
        return replace(item, data=data, total=item.total - item.data + data, apart=apart_)

    def _calm(self, apart_: Floats, chapters: Sequence[Chapter]) -> Floats:
        if not self.calmed or not apart_.size:
            return apart_
        calm = [self.calmed[self.seen.chapters.index(chapter)] for chapter in chapters]
        calmed = np.concatenate(calm)
        return np.append(apart_[: calmed.size] * calmed, apart_[calmed.size :])

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
        for z, raw in zip(places, distances, strict=True):
            apart_ = self._calm(raw, chapters)
            data = float(np.sum(np.square(apart_))) if apart_.size else NO_DRIVE
            total = data + float(np.sum(np.square(z))) + space.against
            tried.append(Tried(z=tuple(z), data=data, total=total, apart=apart_))
        self.done += len(places) if len(chapters) == len(self.seen.chapters) else 0
        self.tell(self.done, self.label)
        return tried

    def seconds_each(self, space: Space, chapters: Sequence[Chapter]) -> float:
        """Seconds by the clock for one candidate while all cores are busy; none is counted."""
        began_s = self.clock()
        self._simulated(space, [np.zeros(len(space.free))] * self.cores, chapters)
        return (self.clock() - began_s) / self.cores

    def _simulated(
        self, space: Space, places: Sequence[Floats], chapters: Sequence[Chapter]
    ) -> list[Floats]:
        """The distances of each place's series; an empty array for a place that makes no drive."""
        specs = [self._spec(space, z) for z in places]
        played = _played(chapters)
        plans: list[Any] = [
            (spec, self.seed, list(steps))
            for spec in specs
            if spec is not None
            for steps in dict.fromkeys(played)
        ]
        answers = iter(_core.simulate(plans, self.cores))
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
        return [
            np.append(shown, self._rest_apart(space, z, chapters)) if shown.size else shown
            for z, shown in zip(places, distances, strict=True)
        ]

    def _rest_apart(self, space: Space, z: Floats, chapters: Sequence[Chapter]) -> list[float]:
        """The distance between a place's rest before folding and the one that a battery found;
        empty for a kind of cache without that value, and for a fill alone."""
        rests = any(chapter.longest_rest_s > 0 for chapter in chapters)
        if self.seen.found_rest is None or not rests or "idle" not in space.free:
            return []
        return [self.seen.found_rest.apart(space.values(z)["idle"])]

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
        """Everything that CMA-ES tried from `start` on."""
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
        moves: Sequence[float] = MOVES,
    ) -> list[Tried]:
        """Everything that steps of least squares tried from `start` on (Levenberg and Marquardt).

        Each value (of those named in `only`) is moved by itself, which gives the slope of every
        distance. Then the places are tried to which these slopes lead, with each damping. What they
        show corrects the slopes (Broyden 1965), and the values are moved again only where corrected
        slopes lead no further: by the next of `moves`, where the last one led no further either.
        """
        moving = [at for at, name in enumerate(space.free) if only is None or name in only]
        tried = self.misfits(space, [start], chapters)
        coming = iter(moves)
        move, slopes = next(coming), None
        for _ in range(iterations):
            best = best_of(tried)
            if not best.apart.size:
                break
            if slopes is not None:
                tried += self._led(space, best, slopes, moving, chapters)
                if best_of(tried).total <= ENOUGH * best.total:
                    continue
                best = best_of(tried)
            moved = self.misfits(space, _moved(best, move, moving), chapters)
            slopes = self.known[_key(space, chapters)] = slopes_of(best, moved, moving)
            tried += [*moved, *self._led(space, best, slopes, moving, chapters)]
            if best_of(tried).total > ENOUGH * best.total:
                move, slopes = next(coming, 0.0), None
                if not move:
                    break
        return tried

    def led(self, space: Space, best: Tried, slopes: Floats) -> list[Tried]:
        """The places to which slopes of the whole run lead, by each damping."""
        return self._led(space, best, slopes.copy(), range(len(space.free)), self.seen.chapters)

    def _led(
        self,
        space: Space,
        best: Tried,
        slopes: Floats,
        moving: Sequence[int],
        chapters: Sequence[Chapter],
    ) -> list[Tried]:
        """The places to which `slopes` lead, by each damping; what they show corrects `slopes`."""
        shown = self.misfits(space, _led_to(best, slopes, moving), chapters)
        for item in sorted(shown, key=lambda item: -item.total):
            if item.apart.size:
                _correct(slopes, best, item)
        return shown

    def slopes(self, space: Space) -> Floats | None:
        """The slopes of the whole run that a descent in `space` had in the end."""
        return self.known.get(_key(space, self.seen.chapters))

    def scanned(
        self, space: Space, start: Floats, chapters: Sequence[Chapter], only: Sequence[str]
    ) -> list[Tried]:
        """Each value in `only` moved far, up and down: steps of least squares cannot see an edge
        that is farther away than a move."""
        places = []
        for index, name in enumerate(space.free):
            for move in SCANNED if name in only else ():
                z = np.array(start)
                z[index] = np.clip(z[index] + move, -candidate.FARTHEST, candidate.FARTHEST)
                places.append(z)
        return self.misfits(space, places, chapters)


def _key(space: Space, chapters: Sequence[Chapter]) -> Key:
    return space.structure, space.cell, space.usual["dies"], space.victims, len(chapters)


def _moved(best: Tried, move: float, moving: Sequence[int]) -> list[Floats]:
    """One place for each value, which is moved towards what is usual."""
    places = []
    for index in moving:
        z = np.array(best.z)
        z[index] += -move if z[index] > 0 else move
        places.append(z)
    return places


def slopes_of(best: Tried, moved: Sequence[Tried], moving: Sequence[int]) -> Floats:
    """How each distance changes with each value, of which one was moved at a time."""
    slopes = np.zeros((best.apart.size, len(best.z)))
    for index, item in zip(moving, moved, strict=True):
        if item.apart.size:
            slopes[:, index] = (item.apart - best.apart) / (item.z[index] - best.z[index])
    return slopes


def _correct(slopes: Floats, best: Tried, item: Tried) -> None:
    """The least change of slopes with which they lead from one place to what another showed."""
    way = np.array(item.z) - np.array(best.z)
    length = float(way @ way)
    if length > 0:
        slopes += np.outer(item.apart - best.apart - slopes @ way, way / length)


def floor_of(best: Tried, slopes: Floats) -> float:
    """The least misfit that slopes promise from a place on, however far away."""
    z = np.array(best.z)
    certain = slopes.T @ slopes + np.eye(z.size)
    downhill = slopes.T @ best.apart + z
    return best.total - float(downhill @ np.linalg.solve(certain, downhill))


def _led_to(best: Tried, slopes: Floats, moving: Sequence[int]) -> list[Floats]:
    """The places to which the slopes lead, one for each damping."""
    z, count = np.array(best.z), len(best.z)
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
    """For each chapter the steps that are simulated for it: its own, or those of a longer chapter
    that begins with them."""
    longest = sorted((chapter.steps for chapter in chapters), key=len, reverse=True)
    return [
        next(steps for steps in longest if steps[: len(chapter.steps)] == chapter.steps)
        for chapter in chapters
    ]


def _units(chapter: Chapter) -> Floats:
    """What each distance of a chapter is where its rate is off by the noise."""
    rows = [
        np.full(len(seen.rate), math.sqrt(seen.counts / len(seen.rate))) for seen in chapter.seen
    ]
    return np.concatenate(rows) if rows else np.zeros(0)


def apart(chapter: Chapter, answer: Sequence[Mapping[str, Any]]) -> Floats | None:
    """Distances between a candidate's series and a chapter's; none where it moved no data."""
    distances = []
    for seen in chapter.seen:
        curve = curve_of_columns(answer[seen.at]["series"])
        if curve.total_bytes <= 0:
            return None
        distances.append(seen.apart(binned(curve, len(seen.rate), seen.until)))
    return np.concatenate(distances)


# A space with all that was tried in it.
Searched = tuple[Space, list[Tried]]


def best_of(tried: Sequence[Tried]) -> Tried:
    return min(tried, key=lambda item: item.total)


def place_of(tried: Sequence[Tried]) -> Floats:
    return np.array(best_of(tried).z)


def scatter_of(best: Tried, counts: float) -> float:
    """The misfit per independent value, at least 1."""
    return max(best.data / max(counts, 1.0), 1.0)
