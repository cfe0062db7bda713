"""Intervals of plateau speeds: right for independent samples, wide enough for waves, no draw."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from flashtwin.analysis.curve import Curve
from flashtwin.analysis.estimate import Estimate, half_width, mean_error, memory, speed, total_time


def wave(count: int, correlation: float, seed: int) -> np.ndarray:
    random = Random(seed)
    value, rows = random.gauss(0, 1), []
    for _ in range(count):
        value = correlation * value + (1 - correlation**2) ** 0.5 * random.gauss(0, 1)
        rows.append(value)
    return np.array(rows)


def test_independent_samples_have_the_textbook_error() -> None:
    values = np.array([1.0, 2.0, 4.0, 3.0, 5.0])
    error, freedom = mean_error(values)
    assert error == pytest.approx(values.std(ddof=1) / 5**0.5)
    assert freedom == 4
    assert half_width(error, freedom) == pytest.approx(2.776445 * error)


@pytest.mark.parametrize(
    ("count", "correlation", "least"),
    [(20, 0.0, 0.9), (400, 0.0, 0.91), (400, 0.5, 0.88), (400, 0.8, 0.86), (1500, 0.9, 0.88)],
)
def test_intervals_cover_the_mean_of_waves(count: int, correlation: float, least: float) -> None:
    covered = 0
    for seed in range(200):
        values = wave(count, correlation, seed)
        error, freedom = mean_error(values)
        covered += abs(float(values.mean())) <= half_width(error, freedom)
    assert least <= covered / 200 <= 0.995


def test_memory_grows_with_correlation() -> None:
    assert memory(wave(2000, 0.0, 1)) < 1.3
    # Of a first-order wave: (1 + r) / (1 - r).
    assert memory(wave(20_000, 0.8, 1)) == pytest.approx(9, rel=0.3)
    assert memory(np.ones(100)) == 1.0


def test_a_straight_decline_is_no_scatter() -> None:
    values = np.linspace(200, 100, 500) + 0.5 * wave(500, 0.0, 2)
    assert mean_error(values)[0] == pytest.approx(0.5 / 500**0.5, rel=0.2)


def test_speed_is_bytes_over_time_of_unequal_samples() -> None:
    of = Curve(dt=np.array([1.0, 3.0, 1.0, 1.0]), size=np.array([100.0, 100.0, 9.0, 100.0]))
    measured = speed(of, [(0, 2), (3, 4)])
    assert measured is not None
    assert measured.value == pytest.approx(60)
    assert speed(of, []) is None
    assert speed(of, [(2, 2)]) is None
    alone = speed(of, [(2, 3)])
    assert alone == Estimate(value=9.0, low=None, high=None)


def test_times_add_up_and_their_errors_in_squares() -> None:
    one = Estimate(value=100.0, low=90.0, high=110.0)
    time = total_time([(1000.0, one), (1000.0, one)])
    assert time.value == pytest.approx(20)
    assert time.high == pytest.approx(20 + 2**0.5)
