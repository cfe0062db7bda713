"""waf: write amplification of small random writes against how full the drive is.

As a reviewer finds it (trust P): erase, fill in order to some share, let the drive settle, read its
SMART counters, write at random over what is there, let it settle again, and read them once more.
What the drive does in the rest after the writes is part of what they cost. A target that has
no SMART data is refused; one that cannot read them all the same answers the first step with the
reason, and that is the whole answer.

Which counters tell it, and in which unit, depends on the maker: `counters.toml` has those that are
known, each with its source. The maker is known by what smartctl says of the model. Of another one,
attributes of the same numbers are not read. A counter is a whole number of its unit, so a
difference is known to one unit either way: the interval.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.registry import Part
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import read_toml
from flashtwin.model import units
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.step import Ask, Fill, Flush, Job, Mark, NotPossible, Purge, Rest, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer, Steps
    from flashtwin.model.target import DriveInfo

MIB = 1 << 20
NAME = "waf"
SMART = f"{NAME}/smart"
BLOCK, DEPTH = 4096, 32


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """For each fill: purge, fill, rest, read, write at random, rest, read."""
    if int(info.capacity_bytes * min(parameters.fills) / 100) < MIB or parameters.size < MIB:
        raise FlashtwinError(
            "waf: less than 1MiB would be filled or written",
            hint=f"{info.name} has {units.show_size(info.capacity_bytes)}; set waf:size or"
            " waf:fills to more",
            exit_code=USAGE,
        )
    smart = yield Ask(label=SMART, of="smart")
    if isinstance(smart, NotPossible):
        return
    for percent in parameters.fills:
        name = f"{NAME}/{percent:g}"
        yield Purge(label=f"{name}/purge")
        size = int(info.capacity_bytes * percent / 100) // MIB * MIB
        yield Fill(label=f"{name}/fill", size=size)
        yield Rest(label=f"{name}/settle", seconds=parameters.settle_s)
        yield Ask(label=f"{name}/before", of="smart")
        job = Job(
            name="write",
            rw="randwrite",
            block_bytes=BLOCK,
            depth=DEPTH,
            size=size,
            io_bytes=parameters.size // BLOCK * BLOCK,
        )
        yield Run(label=f"{name}/write", jobs=(job,), sample_s=1.0)
        yield Flush(label=f"{name}/flush")
        yield Rest(label=f"{name}/rest", seconds=parameters.settle_s)
        yield Ask(label=f"{name}/after", of="smart")
        yield Mark(label=f"{name}/found")


def conclude(record: Record) -> list[Finding]:
    """A finding for each fill that is over; or why there are no SMART data."""
    smart = record.answer(SMART)
    if isinstance(smart, NotPossible):
        return [_finding("", "Write amplification", smart, smart)]
    findings = []
    for percent in record.parameters.fills:
        name = f"{NAME}/{percent:g}"
        if record.step(f"{name}/found") is not None:
            title = f"Write amplification at {percent:g} % full"
            before, after = record.answer(f"{name}/before"), record.answer(f"{name}/after")
            findings.append(_finding(f"{percent:g}%", title, before, after, f"{name}/write"))
    return findings


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """Each fill by itself, as they are named."""
    return [
        Part(title=f"{percent:g} % full", labels=(f"{NAME}/{percent:g}",))
        for percent in parameters.fills
    ]


def _finding(
    variant: str, title: str, before: Answer, after: Answer, label: str | None = None
) -> Finding:
    ratio: tuple[float, Interval] | str = ""
    note = "bytes programmed over bytes from the host; the interval is the counters' grain"
    if isinstance(before, NotPossible):
        note = before.reason
    elif isinstance(after, NotPossible):
        note = after.reason
    else:
        ratio = from_smart(before.smart, after.smart)
        if isinstance(ratio, str):
            note = ratio
    evidence = None
    if label is not None:
        evidence = Evidence(battery=NAME, label=label, axis="cell", start=0.0, end=0.0)
    value, interval = (None, None) if isinstance(ratio, str) else ratio
    return Finding(
        battery=NAME,
        name="",
        variant=variant,
        title=title,
        value=value,
        unit="x",
        interval=interval,
        better="lower",
        evidence=evidence,
        note=note,
    )


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


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.waf.present",
)
