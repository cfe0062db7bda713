"""The quantile of Student's t against scipy's, for all degrees of freedom that an estimate has."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from flashtwin.analysis.estimate import student_t

DEGREES = np.concatenate([np.linspace(1.0, 130.0, 517), np.logspace(0.0, 9.0, 300)])


def test_it_is_scipys_to_ten_digits() -> None:
    mine = np.array([student_t(float(freedom)) for freedom in DEGREES])
    assert mine == pytest.approx(stdtrit(DEGREES, 0.975), rel=1e-10)
