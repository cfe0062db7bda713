"""Whether a drive's temperature says that heat made it slower.

What: firmware slows a drive down at one temperature and lets it go again at a lower one. So the
drive warms up to some temperature, cools while it is slower, and warms up again; each time from
the same temperature on, and it was not slower before it had come to that for the first time. Other
firmware slows a drive as far as holds a temperature: the drive warms up until some moment, becomes
slower little by little from then on, and no warmer. A drive that is slower for another reason has
no such temperature, or becomes slower at once.

Why the kink and the slow fall: a drive that warms up by itself comes to its last degrees ever more
slowly, while one that is held stops in mid-rise. A slower link stops it too, but at once.

Why the turns are read from the temperature: the series alone may show no slower stretch between
two plateaus, and each sensor is late.

Invariants: pure; nothing is said where the drive never warms up.

Source of the numbers: choices; sensors tell whole degrees, some seconds late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.quantiles import median
from flashtwin.analysis.relaxation import relaxation

Law = Literal["held", "turns"]
# How far below the warmest stretches begin, in degrees or as a share of the warming; by how many
# degrees the drive warms before them, and cools in them.
SAME_DEGREES, SAME_SHARE = 1.5, 0.1
WARMS, COOLS = 5.0, 1.5
# A drive that is about to slow itself down has warmed by this, in degrees.
HOT = 15.0
FEWEST = 2
# How late a sensor is: at most these seconds, or a share of a stretch if that is shorter.
LATE_S, LATE_SHARE = 15.0, 0.25
LATENESS_S = np.arange(0.0, LATE_S + 1.0)
# The share of the stretches that begin where it is warmest; with fewer than half it is not heat.
MOST, HALF = 0.75, 0.5
# A temperature that is held: how far below it is at this share of the time until then, and the
# share of the time, of the whole and of what follows, in which it stays within some degrees.
RISING, RISES = 0.8, 4.0
STAYS_DEGREES, STAYS_SHARE, STAYS_LONG = 1.5, 0.9, 0.1
SLOWER = 0.9
# By which logarithm a slow fall has to be likelier than one at once.
LITTLE_BY_LITTLE = 5.0
# A single slower stretch has about one speed on both sides. The share of the first warming that may
# be as slow as the drive is when it cools, in pieces of half a slower stretch.
ALIKE, EARLIER = 1.25, 0.1


def slowed_from(curve: Curve, at_s: Floats, degrees: Floats) -> tuple[float, Law] | None:
    """The second from which degrees at these times say that heat slows a drive, and how; none where
    they do not."""
    if at_s.size < FEWEST or float(degrees.max() - degrees[0]) < HOT:
        return None
    held_s = _held_from(curve, at_s, degrees)
    if held_s is not None:
        return held_s, "held"
    turns_s = _turns_from(curve, at_s, degrees)
    return None if turns_s is None else (turns_s, "turns")


def follows(lows_s: Sequence[tuple[float, float]], at_s: Floats, degrees: Floats) -> bool:
    """Whether slower stretches from and to these seconds begin where the drive is warmest, and cool
    it."""
    if len(lows_s) < FEWEST or at_s.size < FEWEST or float(degrees.max() - degrees[0]) < WARMS:
        return False
    warmest, cools = _at_lows(lows_s, at_s, degrees)
    return warmest >= MOST and cools >= COOLS


def denies(lows_s: Sequence[tuple[float, float]], at_s: Floats, degrees: Floats) -> bool:
    """Whether slower stretches have nothing to do with the temperature."""
    if len(lows_s) < FEWEST or at_s.size < FEWEST:
        return False
    if float(degrees.max() - degrees[0]) < WARMS:
        return True
    warmest, cools = _at_lows(lows_s, at_s, degrees)
    return warmest < HALF or cools < COOLS


def _at_lows(
    lows_s: Sequence[tuple[float, float]], at_s: Floats, degrees: Floats
) -> tuple[float, float]:
    """The share of stretches that begin where the drive is warmest, and how much each cools it."""
    begins = np.array([_around(at_s, degrees, low, 0).max() for low in lows_s])
    ends = np.array([_around(at_s, degrees, low, 1).min() for low in lows_s])
    warmest = float((degrees.max() - begins <= _within(degrees)).mean())
    return warmest, median(begins - ends)


def _within(degrees: Floats) -> float:
    """Degrees that count as one temperature."""
    return max(SAME_DEGREES, SAME_SHARE * float(degrees.max() - degrees[0]))


def _around(at_s: Floats, degrees: Floats, low: tuple[float, float], side: int) -> Floats:
    """The degrees around the begin (0) or the end (1) of a stretch, as far as a sensor is late."""
    late = min(LATE_S, LATE_SHARE * (low[1] - low[0]))
    moments = low[side] + np.linspace(-late, late, 9)
    return np.interp(moments, at_s, degrees)


def _held_from(curve: Curve, at_s: Floats, degrees: Floats) -> float | None:
    """The second from which a drive becomes no warmer and little by little slower; none where it
    does not stop in mid-rise."""
    top = float(degrees.max())
    begin_s = float(at_s[int(np.argmax(degrees >= top - SAME_DEGREES))])
    rising = float(np.interp(RISING * begin_s, at_s, degrees)) <= top - RISES
    after = at_s >= begin_s
    stays = float((degrees[after] >= top - STAYS_DEGREES).mean()) >= STAYS_SHARE
    lasts = curve.total_s - begin_s >= STAYS_LONG * curve.total_s
    if not (rising and stays and lasts):
        return None
    falls = relaxation(curve, begin_s)
    if falls is None or falls.fall < -np.log(SLOWER) or falls.over_step < LITTLE_BY_LITTLE:
        return None
    return begin_s


def _turns_from(curve: Curve, at_s: Floats, degrees: Floats) -> float | None:
    """The second from which a drive cools and warms again in turns, is slower while it cools, and
    begins to cool each time where it is warmest; none where it does not."""
    peaks, troughs = _turning(degrees)
    top = degrees[peaks]
    warmest = degrees.max() - top <= _within(degrees)
    if not troughs or not warmest[0] or warmest.mean() < MOST:
        return None
    spans = [_span(at_s, degrees, at) for at in peaks], [_span(at_s, degrees, at) for at in troughs]
    late_s, rows = max(
        ((late, np.array([*_turns(curve, spans, late)])) for late in LATENESS_S),
        key=lambda pair: _contrast(pair[1]),
    )
    if _contrast(rows) < 1 / SLOWER:
        return None
    before, slow, after, lasts_s = rows[0]
    if len(rows) == 1 and max(before, after) > ALIKE * min(before, after):
        return None
    first_s = spans[0][0][0] - late_s
    line = float(np.sqrt(before * slow))
    return None if _share_below(curve, first_s, lasts_s / 2, line) > EARLIER else float(first_s)


_Spans = tuple[list[tuple[float, float]], list[tuple[float, float]]]


def _turns(
    curve: Curve, spans: _Spans, late_s: float
) -> Iterator[tuple[float, float, float, float]]:
    """The speed before, in and after each cooling, and its seconds, for a sensor that is so late.

    A sensor of whole degrees stays at its highest and its lowest for a while, in which it turns:
    cooling and warming are taken between these."""
    peaks, troughs = spans
    for at, trough in enumerate(troughs):
        top_s, cools_s = peaks[at][0] - late_s, peaks[at][1] - late_s
        ends_s, warms_s = trough[0] - late_s, trough[1] - late_s
        lasts = ends_s - cools_s
        from_s = max(troughs[at - 1][1] - late_s if at else 0.0, top_s - lasts)
        next_s = peaks[at + 1][0] - late_s if at + 1 < len(peaks) else curve.total_s
        to_s = min(next_s, warms_s + lasts)
        if lasts > 0 and from_s < top_s and warms_s < to_s:
            yield (
                _rate(curve, from_s, top_s),
                _rate(curve, cools_s, ends_s),
                _rate(curve, warms_s, to_s),
                lasts,
            )


def _contrast(rows: Floats) -> float:
    """How many times as fast the slower side of a cooling is, in the middle of all."""
    if rows.size == 0:
        return 0.0
    return median(np.minimum(rows[:, 0], rows[:, 2]) / np.maximum(rows[:, 1], 1.0))


def _share_below(curve: Curve, until_s: float, piece_s: float, line: float) -> float:
    """The share of the pieces of the time until a moment that are slower than a line."""
    edges = np.arange(until_s, 0.0, -piece_s)[::-1]
    if edges.size < 2:
        return 0.0
    done = np.interp(edges, curve.time_at, curve.bytes_at)
    return float((np.diff(done) / piece_s < line).mean())


def _span(at_s: Floats, degrees: Floats, at: int) -> tuple[float, float]:
    """The first and the last second at which the sensor tells what it tells there, on and on."""
    other = np.abs(degrees - degrees[at]) > 0.5
    before, after = np.flatnonzero(other[:at]), np.flatnonzero(other[at:])
    first = int(before[-1]) + 1 if before.size else 0
    last = at + int(after[0]) - 1 if after.size else degrees.size - 1
    return float(at_s[first]), float(at_s[last])


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
