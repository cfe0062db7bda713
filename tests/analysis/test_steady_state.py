"""A plateau's speed is that of its level: not of the seconds before it is reached, nor of dips."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin.analysis.curve import Curve
from flashtwin.analysis.interruptions import calm
from flashtwin.analysis.shape import shape_of
from flashtwin.analysis.steady_state import settled


def recorded(rates_mbs: list[float], seconds: float = 1.0) -> Curve:
    rate = np.array(rates_mbs) * 1e6
    return Curve(dt=np.full(rate.size, seconds), size=rate * seconds)


# Samples before a knee to 150 MB/s, and the speed of the first plateau.
HEADS: dict[str, tuple[list[float], float]] = {
    "four slow seconds of seven": ([370, 368, 375, 372, 700, 702, 698], 700),
    "a changeover within a sample": ([370, 370, 370, 520, 700, 700, 700, 700], 700),
    "a buffer's second": ([990, 700, 702, 698, 700, 701], 700),
    "a dip of two samples at the knee": ([1120, 1121, 1119, 880, 720, 1120, 1121, 1119], 1120),
    "nothing of the kind": ([700, 702, 698, 700, 701, 699], 700),
}


@pytest.mark.parametrize("name", HEADS)
def test_a_short_plateau_has_the_speed_of_its_level(name: str) -> None:
    head, speed = HEADS[name]
    shape = shape_of(recorded([*head, *([150.0, 151.0, 149.0] * 100)]))
    assert shape.edge is not None
    assert shape.head.speed.value == pytest.approx(speed * 1e6, rel=0.005)


def test_a_level_that_nothing_interrupts_keeps_all_of_its_samples() -> None:
    curve = recorded([500.0, 505.0, 495.0] * 20)
    assert settled(curve, [(0, 60)], 0.01) == [(0, 60)]


def test_swings_are_the_speed_and_no_dips() -> None:
    """One in four samples is slow and one fast: the mean of all is what the drive writes."""
    curve = recorded([100.0, 60.0, 100.0, 140.0] * 30)
    assert settled(curve, [(0, len(curve))], 0.01) == [(0, len(curve))]
    assert calm(curve).curve.total_s == curve.total_s


def test_teeth_past_the_cache_are_the_drives_own() -> None:
    """A host interrupts from the first second on; these begin when the cache is full."""
    teeth = [112.0, 112.0, 112.0, 112.0, 62.0, 90.0, 112.0, 71.0]
    curve = recorded([1000.0] * 200 + teeth * 100)
    assert calm(curve).curve.total_s == curve.total_s
    assert shape_of(curve).rest.plateaus[0].speed.value == pytest.approx(
        np.mean(teeth) * 1e6, rel=0.01
    )


def test_dips_in_a_quiet_plateau_are_seen_beside_a_noisy_one() -> None:
    """The scatter of the longer plateau is that of its own samples."""
    rng = np.random.default_rng(3)
    quiet = ([800.0] * 19 + [400.0]) * 20
    noisy = np.clip(rng.normal(100.0, 20.0, 1500), 10, None).tolist()
    shape = shape_of(recorded([*quiet, *noisy]))
    assert shape.head.speed.value == pytest.approx(800e6, rel=0.005)
    assert shape.rest.plateaus[0].speed.value == pytest.approx(100e6, rel=0.02)
