"""Bursts of the host that recur in time, whatever is written: a journal, a cache that is flushed.

What: every half minute something slows the host down for seconds. Finely sampled, each burst is a
hundred samples long, and together they take up to a quarter of the time. They are told from the
drive's own turns by their period, which is one of seconds and not of bytes: it is the same in all
plateaus, and begins with the fill. `lifted` gives the samples of each burst the time that their
bytes take at the level around it.

How: dips are looked for on pools of samples of about a second, then cut out on the samples where
the series parts best from the level around it.

Invariants: all bytes stay, in their order and number; only time changes, and only within bursts.

Source of the numbers: choices; file systems flush every 5 to 30 s, and `LONGEST_S` is that of a
stall.
"""

from __future__ import annotations

import numpy as np

from flashtwin.analysis.curve import Curve, Floats, Ints, pooled
from flashtwin.analysis.quantiles import median, quantile
from flashtwin.analysis.returns import Return

POOLS_S, LONGEST_S = (0.75, 2.0), 15.0
FEWEST, FEWEST_POOLS = 5, 60
# Lows so many pools apart are one burst, and a burst costs at least this share of the usual time.
PARTED, WEIGHS = 2, 0.4
# Bursts come at multiples of the period, within a share of it; so many of them have to.
MULTIPLES, ON_TIME, PUNCTUAL = 4, 0.2, 0.75
# So many periods may pass before the first burst and after the last one, and so many of those that
# are expected have to be seen.
LATE, SEEN = 1.6, 0.6

# A burst lies between pools of nearly the level; what stops the drive altogether is none, and
# bursts take at most such a share of the time.
BESIDE, DEEPEST, MOST = 0.85, 0.1, 0.4
# What is shorter is a dip.
DIP_S = 2.5

Spans = list[tuple[int, int]]


def pools_of(curve: Curve, pool_s: float) -> tuple[Curve, int]:
    """The curve in pools of about so many seconds, and how many samples each has."""
    each = max(1, round(pool_s / median(curve.dt)))
    return pooled(curve, each), each


def recurring(pools: Curve, lows: Ints, level: Floats) -> Spans:
    """The bursts among the low pools, each from its first to one past its last; none if they do not
    recur. Lows that cost little time beside the others are noise."""
    groups = np.split(lows, np.flatnonzero(np.diff(lows) > PARTED) + 1)
    spans = [(int(group[0]), int(group[-1]) + 1) for group in groups if group.size]
    spans = [span for span in spans if _is_flanked(pools, level, *span)]
    lost = np.maximum(pools.dt - pools.size / level, 0.0)
    costs = np.array([float(lost[first:last].sum()) for first, last in spans])
    usual = _usual(costs)
    spans = [span for span, cost in zip(spans, costs, strict=True) if cost >= WEIGHS * usual]
    starts = np.array([float(pools.time_at[first]) for first, _ in spans])
    return spans + _cut_short(pools, spans, starts) if are_regular(starts, pools.total_s) else []


def _cut_short(pools: Curve, spans: Spans, starts: Floats) -> Spans:
    """The burst that the end of the series cuts short, where one is due."""
    longest = max(last - first for first, last in spans)
    if spans[-1][1] + longest >= len(pools):
        return []
    first = len(pools)
    level = pools.mean(spans[-1][1], max(len(pools) - longest, spans[-1][1] + 1))
    while first > spans[-1][1] and pools.rate[first - 1] < BESIDE * level:
        first -= 1
    begins = float(pools.time_at[min(first, len(pools) - 1)] - starts[-1])
    period = median(np.diff(starts))
    due = abs(begins - period) <= ON_TIME * period
    return [(first, len(pools))] if due and 0 < len(pools) - first <= longest + 1 else []


def _is_flanked(pools: Curve, level: Floats, first: int, last: int) -> bool:
    """Whether the level is there right before and right after, as far as the series goes."""
    usual = BESIDE * median(level[first:last])
    sides = pools.rate[max(first - 2, 0) : first], pools.rate[last : last + 2]
    return all(side.size == 0 or float(side.max()) >= usual for side in sides)


def _usual(costs: Floats) -> float:
    """The cost that a second spent in bursts is most likely to belong to: their weighted median."""
    order = np.sort(costs)
    return float(order[np.searchsorted(np.cumsum(order), order.sum() / 2)]) if costs.size else 0.0


def are_regular(starts: Floats, seconds: float) -> bool:
    """Whether moments recur with one period from the beginning of a series to its end."""
    if starts.size < FEWEST:
        return False
    steps = np.diff(starts)
    period = median(steps)
    turns = np.round(steps / period)
    on_time = (np.abs(steps - turns * period) <= ON_TIME * period) & (turns <= MULTIPLES)
    ends_with = starts[0] <= LATE * period and seconds - starts[-1] <= LATE * period
    enough = starts.size >= SEEN * seconds / period
    return bool(np.mean(on_time & (turns >= 1)) >= PUNCTUAL and ends_with and enough)


def lifted(
    curve: Curve, spans: Spans, levels: Floats, each: int
) -> tuple[Curve, tuple[Return, ...]]:
    """The curve with each burst at its level, and the bursts; the spans count pools of `each`
    samples. Pauses without bytes are the drive's own and stay."""
    dt = curve.dt.copy()
    depths, lows = [], []
    for (first, last), level in zip(spans, levels, strict=True):
        begin, end = _extent(curve, (first * each, min(last * each, len(curve))), level, 2 * each)
        inner = slice(begin + 1, end - 1) if end - begin > 2 else slice(begin, end)
        rate = curve.mean(inner.start, inner.stop)
        depths.append(rate / level)
        dt[inner] *= min(max(rate / level, 1e-3), 1.0)
        # Those at both ends may hold some of the level.
        for at in (begin, end - 1):
            least = curve.dt[at] * max(rate / level, 1e-3)
            dt[at] = np.clip(curve.size[at] / level, least, curve.dt[at])
        start, finish = curve.bytes_at[[begin, end]].tolist()
        if rate > 0:
            lows.append(Return(start=start, end=finish, rate=rate, level=float(level)))
    if median(np.array(depths)) < DEEPEST:
        return curve, ()
    return Curve(dt=dt, size=curve.size), tuple(lows)


def _extent(curve: Curve, near: tuple[int, int], level: float, beside: int) -> tuple[int, int]:
    """The samples of a burst: those around it that are on its side of the middle, as a whole."""
    begin, end = max(near[0] - beside, 0), min(near[1] + beside, len(curve))
    depth = quantile(curve.rate[near[0] : near[1]], 0.25)
    lacks = (np.sqrt(level * max(depth, 1e-9)) - curve.rate[begin:end]) * curve.dt[begin:end]
    first, last = _largest_sum(lacks)
    return begin + first, begin + last


def _largest_sum(values: Floats) -> tuple[int, int]:
    """First and one past the last of the neighbouring values with the largest sum."""
    total = np.concatenate(([0.0], np.cumsum(values)))
    least = np.minimum.accumulate(total[:-1])
    last = int((total[1:] - least).argmax()) + 1
    return int(total[:last].argmin()), last
