"""A series is read once, however often its shape is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from flashtwin.analysis import shape
from flashtwin.analysis.curve import Curve


def step(cache: int) -> Curve:
    """So many samples at 500 MB/s, then 100 MB/s."""
    size = np.where(np.arange(200) < cache, 500e6, 100e6)
    return Curve(dt=np.ones(200), size=size)


def test_the_same_series_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known = shape.shape_of(step(63))
    monkeypatch.setattr(shape, "_shape_of", lambda curve: pytest.fail("it was read again"))
    assert shape.shape_of(step(63)) is known


def test_another_series_has_its_own_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shape, "_REMEMBERED", 3)
    monkeypatch.setattr(shape, "_read", {})
    for cache in (60, 70, 80, 90, 60):
        assert abs(shape.shape_of(step(cache)).head.end - cache * 500e6) < 1e9
        assert len(shape._read) <= 3
