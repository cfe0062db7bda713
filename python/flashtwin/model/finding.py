"""A finding: one thing that a battery concluded about a drive, with what it rests on.

Findings come from what the host saw and from nothing else. An interval (`low`, `high`) is the 95 %
one where the method has one, and the note says so where it is another kind. A finding without a
value says in its note why there is none. Frozen, and the same text out for the same values in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Axis = Literal["bytes", "seconds", "cell"]
AXES = ("bytes", "seconds", "cell")


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The stretch of curve that a finding rests on: the step, the axis, from where to where.

    `label` is the label of the step. Axis "bytes": bytes done since the step began; "seconds":
    since the step began; "cell": one cell of a grid of tests, `start` and `end` are then 0.
    """

    battery: str
    label: str
    axis: Axis
    start: float
    end: float


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A value in `unit` with its interval; `id` is stable and is what `flashtwin explain` takes."""

    id: str
    title: str
    battery: str
    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str
    evidence: Evidence | None = None
    note: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values in the order of the fields."""
        row = asdict(self)
        for key in ("value", "low", "high"):
            row[key] = _finite(row[key])
        return row


def from_json(row: Mapping[str, Any]) -> Finding:
    """The finding that `to_json` wrote; unknown keys are a newer writer's and are left alone.

    Raises `KeyError`, `TypeError` or `ValueError` on a row that is not one.
    """
    evidence = row.get("evidence")
    return Finding(
        id=str(row["id"]),
        title=str(row["title"]),
        battery=str(row["battery"]),
        value=_number(row["value"]),
        low=_number(row.get("low")),
        high=_number(row.get("high")),
        unit=str(row["unit"]),
        evidence=None if evidence is None else _evidence(evidence),
        note=None if row.get("note") is None else str(row["note"]),
    )


def by_id(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Findings under their ids, in order."""
    return {finding.id: finding for finding in findings}


def _evidence(row: Mapping[str, Any]) -> Evidence:
    axis = row["axis"]
    if axis not in AXES:
        raise ValueError(f"axis {axis!r} is none of {', '.join(AXES)}")
    return Evidence(
        battery=str(row["battery"]),
        label=str(row["label"]),
        axis=axis,
        start=float(row["start"]),
        end=float(row["end"]),
    )


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _finite(value: object) -> float | None:
    """JSON has no word for infinity: an interval that is open on a side is written as none."""
    number = None if value is None else float(value)  # type: ignore[arg-type]
    return number if number is None or math.isfinite(number) else None
