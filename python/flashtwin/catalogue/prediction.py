"""What a label lets one expect of a drive, with intervals, from the drives that reviewers filled.

A label says neither how large the cache is nor how fast the drive is past it. Drives of the market
say it. What was seen of each is scaled to the class that is asked for (its size, link, DRAM and
cells), and counts by how near its own class is: by these, and by the controller's maker and model
where they are known. The middle is the weighted median. How far it was off on every drive that was
reviewed, with that drive left out and in proportion to how far its neighbours are apart, says how
wide an interval of 90 % is (conformal; Lei and others, JASA 113, 2018). Invariants: `flashtwin new`
writes the middle of these intervals; a drive's own review can be left out, by which all of this is
tested. Source: `market.toml`.
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

# A drive sold as 1 TB has up to 1,024 GiB of flash, and caches of all of it were seen.
RAW = (1 << 40) / 1e12
# The share of drives not known yet that an interval is to hold.
HOLDS = 0.9
FEWEST = 3
# Drives that agree are no proof that the next one does: this is added to the logarithm of how far
# they are apart. A choice: 0.1 to 0.8 give much the same.
AT_LEAST_APART = 0.4
# What no rate is above: the link, in bytes a second.
LINKS = {"sata": 550e6, "pcie3": 3.5e9, "pcie4": 7e9, "pcie5": 14e9}
GENERATIONS = ("sata", "pcie3", "pcie4", "pcie5")
CACHE, RATE, MEAN = "cache on the erased drive", "writing past the cache", "mean of a whole fill"
TELLS = "flashtwin test TARGET --battery fill shows it"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How what was seen of one drive is read for another.

    The first four are factors: by how much the quantity is larger with twice the capacity, on the
    next generation of the link (SATA is the one before PCIe 3), with DRAM, and with QLC. The rest
    says how far apart two classes are; a drive counts by the exponential of minus their sum:
    `other_cell` where the cells differ, `each_generation` of the link, `other_dram` where only one
    has DRAM, `other_maker` and `other_model` where their controllers differ, and `each_doubling` of
    the size.
    """

    twice: float
    generation: float = 1.0
    dram: float = 1.0
    qlc: float = 1.0
    other_cell: float = 3.0
    each_generation: float = 1.0
    other_dram: float = 1.0
    other_maker: float = 3.0
    other_model: float = 0.0
    each_doubling: float = 0.5


# All numbers are choices: round ones among those that were off least on drives left out (1,728 sets
# for caches, 320 for rates, 180 for means; docs/concepts/calibration.md). The controller's model
# counts for the cache, which its firmware borrows; it makes neither rates nor means likelier.
RULES = {
    CACHE: Rule(twice=2.0, other_model=1.0),
    RATE: Rule(twice=1.6, generation=1.2, dram=1.4, qlc=0.2),
    MEAN: Rule(
        twice=1.25,
        generation=1.2,
        dram=1.8,
        qlc=0.2,
        each_generation=0.5,
        other_dram=0.5,
        other_maker=1.0,
    ),
}


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
    title. `known` has more than `seen` where no mean is printed and the phases say it: that tells
    of other drives, and no prediction is held to it."""

    id: str
    kind: Kind
    seen: Mapping[str, float]
    known: Mapping[str, float]


@lru_cache(maxsize=1)
def reviewed() -> tuple[Reviewed, ...]:
    """All drives that were reviewed, those of the catalogue first."""
    table = read_toml(MARKET)
    with_twins = [
        (row, kind_of(str(row["id"]), row["controller"], row.get("model")))
        for row in (*table["drive"], *(_of_published(row) for row in table["published"]))
    ]
    others = [(row, _kind_told(row)) for row in table["reviewed"]]
    drives = []
    for row, kind in with_twins + others:
        seen = _seen(row)
        mean = mean_of_phases(row, kind.capacity)
        known = seen if mean is None else {MEAN: mean, **seen}
        drives.append(Reviewed(id=str(row["id"]), kind=kind, seen=seen, known=known))
    return tuple(drives)


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


def mean_of_phases(row: Mapping[str, Any], capacity: float) -> float | None:
    """The mean of a whole fill from its phases, where a row has those of a cache of one tier."""
    has_phases = {"first_plateau", "rate_in_it", "rate_past_it"} <= row.keys()
    if not has_phases or "rate_past_both" in row:
        return None
    size, cache = capacity / 1e9, row["first_plateau"]
    turn = row.get("falls_again_at", size)
    seconds = (
        cache / row["rate_in_it"]
        + (turn - cache) / row["rate_past_it"]
        + (size - turn) / row.get("rate_from_there", row["rate_past_it"])
    )
    return float(size / seconds * 1e6)


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
        drives = [drive for drive in known if title in drive.known]
        alike = sum(drive.kind.cell == kind.cell for drive in drives)
        if alike < FEWEST:
            continue
        middle, spread = _told(title, kind, drives)
        wide, most = math.exp(_off(title, kind, drives) * spread), _most(title, kind)
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


def _told(title: str, kind: Kind, drives: Sequence[Reviewed]) -> tuple[float, float]:
    """The median of the drives by their weights, each scaled to the class that is asked for; and
    how far they are from it, as a logarithm."""
    logs = np.array(
        [math.log(drive.known[title] * scaled(RULES[title], drive.kind, kind)) for drive in drives]
    )
    weights = np.array([math.exp(-_apart(RULES[title], kind, drive.kind)) for drive in drives])
    order = np.argsort(logs)
    shares = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    middle = min(math.exp(float(np.interp(0.5, shares, logs[order]))), _most(title, kind))
    spread = np.average(np.abs(logs - math.log(middle)), weights=weights)
    return middle, float(spread) + AT_LEAST_APART


def _generations(kind: Kind, other: Kind) -> int:
    """How many generations the link of a class is ahead of another's."""
    return GENERATIONS.index(kind.interface) - GENERATIONS.index(other.interface)


def scaled(rule: Rule, other: Kind, kind: Kind) -> float:
    """How many times as large a quantity is for a class as it was for another."""
    return float(
        rule.twice ** math.log2(kind.capacity / other.capacity)
        * rule.generation ** _generations(kind, other)
        * rule.dram ** (kind.has_dram - other.has_dram)
        * rule.qlc ** ((kind.cell == "qlc") - (other.cell == "qlc"))
    )


def _apart(rule: Rule, kind: Kind, other: Kind) -> float:
    """How far two classes are apart."""
    makers_differ = None not in (kind.controller, other.controller) and (
        kind.controller != other.controller
    )
    return (
        rule.other_cell * (kind.cell != other.cell)
        + rule.each_generation * abs(_generations(kind, other))
        + rule.other_dram * (kind.has_dram != other.has_dram)
        + rule.other_maker * makers_differ
        + rule.other_model * (kind.model is not None and kind.model != other.model)
        + rule.each_doubling * abs(math.log2(kind.capacity / other.capacity))
    )


def _off(title: str, label: Kind, drives: Sequence[Reviewed]) -> float:
    """How many times their spread the middle is off at most in `HOLDS` of the drives that were
    measured, where no more is told of their controllers than the label tells."""
    off = []
    for drive in drives:
        if title not in drive.seen:
            continue
        kind = replace(
            drive.kind,
            controller=drive.kind.controller if label.controller is not None else None,
            model=drive.kind.model if label.model is not None else None,
        )
        middle, spread = _told(title, kind, [other for other in drives if other is not drive])
        off.append(abs(math.log(middle / drive.seen[title])) / spread)
    rank = min(math.ceil(HOLDS * (len(off) + 1)), len(off))
    return sorted(off)[rank - 1]
