"""The documents of `flashtwin trace`, `cost` and `ask`; see `documents`."""

from __future__ import annotations

from msgspec import Struct

from flashtwin.load import cost, lifetime, profile


class TraceSide(profile.Side, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sizes: dict[str, int]  # type: ignore[assignment]


class TraceLoad(profile.Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    read: TraceSide
    write: TraceSide
    trim: TraceSide


class Trace(profile.Profile, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """flashtwin trace --json"""

    load: TraceLoad

    page: str | None


class Cost(Struct, forbid_unknown_fields=True):
    """flashtwin cost --json"""

    costs: list[cost.Cost]
    changes: list[cost.Change]
    limit: float | None
    worse: list[cost.Change]


class Years(Struct, forbid_unknown_fields=True):
    """An interval of years; null where nothing wears."""

    value: float | None
    low: float | None
    high: float | None


class Lifetime(lifetime.Lifetime, frozen=True, kw_only=True, forbid_unknown_fields=True):
    years: Years  # type: ignore[assignment]
    draws: list[float | None]  # type: ignore[assignment]


class AskRow(Struct, forbid_unknown_fields=True):
    way: str
    lifetime: Lifetime


class Ask(Struct, forbid_unknown_fields=True):
    """flashtwin ask --json"""

    rows: list[AskRow]
    chance_of_first: float | None
    page: str | None
