"""A few cases of each campaign of `damage`, and those that once went wrong."""

from __future__ import annotations

import pytest
from damage import CASES
from thinning import thinned

FIRST, COUNT = 100, 4


@pytest.mark.parametrize("seed", thinned(range(FIRST, FIRST + COUNT), every=4))
@pytest.mark.parametrize("name", CASES)
def test_no_damage_makes_a_silent_difference_or_a_traceback(name: str, seed: int) -> None:
    CASES[name](seed)


@pytest.mark.parametrize(("name", "seed"), [("read", 261)])
def test_what_once_went_wrong(name: str, seed: int) -> None:
    """A finding of 1e30 was too large for the report to round."""
    CASES[name](seed)
