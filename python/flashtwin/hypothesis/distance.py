"""How far what a drive showed lies from what a small copy of it shows, in units of their noise.

Speeds are compared as logarithms, bin by bin of what was written. The noise is declared here once:
a measured drive differs from the copy that has its values by what its host adds, and by what is
left between a drive and a copy with fewer and smaller superblocks. Two questions are asked of it.
A search (`flashtwin fit`) needs to know which way to go from far off: `signed`, which grows for
ever and is smooth. A belief (the battery discover) needs to know what can be excluded, and a stall
of the host excludes nothing: `log_likelihood`, whose bins cost no more than a disturbed one does.
Invariant: neither knows a structure, a value or a test.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The standard deviation of the logarithm of a bin's speed: of any write, of a fill (whose bins hold
# the most data) and of random writes, which swing with what lies in the drive.
CURVE_NOISE, FILL_NOISE, RANDOM_NOISE = 0.06, 0.03, 0.08
# A difference within the reach of a bin and its neighbours counts this share of itself: the edges
# of a small copy lie a bin off.
WITHIN = 0.2
# This share of the bins is disturbed by something that is not the drive.
DISTURBED = 0.03
# Neighbouring bins say much the same: this share of the weight of a bin is its own.
OWN = 0.5
# Beyond this distance of logarithms a larger one counts by its own logarithm: an edge that is
# misplaced is far off, and still says which way to go.
FAR = 0.25
# Writes swing as superblocks with more and less valid data are collected or folded. The small copy
# has about a quarter of a drive's superblocks, so that its swings are twice as large. Fewer bins
# than LEAST_SWINGS do not tell swings from steps.
COPY_SWINGS, LEAST_SWINGS = 2.0, 8
# The median of the absolute values of a normal distribution with deviation 1.
MEDIAN_OF_NORMAL = 0.6745


def signed(apart: Floats, noise: float | Floats) -> Floats:
    """Differences of logarithms in units of the noise, of any shape, a far one by its logarithm."""
    distances: Floats = FAR * np.arcsinh(apart / FAR) / noise
    return distances


def log_likelihood(measured: Floats, shown: Floats) -> float:
    """How well the logarithms of speed of a copy's bins fit those of as many measured bins, as a
    logarithm of at most 0. A measured bin is held against the copy's and its two neighbours."""
    padded = np.pad(shown, 1, mode="edge")
    around = np.stack((padded[:-2], shown, padded[2:]))
    outside = np.maximum(np.maximum(around.min(0) - measured, measured - around.max(0)), 0.0)
    apart = np.hypot(outside, WITHIN * (measured - shown)) / CURVE_NOISE
    return OWN * float(tailed(apart, DISTURBED).sum())


def tailed(apart: Floats, wrong: float) -> Floats:
    """Logarithms of the likelihood of distances in units of the noise, where a share `wrong` of all
    is something else and may lie anywhere."""
    logs: Floats = np.log((1 - wrong) * np.exp(-0.5 * np.square(apart)) + wrong)
    return logs


def with_swings(noise: float, rates: Floats) -> float:
    """The noise of bins, given the logarithms of their speeds in order: with that of the swings
    which the copy shows larger than the drive."""
    return math.hypot(noise, COPY_SWINGS * _swings(rates))


def _swings(rates: Floats) -> float:
    """The deviation of bins from their neighbours; a few steps do not count, so that few bins tell
    nothing."""
    if rates.size < LEAST_SWINGS:
        return 0.0
    return float(np.median(np.abs(np.diff(rates, 2)))) / MEDIAN_OF_NORMAL / math.sqrt(6.0)
