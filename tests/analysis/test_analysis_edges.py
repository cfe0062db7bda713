"""Places finer than a sample, and intervals that widen where the data ask for it."""

from __future__ import annotations

import numpy as np
import pytest
from shapes import GB, fill

from flashtwin.analysis.curve import Curve, curve_of
from flashtwin.analysis.edges import Edge, locate


def edge_of(end: float, noise: float, seed: int = 1) -> tuple[Edge, Curve]:
    series = fill((461, end), (111, 60), noise=noise, seed=seed)
    of = curve_of(series.t_ns, series.dt_ns, series.bytes_)
    cut = int(np.searchsorted(of.bytes_at, end * GB))
    return locate(of, 0, cut, len(of), noise), of


@pytest.mark.parametrize("end", [23.9, 24.0, 24.05, 24.1, 24.123, 24.2])
def test_without_noise_the_place_is_exact(end: float) -> None:
    edge, _ = edge_of(end, 0.0)
    assert edge.place.value == pytest.approx(end * GB, abs=2e6)


@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
def test_a_cut_that_is_a_little_off_is_mended(off: int) -> None:
    series = fill((461, 24), (111, 60), noise=0.03)
    of = curve_of(series.t_ns, series.dt_ns, series.bytes_)
    cut = int(np.searchsorted(of.bytes_at, 24 * GB)) + off
    assert locate(of, 0, cut, len(of), 0.03).place.value == pytest.approx(24 * GB, abs=0.02 * GB)


@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_the_interval_is_finer_than_a_sample_and_grows_with_noise(noise: float) -> None:
    edge, of = edge_of(24.1, noise)
    assert edge.place.low is not None and edge.place.high is not None
    width = edge.place.high - edge.place.low
    sample = 461e6 * 0.5
    assert 0.2 * noise * sample < width < 6 * noise * sample
    assert of.bytes_at[edge.before] <= edge.place.low <= edge.place.high <= of.bytes_at[edge.after]


def test_samples_between_the_levels_widen_the_interval() -> None:
    rate = np.array([100.0] * 30 + [80.0, 60.0, 45.0, 30.0] + [10.0] * 30)
    of = Curve(dt=np.ones(rate.size), size=rate)
    edge = locate(of, 0, 32, rate.size, 0.01)
    assert edge.place.low is not None and edge.place.high is not None
    assert edge.place.low <= 3000
    assert edge.place.high >= 3000 + 80 + 60 + 45 + 30


def test_an_odd_sample_at_the_edge_is_taken_in_whole() -> None:
    rate = np.array([100.0] * 30 + [170.0] + [10.0] * 30)
    of = Curve(dt=np.ones(rate.size), size=rate)
    edge = locate(of, 0, 31, rate.size, 0.01)
    assert edge.place.low is not None and edge.place.high is not None
    assert edge.place.low <= 3000 and edge.place.high >= 3170


def test_stalls_elsewhere_do_not_move_the_place() -> None:
    series = fill((461, 24), (111, 60), noise=0.02)
    of = curve_of(series.t_ns, series.dt_ns, series.bytes_)
    rate = of.size.copy()
    rate[[20, 50, 80, 140, 150, 180]] = 0.0
    stalled = Curve(dt=of.dt, size=rate)
    cut = int(np.searchsorted(of.bytes_at, 24 * GB))
    expected = stalled.bytes_at[cut - 1]
    place = locate(stalled, 0, cut, len(of), 0.02).place.value
    assert expected <= place <= expected + 0.25 * GB


def test_two_samples_say_only_that_it_is_in_them() -> None:
    of = Curve(dt=np.ones(2), size=np.array([100.0, 10.0]))
    edge = locate(of, 0, 1, 2, 0.01)
    assert (edge.place.low, edge.place.high) == (0.0, 110.0)


def test_rising_edges_are_placed_as_well() -> None:
    series = fill((111, 24), (461, 60), noise=0.01)
    of = curve_of(series.t_ns, series.dt_ns, series.bytes_)
    cut = int(np.searchsorted(of.bytes_at, 24 * GB))
    assert locate(of, 0, cut, len(of), 0.01).place.value == pytest.approx(24 * GB, abs=0.01 * GB)


def test_a_stage_within_its_first_sample() -> None:
    of = Curve(dt=np.array([9.0, 0.1, 0.1, 0.1]), size=np.array([900.0, 5.0, 5.0, 5.0]))
    edge = locate(of, 0, 0, 4, 0.01)
    assert (edge.place.low, edge.place.high) == (0.0, 900.0)
