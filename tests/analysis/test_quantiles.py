"""Medians and quantiles of short rows: numpy's, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashtwin.analysis.quantiles import median, quantile

NUMBERS = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=40).map(np.array)


@given(values=NUMBERS, share=st.floats(0.0, 1.0))
def test_they_are_numpys(values: np.ndarray, share: float) -> None:
    assert median(values) == float(np.median(values))
    assert quantile(values, share) == float(np.quantile(values, share))


def test_what_is_no_number_stays_none() -> None:
    values = np.array([1.0, np.nan, 2.0, 3.0, 4.0])
    assert np.isnan(median(values))
    assert np.isnan(quantile(values, 0.1))
    assert np.isnan(median(np.zeros(0)))


@pytest.mark.parametrize("count", [100, 101, 4097])
def test_a_row_is_left_in_its_order(count: int) -> None:
    values = np.random.default_rng(count).exponential(size=count)
    before = values.copy()
    assert median(values) == float(np.median(values))
    assert quantile(values, 0.25) == float(np.quantile(values, 0.25))
    assert np.array_equal(values, before)
