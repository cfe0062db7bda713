"""A small sweep: 4 points of a scaled drive, one pass of a fill each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flashtwin.study.sweep.grid import axes
from flashtwin.study.sweep.plan import Plan


@pytest.fixture
def make_plan() -> Callable[..., Plan]:
    """A plan over caches and seeds, or what a test wants."""

    def make(*vary: str, **more: Any) -> Plan:
        texts = vary or ("slc_cache.size=12 GB,24 GB", "op=0.14,0.28")
        fields = {"drive": "bx500-240", "batteries": "fill:patterns=1m-q1,passes=1"}
        return Plan(**{**fields, "scale": "1/64", **more}, axes=tuple(axes(texts)))

    return make
