"""What lists say of drives: a line of the catalogue, a spec's values by table, two side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from flashtwin.catalogue.loader import drive_ids, load
from flashtwin.model.document import Document
from flashtwin.model.text import table
from flashtwin.model.units import parse_size, readable_size

if TYPE_CHECKING:
    from flashtwin._core import Spec, SpecValue

# Say how large a cache is; a design that has no such part has 0 there.
_SIZES = ("slc_cache.static_size", "slc_cache.size")

_HEADS = ("id", "name", "capacity", "cell", "cache")


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A drive in a line."""

    id: str
    name: str
    capacity_bytes: int
    cell: str
    cache: str


class Summaries(list[Summary]):
    """Lines of the catalogue; `print` and notebooks show a table."""

    def __str__(self) -> str:
        return table(_HEADS, map(_texts, self))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEADS)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in _texts(row)) + "</tr>"
            for row in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def summaries() -> Summaries:
    """Every drive of the catalogue."""
    return Summaries(summary(name, load(name)) for name in drive_ids())


def _texts(row: Summary) -> tuple[str, ...]:
    return (row.id, row.name, readable_size(row.capacity_bytes), row.cell, row.cache)


def summary(name: str, spec: Spec) -> Summary:
    """A drive in a line."""
    values = {row["key"]: row["value"] for row in spec.values()}
    return Summary(
        id=name,
        name=spec.name,
        capacity_bytes=spec.capacity_bytes,
        cell=values.get("nand.cell", "").upper(),
        cache=_cache(values),
    )


def written(values: Iterable[SpecValue]) -> list[SpecValue]:
    """The values that somebody wrote down: those at the default of the format are left out."""
    return [row for row in values if not row["unwritten"]]


def grouped(values: Iterable[SpecValue]) -> dict[str, list[tuple[str, SpecValue]]]:
    """Values by table, in order, each under its key within the table."""
    groups: dict[str, list[tuple[str, SpecValue]]] = {}
    for row in values:
        group, _, key = row["key"].rpartition(".")
        groups.setdefault(group or "drive", []).append((key, row))
    return groups


class Value(Document, frozen=True):
    """A value of a spec, and where it comes from."""

    key: str
    value: str
    unit: str | None
    origin: str
    source: str | None
    unwritten: bool


class Described(Document, frozen=True):
    """flashtwin show --json"""

    id: str
    name: str
    capacity_bytes: int
    memory_bytes: int
    hash: str
    firmware_profiles: list[str]
    notes: list[str]
    warnings: list[str]
    values: list[Value]


def describe(spec: Spec) -> Described:
    """All of a spec."""
    return Described(
        id=spec.id,
        name=spec.name,
        capacity_bytes=spec.capacity_bytes,
        memory_bytes=spec.memory_bytes,
        hash=spec.hash,
        firmware_profiles=list(spec.firmware_profiles),
        notes=list(spec.notes),
        warnings=list(spec.warnings),
        values=[Value(**row) for row in spec.values()],
    )


def _cache(values: Mapping[str, str]) -> str:
    mode = values.get("slc_cache.mode", "none")
    words = mode.replace("-", " ")
    # A cache that shrinks with the fill goes by its size on the empty drive.
    empty = values.get("slc_cache.size_by_fill", "").split(", ")[0].partition("0 %: ")[2]
    sized = {**values, "slc_cache.size": empty} if empty else values
    texts = [sized[key] for key in _SIZES if sized.get(key, "0") != "0"]
    sizes = " + ".join(readable_size(parse_size(text), 3) for text in texts)
    return f"{words}, {sizes}" if sizes else words


class Difference(Document, frozen=True):
    """A key whose value is not the same in both drives; values as they are shown, with unit."""

    key: str
    first: str
    second: str
    first_origin: str
    second_origin: str


def differences(first: Spec, second: Spec) -> list[Difference]:
    """The keys that differ, in the order of a spec; an origin alone makes no difference."""
    other = {row["key"]: row for row in second.values()}
    pairs = ((row, other[row["key"]]) for row in first.values())
    return [_difference(a, b) for a, b in pairs if a["value"] != b["value"]]


def _difference(first: SpecValue, second: SpecValue) -> Difference:
    return Difference(
        key=first["key"],
        first=first["value"],
        second=second["value"],
        first_origin=first["origin"],
        second_origin=second["origin"],
    )
