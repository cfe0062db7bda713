"""What write amplification, or rates, under several loads say of a drive's spare flash, of its
superblock and of how it chooses victims.

`responses.toml` has the write amplification of each firmware that is weighed, as a function of
ratios: the share of the flash that holds data, and a zone's size over a superblock's. A firmware is
a choice of victims and a separation: whether copies share superblocks with the host's writes. Every
combination of flash, superblock and firmware is weighed by how well it explains all loads at once.
How much an erased drive takes before it slows down is its flash, whatever it does afterwards.
Of a drive without counters only rates are known: a byte written and a byte moved then take times of
their own, which follow by least squares. Invariant: arrays in, facts out; nothing here knows a
drive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from flashtwin.inputs import read_toml

Floats = NDArray[np.float64]
Kind = Literal["sequential", "uniform", "zipf", "zones"]

RESPONSES = Path(__file__).with_name("responses.toml")
POLICIES = ("greedy", "d-choices", "fifo", "cost-benefit")
SEPARATIONS = ("none", "gc", "sepbit")
FIRMWARES = tuple(product(POLICIES, SEPARATIONS))
THETA = 0.8
# Pages of the spans for which skewed writes are in the table: hot pages of a large one are hotter.
PAGES = (1 << 18, 1 << 28)
USED = (0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.92, 0.95)
ZONES_USED = (0.5, 0.62, 0.7, 0.77, 0.83, 0.88, 0.93)
BELOW_ONE = (0.08, 0.13, 0.19, 0.27, 0.34, 0.4, 0.47, 0.53, 0.6, 0.65, 0.72, 0.78, 0.84, 0.9, 0.96)
ABOVE_ONE = (1.03, 1.09, 1.15, 1.22, 1.3, 1.37, 1.43, 1.55, 1.7, 1.85, 1.97, 2.4, 3.0)
RATIOS = (*BELOW_ONE, *ABOVE_ONE)
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
# A figure may be off by this share: by counters, by settling, and by the table, whose hot pages are
# classes. Zones are cheap or dear by how they fall into superblocks too: the table has how far
# drives scatter by it. One figure in twenty is off by six times as much.
NOISE = {"sequential": 0.015, "uniform": 0.015, "zipf": 0.08, "zones": 0.03}
NOISE_RATE = 0.02
# A byte takes longer or shorter by this share where e times fewer requests are outstanding.
NOISE_FEWER = 0.05
ODD, ODD_TIMES = 0.05, 6.0
# An erased drive writes at one rate until collection begins: for as much as it has of flash, and
# the superblocks that are open or in hand beyond it (give or take). It ends with a sample below
# SLOWER of that rate, if TURNS of LASTS samples from there on are as slow, two of them among the
# first SOON, and the mean of twice as many below STAYS of it.
IN_HAND, IN_HAND_SPREAD = 1.7, 0.6
SLOWER, STAYS, SOON, TURNS, LASTS, LEAST_SAMPLES = 0.8, 0.92, 5, 3, 10, 5
# Amounts that differ by more than this, and the grain of a sample, are not one. How far they may be
# off together, and one alone; how likely it is that the drive slowed down for another reason. By
# this share what the loads tell may lie beside it.
ONE_AMOUNT, OTHER_AMOUNT = 0.0075, 0.02
# Zones that are written slower than in order by this share show that they cost something.
SLOW_ZONES = 0.1
NOISE_ERASED, NOISE_ALONE, ELSE = 0.005, 0.05, 0.1
# A moved byte is read and programmed, one of a long write programmed or waited for at the link: it
# takes as long, give or take this share (assumed).
MOVED_AS_LONG = 0.8
SHARES = (0.025, 0.5, 0.975)
PAGE = 4096


@dataclass(frozen=True, kw_only=True)
class Load:
    """A load over a span with the write amplification that was counted, or the rate in bytes a
    second. `noise` is the share by which the counters' grain may put the amplification off;
    `requests` has the size of a request in bytes and how many are outstanding; `erased` how many
    bytes the erased drive took, with what was written in order before, until it slowed down, and
    by how many this may be off."""

    kind: Kind
    span_bytes: int
    zone_bytes: int = 0
    waf: float | None = None
    rate: float | None = None
    noise: float = 0.0
    requests: tuple[int, int] = (0, 0)
    erased: tuple[float, float] | None = None


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


@cache
def _table() -> Mapping[str, Any]:
    return read_toml(RESPONSES)


def name_of(firmware: tuple[str, str]) -> str:
    """The firmware's name in the table."""
    return " ".join(firmware)


def spread_of(zones: str) -> str:
    """The name of the row that says how far single drives lie from those of `zones`."""
    return f"spread of {zones}"


@cache
def _curve(firmware: tuple[str, str], kind: str) -> Floats:
    return np.array(_table()[name_of(firmware)][kind])


@cache
def _surface(firmware: tuple[str, str], *, spread: bool = False) -> Floats:
    rows, names = _table()[name_of(firmware)], [f"zones {used:g}" for used in ZONES_USED]
    if not spread:
        return np.array([rows[name] for name in names])
    # A few drives tell a spread roughly: the largest of it and its neighbours counts.
    own = np.pad(np.array([rows[spread_of(name)] for name in names]), ((0, 0), (1, 1)), mode="edge")
    largest: Floats = np.maximum(own[:, 1:-1], np.maximum(own[:, :-2], own[:, 2:]))
    return largest


def response(
    firmware: tuple[str, str], load: Load, flash: Floats, superblock: Floats | None = None
) -> Floats:
    """The write amplification of a load on each flash, and with each superblock where it is of
    zones; their shapes are broadcast."""
    used = load.span_bytes / flash
    if load.kind == "sequential":
        return np.ones_like(used)
    if load.kind == "zones":
        assert superblock is not None, "zones have superblocks"
        return _of_zones(firmware, used, load.zone_bytes / superblock)
    return _of_pages(used, _pages_curve(firmware, load))


def _pages_curve(firmware: tuple[str, str], load: Load) -> Floats:
    if load.kind == "uniform":
        return _curve(firmware, "uniform")
    fewest, most = (np.log(pages) for pages in PAGES)
    part = float(np.clip((np.log(load.span_bytes / PAGE) - fewest) / (most - fewest), 0.0, 1.0))
    small, large = (_curve(firmware, f"zipf {pages}") for pages in PAGES)
    curve: Floats = (1 - part) * small + part * large
    return curve


def _of_pages(used: Floats, values: Floats) -> Floats:
    """Straight lines over 1 / spare share, for amplification grows as that."""
    spare, known = 1 / (1 - np.clip(used, 0.0, 0.995)), 1 / (1 - np.array(USED))
    grown = np.interp(spare, [1.0, *known], [1.0, *values])
    beyond = spare > known[-1]
    shown: Floats = np.where(beyond, values[-1] * spare / known[-1], grown)
    return shown


def _of_zones(firmware: tuple[str, str], used: Floats, ratio: Floats) -> Floats:
    value = _between(_surface(firmware), used, ratio)
    # Zones have room enough below the table's first share that little is moved; a zone far smaller
    # than a superblock is as good as a random page.
    little = np.clip(used / ZONES_USED[0], 0.0, 1.0)
    tiny = np.clip(ratio / RATIOS[0], 0.0, 1.0)
    pages = _of_pages(used, _curve(firmware, "uniform"))
    moved: Floats = 1 + (tiny * (value - 1) + (1 - tiny) * (pages - 1)) * little
    return moved


def _between(surface: Floats, used: Floats, ratio: Floats) -> Floats:
    """Values between the points of a table over shares and ratios."""
    log_ratio, places = np.log(ratio), np.log(RATIOS)
    rows = np.stack([np.interp(log_ratio, places, row) for row in surface], axis=-1)
    # Straight lines over 1 / spare share, as between single pages.
    known = 1 / (1 - np.array(ZONES_USED))
    place = np.interp(1 / (1 - np.clip(used, 0.0, ZONES_USED[-1])), known, np.arange(known.size))
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, len(ZONES_USED) - 1)
    part = place - low
    shape = np.broadcast_shapes(used.shape, ratio.shape)
    rows = np.broadcast_to(rows, (*shape, rows.shape[-1]))
    below, above = (
        np.take_along_axis(rows, np.broadcast_to(each, shape)[..., None], axis=-1)[..., 0]
        for each in (low, high)
    )
    value: Floats = (1 - part) * below + part * above
    return value


def noise_of_zones(
    firmware: tuple[str, str], load: Load, flash: Floats, superblock: Floats
) -> Floats:
    """The share by which zones of one drive may cost more or less than the table has."""
    spread = _between(
        _surface(firmware, spread=True), load.span_bytes / flash, load.zone_bytes / superblock
    )
    noise: Floats = np.hypot(NOISE["zones"], spread)
    return noise


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


def inferred(loads: Sequence[Load], capacity_bytes: int = 0) -> Inferred | None:
    """What the loads say together; none where no random load and no zones were written.

    A drive has flash for its capacity at least.
    """
    zones = [load for load in loads if load.kind == "zones"]
    if not zones and not any(load.kind in ("uniform", "zipf") for load in loads):
        return None
    span = max(load.span_bytes for load in loads)
    ends = max(span * (1 + FLASH[0]), capacity_bytes), max(span, capacity_bytes) * (1 + FLASH[1])
    known = _amount(loads)
    most = max(ends[1], ends[1] if known is None else known[0] * (1 + FLASH[0]))
    flash = span + np.geomspace(ends[0] - span, most - span, FLASHES)
    superblock, prior, on_borders = _superblocks(zones, span)
    against = np.stack(
        [_against(each, loads, flash[:, None], superblock, on_borders) for each in FIRMWARES]
    )
    against = against + _by_erased(loads, flash[:, None], superblock)
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


def _amount(loads: Sequence[Load]) -> tuple[float, float, float] | None:
    """What the erased drive took before it slowed down, by how many bytes a sample may put that
    off, and by which share all together may be off; none where amounts differ."""
    amounts = [load.erased for load in loads if load.erased is not None]
    if not amounts or apart(loads) is not None:
        return None
    own = NOISE_ERASED if len(amounts) > 1 else NOISE_ALONE
    middle = float(np.median([amount for amount, _ in amounts]))
    return middle, max(grain for _, grain in amounts), own


def against_amount(loads: Sequence[Load], known: Inferred) -> tuple[float, float] | None:
    """What the erased drive took before it slowed down, and what it would take by all that it
    showed together, where these differ: then a load moved what no drive of the table moves."""
    amount = _amount(loads)
    if amount is None:
        return None
    middle, grain, own = amount
    fitting = known.flash[0] + IN_HAND * (known.superblock or (0.0,))[0]
    if abs(np.log(fitting / middle)) <= OTHER_AMOUNT * own / NOISE_ERASED + grain / middle:
        return None
    return middle, fitting


def _by_erased(loads: Sequence[Load], flash: Floats, superblock: Floats) -> Floats:
    """How badly a flash explains what the erased drive took before it slowed down."""
    amount = _amount(loads)
    if amount is None:
        return np.zeros((flash.size, superblock.size))
    middle, grain, own = amount
    off = np.log((flash + IN_HAND * superblock) / middle)
    noise = np.sqrt(own**2 + (grain / middle) ** 2 + (IN_HAND_SPREAD * superblock / flash) ** 2)
    likely = (1 - ELSE) * np.exp(-((off / noise) ** 2) / 2) / noise / np.sqrt(2 * np.pi)
    unlikely: Floats = -2 * np.log(likely + ELSE / np.log(flash.max() / flash.min()))
    return unlikely


def shows_nothing(loads: Sequence[Load]) -> bool:
    """True where only rates are known, and either no amount that the erased drive took, or no zones
    that are slower than the write in order: any flash and any superblock would explain these."""
    if any(load.waf is not None for load in loads):
        return False
    in_order = [load.rate for load in loads if load.kind == "sequential" and load.rate]
    of_zones = [load.rate for load in loads if load.kind == "zones" and load.rate]
    slower = bool(in_order and of_zones) and min(of_zones) < (1 - SLOW_ZONES) * max(in_order)
    return _amount(loads) is None or (bool(of_zones) and not slower)


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
