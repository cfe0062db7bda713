"""Judging: a published fact and what the twin did make a row with an error and a verdict.

Rules. A value with a tolerance: |found / value - 1| within it. A tolerance alone: the same against
1. Bounds: found between them. Where a fact speaks of several cells, each is judged and the worst
stands for all. Invariants: a computed or shown row has no part in the count; a found value that is
missing or not finite is a miss; `known` never hides a pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec import UNSET, UnsetType

from flashtwin.catalogue.facts import UNCOUNTED, Fact, Kind, KnownMiss
from flashtwin.model.document import Document

Verdict = Literal["pass", "known", "miss", "computed", "shown"]


@dataclass(frozen=True, kw_only=True)
class TwinValues:
    """What the twin gave for a fact: a value a cell, and others that are shown beside it.

    Cells are named where a fact speaks of more than one; a fact of one value has the name "".
    `variants` are what else may have been measured, for the source leaves it open.
    """

    cells: Mapping[str, float | None]
    variants: Mapping[str, float | None] = field(default_factory=dict)
    also: Mapping[str, float | None] = field(default_factory=dict)


Published = float | list[float | None] | None


class RowDocument(Document, frozen=True, kw_only=True):
    """A `Row` as it is printed."""

    drive: str
    test: str
    metric: str
    published: Published
    found: float | None
    error: float | None
    tolerance: float | None
    verdict: Verdict
    kind: Kind
    unit: str
    calibration: bool
    twins: tuple[str, ...] | UnsetType = UNSET
    cell: str | UnsetType = UNSET
    variant: str | UnsetType = UNSET
    also: dict[str, float | None] | UnsetType = UNSET
    why: str | UnsetType = UNSET


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the validation table. `why` is the reason of a known miss, `variant` the reading of
    what the source leaves open; "" is the row itself.
    """

    fact: Fact
    measured: float | None
    error: float | None
    verdict: Verdict
    cell: str = ""
    variant: str = ""
    also: Mapping[str, float | None] = field(default_factory=dict)
    why: str | None = None

    def document(self) -> RowDocument:
        """The row as `flashtwin validate --json` prints it."""
        fact = self.fact
        return RowDocument(
            drive=fact.drive,
            test=fact.test,
            metric=fact.metric,
            published=published_value(fact),
            found=self.measured,
            error=self.error,
            tolerance=fact.tolerance,
            verdict=self.verdict,
            kind=fact.kind,
            unit=fact.unit,
            calibration=fact.calibration,
            twins=fact.twins or UNSET,
            cell=self.cell or UNSET,
            variant=self.variant or UNSET,
            also=dict(self.also) or UNSET,
            why=self.why or UNSET,
        )


def published_value(fact: Fact) -> Published:
    """The published number, or the bounds."""
    if fact.target is not None:
        return fact.target
    return None if fact.low is None and fact.high is None else [fact.low, fact.high]


def error_of(fact: Fact, measured: float) -> float:
    """The relative error. For bounds: 0 inside them, outside the distance to the nearer one."""
    target = fact.target
    if target is not None:
        return measured / target - 1.0
    low = -math.inf if fact.low is None else fact.low
    high = math.inf if fact.high is None else fact.high
    if low <= measured <= high:
        return 0.0
    bound = low if measured < low else high
    return (measured - bound) / abs(bound) if bound else measured


def within(fact: Fact, measured: float) -> bool:
    """Whether the fact holds. Facts that are not counted are judged too."""
    if not math.isfinite(measured):
        return False
    if fact.target is not None:
        assert fact.tolerance is not None, f"{fact.drive}: {fact.metric} has no tolerance"
        # Both sides of a tolerance that is met exactly have to count as met.
        return abs(error_of(fact, measured)) <= fact.tolerance * (1 + 1e-9)
    return error_of(fact, measured) == 0.0


def judge_all(fact: Fact, measured: TwinValues, known: Sequence[KnownMiss] = ()) -> list[Row]:
    """The row of a fact, and one for each of its variants."""
    variants = measured.variants.items()
    return [
        judge(fact, measured, known),
        *(
            judge(fact, TwinValues(cells={"": value}), known, variant=name)
            for name, value in variants
        ),
    ]


def judge(
    fact: Fact, measured: TwinValues, known: Sequence[KnownMiss] = (), *, variant: str = ""
) -> Row:
    """The row of a fact, or of a variant of it."""
    cell, value = _worst(fact, measured.cells)
    error = None if value is None else error_of(fact, value)
    also = {**{name: v for name, v in measured.cells.items() if name != cell}, **measured.also}
    passes = value is not None and within(fact, value)
    why = None if passes else _reason(fact, variant, known)
    verdict: Verdict = "pass" if passes else "miss" if why is None else "known"
    if fact.kind == "computed" or fact.kind == "shown":
        verdict = fact.kind
    return Row(
        fact=fact,
        measured=value,
        error=error,
        verdict=verdict,
        cell=cell,
        variant=variant,
        also=also,
        why=why,
    )


def count(rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    """How many of each verdict, calibration apart from validation."""
    counted = {name: {"pass": 0, "known": 0, "miss": 0} for name in ("validation", "calibration")}
    for row in rows:
        if row.fact.kind not in UNCOUNTED:
            counted["calibration" if row.fact.calibration else "validation"][row.verdict] += 1
    return counted


def missed(rows: Iterable[Row]) -> int:
    """The number of misses without the known ones; the exit code depends on it."""
    return sum(row.verdict == "miss" for row in rows)


def outlived(rows: Iterable[Row], known: Iterable[KnownMiss]) -> list[KnownMiss]:
    """Known misses whose rows pass now: they have to leave the list, or it would hide a
    regression."""
    passed = {
        (row.fact.drive, row.fact.test, row.fact.metric, row.variant)
        for row in rows
        if row.verdict == "pass"
    }
    return [miss for miss in known if (miss.drive, miss.test, miss.metric, miss.variant) in passed]


def _worst(fact: Fact, cells: Mapping[str, float | None]) -> tuple[str, float | None]:
    assert cells, f"nothing was measured for {fact.drive}: {fact.metric}"

    def badness(item: tuple[str, float | None]) -> float:
        value = item[1]
        if value is None or not math.isfinite(value):
            return math.inf
        return abs(error_of(fact, value))

    cell, value = max(cells.items(), key=badness)
    return cell, value if value is not None and math.isfinite(value) else None


def _reason(fact: Fact, variant: str, known: Iterable[KnownMiss]) -> str | None:
    row = (fact.drive, fact.test, fact.metric, variant)
    for miss in known:
        if (miss.drive, miss.test, miss.metric, miss.variant) == row:
            return miss.why
    return None
