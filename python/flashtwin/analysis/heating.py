"""Thermal throttling, read from a drive's temperature beside its speed.

What: two kinds of firmware are told. One throttles at an upper temperature and stops at a lower
one: the temperature rises to the upper one, falls while the drive is throttled, and rises again.
Each throttled stretch begins at about the highest temperature, and the drive was not as slow before
it reached that for the first time (law "turns"). The other holds a temperature: it stops rising in
mid-warming, and the speed decays from then on (law "held"). A drive that is slow for another reason
shows neither, or becomes slow in one step.

Why a stop in mid-warming: a drive that is not throttled approaches its final temperature
exponentially, so its temperature has no such kink. A slower link stops the warming too, but with a
step in speed.

Why throttled stretches are found by the temperature: the speed alone may show no slower stretch
between two plateaus, and sensors lag by seconds.

Invariants: pure; there is no result where the drive does not warm up.

Source of the numbers: choices; sensors report whole degrees, some seconds late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.quantiles import median
from flashtwin.analysis.relaxation import relaxation

Law = Literal["held", "turns"]
# Throttled stretches begin at most so far below the highest temperature, in degrees or as a share
# of the rise; the least degrees by which it rises before the first, and falls in each.
SAME_DEGREES, SAME_SHARE = 1.5, 0.1
# A sensor is late: once the drive has slowed down, it shows up to this many degrees more.
OVERSHOOT = 3.0
WARMS, COOLS = 5.0, 1.5
# A drive that throttles is warmer than at the start by this, in degrees.
HOT = 15.0
FEWEST = 2
# The lag of a sensor: at most these seconds, or a share of a stretch if that is shorter.
LATE_S, LATE_SHARE = 15.0, 0.25
LATENESS_S = np.arange(0.0, LATE_S + 1.0)
# The share of slower stretches that begin at the highest temperature; with fewer than half of them
# it is not heat.
MOST, HALF = 0.75, 0.5
# A held temperature: at the share `RISING` of the time until it is reached, the drive is at least
# `RISES` degrees below it. Afterwards it stays within `STAYS_DEGREES` for `STAYS_SHARE` of the
# time, and for at least `STAYS_LONG` of the whole fill.
RISING, RISES = 0.8, 4.0
STAYS_DEGREES, STAYS_SHARE, STAYS_LONG = 1.5, 0.9, 0.1
SLOWER = 0.9
# The least logarithm of the likelihood ratio of a decay to a step.
LITTLE_BY_LITTLE = 5.0
# A single throttled stretch has speeds within this factor on both sides. The share of the time
# before it that may be as slow, in pieces of half a throttled stretch.
ALIKE, EARLIER = 1.25, 0.1


def slowed_from(curve: Curve, at_s: Floats, degrees: Floats) -> tuple[float, Law] | None:
    """The second from which the drive throttles, by its temperature at these times, and the law;
    none where the temperature does not show it."""
    if at_s.size < FEWEST or float(degrees.max() - degrees[0]) < HOT:
        return None
    held_s = _held_from(curve, at_s, degrees)
    if held_s is not None:
        return held_s, "held"
    turns_s = _turns_from(curve, at_s, degrees)
    return None if turns_s is None else (turns_s, "turns")


def follows(lows_s: Sequence[tuple[float, float]], at_s: Floats, degrees: Floats) -> bool:
    """True where slower stretches, given by begin and end in seconds, begin at the highest
    temperature, and the temperature falls in them."""
    if len(lows_s) < FEWEST or at_s.size < FEWEST or float(degrees.max() - degrees[0]) < WARMS:
        return False
    warmest, cools = _at_lows(lows_s, at_s, degrees)
    return warmest >= MOST and cools >= COOLS


def denies(lows_s: Sequence[tuple[float, float]], at_s: Floats, degrees: Floats) -> bool:
    """True where slower stretches do not go with the temperature."""
    if len(lows_s) < FEWEST or at_s.size < FEWEST:
        return False
    if float(degrees.max() - degrees[0]) < WARMS:
        return True
    warmest, cools = _at_lows(lows_s, at_s, degrees)
    return warmest < HALF or cools < COOLS


def _at_lows(
    lows_s: Sequence[tuple[float, float]], at_s: Floats, degrees: Floats
) -> tuple[float, float]:
    """The share of stretches that begin at the highest temperature, and the median fall in one."""
    begins = np.array([_around(at_s, degrees, low, 0).max() for low in lows_s])
    ends = np.array([_around(at_s, degrees, low, 1).min() for low in lows_s])
    warmest = float((degrees.max() - begins <= _within(degrees)).mean())
    return warmest, median(begins - ends)


def _within(degrees: Floats) -> float:
    """The difference in degrees up to which two temperatures count as equal."""
    return max(SAME_DEGREES, SAME_SHARE * float(degrees.max() - degrees[0]))


def _around(at_s: Floats, degrees: Floats, low: tuple[float, float], side: int) -> Floats:
    """The temperatures within a sensor's lag of the begin (0) or the end (1) of a stretch."""
    late = min(LATE_S, LATE_SHARE * (low[1] - low[0]))
    moments = low[side] + np.linspace(-late, late, 9)
    return np.interp(moments, at_s, degrees)


def _held_from(curve: Curve, at_s: Floats, degrees: Floats) -> float | None:
    """The second at which the temperature stops rising in mid-warming while the speed begins to
    decay; none where it does not."""
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
    """The second at which the first throttled stretch begins: in each the temperature falls from
    its highest, and the drive is slower than before and after; none where there are none."""
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
    """The speed before, in and after each fall of the temperature, and its seconds, for a sensor
    that lags by `late_s`.

    A sensor of whole degrees stays at its highest and lowest reading for a while, within which the
    temperature turns: a fall is measured from the end of the one to the beginning of the other."""
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
    """The median ratio of the speed beside a fall of the temperature, on the slower side, to that
    in it."""
    if rows.size == 0:
        return 0.0
    return median(np.minimum(rows[:, 0], rows[:, 2]) / np.maximum(rows[:, 1], 1.0))


def _share_below(curve: Curve, until_s: float, piece_s: float, line: float) -> float:
    """The share of the time before `until_s`, in pieces of `piece_s`, in which the speed is below a
    bound."""
    edges = np.arange(until_s, 0.0, -piece_s)[::-1]
    if edges.size < 2:
        return 0.0
    done = np.interp(edges, curve.time_at, curve.bytes_at)
    return float((np.diff(done) / piece_s < line).mean())


def _span(at_s: Floats, degrees: Floats, at: int) -> tuple[float, float]:
    """The first and the last second of the constant reading at a sample."""
    other = np.abs(degrees - degrees[at]) > 0.5
    before, after = np.flatnonzero(other[:at]), np.flatnonzero(other[at:])
    first = int(before[-1]) + 1 if before.size else 0
    last = at + int(after[0]) - 1 if after.size else degrees.size - 1
    return float(at_s[first]), float(at_s[last])


def _turning(degrees: Floats) -> tuple[list[int], list[int]]:
    """The samples at which the temperature begins to fall, and to rise, by more than a step of the
    sensor."""
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
    """True where the drive is hot at this second and hardly warmer later: a plateau that ends there
    may end by throttling."""
    if at_s.size < FEWEST:
        return False
    there = float(np.interp(end_s, at_s, degrees))
    return there - float(degrees[0]) >= HOT and float(degrees.max()) - there <= OVERSHOOT
