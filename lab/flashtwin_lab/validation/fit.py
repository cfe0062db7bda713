"""Each row left out of the fit: what the other rows would have said of it.

Every fitted number of a spec is raised by a twentieth (a write buffer, whose programs are whole, by
a fifth), one at a time, and what that does to each row makes a table of slopes. With it the fitted
numbers are found again from all rows but one (least squares of the errors, each over its
tolerance), and the row that was left out is measured on a twin with these values. A row without
which a number could not be found at all (its leverage is 1) is fixed by itself, and predicts
nothing. A fitted choice (a policy, bits a cell) is no number and stays as it is. Invariant: rows
with bounds, computed and shown ones take no part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtwin.catalogue.facts import Fact, facts_for
from flashtwin.catalogue.loader import load
from flashtwin.catalogue.summary import written
from flashtwin.runner.request import Show
from flashtwin_lab.validation.changes import (
    Change,
    lacking_of,
    long_plans_of,
    only_plans_of,
    tried,
)
from flashtwin_lab.validation.records import Found, Record, facts_by_row, family_name
from flashtwin_lab.validation.rows import error_of, judge

RowName = tuple[str, str, str]

# The factor by which a value is raised to see what follows, and that for sizes of memory.
STEP, MEMORY_STEP = 1.05, 1.2
# A row that moves by less than this share of its tolerance is not moved by the value.
LEAST = 0.02
# From this leverage on a row fixes a value by itself.
ALONE = 0.95
# A value that makes this share of what moves a row alone is fixed by it.
SHARE = 0.3
# A value that a refit moves further is left there: slopes tell nothing so far away.
FARTHEST = 1.5
# Sizes of memory are told in whole units of the map.
UNIT = 4 << 10

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)( ?[A-Za-z/%]*)")
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@dataclass(frozen=True, kw_only=True)
class Value:
    """A fitted value that some drives of a family share."""

    key: str
    text: str
    source: str
    drives: tuple[str, ...]

    @property
    def is_number(self) -> bool:
        """Whether it can be made a little larger: policies, lists of places and counts cannot."""
        if ":" in self.text:
            return False
        parts = [_NUMBER.fullmatch(part) for part in self.text.split(", ")]
        return all(part and (part[2].strip() or "." in part[1]) for part in parts)

    @property
    def step(self) -> float:
        """The factor by which it is raised."""
        return MEMORY_STEP if self.text.endswith("iB") else STEP

    def sets(self, factor: float) -> str:
        """The settings that multiply it by a factor."""
        parts = [_times(part, factor) for part in self.text.split(", ")]
        if len(parts) == 1:
            return f"{self.key}={parts[0]}"
        quoted = ", ".join(f'"{part}"' for part in parts)
        return f"{self.key}=[{quoted}]"

    def change(self, family: tuple[str, ...]) -> Change:
        """The change that makes it one step larger, tried on the rows that take part in the fit."""
        sets = dict.fromkeys(self.drives, (self.sets(self.step),))
        rows = frozenset(_fitting_facts(family))
        return Change(
            family=family,
            sets=sets,
            also=long_plans_of(self.key),
            rows=rows,
            plans=only_plans_of(self.key),
        )


def fitted(family: Iterable[str]) -> list[Value]:
    """The fitted values of a family, each once."""
    by_value: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for drive in family:
        for row in written(load(drive).values()):
            if row["origin"] == "fitted":
                of = by_value.setdefault((row["key"], row["value"]), (row["source"], []))
                of[1].append(drive)
    return [
        Value(key=key, text=text, source=source, drives=tuple(drives))
        for (key, text), (source, drives) in by_value.items()
    ]


def record_name(family: Iterable[str], change: Value | RowName) -> str:
    """The name of the record of a raised value, or of a row left out."""
    name = " ".join(family)
    if isinstance(change, Value):
        return f"{name}; {change.key} = {change.text} raised"
    return f"{name}; left out: {': '.join(change)}"


def fits(
    family: tuple[str, ...], held: Mapping[str, Record], show: Show, *, seed: int = 1
) -> Iterator[dict[str, Record]]:
    """Raise every fitted number of a family, then measure each row with what the others ask for;
    what `held` has of today is taken from there. It grows with what is yielded."""
    steps = {
        record_name(family, value): value.change(family)
        for value in fitted(family)
        if value.is_number
    }
    yield tried(lacking_of(steps, held), held, show, seed=seed)
    refits = {
        record_name(family, row.row): refit(family, row)
        for row in left_out(family, held[family_name(family)], raised_in(family, held))
        if row.factors
    }
    yield tried(lacking_of(refits, held), held, show, seed=seed)


def raised_in(family: Iterable[str], records: Mapping[str, Record]) -> dict[Value, Record]:
    """The records of a family's fitted numbers raised, those that hold today."""
    family = tuple(family)
    return {
        value: record
        for value in fitted(family)
        if (record := records.get(record_name(family, value))) and record.is_of_todays_specs
    }


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A row that was left out: by which factor each value moved, or that it fixes one alone.

    `expected` is its error then by the slopes, in its tolerances.
    """

    row: RowName
    factors: Mapping[Value, float]
    expected: float | None = None
    alone: tuple[Value, ...] = ()


def left_out(
    family: tuple[str, ...], base: Record, raised: Mapping[Value, Record]
) -> list[LeftOut]:
    """What the fit is without each row that any fitted number moves."""
    facts = _fitting_facts(family)
    rows = [name for name in base.rows() if name in facts]
    values = list(raised)
    slopes = np.zeros((len(rows), len(values)))
    errors = np.zeros(len(rows))
    for i, name in enumerate(rows):
        fact = facts[name]
        errors[i] = _error(fact, base.rows()[name]) / (fact.tolerance or 1.0)
        for j, value in enumerate(values):
            moved = _moved(fact, base.rows()[name], raised[value].rows().get(name))
            slopes[i, j] = 0.0 if abs(moved) < LEAST else moved / math.log(value.step)
    return [_without(i, rows, values, slopes, errors) for i in range(len(rows)) if slopes[i].any()]


def refit(family: tuple[str, ...], row: LeftOut) -> Change:
    """The twin with the values that the other rows ask for, measured at the row left out."""
    sets: dict[str, tuple[str, ...]] = {}
    also: tuple[str, ...] = ()
    for value, factor in row.factors.items():
        for drive in value.drives:
            sets[drive] = (*sets.get(drive, ()), value.sets(factor))
        also += long_plans_of(value.key)
    return Change(family=family, sets=sets, also=also, rows=frozenset([row.row]))


def _without(
    left: int,
    rows: Sequence[RowName],
    values: Sequence[Value],
    slopes: NDArray[np.float64],
    errors: NDArray[np.float64],
) -> LeftOut:
    # If this row alone moves by one tolerance, what each value does to it.
    own = slopes[left] * np.linalg.pinv(slopes, rcond=1e-3)[:, left]
    if own.sum() > ALONE:
        moved = [value for value, share in zip(values, own, strict=True) if share > SHARE]
        return LeftOut(row=rows[left], factors={}, alone=tuple(moved))
    others = np.delete(slopes, left, axis=0)
    change, *_ = np.linalg.lstsq(others, -np.delete(errors, left), rcond=1e-2)
    bound = math.log(FARTHEST)
    change = np.clip(change, -bound, bound)
    factors = {
        value: math.exp(float(by))
        for value, by in zip(values, change, strict=True)
        if abs(by) > 1e-4
    }
    expected = float(errors[left] + slopes[left] @ change)
    return LeftOut(row=rows[left], factors=factors, expected=expected)


def _fitting_facts(family: Iterable[str]) -> dict[RowName, Fact]:
    """The measured rows with a value."""
    return {
        (fact.drive, fact.test, fact.metric): fact
        for fact in facts_for(family, facts_by_row().values())
        if fact.kind == "measured" and fact.target is not None
    }


def _error(fact: Fact, of_row: Found) -> float:
    """The error of the worst cell; none where nothing was found."""
    return judge(fact, of_row.values).error or 0.0


def _moved(fact: Fact, plain: Found, raised: Found | None) -> float:
    """By how many tolerances the row's worst cell moves."""
    if raised is None:
        return 0.0
    cell = judge(fact, plain.values).cell
    before, after = plain.cells.get(cell), raised.cells.get(cell)
    if before is None or after is None:
        return 0.0
    return (error_of(fact, after) - error_of(fact, before)) / (fact.tolerance or 1.0)


def _times(text: str, factor: float) -> str:
    match = _NUMBER.fullmatch(text)
    assert match is not None, f"{text} is no number"
    number, unit = float(match[1]) * factor, match[2]
    if unit.strip() in _BYTES:
        size = max(1, round(number * _BYTES[unit.strip()] / UNIT)) * UNIT
        return f"{size >> 10} KiB"
    # Nothing is told finer than a thousandth of its unit: a nanosecond, a megabyte.
    return f"{round(number, 3):.7g}{unit}" if number < 1000 else f"{round(number)}{unit}"
