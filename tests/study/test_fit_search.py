"""Steps of a fit's search where the answer is known in closed form: distances that are linear."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin.study.fit import candidate, search, trials
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
