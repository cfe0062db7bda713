"""Stalls, dips, slow starts, bursts and heat: what is not the drive's moves no plateau."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin.analysis import calibration, returns
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.interruptions import calm, without_silence
from flashtwin.analysis.shape import shape_of

HALF_S = 0.5
Parts = list[tuple[int, float]]


def recorded(parts: Parts) -> Curve:
    """So many samples of half a second at so many MB/s each, with noise of 1 %."""
    rate = np.concatenate([np.full(count, speed, dtype=np.float64) for count, speed in parts])
    rate *= 1e6 * (1 + np.random.default_rng(5).normal(0.0, 0.01, rate.size))
    return Curve(dt=np.full(rate.size, HALF_S), size=rate * HALF_S)


# The cases that a blind baseline found wrong, with the end of the first plateau in GB.
CASES: dict[str, tuple[Parts, float]] = {
    "a stall in the cache": ([(15, 3000), (10, 0), (15, 3000), (2000, 500)], 45.0),
    "a stall at the knee": ([(30, 3000), (10, 0), (2000, 500)], 45.0),
    "a long stall in the cache": ([(30, 3000), (16, 2), (30, 3000), (500, 1500)], 90.0),
    "two stalls, one at the knee": ([(9, 3000), (7, 2), (19, 3000), (7, 2), (500, 800)], 42.0),
    "a stall past the knee": ([(30, 3000), (100, 500), (10, 0), (1900, 500)], 45.0),
    "a burst at the start": ([(2, 6000), (200, 5000), (2000, 500)], 506.0),
    "a host's burst of 5 s": ([(10, 4000), (120, 2000), (2000, 300)], 140.0),
    "a host's burst, and then a small drop": ([(6, 4500), (200, 3000), (2000, 1500)], 313.5),
    "a burst, and steps at the end": ([(5, 457), (31, 326), (3, 240), (2400, 167)], 6.2),
    "a slow start": ([(360, 1000), (480, 1650), (800, 1250)], 576.0),
    "dips of a journal": ([*([(19, 3000.0), (1, 1000.0)] * 5), (2000, 500)], 145.0),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_plateau_ends_where_it_does_without_interruptions(name: str) -> None:
    parts, end_gb = CASES[name]
    edge = shape_of(recorded(parts)).edge
    assert edge is not None
    assert edge.place.value == pytest.approx(end_gb * 1e9, rel=0.01)


def test_an_interval_takes_in_a_sample_that_was_interrupted_at_the_end() -> None:
    """A journal slows the sample in which the cache ends: which of its bytes were fast nobody can
    tell, and 26 of 40 intervals that missed were of such drives."""
    rounds: Parts = [(19, 3000.0), (1, 1000.0)]
    # The last of the dips holds 0.2 s of the cache's speed, and then the one past it.
    curve = recorded([*rounds * 5, (19, 3000.0), (1, 600.0), *[(19, 500.0), (1, 170.0)] * 50])
    shape = shape_of(curve)
    edge = calibration.widened_shape(shape, curve).edge
    assert edge is not None and edge.place.low is not None and edge.place.high is not None
    dip = float(curve.bytes_at[119])
    assert edge.place.low <= dip and edge.place.high >= float(curve.bytes_at[120])


@pytest.mark.parametrize(("times", "is_cache"), [(1.35, False), (2.0, True)])
def test_a_second_that_is_hardly_faster_is_the_hosts(times: float, is_cache: bool) -> None:
    """Told as a cache with a probability of a half, or of a tenth."""
    shape = shape_of(recorded([(3, 500 * times), (900, 500)]))
    assert (shape.edge is not None) is is_cache
    assert (shape.burst is not None) is not is_cache


def test_heat_that_takes_the_speed_again_and_again_is_no_cache() -> None:
    cycles: Parts = [(600, 1000), *([(60, 600.0), (60, 1000.0)] * 5)]
    assert shape_of(recorded(cycles)).edge is None


def test_a_stall_takes_no_speed_and_loses_no_byte() -> None:
    stalled, quiet = recorded([(50, 500), (8, 0), (50, 500)]), recorded([(100, 500)])
    without = calm(stalled)
    assert len(without.stalls) == 1 and without.stalls[0][1] == pytest.approx(4.0)
    assert without.curve.total_bytes == pytest.approx(stalled.total_bytes)
    assert without.curve.total_s == pytest.approx(quiet.total_s, rel=0.01)


def test_a_journal_that_slows_the_host_to_a_third_takes_no_speed() -> None:
    """What moves a sample of data takes three samples then, and two edges belong to both."""
    dip: Parts = [(1, 800.0), (3, 330.0), (1, 700.0)]
    parts: Parts = [(20, 1000.0), *[*dip, (20, 1000.0)] * 8]
    plateau = shape_of(recorded(parts)).plateaus[0]
    assert plateau.speed.value == pytest.approx(1000e6, rel=0.01)


def test_stalls_that_recur_are_the_drives_own() -> None:
    parts: Parts = [(20, 500), (5, 0)] * 10
    curve = recorded([*parts, (20, 500)])
    assert calm(curve).curve.total_s == curve.total_s


def test_a_curve_without_interruptions_comes_back_itself() -> None:
    curve = recorded([(50, 3000), (300, 500)])
    assert calm(curve).curve is curve


@pytest.mark.parametrize("rates", [[], [0.0], [0.0] * 30, [5.0] * 3, [0.0] * 20 + [5.0] * 20])
def test_any_curve_has_a_calm_one(rates: list[float]) -> None:
    curve = Curve(dt=np.full(len(rates), 1.0), size=np.array(rates))
    assert calm(curve).curve.total_bytes == pytest.approx(sum(rates))
    assert calm(curve).curve.total_s <= curve.total_s


@pytest.mark.parametrize("rates", [[100.0], [100.0, 75.0], [100.0, 98.0, 75.0]])
def test_a_segment_of_a_sample_or_two_may_hold_a_low(rates: list[float]) -> None:
    """Of two samples the neighbours were three, which ended the analysis with an error."""
    curve = Curve(dt=np.ones(len(rates)), size=np.array(rates))
    assert returns._coarse(curve, 0, len(rates), np.array([100.0])).size in (0, 2)


def test_only_silence_is_taken_out_where_that_is_asked() -> None:
    """A stall goes, in its place; slower samples stay, and so does a drive that stops again and
    again."""
    dt, rate = np.full(60, 0.5), np.full(60, 100.0)
    rate[20:23], rate[40] = 0.5, 40.0
    curve = Curve(dt=dt, size=rate * dt)
    quiet = without_silence(curve)
    assert quiet.total_bytes == pytest.approx(curve.total_bytes)
    assert quiet.total_s == pytest.approx(curve.total_s - 1.5, abs=0.05)
    assert quiet.rate.min() == pytest.approx(40.0)
    often = np.full(60, 100.0)
    often[5::10] = 0.5
    working = Curve(dt=dt, size=often * dt)
    assert without_silence(working) is working
