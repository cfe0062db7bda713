"""Write amplification from a drive's own SMART counters, read before and after.

Which counters tell it, and in which unit, depends on the maker: `counters.toml` has those that are
known, each with its source. The maker is known by what smartctl says of the model. Of another one,
attributes of the same numbers are not read. A counter is a whole number of its unit, so a
difference is known to one unit either way: the interval.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec

from flashtwin.inputs import read_toml
from flashtwin.model.finding import Interval


@dataclass(frozen=True, kw_only=True)
class Counters:
    """A maker's attributes that count bytes programmed and bytes of the host, each with its unit.

    Where both are of one unit that is not known, such as a page, it is 1: the ratio is the same.
    """

    maker: str
    models: re.Pattern[str]
    programmed: Mapping[int, int]
    host: Mapping[int, int]


@cache
def _known() -> tuple[Counters, ...]:
    rows = read_toml(Path(__file__).with_name("counters.toml"))["maker"]

    def units_of(row: Mapping[str, int]) -> dict[int, int]:
        return {int(attribute): unit for attribute, unit in row.items()}

    return tuple(
        Counters(
            maker=row["name"],
            models=re.compile(row["models"], re.IGNORECASE | re.MULTILINE),
            programmed=units_of(row["programmed"]),
            host=units_of(row["host"]),
        )
        for row in rows
    )


def from_smart(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[float, Interval] | str:
    """Programmed over written between two readings, each as `smartctl --json` prints it.

    A sentence where the drive does not count both, where its maker's counters are not known, or
    where too little was written for them.
    """
    first, second = _raw_values(before), _raw_values(after)
    if not first or not second:
        return "the drive's SMART data do not count what it programs"
    model = _model(after)
    if _model(before) != model:
        return f"the two readings are of different models: {_model(before)} and {model}"
    of_maker = [counters for counters in _known() if counters.models.search(model)]
    if not of_maker:
        makers = ", ".join(dict.fromkeys(counters.maker for counters in _known()))
        return f"not known for this maker: the counters are known of {makers}"
    for counters in of_maker:
        if {*counters.programmed, *counters.host} <= first.keys() & second.keys():
            return _ratio(counters, first, second)
    return "the drive's SMART data do not count what it programs"


def _ratio(
    counters: Counters, first: Mapping[int, int], second: Mapping[int, int]
) -> tuple[float, Interval] | str:
    programmed, host = (
        sum((second[key] - first[key]) * unit for key, unit in units.items())
        for units in (counters.programmed, counters.host)
    )
    if host < 0 or programmed < 0:
        return "the counters went backwards between the two readings"
    if host == 0:
        return "too little was written between the two readings for the drive's counters"
    error, host_error = sum(counters.programmed.values()), sum(counters.host.values())
    low = max((programmed - error) / (host + host_error), 0.0)
    high = (programmed + error) / (host - host_error) if host > host_error else None
    return programmed / host, Interval(low=low, high=high, means="bound")


def _model(smart: Mapping[str, Any]) -> str:
    """The model and, where smartctl knows it, its family, on a line each."""
    names = (smart.get("model_name"), smart.get("model_family"))
    return "\n".join(name for name in names if isinstance(name, str))


class _Raw(msgspec.Struct):
    value: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class _Attribute(msgspec.Struct):
    id: int
    raw: _Raw


def _raw_values(smart: Mapping[str, Any]) -> dict[int, int]:
    """The attributes as smartctl prints them; another row, of another program, says nothing."""
    attributes = smart.get("ata_smart_attributes")
    table = attributes.get("table") if isinstance(attributes, dict) else None
    values = {}
    for row in table if isinstance(table, list) else ():
        with suppress(msgspec.ValidationError):
            attribute = msgspec.convert(row, _Attribute)
            values[attribute.id] = attribute.raw.value
    return values
