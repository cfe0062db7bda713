"""waf: write amplification of small random writes against how full the drive is.

As a reviewer finds it (trust P): erase, fill in order to some share, let the drive settle, read its
SMART counters, write at random over what is there, let it settle again, and read them once more.
What the drive does in the rest after the writes is part of what they cost. `analysis.amplification`
says which counters of which maker give the number; of a drive that does not count what it programs
there is none.

A target without SMART data answers the first step with the reason, and that is the whole answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import SECONDS, SIZE, decimal, parameter, several
from flashtwin.batteries.base.registry import Battery, Part
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


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What can be set."""

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
            "waf: less than 1MiB to be filled or written",
            hint=f"{info.name} has {units.show_size(info.capacity_bytes)}; set waf:size or"
            " waf:fills to more",
            exit_code=USAGE,
        )
    there = yield Ask(label=SMART, of="smart")
    if isinstance(there, NotPossible):
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
    there = record.answer(SMART)
    if isinstance(there, NotPossible):
        return [_finding("", "Write amplification", there, there)]
    found = []
    for percent in record.parameters.fills:
        name = f"{NAME}/{percent:g}"
        if record.step(f"{name}/found") is not None:
            title = f"Write amplification at {percent:g} % full"
            before, after = record.answer(f"{name}/before"), record.answer(f"{name}/after")
            found.append(_finding(f"{percent:g}%", title, before, after, f"{name}/write"))
    return found


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """Each fill by itself, as they are named."""
    return [
        Part(title=f"{percent:g} % full", labels=(f"{NAME}/{percent:g}",))
        for percent in parameters.fills
    ]


def departs(parameters: Parameters, info: DriveInfo) -> list[str]:
    """Where this run leaves what the reviewers do."""
    return [] if info.can.smart else ["the target has no SMART data: nothing is measured"]


def _finding(
    variant: str, title: str, before: Answer, after: Answer, label: str | None = None
) -> Finding:
    from flashtwin.analysis.amplification import from_smart
    from flashtwin.model.finding import Evidence, Finding, Interval

    value = note = None
    if isinstance(before, NotPossible) or isinstance(after, NotPossible):
        gone = before if isinstance(before, NotPossible) else after
        assert isinstance(gone, NotPossible), "one of the readings is lacking"
        note = gone.reason
    else:
        value = from_smart(before.smart, after.smart)
        if value is None:
            note = "the drive's SMART data do not count what it programs"
    evidence = None
    if label is not None:
        evidence = Evidence(battery=NAME, label=label, axis="cell", start=0.0, end=0.0)
    return Finding(
        battery=NAME,
        name="",
        variant=variant,
        title=title,
        value=None if value is None else value.value,
        unit="x",
        interval=None if value is None else Interval.of(value.low, value.high, "bound"),
        better="lower",
        evidence=evidence,
        note=note
        or "bytes programmed over bytes from the host; the interval is the counters' grain",
    )


BATTERY = Battery(
    name=NAME,
    title="write amplification of random writes against how full the drive is, by its SMART data",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    departs=departs,
    parts=parts,
    present="flashtwin.batteries.waf.present",
    meanings=beside(__file__),
)
