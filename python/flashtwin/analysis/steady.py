"""Steady state of a value that is measured in rounds, by the rule of SNIA's PTS 2.0.

Over the last five rounds the highest value minus the lowest is 20 % of their mean or less, and the
straight line through them by least squares rises or falls by 10 % of the mean or less from the
first to the fifth. Both are compared exactly, as fractions. Source: public implementations that
quote the standard (batteries.md); fio's own `steadystate` checks one of the two only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

WINDOW = 5
MOST_ROUNDS = 25
# What the values may differ by, and the line through them may rise, as shares of their mean.
EXCURSION, RISE = Fraction(20, 100), Fraction(10, 100)


@dataclass(frozen=True, kw_only=True)
class Window:
    """The last rounds: the mean, and both criteria as shares of it.

    `trend` is `rise` with its sign: below 0 where the rounds fall.
    """

    mean: float
    excursion: float
    rise: float
    steady: bool
    trend: float

    @property
    def moves(self) -> bool:
        """Steady, and more than half of what the line may move."""
        return self.steady and self.rise > RISE / 2

    @property
    def each_round(self) -> float:
        """What the line moves from a round to the next, as a share of the mean."""
        return self.trend / (WINDOW - 1)


def window_of(values: Sequence[float]) -> Window | None:
    """What the last five rounds say; none of fewer, or where nothing was done in them."""
    last = [Fraction(value) for value in values[-WINDOW:]]
    total = sum(last, Fraction())
    if len(last) < WINDOW or total <= 0:
        return None
    mean = total / WINDOW
    middle = WINDOW // 2
    places = range(-middle, WINDOW - middle)
    slope = sum((place * value for place, value in zip(places, last, strict=True)), Fraction())
    slope /= sum(place * place for place in places)
    excursion = (max(last) - min(last)) / mean
    rise = abs(slope) * (WINDOW - 1) / mean
    return Window(
        mean=float(mean),
        excursion=float(excursion),
        rise=float(rise),
        steady=excursion <= EXCURSION and rise <= RISE,
        trend=float(slope * (WINDOW - 1) / mean),
    )


def is_steady(values: Sequence[float]) -> bool:
    """Whether rounds may end here."""
    window = window_of(values)
    return window is not None and window.steady
