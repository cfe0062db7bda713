"""Intervals after calibration: wider, never of no width, values untouched."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin.analysis.calibration import Kind, bound, widened, widened_shape
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.shape import shape_of

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


def test_a_shape_has_the_intervals_that_hold() -> None:
    """Each speed and each edge wider, no value moved: what the findings of a fill are made of."""
    size = np.repeat([800e6, 200e6, 100e6], [60, 200, 200])
    curve = Curve(dt=np.ones(size.size), size=size)
    shape = shape_of(curve)
    wide = widened_shape(shape, curve)
    assert shape.edge is not None and wide.edge is not None and len(wide.rest.edges) == 1
    own = [*(p.speed for p in shape.plateaus), shape.edge.place, shape.rest.edges[0].place]
    more = [*(p.speed for p in wide.plateaus), wide.edge.place, wide.rest.edges[0].place]
    for before, after in zip(own, more, strict=True):
        assert after.value == before.value
        assert after.low is not None and after.high is not None
        assert after.low < (before.low or before.value) <= (before.high or before.value)
        assert after.high > (before.high or before.value)
