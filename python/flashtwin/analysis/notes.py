"""What the notes of a fill's findings say: which readings are open, what was left out, why not.

Invariants: words only, chosen by the shape and by what is known of the target from outside; no
number is computed here that a finding carries as its value.

Source of the numbers: those of the shape; the limits of a reading are in `readings`.
"""

from __future__ import annotations

from flashtwin.analysis.changepoints import EFFECT
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.opening import fifths
from flashtwin.analysis.readings import Target, folding_possible
from flashtwin.analysis.shape import Shape
from flashtwin.analysis.stages import Plateau
from flashtwin.analysis.wording import gb, mbs, sentence

WHOLE = 0.95


def swinging(shape: Shape) -> str:
    return (
        f"the speed swings from the start and comes back {shape.opening.swings} times; a small "
        "cache that is emptied again and again and a drive that slows itself look alike from here"
    )


def why_none(of: Curve, shape: Shape, least: float) -> str:
    """What "no cache" rests on, and from what size on one would have been seen."""
    seen = f"a first plateau a quarter faster than the rest would show from {gb(least)} on"
    if shape.opening.verdict == "gradual":
        first, last = fifths(of)
        return (
            f"none seen: the speed goes little by little from {mbs(first)} (first fifth) to "
            f"{mbs(last)} (last fifth) without a step; {seen}"
        )
    parts = ["none seen: no lasting drop", dipping(shape), bursts(shape), seen]
    return sentence(parts) or ""


def dipping(shape: Shape) -> str | None:
    count = len(shape.opening.dips)
    if count == 0:
        return None
    return f"{_some(count, 'dip')} left out: the speed recovers (heat, pauses, clearing up)"


def rising(of: Curve, shape: Shape) -> str | None:
    rise = shape.opening.rise
    if rise is None:
        return None
    return f"begins slower and rises at {gb(float(of.bytes_at[rise]))}; both count as one plateau"


def second_tier(shape: Shape, target: Target) -> str | None:
    later = slower(shape)
    if later is None or folds(shape, later, target):
        return None
    return (
        f"a second, slower tier seems to end at {gb(later.start)}: too early for borrowed cells "
        "to be needed"
    )


def bursts(shape: Shape) -> str | None:
    """Stretches in mid-plateau that are faster, as when a cache is armed a second time."""
    bursts = [burst for plateau in shape.plateaus for burst in plateau.excursions]
    said = [
        f"faster ({mbs(burst.rate)}) from {gb(burst.start)} to {gb(burst.end)}"
        for burst in bursts
        if burst.faster
    ]
    return sentence(said[:3])


def unfinished(of: Curve, target: Target) -> str:
    if of.total_bytes < WHOLE * target.capacity_bytes:
        return (
            f"only {gb(of.total_bytes)} of {gb(target.capacity_bytes)} were written: a larger "
            "cache would look the same"
        )
    return "a cache as large as the drive would look the same"


def no_end(shape: Shape) -> str:
    return "no first plateau" if shape.opening.verdict == "swings" else "no cache was seen"


def about(plateau: Plateau) -> str | None:
    """Teeth, drift and excursions of a plateau in words."""
    parts = []
    if plateau.teeth is not None:
        parts.append(f"saw-tooth between {mbs(plateau.teeth[0])} and {mbs(plateau.teeth[1])}")
    if plateau.drift is not None:
        parts.append(f"drifts from {mbs(plateau.drift[0])} to {mbs(plateau.drift[1])}")
    if plateau.excursions:
        parts.append(f"{_some(len(plateau.excursions), 'stretch')} at another speed left out")
    return sentence(parts)


def slower(shape: Shape) -> Plateau | None:
    """The first plateau that stays below the one past the cache, to the end of the fill."""
    rest = shape.rest.plateaus
    for index, plateau in enumerate(rest[1:], start=1):
        if all(later.speed.value * EFFECT <= rest[0].speed.value for later in rest[index:]):
            return plateau
    return None


def folds(shape: Shape, later: Plateau, target: Target) -> bool:
    return folding_possible(shape.head.end, later.start, target)


def why_no_fold(shape: Shape, later: Plateau | None) -> str:
    if shape.edge is None:
        return "no first plateau ends, so nothing shows when its cells are given back"
    if later is not None:
        return (
            f"the slower plateau of {mbs(later.speed.value)} from {gb(later.start)} on begins too "
            "early for borrowed cells to be needed: it reads as the end of a second cache tier"
        )
    if len(shape.rest.plateaus) > 1:
        second, third = shape.rest.plateaus[:2]
        how = "faster" if third.speed.value > second.speed.value else "slower, but not to the end"
        return f"the third plateau is {how} ({mbs(third.speed.value)} from {gb(third.start)} on)"
    return (
        "no third plateau; either no cells have to be given back, or they are from the end of the "
        "first plateau on"
    )


def _some(count: int, what: str) -> str:
    """A number with its noun."""
    ending = "" if count == 1 else "es" if what.endswith("ch") else "s"
    return f"{count} {what}{ending}"
