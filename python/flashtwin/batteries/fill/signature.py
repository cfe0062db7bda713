"""The one-third signature: whether a first plateau ends at 1/k of the drive's raw flash.

Apart from the notes, because a page shows it and estimates nothing: it loads no analysis.

Source of the numbers: up to a tenth of the raw flash may be held back (bad blocks, system, parity),
hence 0.90/k to 1.02/k counts as 1/k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from flashtwin.analysis.estimate import Estimate

HELD_BACK = 0.90
BEYOND = 1.02

Presence = Literal["present", "absent", "undecided"]


def presence(share: Estimate, bits: int) -> Presence:
    """Whether an end at this share of the raw flash is that of 1/`bits` of the cells."""
    low, high = HELD_BACK / bits, BEYOND / bits
    least = share.value if share.low is None else share.low
    most = share.value if share.high is None else share.high
    if low <= least and most <= high:
        return "present"
    return "absent" if most < low or least > high else "undecided"
