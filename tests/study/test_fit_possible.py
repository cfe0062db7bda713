"""Drives that a run leaves possible, where the answer is known in closed form: distances that are
linear in the place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from flashtwin.hypothesis import structures as hypothesis
from flashtwin.study.fit import intervals, possible
from flashtwin.study.fit.trials import Floats, Tried

ROWS, VALUES = 7, 3
UNTOLD = 20.0


@pytest.fixture
def slopes() -> Floats:
    return np.random.default_rng(3).normal(0.0, 2.0, (ROWS, VALUES))


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many draws as shares and spreads are seen in."""
    monkeypatch.setattr(possible, "DRAWS", 4000)


def at(slopes: Floats, z: Floats, more: float = 0.0) -> Tried:
    apart = slopes @ z + np.linspace(-2.0, 3.0, ROWS)
    data = float(apart @ apart) + more
    return Tried(z=tuple(z), data=data, total=data + float(z @ z), apart=apart)


def test_weights_of_drawn_drives_count_for_half_of_them_at_least() -> None:
    rng = np.random.default_rng(5)
    for spread in (0.0, 0.1, 3.0, 300.0):
        logs = rng.normal(0.0, spread, 16)
        weights = possible.weights_of(logs)
        effective = 1 / float(np.sum(weights**2))
        assert weights.sum() == pytest.approx(1.0)
        assert list(np.argsort(weights, kind="stable")) == list(np.argsort(logs, kind="stable"))
        if spread < 1.0:
            plain = np.exp(logs - logs.max())
            assert weights == pytest.approx(plain / plain.sum())
        else:
            assert effective == pytest.approx(8.0, rel=1e-6)


@pytest.mark.usefixtures("many")
def test_drives_are_drawn_as_slopes_and_prior_say(slopes: Floats) -> None:
    """Of linear distances the posterior is normal and known."""
    middle = middle_of(slopes)
    best, noise, moves = at(slopes, middle), np.zeros(ROWS), []
    for index in range(VALUES):
        step = 0.1 * np.eye(VALUES)[index]
        moves.append([(at(slopes, middle - step), at(slopes, middle + step))])
    covariance = intervals._covariance(best, moves, noise, best.data)
    assert covariance == pytest.approx(np.linalg.inv(slopes.T @ slopes + np.eye(VALUES)))
    search, space = linear(slopes), cast("Any", LinearSpace())
    drawn = possible.drawn(search, covariance, [(space, best)], (), UNTOLD)
    places = np.array([list(each.values.values()) for each in drawn])
    assert places.mean(axis=0) == pytest.approx(middle, abs=0.05)
    assert np.cov(places.T) == pytest.approx(calmer(slopes), abs=0.04)
    assert np.ptp([each.weight for each in drawn]) < 1e-3


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("wide", [0.7, 3.0])
def test_drives_vary_as_the_run_allows_whatever_slopes_were_carried(
    slopes: Floats, wide: float
) -> None:
    """Slopes that are too flat lead too far; what is drawn by them is brought back."""
    own, other = (cast("Any", LinearSpace(cell=cell)) for cell in ("tlc", "qlc"))
    best = at(slopes, middle_of(slopes))
    search = linear(slopes, carried=slopes / wide)
    drawn = possible.drawn(search, np.eye(VALUES), [(own, best), (other, best)], (), UNTOLD)
    rows = [each for each in drawn if each.space.cell == "qlc"]
    weights = np.array([each.weight for each in rows])
    places = np.array([list(each.values.values()) for each in rows])
    spread = np.sqrt(np.diag(np.cov(places.T, aweights=weights)))
    assert spread == pytest.approx(np.sqrt(np.diag(calmer(slopes))), rel=0.25)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("worse", [0.0, UNTOLD])
def test_each_kind_is_drawn_with_each_way(monkeypatch: pytest.MonkeyPatch, worse: float) -> None:
    """Two kinds that fit alike, and a second way to choose victims, which needs more spare flash.
    It counts as much as the first, or 1 / e of that where its misfit is larger by `UNTOLD`."""
    monkeypatch.setattr(
        possible,
        "_as_others_collect",
        lambda _s, space, places, _r: [space.values(place) for place in places],
    )
    flat, free = np.zeros((ROWS, VALUES)), ("a", "b", "spare")
    own, other = (cast("Any", LinearSpace(cell=cell, free=free)) for cell in ("tlc", "qlc"))
    greedy = cast("Any", LinearSpace(victims="greedy", free=free))
    here = at(flat, np.zeros(VALUES))
    there = at(flat, np.array([0.0, 0.0, 0.3]), worse - 0.09)
    search = linear(flat, worse={"greedy": worse - 0.09})
    kinds, ways = [(own, here), (other, here)], [(own, here), (greedy, there)]
    drawn = possible.drawn(search, np.eye(VALUES), kinds, ways, UNTOLD)
    share = np.exp(-worse / UNTOLD) / (1 + np.exp(-worse / UNTOLD))
    for cell, victims in product(("tlc", "qlc"), (None, "greedy")):
        rows = [each for each in drawn if (each.space.cell, each.space.victims) == (cell, victims)]
        weight = sum(each.weight for each in rows)
        assert weight == pytest.approx((share if victims else 1 - share) / 2, abs=0.03)
        spare = np.mean([each.values["spare"] for each in rows])
        assert spare == pytest.approx(0.3 if victims else 0.0, abs=0.1)


@pytest.mark.usefixtures("many")
def test_variants_of_one_design_share_what_it_has() -> None:
    best = at(np.zeros((ROWS, VALUES)), np.zeros(VALUES))
    spaces = [cast("Any", LinearSpace(cell=cell)) for cell in ("tlc", "tlc", "tlc", "qlc")]
    numbers = possible._in_turn([(each, best) for each in spaces], 1.0, np.random.default_rng(2))
    assert np.bincount(numbers) / 4000 == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2], abs=0.001)
    far = replace(best, total=best.total + 1e6)
    numbers = possible._in_turn(
        [(spaces[0], best), (spaces[3], far)], 1.0, np.random.default_rng(2)
    )
    assert set(numbers) == {0}


def test_a_host_makes_all_rates_slower_alike() -> None:
    values = {"first_rate": 500.0, "native_rate": 100.0, "move": 20.0, "cache": 0.1}
    seen = possible._as_without_host(values, 0.02)
    assert seen["first_rate"] / seen["native_rate"] == pytest.approx(5.0)
    assert seen["first_rate"] == pytest.approx(500.0 * np.exp(0.02))
    assert seen["move"] * seen["first_rate"] == pytest.approx(10_000.0)
    assert seen["cache"] == 0.1


def test_the_posterior_has_flash_as_other_collection_needs_it() -> None:
    """Beside what a run says of it, the flash beside the capacity varies by 14 %."""
    space = cast("Any", SpareSpace())
    search = linear(np.zeros((ROWS, 1)))
    chapters = (SimpleNamespace(requests=2.0), SimpleNamespace(requests=1.0))
    search.seen = SimpleNamespace(chapters=chapters)
    rng = np.random.default_rng(1)
    drawn = possible._as_others_collect(search, space, [np.zeros(1)] * 4000, rng)
    logs = np.log([values["spare"] for values in drawn])
    assert logs.mean() == pytest.approx(0.0, abs=0.01)
    assert logs.std() == pytest.approx(0.14, rel=0.05)


class SpareSpace:
    """The flash beside the capacity alone, in spreads around 1."""

    free = ("spare",)
    victims = None

    def values(self, z: Floats) -> dict[str, float]:
        return {"spare": float(np.exp(hypothesis.values()["spare"].spread * z[0]))}


@dataclass(frozen=True)
class LinearSpace:
    """Values that are their own places."""

    cell: str = "tlc"
    victims: str | None = None
    free: tuple[str, ...] = ("a", "b", "c")
    unseen: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    structure = SimpleNamespace(number=0, limit="flash", map="dram")

    def values(self, z: Floats) -> dict[str, float]:
        return dict(zip(self.free, z, strict=True))


@dataclass
class LinearSearch:
    """Simulates nothing: distances are linear in the place."""

    own: Floats
    carried: Floats
    worse: dict[str, float]
    seed: int = 1
    counts: float = 1e6
    seen: Any = field(default_factory=lambda: SimpleNamespace(chapters=()))

    def slopes(self, _space: Any) -> Floats:
        return self.carried

    def misfits(self, space: Any, places: Any, _chapters: Any) -> list[Tried]:
        more = 0.0 if space.victims is None else self.worse[space.victims]
        return [at(self.own, place, more) for place in places]


def linear(
    slopes: Floats, carried: Floats | None = None, worse: dict[str, float] | None = None
) -> Any:
    return LinearSearch(
        own=slopes, carried=slopes if carried is None else carried, worse=worse or {}
    )


def middle_of(slopes: Floats) -> Floats:
    """Where the misfit is least."""
    certain = slopes.T @ slopes + np.eye(VALUES)
    middle: Floats = np.linalg.solve(certain, -slopes.T @ np.linspace(-2.0, 3.0, ROWS))
    return middle


def calmer(slopes: Floats) -> Floats:
    """The covariance: the data counts for less than its noise says, the prior for as much."""
    return np.asarray(np.linalg.inv(slopes.T @ slopes / possible.CALMER + np.eye(VALUES)))
