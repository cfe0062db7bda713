"""The documents of `flashtwin trace`, `cost` and `ask`; see `documents`."""

from __future__ import annotations

from msgspec import Struct

from flashtwin.load import words


class TraceSide(words.Side, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sizes: dict[str, int]  # type: ignore[assignment]


class TraceLoad(words.Load, frozen=True, kw_only=True, forbid_unknown_fields=True):
    read: TraceSide
    write: TraceSide
    trim: TraceSide


class Trace(words.Profile, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """flashtwin trace --json"""

    load: TraceLoad

    page: str | None


class Cost(Struct, forbid_unknown_fields=True):
    """flashtwin cost --json"""

    costs: list[words.Cost]
    changes: list[words.Change]
    limit: float | None
    worse: list[words.Change]


class Years(Struct, forbid_unknown_fields=True):
    """An interval of years; null where nothing wears."""

    value: float | None
    low: float | None
    high: float | None


class Lifetime(words.Lifetime, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
