"""Which cases of a long list run in each `./dev test`, and which with `--full` only."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest


def thinned(cases: Collection[Any], every: int) -> list[Any]:
    """The first of each `every` cases, spread over the whole list; the others are marked `full`."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if place % every == 0 else pytest.mark.full,
        )
        for place, case in enumerate(cases)
    ]
