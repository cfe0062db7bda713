"""Whether a drive's temperature says that heat made it slower.

What: firmware slows a drive down at one temperature and lets it go again at a lower one. So the
drive is about as warm as it ever is at the beginning of each slower stretch, and cooler at its end.
A drive that is slower for another reason has no such temperature: while it warms up each stretch
begins at another one. Other firmware slows a drive as far as holds a temperature: the drive warms
up until some moment, is slower from then on, and becomes no warmer.
Where the temperature itself goes up and down in turns it tells the stretches too.

Why the kink: a drive that warms up by itself comes to its last degrees ever more slowly. One that
is held stops in mid-rise.

Invariants: pure; nothing is said of fewer than two stretches, nor where the drive never warms up.

Source of the numbers: choices; sensors tell whole degrees, some seconds late.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.quantiles import median

Says = Literal["heat", "not heat"]
# How far below the warmest stretches begin, in degrees or as a share of the warming; by how many
# degrees the drive warms before them, and cools in them.
SAME_DEGREES, SAME_SHARE = 1.5, 0.1
WARMS, COOLS = 5.0, 1.5
# A drive that is about to slow itself down has warmed by so many degrees.
HOT = 15.0
FEWEST = 2
# How late a sensor is: seconds, or a share of a stretch if that is shorter.
LATE_S, LATE_SHARE = 15.0, 0.25
# The share of the stretches that begin where it is warmest; with fewer than half it is not heat.
MOST, HALF = 0.75, 0.5
# A temperature that is held: how far below it is at this share of the time until then, and the
# share of the time, of the whole and of what follows, in which it stays within some degrees.
RISING, RISES = 0.8, 4.0
STAYS_DEGREES, STAYS_SHARE, STAYS_LONG = 1.5, 0.9, 0.1
SLOWER = 0.9


def says(lows_s: Sequence[tuple[float, float]], at_s: Floats, degrees: Floats) -> Says | None:
    """What degrees at these times say of slower stretches from and to these seconds."""
    if len(lows_s) < FEWEST or at_s.size < FEWEST:
        return None
    warmed = float(degrees.max() - degrees[0])
    if warmed < WARMS:
        return "not heat"
    begins = np.array([_around(at_s, degrees, low, 0).max() for low in lows_s])
    ends = np.array([_around(at_s, degrees, low, 1).min() for low in lows_s])
    within = max(SAME_DEGREES, SAME_SHARE * warmed)
    warmest = float((degrees.max() - begins <= within).mean())
    if warmest >= MOST and median(begins - ends) >= COOLS:
        return "heat"
    return "not heat" if warmest < HALF or median(begins - ends) < COOLS else None


def _around(at_s: Floats, degrees: Floats, low: tuple[float, float], side: int) -> Floats:
    """The degrees around the begin (0) or the end (1) of a stretch, as far as a sensor is late."""
    late = min(LATE_S, LATE_SHARE * (low[1] - low[0]))
    moments = low[side] + np.linspace(-late, late, 9)
    return np.interp(moments, at_s, degrees)


def held_from(curve: Curve, at_s: Floats, degrees: Floats) -> float | None:
    """The second from which a drive becomes no warmer and is slower than before; none where it does
    not stop in mid-rise."""
    if at_s.size < FEWEST or float(degrees.max() - degrees[0]) < HOT:
        return None
    top = float(degrees.max())
    begin_s = float(at_s[int(np.argmax(degrees >= top - SAME_DEGREES))])
    rising = float(np.interp(RISING * begin_s, at_s, degrees)) <= top - RISES
    after = at_s >= begin_s
    stays = float((degrees[after] >= top - STAYS_DEGREES).mean()) >= STAYS_SHARE
    lasts = curve.total_s - begin_s >= STAYS_LONG * curve.total_s
    middle = (curve.time_at[1:] + curve.time_at[:-1]) / 2
    before = curve.rate[(middle >= RISING / 2 * begin_s) & (middle < RISING * begin_s)]
    later = curve.rate[middle >= begin_s]
    if not (rising and stays and lasts and before.size and later.size):
        return None
    return begin_s if median(later) <= SLOWER * median(before) else None


def turns_from(curve: Curve, at_s: Floats, degrees: Floats) -> float | None:
    """The second from which a drive cools and warms again in turns, is slower while it cools, and
    begins to cool each time where it is warmest; none where it does not. This takes no slower
    stretch that the series itself shows."""
    if at_s.size < FEWEST or float(degrees.max() - degrees[0]) < HOT:
        return None
    peaks, troughs = _turning(degrees)
    if len(troughs) < FEWEST:
        return None
    top = degrees[peaks]
    warmest = float((degrees.max() - top <= SAME_DEGREES).mean()) >= MOST
    cooling = [_rate(curve, at_s[a], at_s[b]) for a, b in zip(peaks, troughs, strict=False)]
    warming = [_rate(curve, at_s[a], at_s[b]) for a, b in zip(troughs, peaks[1:], strict=False)]
    ratios = np.array([slow / fast for slow, fast in zip(cooling, warming, strict=False) if fast])
    if not (warmest and ratios.size and median(ratios) <= SLOWER):
        return None
    return float(at_s[peaks[0]])


def _turning(degrees: Floats) -> tuple[list[int], list[int]]:
    """Where a temperature begins to fall, and to rise again, by more than its sensor's steps."""
    turns: tuple[list[int], list[int]] = ([], [])
    highest = lowest = 0
    falls = False
    for at, value in enumerate(degrees.tolist()):
        highest = at if value >= degrees[highest] else highest
        lowest = at if value <= degrees[lowest] else lowest
        if not falls and degrees[highest] - value > COOLS:
            turns[0].append(highest)
            falls, lowest = True, at
        elif falls and value - degrees[lowest] > COOLS:
            turns[1].append(lowest)
            falls, highest = False, at
    return turns


def _rate(curve: Curve, begin_s: float, end_s: float) -> float:
    """Bytes a second between two moments."""
    begin, end = np.interp((begin_s, end_s), curve.time_at, curve.bytes_at)
    return float((end - begin) / max(end_s - begin_s, 1e-9))


def is_warmest(end_s: float, at_s: Floats, degrees: Floats) -> bool:
    """Whether a drive has become hot until a moment and does not become warmer after it: what ends
    there may end for heat."""
    if at_s.size < FEWEST:
        return False
    there = float(np.interp(end_s, at_s, degrees))
    return there - float(degrees[0]) >= HOT and float(degrees.max()) - there <= SAME_DEGREES
