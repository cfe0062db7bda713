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

    `fold_bytes` is none where no speed changes when cells have to come back (`fold_of`).
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
    """Stretches with their speeds, those too short or too like their neighbour joined to it. One
    that is too short is none of the plateau that it is joined to, and not measured with it."""
    # First and last byte, and those between which the speed is measured.
    parts = [(start, end, start, end) for start, end in stretches]
    while len(parts) > 1:
        rates = [curve.mean_between(*part[2:]) for part in parts]
        shares = [(part[1] - part[0]) / curve.total_bytes for part in parts]
        apart = [max(a, b) / min(a, b) for a, b in itertools.pairwise(rates)]
        shortest = int(np.argmin(shares))
        if min(apart) < APART:
            at = int(np.argmin(apart))
            parts[at : at + 2] = [_joined(parts[at], parts[at + 1], both=True)]
        elif shares[shortest] < LEAST_SHARE:
            nearer_before = shortest == len(parts) - 1 or (
                shortest > 0 and apart[shortest - 1] < apart[shortest]
            )
            at = shortest - 1 if nearer_before else shortest
            parts[at : at + 2] = [_joined(parts[at], parts[at + 1], both=False)]
        else:
            break
    return [(part[0], part[1], curve.mean_between(*part[2:])) for part in parts]


def fold_of(curve: Curve, ends: list[float]) -> float | None:
    """Where the speed changes because cells have to come back, however short a time that lasts;
    none where they need not, or make no other plateau. `ends`: of the cache, and of free cells."""
    if len(ends) < 2 or not ends[0] < ends[1] < curve.total_bytes:
        return None
    rates = [curve.mean_between(*ends[:2]), curve.mean_between(ends[1], curve.total_bytes)]
    return ends[1] if max(rates) / min(rates) >= APART else None


_Part = tuple[float, float, float, float]


def _joined(left: _Part, right: _Part, *, both: bool) -> _Part:
    """Two neighbours as one, measured on both or on the longer one alone."""
    longer = max(left, right, key=lambda part: part[3] - part[2])
    from_, to = (left[2], right[3]) if both else longer[2:]
    return left[0], right[1], from_, to
