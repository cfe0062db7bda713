"""Segmentation: exact on its grid, the same as ruptures where both apply, deaf to what is short."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import fill, pulses

from flashtwin.analysis import changepoints
from flashtwin.analysis.changepoints import CAP, boundaries, logs, merged, noise, slowness
from flashtwin.analysis.curve import Curve, Floats, curve_of, pool_size
from flashtwin.analysis.first_plateau import segments


def steps(lengths: list[int], levels: list[float], scatter: float, seed: int = 1) -> Floats:
    random = np.random.RandomState(seed)
    rate = np.concatenate(
        [np.full(length, level) for length, level in zip(lengths, levels, strict=True)]
    )
    return rate * (1 + scatter * random.standard_normal(rate.size))


def cheapest_by_trying_all(values: Floats, spread: float, penalty: float) -> float:
    """The optimum over all 2^(n-1) ways to cut and all levels of a fine grid."""
    grid = np.linspace(values.min(), values.max(), changepoints.LEVELS)
    cost = np.minimum(((values[:, None] - grid) / spread) ** 2, CAP)
    best = np.inf
    for count in range(values.size):
        for cuts in combinations(range(1, values.size), count):
            parts = [cost[a:b].sum(axis=0).min() for a, b in pairwise((0, *cuts, values.size))]
            best = min(best, float(sum(parts)) + penalty * count)
    return best


def cost_of(values: Floats, cuts: Floats, spread: float, penalty: float) -> float:
    grid = np.linspace(values.min(), values.max(), changepoints.LEVELS)
    cost = np.minimum(((values[:, None] - grid) / spread) ** 2, CAP)
    edges = (0, *(int(cut) for cut in cuts), values.size)
    parts = [cost[a:b].sum(axis=0).min() for a, b in pairwise(edges)]
    return float(sum(parts)) + penalty * len(cuts)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=4, max_size=10), st.floats(0.5, 8.0))
def test_no_other_way_to_cut_is_cheaper(values: list[float], penalty: float) -> None:
    series = np.array([*values, 0.0, 1.0])
    spread = np.full(series.size, 0.1)
    found = changepoints._cuts(series, spread, penalty)
    mine = cost_of(series, found, 0.1, penalty)
    # The grids differ a little: one has a step of 0.01, the other one of 1/511.
    assert mine <= cheapest_by_trying_all(series, 0.1, penalty) + 0.15 * series.size


@pytest.mark.parametrize("scatter", [0.01, 0.03, 0.1])
@pytest.mark.parametrize(
    ("lengths", "levels"),
    [
        ([104, 1513, 593], [461, 111, 81]),
        ([750, 1500], [240, 100]),
        ([40, 300, 60, 500], [5000, 2000, 5000, 1500]),
        ([12, 400], [450, 170]),
        ([800], [480]),
    ],
)
def test_as_ruptures_finds_them(lengths: list[int], levels: list[float], scatter: float) -> None:
    import ruptures  # with much of scipy: only the worker that runs this waits for it

    rate = steps(lengths, levels, scatter, seed=2)
    values = logs(rate)
    spread = max(noise(values), changepoints.NOISE_LEAST)
    model = ruptures.KernelCPD(kernel="linear", min_size=2).fit(values[:, None])
    theirs = model.predict(pen=2 * changepoints.PENALTY * spread**2 * np.log(rate.size))[:-1]
    mine = merged(Curve(dt=np.ones(rate.size), size=rate), boundaries(rate))
    truth = np.cumsum(lengths)[:-1]
    assert len(mine) == len(truth) == len(theirs)
    assert np.abs(mine - truth).max(initial=0) <= (1 if scatter < 0.1 else 3)
    assert np.abs(mine - np.array(theirs, dtype=np.int64)).max(initial=0) <= 2


@pytest.mark.parametrize("scatter", [0.005, 0.05, 0.2])
def test_noise_is_that_of_neighbours(scatter: float) -> None:
    rate = steps([500, 1000, 500], [400, 100, 50], scatter)
    assert noise(logs(rate)) == pytest.approx(scatter, rel=0.1)


def test_slow_waves_are_told_from_noise() -> None:
    quick = logs(np.asarray(waves_of(0.0).rate))
    slow = logs(np.asarray(waves_of(0.8).rate))
    assert slowness(quick) < 1.6
    assert slowness(slow) > 4
    assert slowness(np.zeros(10)) == slowness(np.ones(1000)) == 1.0


def waves_of(memory: float) -> Curve:
    series = fill((461, 24), (111, 240), noise=0.05, memory=memory)
    return curve_of(series.t_ns, series.dt_ns, series.bytes_)


def test_short_excursions_make_no_segment() -> None:
    rate = steps([300, 300], [400, 100], 0.02)
    rate[[50, 51, 120, 350, 500]] = 0.0
    rate[[80, 400]] = 2000.0
    assert list(boundaries(rate)) == [300]


def test_segments_have_the_least_length() -> None:
    rate = steps([3, 40, 6, 40], [400, 100, 300, 100], 0.02)
    for least in (2, 4, 8):
        edges = [0, *boundaries(rate, least=least), rate.size]
        assert np.diff(edges).min() >= least


def test_like_plateaus_are_merged_and_unlike_ones_are_not() -> None:
    series = fill((461, 24), (111, 100), (105, 170), (81, 240), noise=0.01)
    of = curve_of(series.t_ns, series.dt_ns, series.bytes_)
    assert len(boundaries(of.rate)) == 3
    kept = merged(of, boundaries(of.rate))
    assert [round(of.bytes_at[cut] / 1e9) for cut in kept] == [24, 170]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1e10), max_size=60))
def test_any_series_has_boundaries_inside(values: list[float]) -> None:
    found = boundaries(np.array(values))
    assert list(found) == sorted(set(found.tolist()))
    assert all(0 < cut < len(values) for cut in found)
    assert list(boundaries(np.array(values))) == list(found)


def test_long_series_are_cut_at_the_same_bytes() -> None:
    series = fill((461, 24), (111, 192), (81, 240), sample_s=0.1, factor=pulses(0.0, 0.3, 9))
    of = curve_of(series.t_ns, series.dt_ns, series.bytes_)
    assert pool_size(of) > 1
    places = of.bytes_at[segments(of)] / 1e9
    assert places == pytest.approx([24, 192], abs=0.1)


def test_a_first_plateau_of_the_smallest_visible_size_is_seen() -> None:
    flat = fill((480, 240), noise=0.05)
    of = curve_of(flat.t_ns, flat.dt_ns, flat.bytes_)
    least = changepoints.smallest_visible(of) / 1e9
    seen = fill((600, 1.3 * least), (480, 240), noise=0.05)
    assert segments(curve_of(seen.t_ns, seen.dt_ns, seen.bytes_)).size > 0


def test_samples_past_the_other_level_stay_on_their_side_of_a_cut() -> None:
    """A slow start of twenty samples, then three at full speed, then the drop."""
    rate = np.concatenate([np.full(20, 1150.0), [1214, 1381, 1377, 781], np.full(200, 500.0)])
    for cut in (20, 23, 26):
        assert changepoints._nearer(logs(rate), np.array([cut])).tolist() in ([23], [24])


def test_a_plateau_that_is_no_faster_shows_nowhere() -> None:
    even = Curve(dt=np.ones(100), size=np.full(100, 1e9))
    assert changepoints.smallest_visible(even, contrast=1.0) == even.total_bytes
    assert changepoints.smallest_visible(even, contrast=1.25) < even.total_bytes / 10
