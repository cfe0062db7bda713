"""The saw-tooth of a fill: whether the speed past the first plateau swings evenly, and how often.

What: drives that fold a step and write a step, or that take data into their cache again each time
so much of it is free, repeat themselves each so many bytes; so does one that is hot and cool in
turn. Each plateau after the first one (the whole fill, where it swings from its start) is cut into
bins of equal bytes, as many as it has samples, and its logarithms of speed are searched for a
period (`rhythm`). Where the two halves of a plateau have periods of their own, each is looked at
alone.

A host has a rhythm too, such as a journal that is written each half minute. It goes by the clock
and is there from the first second on: what recurs as often in seconds before the first plateau ends
is the host's, and no tooth.

Invariants: takes the shape of a fill; a swing of less than `SWING` is no saw-tooth;
where slower stretches were left out of the plateaus nothing is looked for.

Source of the numbers: choices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.changepoints import logs
from flashtwin.analysis.curve import POOLS, Curve, in_equal_bytes
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.rhythm import Rhythm, rhythm
from flashtwin.analysis.shape import Shape

# A plateau of fewer samples has no room for five teeth that could be told apart.
FEWEST = 30
# A tooth is so many times as high as low: a journal that was not all taken out swings less.
SWING = 1.2
MOST = 8 * POOLS
SAME = 0.2


@dataclass(frozen=True, kw_only=True)
class Teeth:
    """The period in bytes and in seconds, the stretch that shows it, and the chance of noise.

    `ratio`: how many times the high of a tooth is its low. `duty`: the share of the bytes that go
    fast, where a first plateau comes back.
    """

    period: Estimate
    seconds: float
    start: float
    end: float
    chance: float
    cycles: float
    ratio: float
    duty: float | None = None


def teeth(shape: Shape) -> Teeth | None:
    """The clearest saw-tooth of a fill, if it has one."""
    curve = shape.quiet
    saws = [tooth for start, end in _stretches(shape) if (tooth := _in(curve, start, end))]
    again = shape.first_plateau.rearming
    if again is not None:
        # A plateau that comes back whole tells its period by few turns too.
        return Teeth(
            period=again.period,
            seconds=again.seconds,
            start=shape.head.end,
            end=curve.total_bytes,
            chance=0.0,
            cycles=again.cycles,
            ratio=again.ratio,
            duty=again.duty,
        )
    if not saws:
        return None
    longest = max(saws, key=lambda tooth: tooth.end - tooth.start)
    return None if _is_hosts(curve, shape, longest) else longest


def _stretches(shape: Shape) -> list[tuple[float, float]]:
    """Plateaus after the first one that no slower stretch was left out of, and their halves."""
    swings = shape.first_plateau.verdict == "swings"
    stretches = []
    for plateau in (shape.head,) if swings else shape.rest.plateaus:
        start, end = plateau.start, plateau.end
        if not any(low.start < end and low.end > start for low in shape.returns):
            middle = (start + end) / 2
            stretches += [(start, end), (start, middle), (middle, end)]
    return stretches


def _in(curve: Curve, start: float, end: float) -> Teeth | None:
    """The saw-tooth between two places."""
    seen = _rhythm(curve, start, end)
    if seen is None:
        return None
    rhythmic, each = seen
    if rhythmic.swing < np.log(SWING):
        return None
    period = rhythmic.period.scaled(each)
    return Teeth(
        period=period,
        seconds=period.value / curve.mean_between(start, end),
        start=start,
        end=end,
        chance=rhythmic.chance,
        cycles=rhythmic.cycles,
        ratio=float(np.exp(rhythmic.swing)),
    )


def _rhythm(curve: Curve, start: float, end: float) -> tuple[Rhythm, float] | None:
    """The rhythm of a stretch, and the bytes of one of its bins."""
    first, last = np.searchsorted(curve.bytes_at, (start, end))
    count = min(int(last - first), MOST)
    if count < FEWEST:
        return None
    seen = rhythm(logs(in_equal_bytes(curve, start, end, count).rate))
    return None if seen is None else (seen, (end - start) / count)


def _is_hosts(curve: Curve, shape: Shape, tooth: Teeth) -> bool:
    """Whether the first plateau shows the same period in seconds."""
    if shape.edge is None:
        return False
    seen = _rhythm(curve, 0.0, shape.head.end)
    if seen is None or shape.head.end <= 0:
        return False
    seconds = seen[0].period.value * seen[1] / curve.mean_between(0.0, shape.head.end)
    return bool(abs(seconds / tooth.seconds - 1) < SAME)
