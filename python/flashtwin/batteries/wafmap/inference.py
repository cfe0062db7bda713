"""What write amplification, or rates, under several loads say of a drive's spare flash, of its
superblock and of how it chooses victims.

Every combination of flash, superblock and firmware is weighed by how well it explains all loads at
once, by the table of `responses`, and what the erased drive took (`erased`). Of a drive without
counters only rates are known: a byte written and a byte moved then take times of their own, which
follow by least squares. Invariant: arrays in, facts out; nothing here knows a drive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtwin.batteries.wafmap.erased import amount_of, misfit_of_amount
from flashtwin.batteries.wafmap.responses import (
    FIRMWARES,
    NOISE,
    POLICIES,
    Floats,
    Load,
    noise_of_zones,
    response,
)

# Flash over the largest span, at least and at most, and how many sizes are weighed.
FLASH, FLASHES = (0.03, 1.2), 150
# Superblocks that are weighed, 3 % apart, from this part of the smallest zone to this many times
# the largest one.
STEP, SMALLEST, LARGEST = 0.03, 1 / 8, 4.0
# Without zones: parts of the span.
SHARES_OF_SPAN, SUPERBLOCKS = (1 / 4000, 1 / 50), 12
# Zones that are whole multiples of a superblock may lie on its borders: up to this part of a zone
# is weighed so, with this probability of all of them together.
PARTS, ON_BORDERS = 4, 0.3
# A rate may be off by this share more, and a byte takes longer or shorter by the other one where e
# times fewer requests are outstanding. One figure in twenty is off by six times as much.
NOISE_RATE, NOISE_FEWER = 0.02, 0.05
ODD, ODD_TIMES = 0.05, 6.0
# Zones that are written slower than in order by this share show that they cost something.
SLOW_ZONES = 0.1
# A moved byte is read and programmed, one of a long write programmed or waited for at the link: it
# takes as long, give or take this share (assumed).
MOVED_AS_LONG = 0.8
SHARES = (0.025, 0.5, 0.975)


@dataclass(frozen=True, kw_only=True)
class Inferred:
    """Medians with 95 % intervals in bytes; `superblock` is none where no zones were written.

    `weights` has the probability of each firmware, flash and superblock, whose values are `at`.
    """

    flash: tuple[float, float, float]
    superblock: tuple[float, float, float] | None
    policies: Mapping[str, float]
    weights: Floats
    at: tuple[Floats, Floats]


def inferred(loads: Sequence[Load], capacity_bytes: int = 0) -> Inferred | None:
    """Flash, superblock and choice of victims that all loads together tell; none where neither
    single pages nor zones were written. No drive has less flash than `capacity_bytes`."""
    zones = [load for load in loads if load.kind == "zones"]
    if not zones and not any(load.kind in ("uniform", "zipf") for load in loads):
        return None
    span = max(load.span_bytes for load in loads)
    ends = max(span * (1 + FLASH[0]), capacity_bytes), max(span, capacity_bytes) * (1 + FLASH[1])
    known = amount_of(loads)
    most = max(ends[1], ends[1] if known is None else known[0] * (1 + FLASH[0]))
    flash = span + np.geomspace(ends[0] - span, most - span, FLASHES)
    superblock, prior, on_borders = _superblocks(zones, span)
    against = np.stack(
        [_against(each, loads, flash[:, None], superblock, on_borders) for each in FIRMWARES]
    )
    against = against + misfit_of_amount(loads, flash[:, None], superblock)
    weights = np.exp((against.min() - against) / 2) * prior
    weights /= weights.sum()
    return Inferred(
        flash=_quantiles(flash, weights.sum(axis=(0, 2))),
        superblock=_quantiles(superblock, weights.sum(axis=(0, 1))) if zones else None,
        policies={
            policy: float(
                weights[[at for at, each in enumerate(FIRMWARES) if each[0] == policy]].sum()
            )
            for policy in POLICIES
        },
        weights=weights,
        at=(flash, superblock),
    )


def _superblocks(
    zones: Sequence[Load], span_bytes: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Sizes in order, their prior probabilities, and which are those with zones on borders."""
    if not zones:
        # Nothing but what is in hand depends on them.
        at: Floats = span_bytes * np.geomspace(*SHARES_OF_SPAN, SUPERBLOCKS)
        return at, np.full(at.size, 1 / at.size), np.zeros(at.size, dtype=bool)
    sizes = [load.zone_bytes for load in zones]
    ends = np.log(min(sizes) * SMALLEST), np.log(max(sizes) * LARGEST)
    spread = np.exp(np.arange(*ends, STEP))
    bordered = np.array(sorted({size / part for size in sizes for part in range(1, PARTS + 1)}))
    at = np.concatenate([spread, bordered])
    prior = np.concatenate(
        [
            np.full(spread.size, (1 - ON_BORDERS) / spread.size),
            np.full(bordered.size, ON_BORDERS / bordered.size),
        ]
    )
    order = np.argsort(at, kind="stable")
    return at[order], prior[order], (np.arange(at.size) >= spread.size)[order]


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """What a load would show on each flash with each superblock, and the share it may be off."""

    load: Load
    waf: Floats
    noise: Floats


def _shown(
    firmware: tuple[str, str],
    load: Load,
    flash: Floats,
    superblock: Floats,
    borders: NDArray[np.bool_],
) -> _Shown:
    """The response; on borders zones that are whole multiples cost nothing."""
    shape = (flash.size, superblock.size)
    if load.kind != "zones":
        waf = np.broadcast_to(response(firmware, load, flash), shape)
        noise = np.full(shape, np.hypot(NOISE[load.kind], load.noise))
        return _Shown(load=load, waf=waf, noise=noise)
    sizes = superblock[None, :]
    waf = response(firmware, load, flash, sizes)
    noise = np.hypot(noise_of_zones(firmware, load, flash, sizes), load.noise)
    fits = (borders & (np.abs(load.zone_bytes / superblock % 1) < 1e-9))[None, :]
    known = np.hypot(NOISE["zones"], load.noise)
    return _Shown(load=load, waf=np.where(fits, 1.0, waf), noise=np.where(fits, known, noise))


def _against(
    firmware: tuple[str, str],
    loads: Sequence[Load],
    flash: Floats,
    superblock: Floats,
    borders: NDArray[np.bool_],
) -> Floats:
    """Twice the negative log likelihood of each flash and superblock."""
    overhead = next(
        (load.waf for load in loads if load.kind == "sequential" and load.waf is not None), 1.0
    )
    total: Floats = np.zeros((flash.size, superblock.size))
    rates: list[_Shown] = []
    for load in loads:
        shown = _shown(firmware, load, flash, superblock, borders)
        if load.waf is not None:
            off = np.log(np.maximum(shown.waf * overhead, 1.0) / load.waf)
            total = total + _unlikely(off, shown.noise)
        elif load.rate is not None:
            rates.append(shown)
    return total + _by_rates(rates) if rates else total


def shows_nothing(loads: Sequence[Load]) -> bool:
    """True where only rates are known, and either no amount that the erased drive took, or no zones
    that are slower than the write in order: any flash and any superblock would explain these."""
    if any(load.waf is not None for load in loads):
        return False
    in_order = [load.rate for load in loads if load.kind == "sequential" and load.rate]
    of_zones = [load.rate for load in loads if load.kind == "zones" and load.rate]
    slower = bool(in_order and of_zones) and min(of_zones) < (1 - SLOW_ZONES) * max(in_order)
    return amount_of(loads) is None or (bool(of_zones) and not slower)


def _unlikely(off: Floats, noise: Floats) -> Floats:
    """Twice the negative log likelihood of figures whose logarithms are `off`, some of them odd."""
    usual = (1 - ODD) * np.exp(-((off / noise) ** 2) / 2)
    odd = ODD / ODD_TIMES * np.exp(-((off / noise / ODD_TIMES) ** 2) / 2)
    unlikely: Floats = -2 * np.log((usual + odd + 1e-300) / noise)
    return unlikely


def _by_rates(rates: Sequence[_Shown]) -> Floats:
    """How badly `1/rate = a + b * moved` explains rates, with the best times.

    A byte takes an `a` of its own for each size of requests, in order or not, and nearly the same
    where fewer are outstanding: small zones have room for fewer, and times of their own would
    explain whatever these cost. What a moved byte takes does not depend on how it was written, and
    is not far from a byte of the longest requests.
    """
    rate = np.array([shown.load.rate or 0.0 for shown in rates])[:, None, None]
    moved = np.stack([shown.waf - 1 for shown in rates])
    ways = [(shown.load.requests[0], shown.load.kind in ("sequential", "zones")) for shown in rates]
    outstanding = np.array([max(shown.load.requests[1], 1) for shown in rates], dtype=np.float64)
    most = [max(outstanding[at] for at, own in enumerate(ways) if own == way) for way in ways]
    fewer = NOISE_FEWER * np.log(np.array(most) / outstanding)[:, None, None]
    noise = np.sqrt(np.stack([shown.noise for shown in rates]) ** 2 + NOISE_RATE**2 + fewer**2)
    # Relative errors: every row is multiplied by its rate.
    columns = np.stack(
        [
            rate * np.array([float(own == way) for own in ways])[:, None, None] + 0 * moved
            for way in sorted(set(ways))
        ]
        + [rate * moved]
    )
    weighted = columns / noise**2
    left = np.einsum("ilfs,jlfs->fsij", weighted, columns)
    right = weighted.sum(axis=1).transpose(1, 2, 0)
    # A row more: what is moved takes as long as a byte of the longest requests, give or take.
    alike = np.zeros(len(columns))
    alike[-2:] = -1.0, 1.0
    longest = [each for each, way in zip(rate.ravel(), ways, strict=True) if way == max(ways)]
    alike *= float(np.median(longest)) / MOVED_AS_LONG
    left = left + np.outer(alike, alike)
    scale = np.maximum(np.sqrt(np.einsum("fsii->fsi", left)), 1e-300)
    left = left / scale[..., :, None] / scale[..., None, :] + 1e-9 * np.eye(len(columns))
    times = np.linalg.solve(left, (right / scale)[..., None])[..., 0] / scale
    times = np.maximum(times, 0.0)
    off = 1 - np.einsum("ilfs,fsi->lfs", columns, times)
    against: Floats = np.sum(_unlikely(off, noise), axis=0) + (times @ alike) ** 2
    return against


def _quantiles(at: Floats, weight: Floats) -> tuple[float, float, float]:
    """Median and ends of the middle 95 %, between the points of the grid."""
    below = (np.cumsum(weight) - weight / 2) / max(float(weight.sum()), 1e-300)
    low, middle, high = (float(np.interp(share, below, at)) for share in SHARES)
    return middle, low, high


def telling(known: Inferred, span_bytes: int, zones: Sequence[int], draws: int = 400) -> Floats:
    """For each size of zones how much a run with them would tell: the standard deviation of the
    logarithm of the amplification over what is still possible, over that of one drive."""
    flat = known.weights.ravel()
    # Evenly spaced draws: the same points for the same weights.
    picked = np.searchsorted(np.cumsum(flat), (np.arange(draws) + 0.5) / draws * flat.sum())
    firmware, at_flash, at_superblock = np.unravel_index(
        np.minimum(picked, flat.size - 1), known.weights.shape
    )
    flash, superblock = known.at[0][at_flash], known.at[1][at_superblock]
    promise = []
    for zone in zones:
        load = Load(kind="zones", span_bytes=span_bytes, zone_bytes=zone)
        shown, noise = np.empty(draws), np.empty(draws)
        for each in np.unique(firmware):
            of = firmware == each
            shown[of] = response(FIRMWARES[each], load, flash[of], superblock[of])
            noise[of] = noise_of_zones(FIRMWARES[each], load, flash[of], superblock[of])
        promise.append(float(np.log(shown).std() / np.sqrt(np.mean(noise**2))))
    return np.array(promise)
