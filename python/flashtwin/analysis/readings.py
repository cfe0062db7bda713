"""What the places of the plateaus say about the flash, from outside knowledge alone.

Two readings. *One third*: a drive whose first plateau ends at 1/k of its raw flash has programmed
every cell once, SLC-like, before anything else (k bits a cell: 1/3 of TLC, 1/2 of MLC, 1/4 of
QLC). *Fold or second tier*: cells borrowed for a cache C have to be given back once
P - (k - 1) x C bytes are written (P: native bytes free at the start); a slower plateau that begins
long before the native cells can have run out is no forced folding, and reads as a second tier.

Invariants: knows capacity, raw flash and places in bytes, nothing of a drive's inside.

Source of the numbers: raw flash comes in powers of two of GiB; up to a tenth of it may be held back
(bad blocks, system, parity), hence 0.90/k to 1.02/k counts as 1/k. The limit of a quarter of the
flash still free for "too early to fold" is a choice: known drives hold back up to 13 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flashtwin.analysis.estimate import Estimate

GIB = 1 << 30
HELD_BACK = 0.90
BEYOND = 1.02
BITS = {2: "MLC", 3: "TLC", 4: "QLC"}
STILL_FREE = 0.25

Presence = Literal["present", "absent", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is known from outside: what the drive advertises, and its flash where published."""

    capacity_bytes: int
    raw_bytes: int | None = None

    @property
    def has_raw(self) -> bool:
        """False for a target of which nothing may be assumed, such as a file."""
        return self.raw_bytes != 0

    @property
    def raw(self) -> float:
        """Raw flash as published, else the capacity rounded up to a power of two of GiB."""
        return float(self.raw_bytes or raw_from_capacity(self.capacity_bytes))

    @property
    def raw_is(self) -> str:
        """Where the raw flash comes from, for a note."""
        size = f"{self.raw / 1e9:.1f} GB"
        if self.raw_bytes:
            return f"{size} of raw flash, as published"
        return f"{size} of raw flash, assumed: the capacity rounded up to a power of two of GiB"


def raw_from_capacity(capacity_bytes: int) -> int:
    """The smallest power of two of bytes (thus of GiB, from 1 GiB on) that holds the capacity."""
    return 1 << max(capacity_bytes - 1, 1).bit_length()


def presence(share: Estimate, bits: int) -> Presence:
    """Whether an end at this share of the raw flash is that of 1/`bits` of the cells."""
    low, high = HELD_BACK / bits, BEYOND / bits
    one = share.value if share.low is None else share.low
    other = share.value if share.high is None else share.high
    if low <= one and other <= high:
        return "present"
    return "absent" if other < low or one > high else "undecided"


def third_note(share: Estimate, target: Target) -> str:
    """The verdict on the one-third signature, and the readings for other cells."""
    verdict = presence(share, 3)
    if verdict == "present":
        first = "one-third signature present: the drive writes all cells once, SLC-like, first"
    elif verdict == "absent":
        first = "one-third signature absent"
    else:
        first = "one-third signature undecided: the interval reaches over its bounds"
    others = [
        f"would be 1/{bits} of {name}"
        for bits, name in BITS.items()
        if bits != 3 and presence(share, bits) == "present"
    ]
    return "; ".join([first, *others, target.raw_is])


def folding_possible(cache: float, begin: float, target: Target) -> bool:
    """Whether native cells can have run out at `begin`, for some number of bits up to four."""
    if not target.has_raw:
        return True
    still_free = target.raw - begin - (max(BITS) - 1) * cache
    return still_free <= STILL_FREE * target.raw
