"""waf: write amplification of small random writes against how full the drive is.

As a reviewer finds it (trust P): erase, fill in order to some share, let the drive settle, read its
SMART counters, write at random over what is there, let it settle again, and read them once more.
What the drive does in the rest after the writes is part of what they cost. A target that has
no SMART data is refused; one that cannot read them all the same answers the first step with the
reason, and that is the whole answer. `base.counters` knows which counters tell it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.counters import between
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import Part
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.step import Ask, Fill, Flush, Job, Mark, NotPossible, Purge, Rest, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Answer, Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

MIB = 1 << 20
NAME = "waf"
SMART = f"{NAME}/smart"
BLOCK, DEPTH = 4096, 32
COUNTED = "bytes programmed over bytes from the host; the interval is the counters' grain"


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """For each fill: purge, fill, rest, read, write at random, rest, read."""
    written = here(parameters, "size", info)
    if int(info.capacity_bytes * min(parameters.fills) / 100) < MIB or written < MIB:
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
            io_bytes=written // BLOCK * BLOCK,
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


def _finding(variant: str, title: str, before: Answer, after: Answer, label: str = "") -> Finding:
    value, grain, why = between(before, after)
    finding = Teller(
        battery=NAME, label=label or "", title=title, variant=variant, axis="cell"
    ).tell("", "", "x", value, interval=grain, better="lower", note=why or COUNTED)
    return finding if label else replace(finding, evidence=None)


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.waf.present",
)
