"""What a fill looks like in a few words, and what fills that look so turned out to be.

What: drives with known insides are drawn at random and filled, and each fill is given one of a few
*looks*; `fill_classes.toml` has how many fills of each cause had which look, and how they were
made. Of a fill at hand each cause is as likely as it is common (`[common]`), times how often its
fills look so (Bayes). How common a cause is among those that are drawn is nobody's business but the
generator's; a limit outside of the drive is drawn as often as a cache, and is rarer.

The looks of a beginning: whether the first plateau ends at all; whether its speed comes back, once
or evenly; whether it is as brief as a host's burst, ends where a limit cuts the scatter off, in the
later half of a whole drive or little by little; what the fill comes to after it, and by how much
that is slower. The looks of slower stretches: many or few; long beside what lies between, because a
drive takes its time to cool; deep, because a drive that takes data into its cache again now and
then has deeper lows than heat makes; and *even*, because a limit from outside cuts off all of a
drive's own scatter, which heat leaves (`scatter`). Two speeds in turns by the clock have looks of
their own (`two_speeds`).

Invariants: every shape has one look of each kind; a probability is never 0 or 1, and its interval
holds it.

Source of the numbers: bounds between looks are choices; the counts are drives of the generators of
`flashtwin_lab.make.fill_classes`, each counting alike, with seeds of their own, and as many fills
of drives without a cache that look as if one ended. How common each cause is, is an estimate, which
the file explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import exp, log, sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np

from flashtwin.analysis import interruptions, returns, scatter
from flashtwin.analysis.changepoints import EFFECT
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.estimate import DEVIATIONS, Estimate
from flashtwin.analysis.first_plateau import LATE
from flashtwin.analysis.quantiles import median
from flashtwin.analysis.returns import Return
from flashtwin.analysis.sawtooth import Teeth
from flashtwin.analysis.shape import Shape
from flashtwin.analysis.two_speeds import BINS_OFF, two_speeds
from flashtwin.inputs import read_toml

# A beginning of a whole drive, and one of a part of a drive, which may end at any share of it.
Beginning = Literal["cache", "part"]
Kind = Literal[Beginning, "slowed"]
DATA = Path(__file__).with_name("fill_classes.toml")
# A first plateau of so many samples is below resolution. A drop by less than a factor is weak, and
# from others on it is steep, or steeper than nearly all limits, falls and bursts.
SHORT, WEAK, STEEP, FAR = 2, 1.25, 2.5, 5.0
# A host's burst ends within these seconds. A later plateau of such a share of the first one's speed
# is the first one again.
BRIEF_S, BACK = 12.0, 0.9
# An end has a slope where more samples than this belong to neither level.
SLOPING = 3
# More levels past the end than a fold and a tier make.
MOST_LEVELS = 3
# A low is deep below this share of its level.
DEEP, MANY_LOWS = 0.33, 3
# A journal or a cache takes less than this share of the time at each turn, heat more.
LONG = 0.22
# A drive warmed up in a first stretch that is this many times as long as those between lows.
LONGER = 1.5
RELAXING, WARMED_UP = "relaxing", "many long after a longer stretch"
MANY_EVEN, UNEVEN_TEETH, RISES_AGAIN = "many even", "uneven teeth", "a faster plateau later"
LOWS, BRIEF_TWICE, IN_TURNS = " after lows", "brief, then slower once more", "in turns"
# Looks of a fill past its end, and the look that it would have without: few fills of any
# generator do so, and drives that nobody drew do it for reasons of their own.
PLAIN = "one level"
RARE = ("sloping", "drifting", IN_TURNS, "many levels", "faster again")
# Each look of each cause counts a fraction of a fill more than were drawn: none is impossible. A
# rare look counts ten more, of those that look as it would without the rare trait.
UNSEEN, BORROWED = 0.2, 10.0
# A cache this probable is claimed.
CLAIMED = 0.95


def beginning(curve: Curve, shape: Shape, kind: Beginning) -> str:
    """How the first plateau ends."""
    if shape.edge is None:
        return f"{shape.first_plateau.verdict}{LOWS if shape.returns else ''}"
    end = shape.edge.place.value
    if int(np.searchsorted(curve.bytes_at, end)) <= SHORT:
        return "short"
    drop = _steep(shape)
    if shape.first_plateau.rearming is not None:
        return f"{IN_TURNS}{drop}"
    if _comes_back(shape):
        return "comes back"
    if scatter.is_cut_off(shape.quiet, end, curve):
        return "cut off"
    if float(curve.seconds_to(np.array([end]))[0]) <= BRIEF_S:
        # A host's burst ends at the drive's own speed, which then lasts.
        return BRIEF_TWICE if shape.slower is not None else f"brief{drop}"
    if kind == "cache" and end > LATE * curve.total_bytes:
        return f"late{drop}"
    if shape.edge.between > SLOPING:
        return f"sloping{drop}"
    return f"{_after(shape)}{drop}"


def _steep(shape: Shape) -> str:
    """A suffix that says by how much the fill is slower past the first plateau."""
    rest = shape.rest.plateaus
    drop = shape.head.speed.value / max(rest[0].speed.value, 1.0) if rest else 1.0
    if drop < WEAK:
        return ", weak"
    return ", far" if drop >= FAR else ", steep" if drop >= STEEP else ""


def _comes_back(shape: Shape) -> bool:
    """True where a later plateau takes up the speed of the first one."""
    most = max((plateau.speed.value for plateau in shape.rest.plateaus), default=0.0)
    return most > BACK * shape.head.speed.value


def _after(shape: Shape) -> str:
    """How the fill goes on past its first plateau."""
    rest = shape.rest.plateaus
    if any(plateau.drift is not None for plateau in rest):
        return "drifting"
    if any(plateau.teeth is not None for plateau in rest):
        return IN_TURNS
    if len(rest) <= 1:
        return "one level"
    if len(rest) > MOST_LEVELS:
        return "many levels"
    return "slower once more" if shape.slower is not None else "faster again"


def slower(curve: Curve, shape: Shape, tooth: Teeth | None) -> str:
    """What the slower stretches are like that were left out of the plateaus; a saw-tooth may be
    one of them."""
    if shape.decay_s is not None:
        return RELAXING
    turns = two_speeds(curve)
    if turns is not None:
        is_even = scatter.are_even(curve, np.array(turns.slow_s), BINS_OFF * turns.bin_s)
        return MANY_EVEN if is_even else turns.look
    lows = lows_of(curve, shape)
    if not lows:
        return _without_lows(shape, tooth)
    if len(lows) < MANY_LOWS and any(scatter.is_even(curve, low.start, low.end) for low in lows):
        return "even"
    depth = median(np.array([low.rate / low.level for low in lows]))
    if len(lows) < MANY_LOWS:
        return "few deep" if depth < DEEP else "few"
    ends = np.array([[low.start, low.end] for low in lows])
    ends_s = curve.seconds_to(ends.ravel()).reshape(-1, 2)
    if scatter.are_even(curve, ends_s):
        return MANY_EVEN
    if depth < DEEP:
        return "many deep"
    begin_s, end_s = ends_s.T
    share = float((end_s - begin_s)[:-1].sum() / max(begin_s[-1] - begin_s[0], 1e-9))
    if share < LONG:
        return "many"
    # A mass warms up for longer from rest than from the temperature at which it was let go.
    rises_s = float(curve.seconds_to(np.array([shape.rise]))[0]) if shape.rise else 0.0
    between_s = median(begin_s[1:] - end_s[:-1])
    return WARMED_UP if begin_s[0] - rises_s >= LONGER * between_s else "many long"


def _without_lows(shape: Shape, tooth: Teeth | None) -> str:
    """The look of a fill without lows. A slower stretch may have been read as a plateau."""
    if tooth is not None:
        return "teeth"
    if shape.first_plateau.verdict == "swings" or any(p.teeth is not None for p in shape.plateaus):
        return UNEVEN_TEETH
    if _rises_again(shape):
        return RISES_AGAIN
    return "slow start" if shape.rise is not None else "none"


def _rises_again(shape: Shape) -> bool:
    """True where a plateau is faster than one before it."""
    speeds = np.array([plateau.speed.value for plateau in shape.plateaus])
    return bool((speeds[1:] > EFFECT * np.minimum.accumulate(speeds)[:-1]).any())


def lows_of(recorded: Curve, shape: Shape) -> tuple[Return, ...]:
    """Slower stretches after which the speed recovers, in the order of their places."""
    if not shape.first_plateau.dips:
        return tuple(sorted(shape.returns, key=lambda low: low.start))
    # Dips are told in samples of the curve that the first plateau was read from.
    curve, _ = returns.lifted(interruptions.calm(recorded).curve)
    dips = [
        Return(
            start=float(curve.bytes_at[first]),
            end=float(curve.bytes_at[last]),
            rate=curve.mean(first, last),
            level=shape.head.speed.value,
        )
        for first, last in shape.first_plateau.dips
    ]
    return tuple(sorted((*shape.returns, *dips), key=lambda low: low.start))


def weight_of_heat(look: str) -> float:
    """How many times as often a fill has this look where heat slows it as where something else
    does, or nothing."""
    share = likely("slowed", look)[0]["throttling"].value
    common = _document()["common_slowed"]["throttling"]
    return float(share / (1 - share) * (1 - common) / common)


def likely(
    kind: Kind, look: str, excluded: frozenset[str] = frozenset()
) -> tuple[dict[str, Estimate], int]:
    """How likely each cause is of a fill that looks so, and how many fills that is counted from.

    Each cause counts by how common it is, and not by how often it was drawn.
    `excluded`: what somebody knows that it is not. The intervals are those that so few fills leave.
    """
    rows = _document()[kind]
    common = _document()["common_slowed" if kind == "slowed" else "common"]
    causes = [cause for cause in rows[look] if cause not in excluded]
    total = sum(rows[look][cause] for cause in causes)
    drawn = {cause: sum(row[cause] for row in rows.values()) for cause in causes}
    borrowed = _borrowed(rows, look)
    counts = {cause: rows[look][cause] + UNSEEN + borrowed[cause] for cause in causes}
    weights = {
        cause: common[cause] * counts[cause] / (drawn[cause] + UNSEEN * len(rows))
        for cause in causes
    }
    return {cause: _share(cause, weights, counts) for cause in causes}, total


def _borrowed(rows: Mapping[str, Mapping[str, int]], look: str) -> dict[str, float]:
    """How many fills of each cause a rare look counts beside its own: ten of the plain look, which
    has all but the rare trait."""
    rare = next((word for word in RARE if look.startswith(word)), None)
    plain = rows[look if rare is None else look.replace(rare, PLAIN, 1)]
    share = 0.0 if rare is None else BORROWED / max(sum(plain.values()), 1)
    return {cause: share * count for cause, count in plain.items()}


@cache
def _document() -> Mapping[str, Any]:
    return read_toml(DATA)


def _share(cause: str, weights: Mapping[str, float], counts: Mapping[str, float]) -> Estimate:
    """A cause's share of all weights; the logarithm of its odds varies as counts do (Poisson)."""
    others = [other for other in weights if other != cause]
    against = sum(weights[other] for other in others)
    variance = 1 / counts[cause]
    variance += sum(weights[other] ** 2 / counts[other] for other in others) / against**2
    odds, reach = log(weights[cause] / against), DEVIATIONS * sqrt(variance)
    value, low, high = (1 / (1 + exp(-at)) for at in (odds, odds - reach, odds + reach))
    return Estimate(value=value, low=low, high=high)
