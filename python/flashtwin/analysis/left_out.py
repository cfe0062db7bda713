"""What of a fill no plateau's speed counts, in words.

Dips, slower stretches that recover, stalls, bursts and the teeth of a plateau: the battery fill and
`flashtwin infer` tell them by these sentences.
"""

from __future__ import annotations

from collections.abc import Iterable

from flashtwin.analysis.shape import Plateau, Shape
from flashtwin.model.units import percent
from flashtwin.model.units import readable_gb as gb
from flashtwin.model.units import readable_mb_s as mbs


def dipping(shape: Shape) -> str | None:
    """Dips, slower stretches and stalls that no speed counts."""
    count, stalls = len(shape.first_plateau.dips), shape.stalls
    parts = []
    if count > 0:
        dips = _counted(count, "dip")
        parts.append(f"{dips} left out: the speed recovers (heat, pauses, clearing up)")
    if shape.returns:
        lows = _counted(len(shape.returns), "slower stretch")
        share = min(low.rate / low.level for low in shape.returns)
        parts.append(
            f"{lows} left out, down to {percent(share)} of the speed, since the speed recovers "
            "(heat, or something outside of the drive)"
        )
    if stalls:
        seconds = sum(stall[1] for stall in stalls)
        parts.append(f"{_counted(len(stalls), 'stall')} of {seconds:.1f} s in all left out")
    return sentence(parts)


def rising(shape: Shape) -> str | None:
    """A beginning that is slower than its plateau."""
    if shape.rise is None:
        return None
    return f"begins slower and rises at {gb(shape.rise)}; both count as one plateau"


def beginning(shape: Shape) -> str | None:
    """A beginning that is faster than its plateau, read as the host's or as the first plateau, with
    the other reading."""
    if shape.without_burst is not None:
        return _may_be_burst(shape, shape.without_burst)
    if shape.burst is None:
        return None
    written, seconds, rate = shape.burst
    return (
        f"begins with {gb(written)} at {mbs(rate)} in {seconds:.1f} s, which is taken for a burst "
        "into memory, the host's or the drive's; it may be a cache of that size"
    )


def _may_be_burst(shape: Shape, end: float) -> str:
    """The note on a first plateau so short that it may be a burst: the reading without it."""
    head = shape.head
    begins = (
        f"begins with {gb(head.end)} in {head.end / head.speed.value:.1f} s, which may be a burst "
        "into memory, the host's or the drive's"
    )
    if end >= shape.quiet.total_bytes:
        return f"{begins}; without it nothing ends"
    return f"{begins}; without it a first plateau ends at {gb(end)}"


def bursts(shape: Shape) -> str | None:
    """Stretches in mid-plateau that are faster, as when a cache is armed a second time."""
    bursts = [burst for plateau in shape.plateaus for burst in plateau.excursions]
    faster = [
        f"faster ({mbs(burst.rate)}) from {gb(burst.start)} to {gb(burst.end)}"
        for burst in bursts
        if burst.faster
    ]
    return sentence(faster[:3])


def about(plateau: Plateau) -> str | None:
    """Teeth, drift and excursions of a plateau in words."""
    parts = []
    if plateau.teeth is not None:
        parts.append(f"saw-tooth between {mbs(plateau.teeth[0])} and {mbs(plateau.teeth[1])}")
    if plateau.drift is not None:
        parts.append(f"drifts from {mbs(plateau.drift[0])} to {mbs(plateau.drift[1])}")
    if plateau.excursions:
        parts.append(f"{_counted(len(plateau.excursions), 'stretch')} at another speed left out")
    return sentence(parts)


def _counted(count: int, noun: str) -> str:
    """A number with its noun."""
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count} {noun}{ending}"


def sentence(parts: Iterable[str | None]) -> str | None:
    """Notes joined by semicolons, without the empty ones."""
    notes = [part for part in parts if part]
    return "; ".join(notes) if notes else None
