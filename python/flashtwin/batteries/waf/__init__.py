"""waf: write amplification of small random writes against how full the drive is.

As a reviewer finds it (trust P): erase, fill in order to some share, let the drive settle, read its
SMART counters, write at random over what is there, let it settle again, and read them once more.
What the drive does in the rest after the writes is part of what they cost. A target that has
no SMART data is refused; one that cannot read them all the same answers the first step with the
reason, and that is the whole answer.

The counters, by maker. Micron: 247 counts pages programmed for the host and 248 those of the
firmware's own, so WAF = 1 + d248/d247. Intel: 249 counts GiB programmed, 241 the host's 32 MiB.
Western Digital: 233 and 234 GiB programmed into native and SLC cells, 241 the host's GiB. The NVMe
log, Samsung's and SandForce's attributes count no programs: from those there is no WAF. A counter
is a whole number of its unit, so a difference is known to one unit either way: the interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import SECONDS, SIZE, decimal, parameter, several
from flashtwin.batteries.base.registry import Battery, Clause, Part
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.step import Ask, Fill, Flush, Job, Mark, NotPossible, Purge, Rest, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer, Steps
    from flashtwin.model.target import DriveInfo

MIB, GIB = 1 << 20, 1 << 30
NAME = "waf"
SMART = f"{NAME}/smart"
BLOCK, DEPTH = 4096, 32


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the write-amplification battery."""

    fills: tuple[float, ...] = parameter(
        (25.0, 90.0),
        several(decimal(1, 100), "numbers from 1 to 100"),
        "how full the drive is, in %, each on an erased drive",
    )
    size: int = parameter(4 << 30, SIZE, "what is written at random in blocks of 4 KiB")
    settle_s: float = parameter(600.0, SECONDS, "rest before each reading of the counters")


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
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


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """Each fill by itself, as they are named."""
    return [
        Part(title=f"{percent:g} % full", labels=(f"{NAME}/{percent:g}",))
        for percent in parameters.fills
    ]


def _finding(
    variant: str, title: str, before: Answer, after: Answer, label: str | None = None
) -> Finding:
    ratio, note = (
        None,
        "bytes programmed over bytes from the host; the interval is the counters' grain",
    )
    if isinstance(before, NotPossible):
        note = before.reason
    elif isinstance(after, NotPossible):
        note = after.reason
    else:
        ratio = from_smart(before.smart, after.smart)
        if ratio is None:
            note = "the drive's SMART data do not count what it programs"
    evidence = None
    if label is not None:
        evidence = Evidence(battery=NAME, label=label, axis="cell", start=0.0, end=0.0)
    value, interval = ratio or (None, None)
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
    """The attributes that count bytes programmed and bytes of the host, each with its unit."""

    programmed: Mapping[int, int]
    host: Mapping[int, int]


COUNTERS = {
    # Both of Micron's count programs: those for the host are what the host wrote.
    "Micron": Counters(programmed={247: 1, 248: 1}, host={247: 1}),
    "Intel": Counters(programmed={249: GIB}, host={241: 32 * MIB}),
    "Western Digital": Counters(programmed={233: GIB, 234: GIB}, host={241: GIB}),
}


def from_smart(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[float, Interval] | None:
    """Programmed over written between two readings, each as `smartctl --json` prints it.

    None where the drive does not count both, or where too little was written for its counters.
    """
    first, second = _raw_values(before), _raw_values(after)
    for counters in COUNTERS.values():
        if {*counters.programmed, *counters.host} <= first.keys() & second.keys():
            programmed, host = (
                sum((second[key] - first[key]) * unit for key, unit in units.items())
                for units in (counters.programmed, counters.host)
            )
            if host <= 0:
                return None
            error, host_error = sum(counters.programmed.values()), sum(counters.host.values())
            low = max((programmed - error) / (host + host_error), 0.0)
            high = (programmed + error) / (host - host_error) if host > host_error else None
            return programmed / host, Interval(low=low, high=high, means="bound")
    return None


def _raw_values(smart: Mapping[str, Any]) -> dict[int, int]:
    table = smart.get("ata_smart_attributes", {}).get("table", [])
    return {int(row["id"]): int(row["raw"]["value"]) for row in table}


BATTERY = Battery(
    name=NAME,
    title="write amplification of random writes against how full the drive is, by its SMART data",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.waf.present",
    meanings=beside(__file__),
    needs=("smart",),
    follows=(
        Clause(
            says="fill to a share, write at random, read the drive's own counters before and after",
            source="reviewers (P)",
            here="each share on an erased drive; the rests before both readings count",
        ),
        Clause(
            says="WAF from a maker's counters: 247 and 248; 249 and 241; 233, 234 and 241",
            source="makers' SMART attributes (P)",
            here="interval: a counter is known to one of its units",
        ),
    ),
)
