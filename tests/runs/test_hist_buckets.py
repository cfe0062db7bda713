"""fio's latency buckets: layout, percentiles, mean."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtwin.model import histogram


@pytest.mark.parametrize(
    ("nanoseconds", "bucket", "middle"),
    [
        (0, 0, 0),
        (127, 127, 127),
        (128, 128, 129),
        (129, 128, 129),
        (130, 129, 131),
        (255, 191, 255),
        (256, 192, 258),
        (1_000_000, 954, 1_003_520),
        (2**62, 1855, 17_112_760_320),
    ],
)
def test_buckets_are_fios(nanoseconds: int, bucket: int, middle: int) -> None:
    """Values from fio's own `plat_val_to_idx` and `plat_idx_to_val`, worked by hand."""
    assert histogram.bucket_of(nanoseconds) == bucket
    assert histogram.middle_of(bucket) == middle


def test_buckets_join_without_a_gap_and_hold_their_middles() -> None:
    edges = histogram.edges()
    assert len(edges) == histogram.BUCKETS
    for bucket, (first, last) in enumerate(edges):
        assert histogram.bucket_of(first) == histogram.bucket_of(last) == bucket
        assert first <= histogram.middle_of(bucket) <= last
    assert all(before[1] + 1 == after[0] for before, after in pairwise(edges))


@given(st.integers(min_value=1, max_value=2**34))
def test_a_middle_is_near_the_value(nanoseconds: int) -> None:
    middle = histogram.middle_of(histogram.bucket_of(nanoseconds))
    assert abs(middle - nanoseconds) <= nanoseconds / 128 + 1


@given(st.lists(st.integers(min_value=0, max_value=10**9), min_size=1, max_size=300))
def test_percentiles_against_sorted_values(values: list[int]) -> None:
    counts = np.bincount(
        [histogram.bucket_of(value) for value in values], minlength=histogram.BUCKETS
    ).astype(np.uint64)
    found = histogram.percentiles(counts, [1.0, 50.0, 99.0, 100.0])
    ordered = sorted(values)
    for share, got in found.items():
        rank = max(int(np.ceil(share / 100.0 * len(values))), 1) - 1
        assert got == histogram.middle_of(histogram.bucket_of(ordered[rank]))
    assert histogram.mean_ns(counts) == pytest.approx(np.mean(values), rel=0.01, abs=1)


def test_nothing_counted_says_nothing() -> None:
    empty = np.zeros(histogram.BUCKETS, dtype=np.uint64)
    assert histogram.percentiles(empty, [50.0]) == {} and histogram.mean_ns(empty) is None
