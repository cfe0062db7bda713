"""What the plateaus of a fill say about the flash, and the notes that tell it.

Two readings, from what is known outside the drive. *One third*: a drive whose first plateau ends at
1/k of its raw flash has programmed every cell once, SLC-like, before anything else (k bits a cell:
1/3 of TLC, 1/2 of MLC, 1/4 of QLC). *Folding or a second tier*: cells borrowed for a cache C have
to be given back once P - (k - 1) x C bytes are written (P: native bytes free at the start); a
slower plateau that begins long before the native cells can have run out is no forced folding, and
reads as a second tier. The notes say which readings are open, what was left out, and why a value is
lacking.

Invariants: knows capacity, raw flash and places in bytes, nothing of a drive's inside; no number is
computed here that a finding carries as its value.

Source of the numbers: raw flash comes in powers of two of GiB; `signature` has what counts as 1/k.
The limit of a quarter of the flash still free for "too early to fold" is a choice: known drives
hold back up to 13 %.
"""

from __future__ import annotations

from dataclasses import dataclass

from flashtwin.analysis.curve import Curve
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.first_plateau import fifths
from flashtwin.analysis.left_out import beginning, bursts, dipping, sentence
from flashtwin.analysis.shape import Plateau, Shape
from flashtwin.batteries.fill.signature import presence
from flashtwin.model.cells import BITS
from flashtwin.model.units import readable_gb as gb
from flashtwin.model.units import readable_mb_s as mbs

CELLS = {bits: cell.upper() for cell, bits in BITS.items() if bits > 1}
PARTS = {2: "half", 3: "third", 4: "quarter"}
STILL_FREE = 0.25
# The most flash that a drive with a cache is taken to have, over its capacity: labels of 7 to 28 %
# are usual, and a capacity between two powers of two says nothing of what lies above it.
MOST_FLASH = 1.28
# A fill that wrote less than this share of the target did not reach its end.
MOSTLY_FULL = 0.95


@dataclass(frozen=True, kw_only=True)
class Target:
    """The drive as its label has it: its capacity and, where published, its raw flash and the bits
    of a cell."""

    capacity_bytes: int
    raw_bytes: int | None = None
    bits: int | None = None

    @property
    def has_raw(self) -> bool:
        """False for a target of which nothing may be assumed, such as a file."""
        return self.raw_bytes != 0

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole drive, so that a cache of any size would end within it."""
        return self.has_raw

    @property
    def raw(self) -> float:
        """Raw flash as published, else the capacity rounded up to a power of two of GiB."""
        return float(self.raw_bytes or raw_from_capacity(self.capacity_bytes))

    @property
    def raw_is(self) -> str:
        """Where the raw flash comes from, for a note."""
        size = gb(self.raw, 4)
        if self.raw_bytes:
            return f"{size} of raw flash, as published"
        return f"{size} of raw flash, assumed: the capacity rounded up to a power of two of GiB"


def raw_from_capacity(capacity_bytes: int) -> int:
    """The smallest power of two of bytes (thus of GiB, from 1 GiB on) that holds the capacity."""
    return 1 << max(capacity_bytes - 1, 1).bit_length()


def third_note(share: Estimate, target: Target) -> str:
    """The verdict on the one-third signature (one quarter of cells that the label calls QLC), and
    the readings for other cells."""
    of_cells = target.bits if target.bits in CELLS else 3
    verdict, signature = presence(share, of_cells), f"one-{PARTS[of_cells]} signature"
    if verdict == "present":
        first = f"{signature} present: the drive writes all cells once, SLC-like, first"
    elif verdict == "absent":
        first = f"{signature} absent"
    else:
        first = f"{signature} undecided: the interval reaches over its bounds"
    others = [
        f"would be 1/{bits} of {name}"
        for bits, name in CELLS.items()
        if bits != of_cells and presence(share, bits) == "present"
    ]
    return "; ".join([first, *others, target.raw_is])


def folding_possible(cache: float, begin: float, target: Target) -> bool:
    """Whether native cells can have run out at `begin`, for some number of bits up to four."""
    if not target.has_raw:
        return True
    flash = target.raw
    if not target.raw_bytes:
        flash = min(flash, MOST_FLASH * target.capacity_bytes)
    still_free = flash - begin - (max(CELLS) - 1) * cache
    return still_free <= STILL_FREE * flash


def swinging(shape: Shape) -> str:
    times = shape.first_plateau.swings
    return (
        f"the speed swings from the start and comes back {times} times; a small cache that is "
        "emptied again and again and a drive that slows itself look alike from here"
    )


def why_none(curve: Curve, shape: Shape, least: float) -> str:
    """What "no cache" rests on, and from what size on one would have been seen."""
    seen = f"a cache a quarter faster than the rest would show from {gb(least)} on"
    if least >= curve.total_bytes:
        seen = "the samples scatter so far that one a quarter faster than the rest would not show"
    if shape.first_plateau.verdict == "gradual":
        first, last = fifths(curve)
        return (
            f"none seen: the speed goes little by little from {mbs(first)} (first fifth) to "
            f"{mbs(last)} (last fifth) without a step; {seen}"
        )
    parts = ["none seen: no lasting drop", beginning(shape), dipping(shape), bursts(shape), seen]
    return sentence(parts) or ""


def second_tier(shape: Shape, target: Target) -> str | None:
    later = shape.slower
    if later is None or folds(shape, later, target):
        return None
    return (
        f"a second, slower tier seems to end at {gb(later.start)}: too early for folding to "
        "be needed"
    )


def unfinished(curve: Curve, target: Target) -> str:
    if curve.total_bytes < MOSTLY_FULL * target.capacity_bytes:
        return (
            f"only {gb(curve.total_bytes)} of {gb(target.capacity_bytes)} were written: a larger "
            "cache would look the same"
        )
    return "a cache as large as the drive would look the same"


def no_end(curve: Curve, shape: Shape, target: Target) -> str:
    """Why nothing is said of a first plateau: it has no end. What was written of a part of a drive
    may lie in a cache of any size."""
    if shape.first_plateau.verdict == "swings":
        return "no fast beginning"
    if not target.is_whole:
        return f"no drop within {gb(curve.total_bytes)}; a cache may be larger"
    return "no cache was seen"


def folds(shape: Shape, later: Plateau, target: Target) -> bool:
    return folding_possible(shape.head.end, later.start, target)


def why_no_fold(shape: Shape, later: Plateau | None) -> str:
    if shape.edge is None:
        return "no fast beginning ends, so nothing shows when the drive folds"
    if later is not None:
        return (
            f"the slower plateau of {mbs(later.speed.value)} from {gb(later.start)} on begins too "
            "early for folding to be needed: it reads as the end of a second cache tier"
        )
    if len(shape.rest.plateaus) > 1:
        second, third = shape.rest.plateaus[:2]
        how = "faster" if third.speed.value > second.speed.value else "slower, but not to the end"
        return f"the third plateau is {how} ({mbs(third.speed.value)} from {gb(third.start)} on)"
    return "no third speed; either it never has to fold, or it folds from the end of the cache on"
