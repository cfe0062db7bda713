"""A series over data: whole grains, stalls, odd ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtwin.runs.frames import by_bytes


def samples(*bytes_: int, dt: int = 500_000_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(bytes_)
    starts = np.arange(count, dtype=np.int64) * dt
    return starts, np.full(count, dt, dtype=np.int64), np.array(bytes_, dtype=np.int64)


def test_a_grain_takes_its_share_of_each_sample() -> None:
    found = by_bytes(*samples(300, 300, 100, 100), grain_bytes=400)
    assert found.end_bytes.tolist() == [400, 800]
    assert found.seconds == pytest.approx([0.5 + 0.5 / 3, 0.5 * 2 / 3 + 1.0])
    assert found.mb_s == pytest.approx([400e-6 / 0.66666667, 400e-6 / 1.33333333])


def test_the_last_grain_may_be_smaller() -> None:
    found = by_bytes(*samples(300, 300), grain_bytes=400)
    assert found.bytes.tolist() == [400, 200]
    assert found.seconds == pytest.approx([0.5 + 0.5 / 3, 0.5 * 2 / 3])


def test_a_stall_counts_for_the_grain_that_waited() -> None:
    found = by_bytes(*samples(400, 0, 0, 400), grain_bytes=400)
    assert found.seconds == pytest.approx([0.5, 1.5])
    assert by_bytes(*samples(400, 400, 0), grain_bytes=400).seconds == pytest.approx([0.5, 1.0])


def test_nothing_moved_gives_no_row() -> None:
    assert len(by_bytes(*samples(0, 0)).seconds) == 0
    assert len(by_bytes(*samples()).mb_s) == 0


@given(
    st.lists(st.integers(min_value=0, max_value=10**6), min_size=1, max_size=50),
    st.integers(min_value=1000, max_value=10**6),
)
def test_no_byte_and_no_time_is_lost(amounts: list[int], grain: int) -> None:
    found = by_bytes(*samples(*amounts), grain_bytes=grain)
    assert int(found.bytes.sum()) == sum(amounts)
    assert (found.bytes <= grain).all() and (found.seconds >= 0).all()
    if sum(amounts):
        assert found.seconds.sum() == pytest.approx(0.5 * len(amounts))
