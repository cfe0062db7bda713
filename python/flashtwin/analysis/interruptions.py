"""A curve without its interruptions: stalls, and dips that one or two samples long recur.

What: a host that waits (a stall of seconds, a journal's burst) adds time and no bytes, so a place
in bytes stays true when that time is taken out again. `calm` gives an interrupted sample the time
that its bytes take at the level around it: the levels and places of a fill can then be read as if
nobody had interfered. Whoever counts (mean, duration) takes the curve as it is.

What is an interruption: samples below `STALL` of the slower of both sides' usual rates, followed by
bytes again, at most `SINGLE` stretches of at most `LONGEST_S` each: more are the drive's
own. And samples below both their neighbourhoods (`DIP` of the level, five times the scatter), alone
or in pairs, at most `MOST` of all. A drive whose rate always comes in bursts stays as it is.

Invariants: all bytes stay, in their order; samples that are interrupted join the one before them
(at the very beginning: the one after); a curve without interruptions comes back itself.

Source of the numbers: choices; 15 s is three times the stall of 5 s that hosts and firmwares show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flashtwin.analysis.curve import Curve, Floats, Ints

STALL = 0.35
DIP = 0.93
MOST = 0.12
SINGLE = 4
LONGEST_S = 15.0
AROUND, WIDEST = 9, 64
FEWEST = 12
SIGMAS = 5.0


@dataclass(frozen=True, kw_only=True)
class Calm:
    """The curve without interruptions; of each stall where it was, in bytes, and its seconds."""

    curve: Curve
    stalls: tuple[tuple[float, float], ...]
    dips: int


def calm(curve: Curve) -> Calm:
    """Take stalls and lone dips out of a curve."""
    if len(curve) < FEWEST:
        return Calm(curve=curve, stalls=(), dips=0)
    # Longer than any stall, so that both sides of a sample in its middle are seen.
    reach = int(np.clip(np.ceil(LONGEST_S / float(np.median(curve.dt))) + 4, AROUND, WIDEST))
    before, after = _levels(curve.rate, reach)
    stalled = _stretches(curve.rate < STALL * np.minimum(before, after), curve)
    # Stalls that recur are the drive's own way to work, and count in its speed.
    stalls = stalled if len(stalled) <= SINGLE else []
    without = _joined(curve, before, after, stalls) if stalls else curve
    dips = _dips(without)
    if dips.size:
        before, after = _levels(without.rate)
        level = np.maximum(without.rate[dips], np.minimum(before, after)[dips])
        dt = without.dt.copy()
        dt[dips] = np.minimum(dt[dips], without.size[dips] / level)
        without = Curve(dt=dt, size=without.size)
    places = tuple(
        (float(curve.bytes_at[first]), float(curve.time_at[last] - curve.time_at[first]))
        for first, last in stalls
    )
    return Calm(curve=without, stalls=places, dips=int(dips.size))


def _levels(rate: Floats, around: int = AROUND) -> tuple[Floats, Floats]:
    """The usual rate before and after each sample: upper medians, since stalls only lower."""
    edge = np.full(around, np.nan)
    padded = np.concatenate((edge, rate, edge))
    windows = np.lib.stride_tricks.sliding_window_view(padded, around)
    usual = np.full(windows.shape[0], np.nan)
    has_any = ~np.isnan(windows).all(axis=1)
    # Half of a window may be one stall; what moves in it says the level.
    moving = np.where(
        windows > STALL * np.nanmax(np.where(has_any[:, None], windows, 0.0), axis=1)[:, None],
        windows,
        np.nan,
    )
    has_any &= ~np.isnan(moving).all(axis=1)
    usual[has_any] = np.nanmedian(moving[has_any], axis=1)
    before, after = usual[: rate.size], usual[around + 1 :]
    return np.where(np.isnan(before), after, before), np.where(np.isnan(after), before, after)


def _stretches(
    low: np.ndarray[tuple[int], np.dtype[np.bool_]], curve: Curve
) -> list[tuple[int, int]]:
    """Ranges of low samples that are short enough and end before the series does."""
    marks = np.concatenate(([False], low, [False]))
    edges = np.flatnonzero(marks[1:] != marks[:-1])
    ranges = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
    return [
        (first, last)
        for first, last in ranges
        if last < len(curve)
        and (last - first <= 1 or float(curve.time_at[last] - curve.time_at[first]) <= LONGEST_S)
    ]


def _joined(curve: Curve, before: Floats, after: Floats, stalls: list[tuple[int, int]]) -> Curve:
    """Stalled samples, and those that hold a part of a stall, join the sample before them."""
    dt, joins = curve.dt.copy(), np.zeros(len(curve), dtype=np.bool_)
    for first, last in stalls:
        for index in range(max(first - 1, 0), min(last + 1, len(curve))):
            if curve.rate[index] >= DIP * min(before[index], after[index]):
                continue
            level = before[index] if index < last else after[index]
            dt[index] = min(dt[index], curve.size[index] / level)
            joins[index] = True
    # What precedes the first sample that stays joins it.
    group = np.maximum(np.cumsum(~joins) - 1, 0)
    seconds, size = (
        np.bincount(group, weights=column).astype(np.float64) for column in (dt, curve.size)
    )
    return Curve(dt=seconds, size=size)


def _dips(curve: Curve) -> Ints:
    """Lone samples, or pairs, that are far below the levels on both of their sides."""
    before, after = _levels(curve.rate)
    level = np.minimum(before, after)
    away = np.log(np.maximum(curve.rate, 1e-9) / np.maximum(level, 1e-9))
    scatter = 1.4826 * float(np.median(np.abs(away - np.median(away))))
    low = (curve.size > 0) & (curve.rate > STALL * level)
    low &= away < min(-SIGMAS * scatter, float(np.log(DIP)))
    index = np.flatnonzero(low)
    if index.size == 0 or index.size > MOST * len(curve):
        return np.zeros(0, dtype=np.int64)
    groups = np.split(index, np.flatnonzero(np.diff(index) > 1) + 1)
    lone = [group for group in groups if group.size <= 2]
    return np.concatenate(lone).astype(np.int64) if lone else np.zeros(0, dtype=np.int64)
