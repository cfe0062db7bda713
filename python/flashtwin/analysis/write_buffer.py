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
from flashtwin.analysis.knee import knee

FEWEST = 8
MISFIT, SLOWER = 0.03, 1.2
# The 95 % quantile of F with 1 and 5 degrees of freedom, those of eight sizes.
F_95 = 6.6


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
    best = knee(
        seconds,
        lambda place: (np.minimum(sizes, place), np.maximum(sizes - place, 0.0)),
        (float(sizes[1]), float(sizes[-2])),
        sizes,
        F_95,
    )
    if best.alone or best.misfit > sizes.size * MISFIT**2:
        return None
    if best.first <= 0 or best.second < SLOWER * best.first:
        return None
    still_held = 1 - best.first / best.second
    return Buffer(
        size=Estimate(
            value=best.place * still_held,
            low=best.low * still_held,
            high=best.high + request_bytes,
        ),
        link=1 / best.first,
        flash=1 / best.second,
    )
