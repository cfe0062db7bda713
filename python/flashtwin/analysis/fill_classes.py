"""What a fill looks like in a few words, and what fills that look so turned out to be.

What: a probability is a count. Drives with known insides are drawn at random and filled, and each
fill is given one of a few *looks*; of all fills of one look so many had a cache, and so many were
slowed by heat or by something outside of the drive (`fill_classes.toml` has the counts, and how
they were made). A fill at hand is as likely to be so as those of its look.

The looks of a beginning: how the first plateau ends, by how much, within how many samples, and
whether slower stretches were left out. The looks of slower stretches: many or few; deep, because a
drive that takes data into its cache again now and then has deeper lows than heat makes; and *even*,
because a limit from outside cuts off all of a drive's own scatter, which heat leaves.

Invariants: every shape has one look of each kind; a probability is never 0 or 1, and its interval
holds it.

Source of the numbers: bounds between looks are choices; the counts are drives of the four
generators of `flashtwin_lab.make.fill_classes`, each counting alike, with seeds of their own.
Probabilities hold for drives and hosts like those.
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
# A low is deep below this share of its level, and even where its scatter is such a share of that
# beside it. Fewer samples have no scatter to speak of.
DEEP, EVEN, FEWEST_EVEN = 0.33, 0.15, 6
MANY_LOWS = 3
LOWS = " after lows"
# The normal quantile of a 95 % interval.
NORMAL = 1.96


def beginning(curve: Curve, shape: Shape) -> str:
    """How the first plateau ends."""
    lows = LOWS if shape.returns else ""
    if shape.edge is None:
        return f"{shape.first_plateau.verdict}{lows}"
    if int(np.searchsorted(curve.bytes_at, shape.edge.place.value)) <= SHORT:
        return "short"
    after = shape.rest.plateaus[0].speed.value if shape.rest.plateaus else 0.0
    weak = after * WEAK > shape.head.speed.value
    return f"weak{lows}" if weak else f"drop{lows}"


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


def likely(kind: Kind, look: str) -> tuple[dict[str, Estimate], int]:
    """How likely each word is of a fill that looks so, and how many fills that is counted from.

    Each interval holds the share among all such fills with 95 % (Wilson 1927). Of a look that was
    never seen each word is as likely as the others, and the interval is all there is.
    """
    counts = _counts(kind)[look]
    total = sum(counts.values())
    words = len(counts)
    return {word: _share(count, total, words) for word, count in counts.items()}, total


@cache
def _counts(kind: Kind) -> Mapping[str, Mapping[str, int]]:
    rows: Mapping[str, Mapping[str, int]] = read_toml(DATA)[kind]
    return rows


def _share(count: int, total: int, words: int) -> Estimate:
    value = (count + 0.5) / (total + 0.5 * words)
    if total == 0:
        return Estimate(value=value, low=0.0, high=1.0)
    share, spread = count / total, NORMAL**2 / total
    middle = (share + spread / 2) / (1 + spread)
    reach = NORMAL / (1 + spread) * sqrt(share * (1 - share) / total + spread / (4 * total))
    low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
    return Estimate(value=value, low=min(low, value), high=max(high, value))
