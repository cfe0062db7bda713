"""What is slower for a while and comes back is no plateau; what is bursts of a drive stays."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin.analysis.curve import Curve
from flashtwin.analysis.returns import lifted
from flashtwin.analysis.shape import shape_of

Parts = list[tuple[int, float]]


def recorded(parts: Parts) -> Curve:
    """So many samples of half a second at so many MB/s each, with noise of 2 %."""
    rate = np.concatenate([np.full(count, speed, dtype=np.float64) for count, speed in parts])
    rate *= 1e6 * (1 + np.random.default_rng(7).normal(0.0, 0.02, rate.size))
    return Curve(dt=np.full(rate.size, 0.5), size=rate * 0.5)


HEAT_IN_BOTH: Parts = [
    *([(100, 2000.0), (60, 1200.0)] * 3),
    (100, 2000.0),
    *([(300, 500.0), (120, 300.0)] * 4),
    (300, 500.0),
]
# The plateau ends in a hot stretch, and so does the fill.
HEAT_AT_THE_ENDS: Parts = [
    *([(100, 2000.0), (60, 1200.0)] * 3),
    *([(100, 300.0), (300, 500.0)] * 4),
    (90, 300.0),
]


@pytest.mark.parametrize(
    ("parts", "end_gb", "speeds"),
    [(HEAT_IN_BOTH, 508.0, [2000, 500]), (HEAT_AT_THE_ENDS, 408.0, [2000, 500])],
)
def test_heat_moves_neither_ends_nor_speeds(
    parts: Parts, end_gb: float, speeds: list[float]
) -> None:
    shape = shape_of(recorded(parts))
    assert shape.edge is not None
    assert shape.edge.place.value == pytest.approx(end_gb * 1e9, rel=0.02)
    found = [plateau.speed.value / 1e6 for plateau in shape.plateaus]
    assert found == pytest.approx(speeds, rel=0.03)
    assert len(shape.returns) >= 6


# The first plateau ends in mid-low, the fill ends hot, and the last plateau has one high alone.
HEAT_PAST_AN_END: Parts = [
    (300, 2000.0),
    *([(100, 500.0), (60, 300.0)] * 3),
    (100, 500.0),
    (30, 300.0),
    (30, 210.0),
    (140, 350.0),
    (50, 210.0),
]


def test_heat_that_goes_on_past_a_plateau_makes_none_of_its_own() -> None:
    shape = shape_of(recorded(HEAT_PAST_AN_END))
    speeds = [plateau.speed.value / 1e6 for plateau in shape.plateaus]
    assert speeds == pytest.approx([2000, 500, 350], rel=0.03)
    assert shape.rest.edges[0].place.value == pytest.approx(431.5e9, rel=0.03)


def test_shallow_heat_is_told_by_the_length_of_its_lows() -> None:
    # A quarter less, of samples that scatter by a tenth.
    rate = np.repeat([2000.0, *[570.0, 425.0] * 8], [60, *[120, 110] * 8])
    rate *= 1e6 * (1 + np.random.default_rng(3).normal(0.0, 0.11, rate.size))
    lows = lifted(Curve(dt=np.full(rate.size, 0.5), size=rate * 0.5))[1]
    assert [low.rate / 1e6 for low in lows] == pytest.approx([425.0] * 8, rel=0.05)


def test_a_dip_within_the_last_low_makes_no_plateau_of_it() -> None:
    cycles: Parts = [(120, 252.0), (90, 193.0)]
    parts: Parts = [(50, 1120.0), *(cycles * 5), (120, 252.0), (40, 193.0), (8, 140.0), (30, 193.0)]
    speeds = [plateau.speed.value / 1e6 for plateau in shape_of(recorded(parts)).plateaus]
    assert speeds == pytest.approx([1120, 252], rel=0.03)


def test_a_last_plateau_longer_than_any_low_is_no_heat() -> None:
    curve = recorded(
        [(300, 2000.0), *([(100, 500.0), (60, 300.0)] * 4), (100, 500.0), (120, 300.0)]
    )
    speeds = [plateau.speed.value / 1e6 for plateau in shape_of(curve).plateaus]
    assert speeds == pytest.approx([2000, 500, 300], rel=0.03)


@pytest.mark.filterwarnings("error")
def test_a_segment_that_is_one_long_stall_has_a_level() -> None:
    parts: Parts = [(200, 900.0), (80, 0.0), (200, 900.0)]
    curve, lows = lifted(recorded(parts))
    assert lows == () and curve.total_s == pytest.approx(240.0)


def test_a_stall_counts_in_the_speed_of_its_low() -> None:
    cycle: Parts = [(200, 900.0), (60, 500.0)]
    parts: Parts = [*(cycle * 3), (200, 900.0), (20, 500.0), (30, 0.0), (20, 500.0), *(cycle * 3)]
    with np.errstate(all="raise"):
        lows = lifted(recorded([*parts, (200, 900.0)]))[1]
    rates = sorted(low.rate / 1e6 for low in lows)
    assert rates == pytest.approx([40 * 500 / 70, *[500.0] * 6], rel=0.05)


def test_bursts_of_a_drive_that_folds_and_takes_data_again_stay() -> None:
    curve = recorded([(200, 1500), *([(40, 200.0), (20, 1000.0)] * 20)])
    assert lifted(curve)[1] == ()
    shape = shape_of(curve)
    assert shape.edge is not None
    assert shape.edge.place.value == pytest.approx(150e9, rel=0.01)


def test_bytes_stay_where_they_are() -> None:
    curve = recorded(HEAT_IN_BOTH)
    cool, found = lifted(curve)
    assert found and np.array_equal(cool.size, curve.size)
    assert np.all(cool.dt <= curve.dt) and np.all(cool.dt > 0)


def test_a_slow_start_of_seconds_is_not_the_speed_of_the_cache() -> None:
    shape = shape_of(recorded([(8, 1300), (60, 2000), (600, 500)]))
    assert shape.head.speed.value == pytest.approx(2000e6, rel=0.02)
    assert shape.rise == pytest.approx(8 * 0.65e9, rel=0.02)


def test_a_stall_before_the_first_byte_is_no_slow_start() -> None:
    size = np.concatenate([np.zeros(12), np.full(300, 1e8)])
    curve = Curve(dt=np.full(312, 0.5), size=size)
    lifted_curve, _ = lifted(curve)
    assert lifted_curve.total_bytes == pytest.approx(curve.total_bytes)
