"""What a fill looks like in a few words, and what fills that look so turned out to be.

What: a probability is a count. Drives with known insides are drawn at random and filled, and each
fill is given one of a few *looks*; of all fills of one look so many had a cache, and so many were
slowed by heat or by something outside of the drive (`fill_classes.toml` has the counts, and how
they were made). A fill at hand is as likely to be so as those of its look.

The looks of a beginning: whether the first plateau ends at all; whether its speed comes back;
whether it is as brief as a host's burst, ends where a limit cuts the scatter off, or in the later
half; and what the fill comes to after it. The looks of slower stretches: many or few; deep, because
a drive that takes data into its cache again now and then has deeper lows than heat makes; and
*even*, because a limit from outside cuts off all of a drive's own scatter, which heat leaves.

Invariants: every shape has one look of each kind; a probability is never 0 or 1, and its interval
holds it.

Source of the numbers: bounds between looks are choices; the counts are drives of the generators of
`flashtwin_lab.make.fill_classes`, each counting alike, with seeds of their own, and as many fills
of drives without a cache that look as if one ended. Probabilities hold for drives, hosts and a
share of such fills like those.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Literal

import numpy as np

from flashtwin.analysis import interruptions, returns
from flashtwin.analysis.changepoints import logs, noise
from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.quantiles import median
from flashtwin.analysis.returns import Return
from flashtwin.analysis.sawtooth import Teeth
from flashtwin.analysis.shape import Shape
from flashtwin.inputs import read_toml

Kind = Literal["cache", "slowed"]
DATA = Path(__file__).with_name("fill_classes.toml")
# A first plateau of so many samples is below resolution, and a drop of less than this is weak.
SHORT, WEAK = 2, 1.25
# A host's burst ends within these seconds; a cache seldom ends past such a share of a fill. A
# later plateau of such a share of the first one's speed is the first one again.
BRIEF_S, LATE, BACK = 12.0, 0.5, 0.9
# Samples past the end scatter less than such a share of what is before it, which scatters.
CUT_OFF, SCATTERS = 0.3, 0.002
# More levels past the end than a fold and a tier make.
MOST_LEVELS = 3
# A low is deep below this share of its level, and even where its scatter is such a share of that
# beside it. Fewer samples have no scatter to speak of.
DEEP, EVEN, FEWEST_EVEN = 0.33, 0.15, 6
MANY_LOWS = 3
LOWS, STEEP = " after lows", ", steep"
# A steep drop is by more than this factor.
FAR = 3.0
# A cache this probable is claimed.
CLAIMED = 0.95
# The normal quantile of a 95 % interval.
NORMAL = 1.96


def beginning(curve: Curve, shape: Shape) -> str:
    """How the first plateau ends."""
    if shape.edge is None:
        return f"{shape.first_plateau.verdict}{LOWS if shape.returns else ''}"
    end = shape.edge.place.value
    if int(np.searchsorted(curve.bytes_at, end)) <= SHORT:
        return "short"
    if _comes_back(shape):
        return "comes back"
    if float(curve.seconds_to(np.array([end]))[0]) <= BRIEF_S:
        return f"brief{_steep(shape)}"
    if _is_cut_off(shape, end):
        return "cut off"
    if end > LATE * curve.total_bytes:
        return f"late{_steep(shape)}"
    return f"{_after(shape)}{_steep(shape)}"


def _steep(shape: Shape) -> str:
    """A suffix where what follows is slower than limits, heat and collection usually make it."""
    rest = shape.rest.plateaus
    return STEEP if rest and rest[0].speed.value * FAR < shape.head.speed.value else ""


def _comes_back(shape: Shape) -> bool:
    """True where a later plateau takes up the speed of the first one."""
    most = max((plateau.speed.value for plateau in shape.rest.plateaus), default=0.0)
    return most > BACK * shape.head.speed.value


def _is_cut_off(shape: Shape, end: float) -> bool:
    """True where the scatter of samples all but ends with the first plateau, as under a limit."""
    curve = shape.quiet
    at = int(np.searchsorted(curve.bytes_at, end))
    before, past = _steps(curve, 0, at - 1), _steps(curve, at + 1, len(curve))
    if min(before.size, past.size) < FEWEST_EVEN or noise(before) < SCATTERS:
        return False
    return noise(past) < CUT_OFF * noise(before)


def _after(shape: Shape) -> str:
    """How the fill goes on past its first plateau."""
    rest = shape.rest.plateaus
    if any(plateau.drift is not None for plateau in rest):
        return "drifting"
    if any(plateau.teeth is not None for plateau in rest):
        return "in turns"
    if len(rest) == 1 and rest[0].speed.value * WEAK > shape.head.speed.value:
        return "weak"
    if len(rest) <= 1:
        return "one level"
    if len(rest) > MOST_LEVELS:
        return "many levels"
    return "slower once more" if shape.slower is not None else "faster again"


def slower(curve: Curve, shape: Shape, tooth: Teeth | None) -> str:
    """What the slower stretches are like that were left out of the plateaus; a saw-tooth may be
    one of them."""
    lows = lows_of(curve, shape)
    if not lows and tooth is not None:
        return "teeth"
    if not lows:
        return "slow start" if shape.rise is not None else "none"
    if len(lows) < MANY_LOWS and any(_is_even(curve, low) for low in lows):
        return "even"
    depth = median(np.array([low.rate / low.level for low in lows]))
    count = "many" if len(lows) >= MANY_LOWS else "few"
    return f"{count} deep" if depth < DEEP else count


def lows_of(recorded: Curve, shape: Shape) -> tuple[Return, ...]:
    """Slower stretches after which the speed recovers, in the order of their places."""
    if not shape.first_plateau.dips:
        return shape.returns
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


def _is_even(curve: Curve, low: Return) -> bool:
    """Whether a low has next to none of the scatter that the samples on both sides have."""
    first, last = (int(at) for at in np.searchsorted(curve.bytes_at, (low.start, low.end)))
    inside = _steps(curve, first + 1, last - 1)
    reach = max(last - first, 2 * FEWEST_EVEN)
    around = [_steps(curve, first - reach, first - 1), _steps(curve, last + 1, last + reach)]
    beside = [noise(values) for values in around if values.size >= FEWEST_EVEN]
    if inside.size < FEWEST_EVEN or not beside:
        return False
    return noise(inside) < EVEN * min(beside)


def _steps(curve: Curve, first: int, last: int) -> Floats:
    return logs(curve.rate[max(first, 0) : max(last, 0)])


def likely(
    kind: Kind, look: str, excluded: frozenset[str] = frozenset()
) -> tuple[dict[str, Estimate], int]:
    """How likely each word is of a fill that looks so, and how many fills that is counted from.

    Each interval holds the share among all such fills with 95 % (Wilson 1927). Of a look that was
    never seen each word is as likely as the others, and the interval is all there is. `excluded`:
    what somebody knows that it is not.
    """
    counts = {word: n for word, n in _counts(kind)[look].items() if word not in excluded}
    total = sum(counts.values())
    return {word: _share(count, total, len(counts)) for word, count in counts.items()}, total


@cache
def _counts(kind: Kind) -> Mapping[str, Mapping[str, int]]:
    rows: Mapping[str, Mapping[str, int]] = read_toml(DATA)[kind]
    return rows


def _share(count: int, total: int, words: int) -> Estimate:
    value = (count + 1 / words) / (total + 1)
    if total == 0:
        return Estimate(value=value, low=0.0, high=1.0)
    share, spread = count / total, NORMAL**2 / total
    middle = (share + spread / 2) / (1 + spread)
    reach = NORMAL / (1 + spread) * sqrt(share * (1 - share) / total + spread / (4 * total))
    low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
    return Estimate(value=value, low=min(low, value), high=max(high, value))
