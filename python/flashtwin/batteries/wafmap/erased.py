"""How many bytes an erased drive takes before it slows down, and what that says of its flash.

The drive slows down where its erased superblocks are used up, unless something else ends there.
Invariant: the amount has to be the same under all loads, and fit what the drive shows later. Where
it does not, `apart` and `against_amount` say so, and the amount does not count.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from flashtwin.batteries.wafmap.responses import Floats, Load

# An erased drive writes at one rate until collection begins: for as much as it has of flash, and
# the superblocks that are open or in hand beyond it (give or take). It ends with a sample below
# SLOWER of that rate, if TURNS of LASTS samples from there on are as slow, two of them among the
# first SOON, and the mean of twice as many below STAYS of it.
IN_HAND, IN_HAND_SPREAD = 1.7, 0.6
SLOWER, STAYS, SOON, TURNS, LASTS, LEAST_SAMPLES = 0.8, 0.92, 5, 3, 10, 5
# Amounts of two loads agree where they differ by this share and one sample at most.
ONE_AMOUNT = 0.0075
# Flash agrees with an amount where it is off by this many times what the amount may be off.
OTHER_AMOUNT = 4.0
# How far several amounts may be off together, and one alone; how likely it is that the drive slowed
# down for another reason.
NOISE_ERASED, NOISE_ALONE, ELSE = 0.005, 0.05, 0.1


def erased_bytes(written: Floats, seconds: Floats) -> tuple[float, float] | None:
    """How many bytes of samples were written at the first rate, and by how many that may be off;
    none where the rate does not fall for good, or with the first samples.

    The first rate ends with a sample that is slower than the mean before, and with it TURNS of the
    next LASTS: collection comes in turns, a stall is over sooner. How long the slow part goes on
    does not matter.
    """
    if written.size < LEAST_SAMPLES + 2 * LASTS:
        return None
    rate, total = written / np.maximum(seconds, 1e-9), np.cumsum(written)
    at = np.arange(1, rate.size - 2 * LASTS + 1)
    before = np.cumsum(rate)[at - 1] / at
    after = sliding_window_view(rate, 2 * LASTS)[at]
    slow = after < SLOWER * before[:, None]
    turns = slow[:, 0] & slow[:, 1:SOON].any(axis=1) & (slow[:, :LASTS].sum(axis=1) >= TURNS)
    falls = at[turns & (after.mean(axis=1) < STAYS * before)]
    if not falls.size or falls[0] < LEAST_SAMPLES:
        return None
    return float(total[falls[0] - 1]), float(written[falls[0] - 1])


def apart(loads: Sequence[Load]) -> tuple[float, float] | None:
    """The least and the most that the erased drive took under a load before it slowed down, where
    these are not one amount: then it was not its flash that ended, or not that alone."""
    amounts = [load.erased for load in loads if load.erased is not None]
    if len(amounts) < 2:
        return None
    took = [amount for amount, _ in amounts]
    if max(took) - min(took) <= ONE_AMOUNT * min(took) + max(grain for _, grain in amounts):
        return None
    return min(took), max(took)


def amount_of(loads: Sequence[Load]) -> tuple[float, float, float] | None:
    """The bytes that the erased drive took before it slowed down (the median of all loads), how
    many bytes one sample of the series holds, and the share by which the median may be off. None
    where the loads do not agree."""
    amounts = [load.erased for load in loads if load.erased is not None]
    if not amounts or apart(loads) is not None:
        return None
    own = NOISE_ERASED if len(amounts) > 1 else NOISE_ALONE
    middle = float(np.median([amount for amount, _ in amounts]))
    return middle, max(grain for _, grain in amounts), own


def against_amount(
    loads: Sequence[Load], flash_bytes: float, superblock_bytes: float
) -> tuple[float, float] | None:
    """The bytes that the erased drive took before it slowed down, and those that a drive with this
    flash would take, where the two differ. The drive then moves data in a way that the table does
    not know."""
    amount = amount_of(loads)
    if amount is None:
        return None
    middle, grain, own = amount
    fitting = flash_bytes + IN_HAND * superblock_bytes
    if abs(np.log(fitting / middle)) <= OTHER_AMOUNT * own + grain / middle:
        return None
    return middle, fitting


def misfit_of_amount(loads: Sequence[Load], flash: Floats, superblock: Floats) -> Floats:
    """How badly each flash with each superblock explains what the erased drive took: twice the
    negative log likelihood."""
    amount = amount_of(loads)
    if amount is None:
        return np.zeros((flash.size, superblock.size))
    middle, grain, own = amount
    off = np.log((flash + IN_HAND * superblock) / middle)
    noise = np.sqrt(own**2 + (grain / middle) ** 2 + (IN_HAND_SPREAD * superblock / flash) ** 2)
    likely = (1 - ELSE) * np.exp(-((off / noise) ** 2) / 2) / noise / np.sqrt(2 * np.pi)
    unlikely: Floats = -2 * np.log(likely + ELSE / np.log(flash.max() / flash.min()))
    return unlikely
