"""Fills at two speeds in turns: heat past the first plateau, and what only looks like it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapes import GB, Factor, Fill, fill, hot

from flashtwin.analysis.curve import Curve, curve_of
from flashtwin.analysis.shape import shape_of
from flashtwin.analysis.two_speeds import (
    BRIEF,
    BRIEF_EARLY,
    BY_CLOCK,
    GO_ON,
    IN_FEW,
    PAST,
    TURNS,
    cooled,
    two_speeds,
)


def curve(series: Fill) -> Curve:
    return curve_of(series.t_ns, series.dt_ns, series.bytes_)


def past_the_cache(
    left: float, slow_s: float, fast_s: float, warms_s: float = 400.0, **more: float
) -> Curve:
    """A cache of 60 GB at 2,000 MB/s, then 600 MB/s to 900 GB, with heat in turns."""
    return curve(fill((2000, 60), (600, 900), factor=hot(left, warms_s, slow_s, fast_s), **more))


@pytest.mark.parametrize("left", [0.25, 0.5, 0.75])
@pytest.mark.parametrize(("slow_s", "fast_s"), [(300.0, 100.0), (60.0, 120.0), (40.0, 25.0)])
def test_heat_in_turns_is_seen_whichever_of_both_speeds_lasts(
    left: float, slow_s: float, fast_s: float
) -> None:
    turns = two_speeds(past_the_cache(left, slow_s, fast_s))
    assert turns is not None and turns.is_past and not turns.is_moved
    assert turns.depth == pytest.approx(left, rel=0.05)
    for at, (begin, _) in enumerate(turns.slow_s):
        assert abs(begin - (400 + at * (slow_s + fast_s))) <= 2 * turns.bin_s


@pytest.mark.parametrize("left", [0.25, 0.5])
@pytest.mark.parametrize(("slow_s", "fast_s"), [(300.0, 100.0), (180.0, 120.0)])
def test_a_hot_drive_has_the_plateaus_of_a_cool_one(
    left: float, slow_s: float, fast_s: float
) -> None:
    """Also where it is hot every five minutes, which may be a host's work."""
    shape = shape_of(past_the_cache(left, slow_s, fast_s))
    first, second = shape.plateaus
    assert shape.edge is not None and shape.edge.place.value == pytest.approx(60 * GB, rel=0.01)
    assert first.speed.value == pytest.approx(2000e6, rel=0.02)
    assert second.speed.value == pytest.approx(600e6, rel=0.02)
    assert len(shape.returns) >= 4


def test_where_its_own_speed_falls_while_it_is_hot_is_found() -> None:
    """At 400 GB, within a slow stretch, what the drive does by itself becomes slower for good."""
    hidden = hot(0.4, 400.0, 200.0, 150.0)
    shape = shape_of(curve(fill((2000, 60), (600, 400), (350, 900), factor=hidden)))
    places = [edge.place.value / GB for edge in shape.rest.edges]
    assert places == pytest.approx([400.0], rel=0.02)
    speeds = [plateau.speed.value / 1e6 for plateau in shape.rest.plateaus]
    assert speeds == pytest.approx([600.0, 350.0], rel=0.05)


def re_armed(second: float, _done: float) -> float:
    """A cache that is used up after 60 s, and then takes data for 8 s of each 80."""
    return 1.0 if second < 60 or (second - 60) % 80 >= 72 else 0.3


def from_there(second: float, _done: float) -> float:
    """Past its cache, which ends after 60 s, a drive folds for 15 s of each 30."""
    return 1.0 if second < 60 else (0.2 if (second - 60) % 30 < 15 else 0.5)


def faster_late(second: float, _done: float) -> float:
    """Late in the fill a cache takes data again now and then, faster than the flash before."""
    late = second - 900
    return 1.0 if late < 0 else (1.5 if late % 30 >= 22 else 0.7)


def test_a_cache_that_takes_data_again_late_in_a_fill_is_no_heat() -> None:
    series = curve(fill((2000, 60), (600, 700), factor=faster_late))
    assert two_speeds(series) is None
    assert shape_of(series).rest.edges


@pytest.mark.parametrize("factor", [re_armed, from_there])
def test_what_a_cache_does_from_its_end_on_is_not_taken_for_heat(factor: Factor) -> None:
    series = curve(fill((1000, 400), factor=factor))
    turns = two_speeds(series)
    assert turns is None or not turns.is_past
    shape = shape_of(series)
    assert shape.edge is not None and shape.edge.place.value == pytest.approx(60 * GB, rel=0.02)


@pytest.mark.parametrize(
    "series",
    [
        fill((500, 240)),
        fill((2000, 60), (600, 900), (300, 1500)),
        fill((2000, 60), (600, 900), factor=lambda t, _: 0.4 if t > 500 else 1.0),
        fill((600, 900), factor=hot(0.5, 100.0, 60.0, 90.0)),
        fill((500, 10)),
    ],
    ids=["flat", "three plateaus", "one fall", "from the first turn on", "few samples"],
)
def test_no_turns_are_seen_where_there_are_none(series: Fill) -> None:
    assert two_speeds(curve(series)) is None


def test_a_saw_tooth_of_the_drive_itself_is_left_as_it_is() -> None:
    def both(second: float, done: float) -> float:
        tooth = 0.8 + 0.4 * (second % 4) / 4 if done > 60 * GB else 1.0
        return tooth * hot(0.4, 400.0, 200.0, 100.0)(second, done)

    series = curve(fill((2000, 60), (600, 900), factor=both, noise=0.01))
    turns = two_speeds(series)
    assert turns is not None and turns.is_past
    cool = cooled(series, turns)
    late = cool.rate[cool.bytes_at[1:] > 500 * GB]
    assert np.quantile(late, 0.95) / np.quantile(late, 0.05) == pytest.approx(1.5, rel=0.1)


EVEN, CACHED, FALLS = ((600, 900),), ((2000, 60), (600, 900)), ((2000, 60), (600, 400), (350, 900))


@pytest.mark.parametrize(
    ("look", "plateaus", "factor"),
    [
        (TURNS, EVEN, hot(0.4, 400.0, 150.0, 160.0)),
        (PAST, CACHED, hot(0.4, 400.0, 60.0, 130.0)),
        # Both speeds fall with the drive's own, and keep their ratio.
        (GO_ON, FALLS, hot(0.4, 400.0, 200.0, 150.0)),
        (IN_FEW, EVEN, hot(0.4, 600.0, 500.0, 380.0)),
        # Work that a host does every five minutes.
        (BY_CLOCK, EVEN, hot(0.4, 400.0, 150.0, 150.0)),
        # Periods of many turns that are no whole number of bins.
        (BY_CLOCK, ((600, 3000),), hot(0.4, 600.0, 25.0, 35.0)),
        (TURNS, ((600, 3000),), hot(0.4, 600.0, 25.0, 37.4)),
        # A cache is fast for a long time at first, and briefly later; a drive that is hot warms up
        # from rest in a few times as long as later.
        (BRIEF_EARLY, EVEN, hot(0.4, 150.0, 200.0, 60.0)),
        (BRIEF, EVEN, hot(0.4, 400.0, 200.0, 40.0)),
        # Two turns may be a cache's that is partly free once more.
        (BRIEF, ((600, 220),), hot(0.4, 150.0, 200.0, 60.0)),
        # A journal takes a twentieth of the time, and a drive that stalls next to all of its speed.
        (None, EVEN, hot(0.4, 300.0, 5.0, 95.0)),
        (None, EVEN, hot(0.05, 400.0, 150.0, 150.0)),
        # Two turns after most of the fill are chance.
        (None, EVEN, hot(0.4, 1400.0, 40.0, 40.0)),
    ],
)
def test_turns_look_like_what_makes_them(
    look: str | None, plateaus: tuple[tuple[float, float], ...], factor: Factor
) -> None:
    turns = two_speeds(curve(fill(*plateaus, factor=factor)))
    assert (None if turns is None else turns.look) == look


def test_fast_stretches_of_few_samples_are_seen() -> None:
    """Of six seconds each, in 1,600 bins of one or two: each is worth less than a level's cost."""
    turns = two_speeds(curve(fill((600, 900), factor=hot(0.3, 300.0, 12.0, 6.0))))
    assert turns is not None
    assert turns.depth == pytest.approx(0.3, rel=0.1)
    assert turns.fast == pytest.approx(1 / 3, rel=0.2)


RATES = st.lists(st.floats(0.0, 1e9), min_size=1, max_size=200)


@given(RATES, st.integers(1, 12))
def test_cooling_keeps_all_bytes_and_never_takes_longer(rates: list[float], times: int) -> None:
    size = np.tile(np.array(rates), times) + 1.0
    series = Curve(dt=np.ones(size.size), size=size)
    turns = two_speeds(series)
    if turns is not None:
        cool = cooled(series, turns)
        assert np.array_equal(cool.size, series.size)
        assert np.all(cool.dt <= series.dt) and np.all(cool.dt >= turns.depth - 1e-12)
