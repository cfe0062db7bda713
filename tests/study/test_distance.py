"""How far a measured curve lies from a small copy's: edges, stalls, far values and swings."""

from __future__ import annotations

import numpy as np

from flashtwin.hypothesis import distance

FAST, SLOW = np.log(500e6), np.log(100e6)


def edge(fast_bins: int, bins: int = 40) -> distance.Floats:
    return np.where(np.arange(bins) < fast_bins, FAST, SLOW)


def test_a_curve_fits_itself_best() -> None:
    itself = distance.log_likelihood(edge(12), edge(12))
    assert itself == 0.0
    assert distance.log_likelihood(edge(12), edge(20)) < itself - 5


def test_an_edge_one_bin_off_costs_less_than_one_that_is_two_bins_off() -> None:
    one, two = (distance.log_likelihood(edge(12), edge(at)) for at in (13, 14))
    assert two < one < 0.0


def test_a_stall_costs_no_more_than_its_bin_however_deep_it_is() -> None:
    def with_stall(factor: float) -> float:
        measured = edge(12)
        measured[30] -= np.log(factor)
        return distance.log_likelihood(measured, edge(12))

    assert with_stall(1e6) >= distance.OWN * np.log(distance.DISTURBED) - 1e-9
    assert with_stall(1e3) - with_stall(1e6) < 1e-9


def test_far_values_still_say_which_way_to_go() -> None:
    apart = distance.signed(np.linspace(-4, 4, 81), distance.CURVE_NOISE)
    assert (np.diff(apart) > 0).all()
    assert np.allclose(apart, -apart[::-1])
    near = distance.signed(np.array(0.01), distance.CURVE_NOISE)
    assert abs(float(near) * distance.CURVE_NOISE - 0.01) < 1e-4


def test_swings_of_the_copy_widen_the_noise_of_a_curve_and_steps_do_not() -> None:
    swinging = np.tile([0.0, 0.1], 10)
    assert distance.with_swings(0.06, swinging) > 0.2
    assert distance.with_swings(0.06, edge(12)) == 0.06
    assert distance.with_swings(0.06, swinging[:6]) == 0.06
