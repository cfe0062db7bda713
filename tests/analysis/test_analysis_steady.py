"""Steady state by SNIA's rule, against rounds that were made up and whose answers are known."""

from __future__ import annotations

import pytest

from flashtwin.analysis.steady import is_steady, window_of


@pytest.mark.parametrize(
    ("values", "steady"),
    [
        ([100, 100, 100, 100, 100], True),
        # 110 - 90 is 20 % of 100, to the last digit; the line is flat, or falls by 8 %.
        ([100, 110, 100, 90, 100], True),
        ([90, 110, 100, 110, 90], True),
        # Excursion alone: a symmetric peak has a flat line.
        ([100, 100, 120, 100, 100], True),
        ([100, 100, 130, 100, 100], False),
        # The line alone: 4 x 2.5 is 10 % of 100, to the last digit; a little more is not.
        ([95, 97.5, 100, 102.5, 105], True),
        ([105, 102.5, 100, 97.5, 95], True),
        ([94.9, 97.5, 100, 102.5, 105.1], False),
        ([93, 96.5, 100, 103.5, 107], False),
        # Only the last five count, and there have to be five.
        ([900, 500, 100, 100, 100, 100, 100], True),
        ([100, 100, 100, 100], False),
        ([], False),
        ([0, 0, 0, 0, 0], False),
        ([100, 100, 100, 100, 100, 300], False),
    ],
)
def test_rounds_with_known_answers(values: list[float], steady: bool) -> None:
    assert is_steady(values) is steady


def test_edges_are_exact() -> None:
    """Highest minus lowest 0.2 of the mean, and one part in 10^15 more."""
    at_edge = [900.0, 1100.0, 1000.0, 1100.0, 900.0]
    assert is_steady(at_edge)
    assert not is_steady([900.0, 1100.0, 1000.0, 1100.0000000000002, 900.0])
    window = window_of(at_edge)
    assert window is not None and (window.mean, window.excursion, window.rise) == (1000, 0.2, 0)


def test_both_figures_are_shares_of_the_mean() -> None:
    window = window_of([1, 93, 96.5, 100, 103.5, 107])
    assert window is not None and not window.steady
    assert (window.mean, window.excursion, window.rise) == (100, 0.14, 0.14)
