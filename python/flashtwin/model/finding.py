"""A finding: one thing that a battery concluded about a drive, with what it rests on.

Findings come from what the host saw and from nothing else. A finding is a quantity (a number in a
unit) or a choice (one word of a declared set, as in design = "dynamic"). One without a value says
in its note why there is none. Its id is made of the battery, its name and its variant; whoever
needs one of the three reads the field, nobody takes an id apart. Frozen, and the same text out for
the same values in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from flashtwin.model.document import Document
from flashtwin.model.text import Shown

Axis = Literal["bytes", "seconds", "cell"]
Means = Literal["estimate", "range", "bound"]
Kind = Literal["quantity", "choice"]
Better = Literal["higher", "lower"]
# The finding by which every battery says what a budget left out of it.
LEFT_OUT = "left_out"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The stretch of a step's curve that a finding rests on."""

    # `label` is the step's. Axis "bytes": bytes done since the step began; "seconds": since the
    # step began; "cell": one cell of a grid of tests, `start` and `end` are then 0.
    battery: str
    label: str
    axis: Axis
    start: float
    end: float


@dataclass(frozen=True, kw_only=True)
class Interval:
    """From `low` to `high`, and what that `means`; an end that is none is open.

    "estimate": the true value lies in it with 95 %. "range": the least and the greatest of a few
    runs, which says how they scatter and carries no probability. "bound": the true value cannot lie
    outside, and nothing tells where inside it lies.
    """

    low: float | None
    high: float | None
    means: Means = "estimate"

    @staticmethod
    def of(low: float | None, high: float | None, means: Means = "estimate") -> Interval | None:
        """An interval, or none where neither end is known."""
        return None if low is None and high is None else Interval(low=low, high=high, means=means)


class FindingRow(Document, frozen=True):
    """A finding as files and `--json` have it (`runs.schema.Finding` reads it); `id` and `kind` are
    told for other readers, and follow from the rest."""

    id: str
    battery: str
    name: str
    variant: str
    title: str
    kind: Kind
    value: float | str | None
    unit: str
    low: float | None
    high: float | None
    means: Means | None
    beside: str | None
    better: Better | None
    headline: bool
    evidence: Evidence | None
    note: str | None
    choices: tuple[str, ...] | UnsetType = UNSET


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A value with its interval; `id` is stable and is what `flashtwin explain` takes.

    `name`: what was found, of those that the battery knows; empty for a battery's only one.
    `variant`: the way of testing that it holds for, such as the pattern of a fill or the cell of a
    grid. `choices`: the words that the value of a choice may be; empty makes it a quantity.
    `beside`: the name of the finding of the same variant that it is told beside, if it is.
    `better`: whether a drive is better with more of it or with less, where the unit does not say.
    `headline`: it is one of the few that say most about the drive.
    """

    battery: str
    name: str
    variant: str = ""
    title: str
    value: float | str | None
    unit: str = ""
    interval: Interval | None = None
    choices: tuple[str, ...] = ()
    beside: str | None = None
    better: Better | None = None
    headline: bool = False
    evidence: Evidence | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        right = self.value in self.choices if self.choices else not isinstance(self.value, str)
        assert self.value is None or right, f"{self.id} cannot be {self.value!r}"

    def __str__(self) -> str:
        """A line, for `print`: its id, what was found, and the note of one that has no value."""
        note = f" ({self.note})" if self.value is None and self.note else ""
        return f"{self.id}  {Shown.of(self).text}{note}"

    def _repr_html_(self) -> str:
        """What was found, its value and its note, for a notebook."""
        title, text, note = map(escape, (self.title, Shown.of(self).text, self.note or ""))
        below = f"<br><small>{note}</small>" if note else ""
        return f"<p title='{escape(self.id)}'>{title}: <b>{text}</b>{below}</p>"

    @property
    def id(self) -> str:
        """`battery.name[variant]`: unique in a run."""
        return f"{self.stem}[{self.variant}]" if self.variant else self.stem

    @property
    def stem(self) -> str:
        """The id without its variant: what findings of all variants have in common."""
        return f"{self.battery}.{self.name}" if self.name else self.battery

    @property
    def short(self) -> str:
        """The name alone; the battery's where it has no other."""
        return self.name or self.battery

    @property
    def names(self) -> tuple[str, ...]:
        """All names that it answers to, the id first: then without the variant, without the
        battery, and without both."""
        variant = f"[{self.variant}]" if self.variant else ""
        return self.id, self.stem, f"{self.short}{variant}", self.short

    @property
    def is_cell(self) -> bool:
        """Whether its variant is a cell of a grid, one of many that stand in one table."""
        return self.evidence is not None and self.evidence.axis == "cell"

    @property
    def kind(self) -> Kind:
        """Whether its value is a number or one of some words."""
        return "choice" if self.choices else "quantity"

    @property
    def number(self) -> float | None:
        """The value of a quantity; none where it is a choice."""
        return None if isinstance(self.value, str) else self.value

    @property
    def low(self) -> float | None:
        """Where the interval begins, if it does."""
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        """Where the interval ends, if it does."""
        return None if self.interval is None else self.interval.high

    def noted(self, text: str) -> Finding:
        """The same with a note before the one that it has: a page shows the beginning of a long
        note."""
        return replace(self, note=f"{text}; {self.note}" if self.note else text)

    def rounded(self) -> Finding:
        """With six digits: a clock or a meter tells no more, and the last bits of a sum are left
        out."""
        if self.number is None:
            return self
        interval = self.interval
        if interval is not None:
            low, high = (
                None if end is None else _six(end) for end in (interval.low, interval.high)
            )
            interval = replace(interval, low=low, high=high)
        return replace(self, value=_six(self.number), interval=interval)

    def row(self) -> FindingRow:
        """The finding as files and commands have it."""
        return FindingRow(
            id=self.id,
            battery=self.battery,
            name=self.name,
            variant=self.variant,
            title=self.title,
            kind=self.kind,
            value=self.value if isinstance(self.value, str) else _finite(self.value),
            unit=self.unit,
            low=_finite(self.low),
            high=_finite(self.high),
            means=None if self.interval is None else self.interval.means,
            beside=self.beside,
            better=self.better,
            headline=self.headline,
            evidence=self.evidence,
            note=self.note,
            choices=self.choices or UNSET,
        )

    def to_json(self) -> dict[str, Any]:
        """The row as plain values."""
        values: dict[str, Any] = msgspec.to_builtins(self.row())
        return values


def _six(value: float) -> float:
    return float(f"{value:.6g}")


def _finite(value: float | None) -> float | None:
    """JSON has no word for infinity: an interval that is open on a side is written as none."""
    return value if value is None or math.isfinite(value) else None
