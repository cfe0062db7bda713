"""How the value of a published row is found from what a twin's batteries concluded.

`measures.toml` says it as data: which plans (batteries with parameters) have to be run, and which
findings of theirs make the row's cells. Invariant: nothing here knows a battery or looks at how a
twin is made; a row without an entry has no battery yet and is not listed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from flashtwin.catalogue.facts import Fact
from flashtwin_lab.validation.rows import TwinValues

MEASURES = Path(__file__).with_name("measures.toml")


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A battery with parameters, run on a fresh twin; `sets` changes its spec."""

    battery: str
    parameters: dict[str, Any] = {}
    sets: tuple[str, ...] = ()


class Cell(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One number of a row; `measures.toml` says what its fields mean."""

    plan: str
    name: str = ""
    finding: str | None = None
    over: str | None = None
    over_plan: str | None = None
    written: tuple[str, str] | None = None
    first_lead: dict[str, str] = {}
    times: float = 1.0
    fall: bool = False
    of: Literal["ratio", "change", "inverse", "first", "second"] = "ratio"

    def value(self, drives: Drives) -> float | None:
        """The number of a row's drives in order; None where something for it is missing."""
        if self.first_lead:
            return self._first_lead(*drives)
        values = [self._on(drive) for drive in drives]
        if self.of == "first" or len(values) == 1:
            return values[0]
        first, second = values
        if self.of == "second":
            return second
        if self.of == "inverse":
            return _divide(first, second)
        ratio = _divide(second, first)
        return ratio - 1 if self.of == "change" and ratio is not None else ratio

    def _first_lead(self, first: Measured, second: Measured) -> float | None:
        """The first of the numbers at which the second drive has more than the first one."""
        for number, finding in self.first_lead.items():
            on_first, on_second = (
                drive.findings.get(self.plan, {}).get(finding) for drive in (first, second)
            )
            if on_first is None or on_second is None:
                return None
            if on_second > on_first:
                return float(number)
        return None

    def _on(self, drive: Measured) -> float | None:
        if self.written is not None:
            return drive.waf.get((self.plan, self.written))
        assert self.finding is not None, f"{self.plan}: a cell has a finding, or steps that wrote"
        findings = drive.findings.get(self.plan, {})
        value = findings.get(self.finding)
        if self.over is not None or self.over_plan is not None:
            others = drive.findings.get(self.over_plan or self.plan, {})
            value = _divide(value, others.get(self.over or self.finding))
        if value is None:
            return None
        return (1 - value if self.fall else value) * self.times


class Measure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a row's cells are found, those that are judged and those that are shown."""

    test: str
    metric: str
    cells: tuple[Cell, ...]
    variants: tuple[Cell, ...] = ()
    also: tuple[Cell, ...] = ()

    @property
    def all(self) -> tuple[Cell, ...]:
        """Every cell, judged or shown."""
        return (*self.cells, *self.variants, *self.also)

    @property
    def plans(self) -> tuple[str, ...]:
        """The plans that have to be run for the row."""
        of_cells = ((cell.plan, cell.over_plan or cell.plan) for cell in self.all)
        return tuple(dict.fromkeys(plan for plans in of_cells for plan in plans))

    def find(self, drives: Drives) -> TwinValues:
        """The row's cells, from what was measured on its drives, in order."""
        return TwinValues(
            cells={cell.name: cell.value(drives) for cell in self.cells},
            variants={cell.name: cell.value(drives) for cell in self.variants},
            also={cell.name: cell.value(drives) for cell in self.also},
        )


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was measured on one drive, by plan: findings by id, and WAF by the steps that wrote."""

    findings: Mapping[str, Mapping[str, float | None]]
    waf: Mapping[tuple[str, tuple[str, str]], float | None]


Drives = tuple[Measured, ...]


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    plans: dict[str, Plan]
    measure: tuple[Measure, ...]


@cache
def _file() -> _File:
    return msgspec.convert(tomllib.loads(MEASURES.read_text(encoding="utf-8")), _File)


def plans() -> Mapping[str, Plan]:
    """The plans by name."""
    return _file().plans


def run_of(plan: str) -> tuple[str | tuple[tuple[str, dict[str, Any]], ...], tuple[str, ...]]:
    """The batteries of a plan, and the settings of its spec. A text that names no plan is a
    battery as it is typed."""
    if plan not in plans():
        return plan, ()
    named = plans()[plan]
    return ((named.battery, named.parameters),), named.sets


@cache
def measures() -> Mapping[tuple[str, str], Measure]:
    """How each row is found, by test and metric as published.toml spells them."""
    return {(measure.test, measure.metric): measure for measure in _file().measure}


def measure_of(fact: Fact) -> Measure | None:
    """How a fact's value is found: as the fact says itself, or as its row in `measures.toml`
    does; None while its battery does not exist."""
    if fact.battery:
        cells = (Cell(plan=fact.battery, finding=fact.finding),)
        return Measure(test=fact.test, metric=fact.metric, cells=cells)
    return measures().get((fact.test, fact.metric))


def written_of(plan: str) -> tuple[tuple[str, str], ...]:
    """The pairs of steps of a plan between which bytes programmed and written are counted."""
    cells = (cell for row in _file().measure for cell in row.all)
    pairs = (cell.written for cell in cells if cell.plan == plan)
    return tuple(dict.fromkeys(pair for pair in pairs if pair is not None))


def _divide(above: float | None, below: float | None) -> float | None:
    return None if above is None or not below else above / below
