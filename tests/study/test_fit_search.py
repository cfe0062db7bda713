"""Steps of a fit's search where the answer is known in closed form: distances that are linear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from flashtwin.hypothesis import structures as hypothesis
from flashtwin.study.fit import candidate, intervals, search, trials
from flashtwin.study.fit.trials import Floats, Tried

ROWS, VALUES = 7, 3


@pytest.fixture
def slopes() -> Floats:
    return np.random.default_rng(3).normal(0.0, 2.0, (ROWS, VALUES))


def at(slopes: Floats, z: Floats) -> Tried:
    apart = slopes @ z + np.linspace(-2.0, 3.0, ROWS)
    data = float(apart @ apart)
    return Tried(z=tuple(z), data=data, total=data + float(z @ z), apart=apart)


def test_values_that_are_moved_alone_give_the_slopes(slopes: Floats) -> None:
    z = np.array([0.3, -0.2, 0.0])
    best = at(slopes, z)
    moved = [at(slopes, z + 0.2 * np.eye(VALUES)[index]) for index in range(VALUES)]
    assert trials.slopes_of(best, moved, range(VALUES)) == pytest.approx(slopes)


def test_slopes_promise_the_least_misfit_and_no_less(slopes: Floats) -> None:
    here = at(slopes, np.array([1.0, -2.0, 0.5]))
    start = np.linspace(-2.0, 3.0, ROWS)
    least = np.linalg.solve(slopes.T @ slopes + np.eye(VALUES), -slopes.T @ start)
    assert trials.floor_of(here, slopes) == pytest.approx(at(slopes, least).total)
    assert trials.floor_of(at(slopes, least), slopes) == pytest.approx(at(slopes, least).total)


def test_a_place_corrects_slopes_along_the_way_there_alone(slopes: Floats) -> None:
    wrong = slopes + 1.0
    here = at(slopes, np.zeros(VALUES))
    there = at(slopes, np.array([0.5, 0.5, 0.0]))
    trials._correct(wrong, here, there)
    assert wrong @ np.array(there.z) == pytest.approx(there.apart - here.apart)
    across = np.array([0.5, -0.5, 0.0])
    assert wrong @ across == pytest.approx((slopes + 1.0) @ across)
    # As many ways as values that are square to each other, and the slopes are the true ones.
    for index in range(VALUES):
        trials._correct(wrong, here, at(slopes, np.eye(VALUES)[index]))
    assert wrong == pytest.approx(slopes, abs=1e-9)


def test_weights_of_drawn_drives_count_for_half_of_them_at_least() -> None:
    rng = np.random.default_rng(5)
    for spread in (0.0, 0.1, 3.0, 300.0):
        logs = rng.normal(0.0, spread, 16)
        weights = intervals.weights_of(logs)
        effective = 1 / float(np.sum(weights**2))
        assert weights.sum() == pytest.approx(1.0)
        assert list(np.argsort(weights, kind="stable")) == list(np.argsort(logs, kind="stable"))
        if spread < 1.0:
            plain = np.exp(logs - logs.max())
            assert weights == pytest.approx(plain / plain.sum())
        else:
            assert effective == pytest.approx(8.0, rel=1e-6)


def test_drives_are_drawn_as_slopes_and_prior_say(
    slopes: Floats, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of linear distances the posterior is normal and known."""
    start = np.linspace(-2.0, 3.0, ROWS)
    certain = slopes.T @ slopes + np.eye(VALUES)
    middle, known = np.linalg.solve(certain, -slopes.T @ start), np.linalg.inv(certain)
    best = at(slopes, middle)
    noise = np.zeros(ROWS)
    moves = []
    for index in range(VALUES):
        step = 0.1 * np.eye(VALUES)[index]
        moves.append([(at(slopes, middle - step), at(slopes, middle + step))])
    covariance = intervals._covariance(best, moves, noise, best.data)
    assert covariance == pytest.approx(known)
    linear, space = cast("Any", LinearSearch(slopes)), cast("Any", LinearSpace())
    monkeypatch.setattr(intervals, "DRAWS", 4000)
    drawn = intervals._posterior(linear, covariance, [(space, best)], ())
    weights = [possible.weight for possible in drawn]
    places = np.array([list(possible.values.values()) for possible in drawn])
    # The data counts for less than its noise says, the prior for as much.
    calmer = np.linalg.inv(slopes.T @ slopes / intervals.CALMER + np.eye(VALUES))
    assert places.mean(axis=0) == pytest.approx(middle, abs=0.05)
    assert np.cov(places.T) == pytest.approx(calmer, abs=0.04)
    assert np.ptp(weights) < 1e-3


def test_each_way_to_choose_victims_is_drawn_beside_each_kind_with_its_own_flash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two kinds and two ways that fit alike: a quarter of the drives each, and the second way has
    as much more spare flash as it was found to need."""
    linear, free = cast("Any", LinearSearch(np.zeros((ROWS, VALUES)))), ("a", "b", "spare")
    monkeypatch.setattr(intervals, "DRAWS", 4000)
    monkeypatch.setattr(
        intervals,
        "_as_others_collect",
        lambda _s, space, places, _r: [space.values(place) for place in places],
    )
    own, other = (cast("Any", LinearSpace(cell=cell, free=free)) for cell in ("tlc", "qlc"))
    greedy = cast("Any", LinearSpace(victims="greedy", free=free))
    here, there = (at(linear.slopes(own), np.array([0.0, 0.0, spare])) for spare in (0.0, 0.5))
    there = replace(there, total=here.total)
    drawn = intervals._posterior(
        linear, 0.01 * np.eye(VALUES), [(own, here), (other, here)], [(greedy, there)]
    )
    for cell, victims in product(("tlc", "qlc"), (None, "greedy")):
        spare = [
            each.values["spare"]
            for each in drawn
            if (each.space.cell, each.space.victims) == (cell, victims)
        ]
        assert len(spare) == pytest.approx(1000, rel=0.1)
        assert np.mean(spare) == pytest.approx(0.0 if victims is None else 0.5, abs=0.1)


def test_the_posterior_has_flash_as_other_collection_needs_it() -> None:
    """Beside what a run says of it, the flash beside the capacity varies by 14 %."""
    space = cast("Any", SpareSpace())
    linear = cast("Any", LinearSearch(np.zeros((ROWS, 1))))
    chapters = (SimpleNamespace(requests=2.0), SimpleNamespace(requests=1.0))
    linear.seen = SimpleNamespace(chapters=chapters)
    rng = np.random.default_rng(1)
    drawn = intervals._as_others_collect(linear, space, [np.zeros(1)] * 4000, rng)
    logs = np.log([values["spare"] for values in drawn])
    assert logs.mean() == pytest.approx(0.0, abs=0.01)
    assert logs.std() == pytest.approx(0.14, rel=0.05)


class SpareSpace:
    """The flash beside the capacity alone, in spreads around 1."""

    free = ("spare",)

    def values(self, z: Floats) -> dict[str, float]:
        return {"spare": float(np.exp(hypothesis.values()["spare"].spread * z[0]))}


@dataclass(frozen=True)
class LinearSpace:
    """Values that are their own places."""

    cell: str = "tlc"
    victims: str | None = None
    free: tuple[str, ...] = ("a", "b", "c")
    unseen: tuple[str, ...] = ()
    structure = SimpleNamespace(number=0, limit="flash", map="dram")

    def values(self, z: Floats) -> dict[str, float]:
        return dict(zip(self.free, z, strict=True))


class LinearSearch:
    """Simulates nothing: distances are linear in the place."""

    seed = 1
    counts = 1e6
    seen = SimpleNamespace(chapters=())

    def __init__(self, slopes: Floats) -> None:
        self._slopes = slopes

    def slopes(self, _space: Any) -> Floats:
        return self._slopes

    def misfits(self, _space: Any, places: Any, _chapters: Any) -> list[Tried]:
        return [at(self._slopes, place) for place in places]


def test_a_kind_begins_with_the_slopes_of_the_values_that_both_have(slopes: Floats) -> None:
    dynamic, none = (
        candidate.space_of(row, "tlc", candidate.usual_values(), rests=True)
        for name in ("dynamic", "none")
        for row in candidate.structures()[:3]
        if (row.name, row.limit) == (name, "flash")
    )
    own = np.arange(ROWS * len(dynamic.free), dtype=np.float64).reshape(ROWS, -1)
    carried = search._carried_slopes(dynamic, own, none, ROWS - 1)
    for index, name in enumerate(none.free):
        there = dynamic.free.index(name)
        assert np.array_equal(carried[:, index], own[: ROWS - 1, there]), name
    # A value that the other does not have has no slope.
    back = search._carried_slopes(none, carried, dynamic, ROWS - 1)
    assert not back[:, dynamic.free.index("cache")].any()
