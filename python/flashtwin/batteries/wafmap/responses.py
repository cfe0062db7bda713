"""The write amplification that each firmware shows under a load, and how far one drive is off it.

`responses.toml` has it as a function of ratios: the share of the flash that holds data, and a
zone's size over a superblock's. A firmware is a choice of victims and a separation: whether copies
share superblocks with the host's writes. Sizes are bytes; arrays of them are broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
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
# A figure may be off by this share: by counters, by settling, and by the table, whose hot pages are
# classes. Zones are cheap or dear by how they fall into superblocks too: the table has how far
# drives scatter by it.
NOISE = {"sequential": 0.015, "uniform": 0.015, "zipf": 0.08, "zones": 0.03}
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
