"""What a label lets one expect of a drive, with intervals, from the drives that reviewers filled.

A label says neither how large the cache is nor how fast the drive is past it. Drives of the market
with the same cells say how far drives differ: the cache as a share of the capacity, and the rate
past it for each die of the usual size. A controller may be too slow for many dies: a drive can be
as slow as the slowest of them, however many dies it has. Invariants: an interval reaches from the
least to the most of them, and a factor of `BEYOND` further, as there are few; a drive's own review
can be left out, by which the intervals are tested (35 of 37 hold). Source: `market.toml`.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

from flashtwin.catalogue import MARKET, PRIORS
from flashtwin.catalogue.loader import load
from flashtwin.inputs import read_toml
from flashtwin.model.units import parse_size

BEYOND = 1.25
# A cache this near to all cells at one bit each is the whole drive.
WHOLE_DRIVE = 0.85
FEWEST = 3
DIES = 128
BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4}
# What no rate is above: the link, in bytes a second.
LINKS = {"sata": 550e6, "pcie3": 3.5e9, "pcie4": 7e9, "pcie5": 14e9}


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """A quantity in bytes or bytes a second, with what a reader should know of it."""

    title: str
    unit: str
    low: float
    middle: float
    high: float
    note: str


@dataclass(frozen=True, kw_only=True)
class _Reviewed:
    """A drive that a reviewer filled: share of its cache, rate past it, that for each usual die."""

    id: str
    cell: str
    share: float | None
    rate: float | None
    die_rate: float | None


def usual_dies(capacity: float, cell: str) -> int:
    """As many dies of the usual size as hold a capacity."""
    die = _die_bytes(cell)
    return int(min(max(2 ** math.ceil(math.log2(max(1.02 * capacity / die, 1.0))), 1), DIES))


@lru_cache(maxsize=8)
def _die_bytes(cell: str) -> int:
    return parse_size(read_toml(PRIORS)["dies"][cell])


@lru_cache(maxsize=1)
def _reviewed() -> tuple[_Reviewed, ...]:
    drives = []
    for row in read_toml(MARKET)["drive"]:
        spec = load(row["id"])
        cell = str(next(v["value"] for v in spec.values() if v["key"] == "nand.cell"))
        first, past = row.get("first_plateau"), row.get("rate_past_it")
        dies = usual_dies(spec.capacity_bytes, cell)
        drives.append(
            _Reviewed(
                id=str(row["id"]),
                cell=cell,
                share=None if first is None else first * 1e9 / spec.capacity_bytes,
                rate=None if past is None else past * 1e6,
                die_rate=None if past is None else past * 1e6 / dies,
            )
        )
    return tuple(drives)


def predictions(
    capacity: float, cell: str, interface: str, *, without: Collection[str] = ()
) -> list[Prediction]:
    """What to expect of a drive; nothing where fewer than three of its kind were reviewed.

    `without`: ids of drives whose reviews are not used.
    """
    known = [drive for drive in _reviewed() if drive.cell == cell and drive.id not in without]
    shares = [drive.share for drive in known if drive.share is not None]
    rates = [drive.die_rate for drive in known if drive.die_rate is not None]
    slowest = min((drive.rate for drive in known if drive.rate is not None), default=math.inf)
    result = []
    if len(shares) >= FEWEST:
        most = 1 / BITS[cell]
        all_of_it = sum(share >= WHOLE_DRIVE * most for share in shares)
        low, high = min(shares) / BEYOND, min(max(shares) * BEYOND, 1.1 * most)
        result.append(
            Prediction(
                title="cache on the erased drive",
                unit="B",
                low=low * capacity,
                middle=median(shares) * capacity,
                high=high * capacity,
                note=f"{len(shares)} reviewed drives with {cell.upper()}; in {all_of_it} of them "
                f"the cache is the whole drive, at 1/{BITS[cell]} of its capacity",
            )
        )
    if len(rates) >= FEWEST:
        dies, link = usual_dies(capacity, cell), LINKS.get(interface, math.inf)
        low, middle, high = min(rates) / BEYOND, median(rates), max(rates) * BEYOND
        result.append(
            Prediction(
                title="writing past the cache",
                unit="B/s",
                low=min(low * dies, slowest / BEYOND, link),
                middle=min(middle * dies, link),
                high=min(high * dies, link),
                note=f"{len(rates)} reviewed drives with {cell.upper()}: {low / 1e6:.0f} to "
                f"{high / 1e6:.0f} MB/s for each of {dies} dies of the usual size, as far as the "
                "controller and the link are that fast",
            )
        )
    return result
