"""Whether a drive's temperature says that heat made it slower for a while.

What: firmware slows a drive down at one temperature and lets it go again at a lower one. So the
drive is as warm at the beginning of each slower stretch as at every other, about as warm as it ever
is, and cooler at the end of it. A drive that is slower for another reason has no such temperature:
while it warms up each stretch begins at another one.

Invariants: pure; nothing is said of fewer than two stretches, nor where the drive never warms up.

Source of the numbers: choices; sensors tell whole degrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from flashtwin.analysis.curve import Floats
from flashtwin.analysis.quantiles import median

Says = Literal["heat", "not heat"]
# Stretches begin within so many degrees or such a share of the warming; the drive warms by so many
# before, and cools by so many in them.
SAME_DEGREES, SAME_SHARE = 1.5, 0.1
WARMS, COOLS = 5.0, 1.5
# A drive that is about to slow itself down has warmed by so many degrees.
HOT = 15.0
FEWEST = 2


def says(lows_s: Sequence[tuple[float, float]], at_s: Floats, degrees: Floats) -> Says | None:
    """What degrees at these times say of slower stretches from and to these seconds."""
    if len(lows_s) < FEWEST or at_s.size < FEWEST:
        return None
    begins, ends = (np.interp([low[side] for low in lows_s], at_s, degrees) for side in (0, 1))
    warmed = float(degrees.max() - degrees[0])
    if warmed < WARMS:
        return "not heat"
    within = max(SAME_DEGREES, SAME_SHARE * warmed)
    alike = float(np.ptp(begins)) <= within and float(degrees.max() - begins.min()) <= within
    cools = median(begins - ends) >= COOLS
    return "heat" if alike and cools else "not heat"


def is_warmest(end_s: float, at_s: Floats, degrees: Floats) -> bool:
    """Whether a drive has become hot until a moment and does not become warmer after it: what ends
    there may end for heat."""
    if at_s.size < FEWEST:
        return False
    there = float(np.interp(end_s, at_s, degrees))
    return there - float(degrees[0]) >= HOT and float(degrees.max()) - there <= SAME_DEGREES
