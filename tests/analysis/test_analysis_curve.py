"""A series made ready: nothing lost, stalls kept, remainders joined, the two axes agreeing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtwin.analysis.curve import curve_of, in_equal_bytes
from flashtwin.analysis.shape import shape_of

SECOND = 10**9


def test_a_gap_in_the_log_is_a_stall() -> None:
    of = curve_of([0, SECOND, 5 * SECOND], [SECOND] * 3, [10, 10, 10])
    assert list(of.size) == [10, 10, 0, 0, 0, 10]
    assert of.total_s == 6


def test_a_short_last_sample_joins_the_one_before() -> None:
    of = curve_of([0, SECOND, 2 * SECOND], [SECOND, SECOND, SECOND // 10], [10, 10, 1])
    assert list(of.size) == [10, 11]
    assert of.dt == pytest.approx([1.0, 1.1])


def test_rows_may_come_in_any_order() -> None:
    of = curve_of([2 * SECOND, 0, SECOND], [SECOND] * 3, [3, 1, 2])
    assert list(of.size) == [1, 2, 3]


def test_a_clock_that_jumps_by_years_does_not_fill_the_memory() -> None:
    of = curve_of([0, SECOND, 10**8 * SECOND], [SECOND] * 3, [1, 1, 1])
    assert len(of) < 20_000
    assert of.total_bytes == 3


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="equally long"):
        curve_of([0, 1], [1], [1, 2])


@given(
    st.lists(st.tuples(st.integers(0, 2 * SECOND), st.integers(0, 10**9)), max_size=40),
)
def test_no_byte_and_no_second_is_lost(rows: list[tuple[int, int]]) -> None:
    lengths = [length for length, _ in rows]
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])) if rows else []
    of = curve_of(starts, lengths, [size for _, size in rows])
    if not any(lengths):
        assert len(of) == 0
        return
    assert of.total_bytes == pytest.approx(sum(size for _, size in rows))
    assert of.total_s == pytest.approx(sum(lengths) / 1e9)
    assert (of.dt > 0).all()


def test_time_and_bytes_agree() -> None:
    of = curve_of(np.arange(4) * SECOND, [SECOND] * 4, [100, 0, 50, 50])
    assert of.seconds_to(np.array([0.0, 50.0, 100.0, 125.0, 200.0])) == pytest.approx(
        [0, 0.5, 1.0, 2.5, 4.0]
    )
    assert of.mean_between(0, 200) == pytest.approx(50)
    assert of.mean(2, 4) == pytest.approx(50)


def test_bins_of_equal_bytes_keep_time_and_stalls() -> None:
    of = curve_of(np.arange(6) * SECOND, [SECOND] * 6, [100, 100, 0, 50, 50, 0])
    bins = in_equal_bytes(of, 0, of.total_bytes, 3)
    assert bins.size == pytest.approx([100, 100, 100])
    # The stall in the middle goes to the bin after it, the one at the end to the last.
    assert bins.dt == pytest.approx([1, 1, 4])


def test_a_fast_sample_of_a_log_by_the_gb_is_no_remainder() -> None:
    """A GB at 1,700 MB/s takes a sixth of one at 260, and is a sample of its own all the same."""
    seconds = np.where(np.arange(300) < 77, 1 / 1.7, 1 / 0.26)
    curve = curve_of((np.cumsum(seconds) - seconds) * 1e9, seconds * 1e9, np.full(300, 1e9))
    assert len(curve) == 300
    edge = shape_of(curve).edge
    assert edge is not None
    assert edge.place.value == pytest.approx(77e9, rel=0.01)
