"""Intervals after calibration: wider, never of no width, values untouched."""

from __future__ import annotations

import pytest

from flashtwin.analysis.calibrated import Kind, bound, widened
from flashtwin.analysis.estimate import Estimate

CASES = (
    Estimate(value=100.0, low=99.0, high=103.0),
    Estimate(value=100.0, low=None, high=None),
    Estimate(value=100.0, low=100.0, high=100.0),
)


@pytest.mark.parametrize("kind", ["cache", "fold", "speed"])
@pytest.mark.parametrize("estimate", CASES)
def test_no_interval_is_narrower_or_of_no_width(kind: Kind, estimate: Estimate) -> None:
    wide = widened(estimate, kind, sample_bytes=1.0)
    assert wide.value == estimate.value
    assert wide.low is not None and wide.high is not None and wide.low < 100.0 < wide.high
    assert wide.low <= (estimate.low or 100.0) and wide.high >= (estimate.high or 100.0)


def test_a_bound_stays_within_what_was_written() -> None:
    assert 1.0 <= bound(1.0, 50.0) <= 50.0
    assert bound(40.0, 50.0) == 50.0
