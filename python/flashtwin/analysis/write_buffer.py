"""How much a write buffer holds, by how long bursts of a rested drive take.

What: a drive acknowledges what is in its buffer. Until the buffer is full a burst goes as fast as
the link carries it, at v1, and from there on as fast as the flash takes it away, at v2: the time of
a burst of S bytes is S / v1 up to a knee K, and K / v1 + (S - K) / v2 beyond. While K bytes came in
K v2 / v1 went out again, if programs begin at once, so that the buffer holds K (1 - v2 / v1), and K
if none ended before it was full: the truth lies between both.

When it is told: the two lines have to explain the times to within `MISFIT`, far better than one
line does, and the second rate has to be slower by `SLOWER`. A drive that is as fast as its link
never fills its buffer, and says nothing of it.

Invariants: pure; sizes and times in, at least `FEWEST` of them; the knee lies within the sizes.

Source of the numbers: choices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.curve import Floats
from flashtwin.analysis.estimate import Estimate

FEWEST = 8
PLACES = 1500
MISFIT, SLOWER, BETTER = 0.03, 1.2, 10.0
# The 95 % quantile of F with 1 and 5 degrees of freedom, those of eight sizes.
F_95 = 6.6
# Times repeat to such a share, or better than anybody can rely on.
REPEATS = 0.005


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """What the buffer holds, in bytes, between bounds; and both rates in bytes a second."""

    size: Estimate
    link: float
    flash: float


def buffer(sizes: Floats, seconds: Floats, request_bytes: float) -> Buffer | None:
    """The buffer that times of bursts say; none where there is no knee. What does not take a whole
    request more is full: the upper bound is so much higher."""
    if sizes.size < FEWEST:
        return None
    places = np.exp(np.linspace(np.log(sizes[1]), np.log(sizes[-2]), PLACES))
    fits = [_fitted(sizes, seconds, place) for place in places]
    misfits = np.array([fit[0] for fit in fits])
    best = int(misfits.argmin())
    misfit, first, second = fits[best]
    floor = sizes.size * REPEATS**2
    alone = _alone(sizes, seconds)
    if first <= 0 or second < SLOWER * first or misfit > sizes.size * MISFIT**2:
        return None
    if alone + floor < BETTER * (misfit + floor):
        return None
    near = places[misfits + floor <= (misfit + floor) * (1 + F_95 / (sizes.size - 3))]
    still_held = 1 - first / second
    value = float(places[best]) * still_held
    return Buffer(
        size=Estimate(
            value=value,
            low=min(float(near[0]) * still_held, value),
            high=float(near[-1]) + request_bytes,
        ),
        link=1 / first,
        flash=1 / second,
    )


def _alone(sizes: Floats, seconds: Floats) -> float:
    """The misfit of one line through zero."""
    rate = sizes / seconds
    slope = float(rate.sum() / (rate**2).sum())
    return float(np.sum((slope * rate - 1) ** 2))


def _fitted(sizes: Floats, seconds: Floats, place: float) -> tuple[float, float, float]:
    """Misfit and seconds a byte before and beyond a knee, by shares of each time."""
    before, beyond = np.minimum(sizes, place), np.maximum(sizes - place, 0.0)
    columns = np.stack([before / seconds, beyond / seconds], axis=1)
    (first, second), *_ = np.linalg.lstsq(columns, np.ones(sizes.size), rcond=None)
    away = columns @ np.array([first, second]) - 1
    return float(np.sum(away**2)), float(first), float(second)
