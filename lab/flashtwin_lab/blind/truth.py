"""What is handed to an analysis, and what is true of the drive behind it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtwin.analysis.curve import Curve

# A plateau counts from this share of the fill on, and from this far from its neighbour.
LEAST_SHARE = 0.02
APART = 1.15

# A stretch: first byte, last byte, bytes a second.
Stretch = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Bytes since the fill began. `visible`: a host can see the cache end (none: it may or not).

    `fold_bytes` is none where no speed changes when cells have to come back.
    """

    design: str
    visible: bool | None
    cache_bytes: float | None
    fold_bytes: float | None
    plateaus: tuple[Stretch, ...]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A series as a host records it, with what is known of it and not handed over. `negative`: what
    slowed a drive without a cache as if one ended."""

    name: str
    t_ns: NDArray[np.int64]
    dt_ns: NDArray[np.int64]
    bytes: NDArray[np.int64]
    capacity_bytes: int
    truth: Truth
    effects: tuple[str, ...] = ()
    negative: str = ""


def plateaus_of(curve: Curve, stretches: list[tuple[float, float]]) -> list[Stretch]:
    """Stretches with their speeds, those too short or too like their neighbour joined to it."""
    ends = [stretch[1] for stretch in stretches]
    while len(ends) > 1:
        starts = [0.0, *ends[:-1]]
        rates = [curve.mean_between(a, b) for a, b in zip(starts, ends, strict=True)]
        shares = [(b - a) / curve.total_bytes for a, b in zip(starts, ends, strict=True)]
        apart = [max(a, b) / min(a, b) for a, b in itertools.pairwise(rates)]
        shortest = int(np.argmin(shares))
        if min(apart) < APART:
            del ends[int(np.argmin(apart))]
        elif shares[shortest] < LEAST_SHARE:
            nearer_before = shortest == len(ends) - 1 or (
                shortest > 0 and apart[shortest - 1] < apart[shortest]
            )
            del ends[shortest - 1 if nearer_before else shortest]
        else:
            break
    starts = [0.0, *ends[:-1]]
    return [(a, b, curve.mean_between(a, b)) for a, b in zip(starts, ends, strict=True)]
