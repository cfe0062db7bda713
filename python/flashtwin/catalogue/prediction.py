"""What a label lets one expect of a drive, with intervals, from the drives that reviewers filled.

A label says neither how large the cache is nor how fast the drive is past it. Drives of the market
say it, each counting by how near its class is: cells, generation of the link, DRAM, maker of the
controller where it is known, size. The middle is their weighted median. How far it was off on
every drive that was reviewed, with that drive left out, says how wide an interval of 90 % is
(conformal; Lei and others, JASA 113, 2018). Invariants: `flashtwin new` writes the middle of these
intervals; a drive's own review can be left out, by which all of this is tested. Source:
`market.toml`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from flashtwin.catalogue import MARKET
from flashtwin.catalogue.facts import of_articles
from flashtwin.catalogue.loader import load
from flashtwin.inputs import read_toml
from flashtwin.model.cells import BITS
from flashtwin.model.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

# A drive counts less by the exponential of how far its class is: this for other cells, for each
# generation of the link (SATA is the one before PCIe 3), for DRAM where there is none, for a
# controller of another maker, and for each doubling of its size. Choices: of 72 that were tried
# these are among the ten that are off least on drives left out; the errors of most differ little.
OTHER_CELL, GENERATION, OTHER_DRAM, OTHER_MAKER, DOUBLING = 3.0, 1.0, 0.5, 2.0, 1.0
# With twice the capacity a rate grows by this power of two, and the cache's bytes by the other.
RATE_GROWS, CACHE_GROWS = 0.3, 0.5
# The share of drives not known yet that an interval is to hold.
HOLDS = 0.9
FEWEST = 3
# What no rate is above: the link, in bytes a second.
LINKS = {"sata": 550e6, "pcie3": 3.5e9, "pcie4": 7e9, "pcie5": 14e9}
GENERATIONS = ("sata", "pcie3", "pcie4", "pcie5")
CACHE, RATE, MEAN = "cache on the erased drive", "writing past the cache", "mean of a whole fill"
TELLS = "flashtwin test TARGET --battery fill shows it"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a label says of a drive's class; `controller` is its maker's name, if it is known."""

    capacity: float
    cell: str
    interface: str
    has_dram: bool
    controller: str | None = None


class Prediction(NamedTuple):
    """A quantity in bytes or bytes a second, with what a reader should know of it."""

    title: str
    unit: str
    low: float
    middle: float
    high: float
    note: str


@dataclass(frozen=True, kw_only=True)
class _Reviewed:
    """A drive that a reviewer filled, and what was seen of it, by title."""

    id: str
    kind: Kind
    seen: dict[str, float]


@lru_cache(maxsize=1)
def _reviewed() -> tuple[_Reviewed, ...]:
    table = read_toml(MARKET)
    drives = []
    for row in (*table["drive"], *(_of_published(row) for row in table["published"])):
        past = row.get("rate_past_both", row.get("rate_past_it"))
        figures = {
            CACHE: row.get("first_plateau", 0.0) * 1e9,
            RATE: (past or 0.0) * 1e6,
            MEAN: row.get("mean", 0.0) * 1e6,
        }
        drives.append(
            _Reviewed(
                id=str(row["id"]),
                kind=kind_of(str(row["id"]), str(row["controller"])),
                seen={title: value for title, value in figures.items() if value},
            )
        )
    return tuple(drives)


def _of_published(row: Mapping[str, str]) -> Mapping[str, Any]:
    """A row whose figures stand in published.toml, in GB and MB/s."""
    figures = {
        fact.metric: fact.value / {"MB": 1e3}.get(fact.unit, 1.0)
        for fact in reversed(of_articles())
        if fact.drives == (row["id"],) and fact.value is not None
    }
    return {key: figures.get(value, value) for key, value in row.items()}


def kind_of(drive: str, controller: str | None = None) -> Kind:
    """The class of a drive of the catalogue."""
    spec = load(drive)
    values = {row["key"]: str(row["value"]) for row in spec.values()}
    nvme = values["link.kind"] != "sata"
    return Kind(
        capacity=spec.capacity_bytes,
        cell=values["nand.cell"],
        interface=f"pcie{values['link.pcie_generation']}" if nvme else "sata",
        has_dram=values["map.residency"] == "dram",
        controller=controller,
    )


def makers() -> tuple[str, ...]:
    """Makers of the controllers of drives that were reviewed."""
    return tuple(sorted({str(row["controller"]) for row in read_toml(MARKET)["drive"]}))


def predictions(kind: Kind, *, without: Collection[str] = ()) -> list[Prediction]:
    """What to expect of a drive; nothing where fewer than three with its cells were reviewed.

    `without`: ids of drives whose reviews are not used.
    """
    known = [drive for drive in _reviewed() if drive.id not in without]
    result = []
    for title, unit in ((CACHE, "B"), (RATE, "B/s"), (MEAN, "B/s")):
        drives = [drive for drive in known if title in drive.seen]
        alike = sum(drive.kind.cell == kind.cell for drive in drives)
        if alike < FEWEST:
            continue
        wide = math.exp(_off(title, drives, with_controller=kind.controller is not None))
        middle, most = _middle(title, kind, drives), _most(title, kind)
        result.append(
            Prediction(
                title=title,
                unit=unit,
                low=middle / wide,
                middle=middle,
                high=min(middle * wide, most),
                note=f"90 % interval, from {len(drives)} reviewed drives, {alike} with "
                f"{kind.cell.upper()}, nearest classes first; {TELLS}",
            )
        )
    return result


def _most(title: str, kind: Kind) -> float:
    """All cells at one bit each, or what the link carries."""
    if title == CACHE:
        return kind.capacity / BITS[kind.cell]
    return LINKS[kind.interface]


def _middle(title: str, kind: Kind, drives: Sequence[_Reviewed]) -> float:
    """The median of the drives by their weights, each as large as the drive that is asked for."""
    grows = CACHE_GROWS if title == CACHE else RATE_GROWS
    logs = np.array(
        [
            math.log(drive.seen[title]) + grows * math.log(kind.capacity / drive.kind.capacity)
            for drive in drives
        ]
    )
    weights = np.array([math.exp(-_apart(kind, drive.kind)) for drive in drives])
    order = np.argsort(logs)
    shares = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    middle = math.exp(float(np.interp(0.5, shares, logs[order])))
    return min(middle, _most(title, kind))


def _apart(kind: Kind, other: Kind) -> float:
    """How far two classes are apart."""
    generations = GENERATIONS.index(kind.interface) - GENERATIONS.index(other.interface)
    makers_differ = None not in (kind.controller, other.controller) and (
        kind.controller != other.controller
    )
    return (
        OTHER_CELL * (kind.cell != other.cell)
        + GENERATION * abs(generations)
        + OTHER_DRAM * (kind.has_dram != other.has_dram)
        + OTHER_MAKER * makers_differ
        + DOUBLING * abs(math.log2(kind.capacity / other.capacity))
    )


def _off(title: str, drives: Sequence[_Reviewed], *, with_controller: bool) -> float:
    """The logarithm of the factor by which the middle is off at most in `HOLDS` of drives."""
    off = []
    for drive in drives:
        kind = drive.kind if with_controller else replace(drive.kind, controller=None)
        others = [other for other in drives if other is not drive]
        off.append(abs(math.log(_middle(title, kind, others) / drive.seen[title])))
    rank = min(math.ceil(HOLDS * (len(off) + 1)), len(off))
    return sorted(off)[rank - 1]
