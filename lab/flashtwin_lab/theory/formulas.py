"""The closed forms that a simulator has to agree with.

Write amplification A of uniform random writes, by victim policy. alpha is physical over user pages,
rho = alpha - 1 the over-provisioning; rho counts only blocks that can hold data in the steady
state. Sources: Hu et al. 2009, Bux and Iliadis 2010, Desnoyers 2012, Xiang and Kurkoski 2012 (arXiv
1110.4245), Agarwal and Marrow, Frankie et al.

The laws of SLC caches: k bits a cell, C the cache in user bytes, v_S the rate into SLC, v_n the
rate of folding alone, v_d that of writing straight into native blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


def fifo(rho: float) -> float:
    """Superblocks collected in the order in which they were filled: A = 1/(1 - exp(-alpha/A)).

    Solved with Lambert's W0: A = alpha / (alpha + W(-alpha exp(-alpha))).
    """
    alpha = 1.0 + rho
    # W e^W = -alpha exp(-alpha) has a second solution, W = -alpha, below -1.
    argument = alpha * math.exp(-alpha)
    return alpha / (alpha + _root(lambda w: w * math.exp(w) + argument, -1.0, 0.0))


def random_victim(rho: float) -> float:
    """Victims drawn at random hold as much valid data as the drive: A = alpha/(alpha - 1)."""
    return (1.0 + rho) / rho


def trimmed(rho: float, trims: float) -> float:
    """The over-provisioning that a drive behaves as if it had, with `trims` of the requests TRIMs.

    The share of pages in use is s = (1 - 2q)/(1 - q), and alpha/s takes the place of alpha.
    """
    used = (1.0 - 2.0 * trims) / (1.0 - trims)
    return (1.0 + rho) / used - 1.0


@dataclass(frozen=True, kw_only=True)
class HotCold:
    """`data` of the user's pages receive `writes` of the writes."""

    data: float
    writes: float


def fifo_hot_cold(rho: float, split: HotCold) -> float:
    """FIFO with hot and cold data in one stream: A = sum p_i / (1 - exp(-p_i tau / n_i)).

    With n_i the share of the data and tau = alpha/A, the turns of the log an overwrite takes.
    """
    alpha = 1.0 + rho
    parts = ((split.data, split.writes), (1.0 - split.data, 1.0 - split.writes))

    def excess(amplification: float) -> float:
        tau = alpha / amplification
        total = sum(p / (1.0 - math.exp(-p * tau / n)) for n, p in parts)
        return total - amplification

    return _root(excess, 1.0 + 1e-9, 1.0 / rho + 10.0)


@dataclass(frozen=True, kw_only=True)
class Separated:
    """The best division of the flash between two pools that an oracle feeds."""

    amplification: float
    hot: float
    """alpha of the hot pool."""
    cold: float
    """alpha of the cold pool."""


def ideal_separation(rho: float, split: HotCold) -> Separated:
    """Minimise r A(alpha_h) + (1-r) A(alpha_c) with f alpha_h + (1-f) alpha_c = alpha."""
    alpha = 1.0 + rho

    def cold_of(hot: float) -> float:
        return (alpha - split.data * hot) / (1.0 - split.data)

    def total(hot: float) -> float:
        cold = cold_of(hot)
        return split.writes * fifo(hot - 1.0) + (1.0 - split.writes) * fifo(cold - 1.0)

    highest = (alpha - (1.0 - split.data) * (1.0 + 1e-6)) / split.data
    hot = _lowest(total, 1.0 + 1e-6, highest)
    return Separated(amplification=total(hot), hot=hot, cold=cold_of(hot))


def _root(of: Callable[[float], float], low: float, high: float) -> float:
    """The root of a function whose signs at the two ends differ, by bisection."""
    rises = of(high) > 0
    while low < (middle := (low + high) / 2) < high:
        if (of(middle) > 0) == rises:
            high = middle
        else:
            low = middle
    return middle


def _lowest(of: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one valley is lowest, by golden sections."""
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left_point, right_point = high - ratio * (high - low), low + ratio * (high - low)
    of_left, of_right = of(left_point), of(right_point)
    # Near its minimum a function is flat, so the place is known to the square root of a float's
    # precision.
    while high - low > 1e-8 * high:
        if of_left < of_right:
            high, right_point, of_right = right_point, left_point, of_left
            left_point = high - ratio * (high - low)
            of_left = of(left_point)
        else:
            low, left_point, of_left = left_point, right_point, of_right
            right_point = low + ratio * (high - low)
            of_right = of(right_point)
    return (low + high) / 2


def fold_onset(native_bytes: float, cache_bytes: float, bits: int) -> float:
    """Bytes of a fill at which borrowed cells have to begin to come back: x* = P - (k-1) C."""
    return native_bytes - (bits - 1) * cache_bytes


def in_series(*rates: float) -> float:
    """The rate of bytes that pass several stages in turn: 1/v = sum 1/v_i."""
    return 1.0 / sum(1.0 / rate for rate in rates)


def staged(slc: float, fold: float) -> float:
    """Every byte through SLC, folded as fast as it comes: 1/v = 1/v_S + 1/v_n."""
    return in_series(slc, fold)


def staged_returning(slc: float, fold: float, bits: int) -> float:
    """The same while the borrowed cells come back: 1/v = 1/v_S + (k/(k-1))/v_n."""
    return in_series(slc, fold * (bits - 1) / bits)


def direct_returning(direct: float, fold: float, bits: int) -> float:
    """Host data direct while the borrowed cells come back: 1/v = 1/v_d + (1/(k-1))/v_f."""
    return in_series(direct, fold * (bits - 1))


def read_deviation(read_us: float, block: float, layer: float) -> float:
    """Standard deviation of reads whose blocks and layers differ.

    Blocks are normal with a deviation of `block`, layers even over `layer` either way, both shares
    of tR; the wordlines are many.
    """
    return read_us * math.sqrt(block**2 + layer**2 / 3.0)
