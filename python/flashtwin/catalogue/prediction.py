"""What a label lets one expect of a drive, with intervals, from the drives that reviewers filled.

A label says neither how large the cache is nor how fast the drive is past it. Drives of the market
say it, each counting by how near its class is: cells, generation of the link, DRAM, size, and the
controller's maker and model where they are known. The middle is their weighted median. How far it
was off on every drive that was reviewed, with that drive left out, says how wide an interval of
90 % is (conformal; Lei and others, JASA 113, 2018). Invariants: `flashtwin new` writes the middle
of these intervals; a drive's own review can be left out, by which all of this is tested. Source:
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
# controller of another maker, and for each doubling of its size. Choices: what was off least on the
# caches of drives left out, of 1,728 that were tried; and the same for rates, where they are not
# better than others that were tried.
OTHER_CELL, GENERATION, OTHER_DRAM, OTHER_MAKER, DOUBLING = 3.0, 1.0, 1.0, 3.0, 0.5
# For another model of the controller. It counts for the cache, which its firmware borrows; rates
# are the flash's, and on drives left out the model makes them no likelier.
OTHER_MODEL = 1.0
# A drive sold as 1 TB has up to 1,024 GiB of flash, and caches of all of it were seen.
RAW = (1 << 40) / 1e12
# The share of drives not known yet that an interval is to hold.
HOLDS = 0.9
FEWEST = 3
# What no rate is above: the link, in bytes a second.
LINKS = {"sata": 550e6, "pcie3": 3.5e9, "pcie4": 7e9, "pcie5": 14e9}
GENERATIONS = ("sata", "pcie3", "pcie4", "pcie5")
CACHE, RATE, MEAN = "cache on the erased drive", "writing past the cache", "mean of a whole fill"
# With twice the capacity the cache's bytes and the rates grow by these powers of two.
GROWS = {CACHE: 1.0, RATE: 0.5, MEAN: 0.3}
TELLS = "flashtwin test TARGET --battery fill shows it"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a label says of a drive's class. `controller` is the name of the controller's maker, and
    `model` the controller's own; each is None where it is not known."""

    capacity: float
    cell: str
    interface: str
    has_dram: bool
    controller: str | None = None
    model: str | None = None


class Prediction(NamedTuple):
    """A quantity in bytes or bytes a second, with what a reader should know of it."""

    title: str
    unit: str
    low: float
    middle: float
    high: float
    note: str


@dataclass(frozen=True, kw_only=True)
class Reviewed:
    """A drive that a reviewer filled, and what was seen of it in bytes or bytes a second, by
    title."""

    id: str
    kind: Kind
    seen: dict[str, float]


@lru_cache(maxsize=1)
def reviewed() -> tuple[Reviewed, ...]:
    """All drives that were reviewed, those of the catalogue first."""
    table = read_toml(MARKET)
    with_twins = [
        (row, kind_of(str(row["id"]), row["controller"], row.get("model")))
        for row in (*table["drive"], *(_of_published(row) for row in table["published"]))
    ]
    others = [(row, _kind_told(row)) for row in table["reviewed"]]
    return tuple(
        Reviewed(id=str(row["id"]), kind=kind, seen=_seen(row)) for row, kind in with_twins + others
    )


def _kind_told(row: Mapping[str, Any]) -> Kind:
    """The class of a drive that has no twin, as its row says it."""
    return Kind(
        capacity=row["capacity"] * 1e9,
        cell=row["cell"],
        interface=row["interface"],
        has_dram=row["dram"],
        controller=row.get("controller"),
        model=row.get("model"),
    )


def _seen(row: Mapping[str, Any]) -> dict[str, float]:
    """The figures of a row by title, in bytes and bytes a second."""
    past = row.get("rate_past_both", row.get("rate_past_it"))
    figures = {
        CACHE: row.get("first_plateau", 0.0) * 1e9,
        RATE: (past or 0.0) * 1e6,
        MEAN: row.get("mean", 0.0) * 1e6,
    }
    return {title: value for title, value in figures.items() if value}


def _of_published(row: Mapping[str, str]) -> Mapping[str, Any]:
    """A row whose figures stand in published.toml, in GB and MB/s."""
    figures = {
        fact.metric: fact.value / {"MB": 1e3}.get(fact.unit, 1.0)
        for fact in reversed(of_articles())
        if fact.drives == (row["id"],) and fact.value is not None
    }
    return {key: figures.get(value, value) for key, value in row.items()}


def kind_of(drive: str, controller: str | None = None, model: str | None = None) -> Kind:
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
        model=model,
    )


def makers() -> tuple[str, ...]:
    """Makers of the controllers of drives that were reviewed."""
    known = {drive.kind.controller for drive in reviewed()}
    return tuple(sorted(maker for maker in known if maker is not None))


def models() -> Mapping[str, str]:
    """Models of the controllers of drives that were reviewed, each with its maker."""
    pairs = {(drive.kind.model, drive.kind.controller) for drive in reviewed()}
    return {
        model: maker
        for model, maker in sorted(pairs, key=str)
        if model is not None and maker is not None
    }


def predictions(kind: Kind, *, without: Collection[str] = ()) -> list[Prediction]:
    """What to expect of a drive; nothing where fewer than three with its cells were reviewed.

    `without`: ids of drives whose reviews are not used.
    """
    known = [drive for drive in reviewed() if drive.id not in without]
    result = []
    for title, unit in ((CACHE, "B"), (RATE, "B/s"), (MEAN, "B/s")):
        drives = [drive for drive in known if title in drive.seen]
        alike = sum(drive.kind.cell == kind.cell for drive in drives)
        if alike < FEWEST:
            continue
        wide = math.exp(_off(title, kind, drives))
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
        return kind.capacity * RAW / BITS[kind.cell]
    return LINKS[kind.interface]


def _middle(title: str, kind: Kind, drives: Sequence[Reviewed]) -> float:
    """The median of the drives by their weights, each as large as the drive that is asked for."""
    grows = GROWS[title]
    logs = np.array(
        [
            math.log(drive.seen[title]) + grows * math.log(kind.capacity / drive.kind.capacity)
            for drive in drives
        ]
    )
    weights = np.array([math.exp(-_apart(title, kind, drive.kind)) for drive in drives])
    order = np.argsort(logs)
    shares = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    middle = math.exp(float(np.interp(0.5, shares, logs[order])))
    return min(middle, _most(title, kind))


def _apart(title: str, kind: Kind, other: Kind) -> float:
    """How far two classes are apart, where a quantity is asked for."""
    generations = GENERATIONS.index(kind.interface) - GENERATIONS.index(other.interface)
    makers_differ = None not in (kind.controller, other.controller) and (
        kind.controller != other.controller
    )
    models_differ = title == CACHE and kind.model is not None and kind.model != other.model
    return (
        OTHER_CELL * (kind.cell != other.cell)
        + GENERATION * abs(generations)
        + OTHER_DRAM * (kind.has_dram != other.has_dram)
        + OTHER_MAKER * makers_differ
        + OTHER_MODEL * models_differ
        + DOUBLING * abs(math.log2(kind.capacity / other.capacity))
    )


def _off(title: str, label: Kind, drives: Sequence[Reviewed]) -> float:
    """The logarithm of the factor by which the middle is off at most in `HOLDS` of drives, where no
    more is told of their controllers than the label tells."""
    off = []
    for drive in drives:
        kind = replace(
            drive.kind,
            controller=drive.kind.controller if label.controller is not None else None,
            model=drive.kind.model if label.model is not None else None,
        )
        others = [other for other in drives if other is not drive]
        off.append(abs(math.log(_middle(title, kind, others) / drive.seen[title])))
    rank = min(math.ceil(HOLDS * (len(off) + 1)), len(off))
    return sorted(off)[rank - 1]
