"""What an erased drive takes before it slows down: its flash, where nothing else ends there.

Invariant: amounts of several loads have to be one, and what the drive shows later has to fit it;
what does not is told, and nothing is made of it.
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
# Amounts that differ by more than this, and the grain of a sample, are not one. By the other share
# what the loads tell may lie beside it.
ONE_AMOUNT, OTHER_AMOUNT = 0.0075, 0.02
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
    """What the erased drive took before it slowed down, by how many bytes a sample may put that
    off, and by which share all together may be off; none where amounts differ."""
    amounts = [load.erased for load in loads if load.erased is not None]
    if not amounts or apart(loads) is not None:
        return None
    own = NOISE_ERASED if len(amounts) > 1 else NOISE_ALONE
    middle = float(np.median([amount for amount, _ in amounts]))
    return middle, max(grain for _, grain in amounts), own


def against_amount(
    loads: Sequence[Load], flash_bytes: float, superblock_bytes: float
) -> tuple[float, float] | None:
    """What the erased drive took before it slowed down, and what one with this flash would take,
    where these differ: then a load moved what no drive of the table moves."""
    amount = amount_of(loads)
    if amount is None:
        return None
    middle, grain, own = amount
    fitting = flash_bytes + IN_HAND * superblock_bytes
    if abs(np.log(fitting / middle)) <= OTHER_AMOUNT * own / NOISE_ERASED + grain / middle:
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
