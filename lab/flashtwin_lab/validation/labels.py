"""Drives from their labels alone: how far off a twin would be that nobody had fitted.

For each drive of the market a spec is written as `flashtwin new` writes it from capacity,
interface, cells, DRAM, and the maker and model of the controller, and filled as the reviewers
filled the drive. Nothing else of the drive goes in: the cache and the rate past it are what the
other drives let one expect, its own review left out. Invariant: rates and places are those of
a whole drive; drives are filled so many times smaller as `knockouts.toml` says, with places
multiplied back.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal, cast

from flashtwin.catalogue import MARKET
from flashtwin.catalogue.facts import Fact, facts_for, of_market
from flashtwin.catalogue.label import CellType, Interface, Label, spec_text
from flashtwin.catalogue.loader import load
from flashtwin.runner.request import Show
from flashtwin_lab.validation.changes import scale_of
from flashtwin_lab.validation.metrics import Measure
from flashtwin_lab.validation.records import Record, Values, families, record_of
from flashtwin_lab.validation.rows import TwinValues
from flashtwin_lab.validation.validate import (
    Need,
    found_in,
    measurable,
    measured_by_drive,
    run_all,
)

_DRAM: Mapping[str, Literal["yes", "none", "hmb"]] = {"dram": "yes", "hmb": "hmb"}


def label_of(drive: str) -> Label:
    """What the label of a drive of the market says."""
    spec = load(drive)
    values = {row["key"]: row["value"] for row in spec.values()}
    row = _rows()[drive]
    generation = values["link.pcie_generation"]
    interface = "sata" if values["link.kind"] == "sata" else f"pcie{generation}"
    return Label(
        id=f"{drive}-label",
        name=drive,
        capacity_bytes=spec.capacity_bytes,
        interface=cast(Interface, interface),
        cell=cast(CellType, values["nand.cell"]),
        dram=_DRAM.get(values["map.residency"], "none"),
        controller=row["controller"],
        model=row.get("model"),
    )


def _rows() -> Mapping[str, Mapping[str, str]]:
    """The rows of the market's drives, each with its controller."""
    return {row["id"]: row for row in tomllib.loads(MARKET.read_text())["drive"]}


def market() -> list[str]:
    """The market's drives."""
    chosen = [row["id"] for row in tomllib.loads(MARKET.read_text())["drive"]]
    return [drive for family in families() for drive in family if drive in chosen]


def from_labels(drives: Iterable[str], show: Show, *, seed: int = 1) -> dict[str, Record]:
    """Fill the drives as their labels alone would have them; a record of each."""
    pairs = {drive: measurable(facts_for([drive], of_market())) for drive in drives}
    needs = {drive: _needs(drive, of_drive) for drive, of_drive in pairs.items()}
    results = run_all([need for rows in needs.values() for need in rows], show, seed=seed)
    records = {}
    for drive, of_drive in pairs.items():
        measured = measured_by_drive({need: results[need] for need in needs[drive]})
        scale = needs[drive][0].scale or ""
        values = [(fact, _whole(fact, row, scale)) for fact, row in found_in(of_drive, measured)]
        records[record_name(drive)] = record_of(values, scale=scale)
    return records


def record_name(drive: str) -> str:
    """What the record of a drive from its label is called."""
    return f"{drive}; from its label"


def _needs(drive: str, pairs: Iterable[tuple[Fact, Measure]]) -> list[Need]:
    text = spec_text(label_of(drive), without=[drive])
    plans = dict.fromkeys(plan for _, how in pairs for plan in how.plans)
    return [Need(drive=drive, plan=plan, spec=text, scale=scale_of(plan)) for plan in plans]


def _whole(fact: Fact, values: TwinValues, scale: str) -> TwinValues:
    """The values of a whole drive: places lie so many times further on."""
    if not scale or fact.unit != "GB":
        return values
    times = float(1 / Fraction(scale))
    cells: Values = {
        name: None if value is None else value * times for name, value in values.cells.items()
    }
    return TwinValues(cells=cells)
