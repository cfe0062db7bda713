"""power: what a drive draws while idle, while it reads and writes, and after it has written.

What reviewers do with a meter between host and drive (trust P): watts idle, mean and most while
writing, the mean over the minutes after a write, in which folding is paid for, and megabytes moved
for each joule. It departs from them in that the drive is erased first and nothing else runs.

A target without a meter answers the first step with the reason, and that is the whole answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import SAMPLE, SECONDS, SIZE, decimal, parameter
from flashtwin.batteries.base.registry import Battery, Part, host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.step import Ask, Job, Mark, NotPossible, Purge, ReadWrite, Rest, Result, Run

if TYPE_CHECKING:
    from flashtwin.analysis.estimate import Estimate
    from flashtwin.analysis.power import Readings
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

MIB = 1 << 20
NAME = "power"
METER = f"{NAME}/meter"
IDLE_S = 60.0
# A drive settles into its low-power states first.
SETTLED = 0.5


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What can be set."""

    size: int = parameter(
        24 * 10**9, SIZE, "what is written, read and worked on; less on a smaller drive"
    )
    rest_s: float = parameter(600.0, SECONDS, "how long the rest after the write is watched")
    random_s: float = parameter(30.0, SECONDS, "how long each of the random workloads runs")
    sample_s: float = parameter(1.0, SAMPLE, "length of a sample of the meter")
    host_us: float = parameter(
        5.0, decimal(0, 10_000), "the host's own time a command, in us (twins only)"
    )


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """Ask for the meter; rest, write, rest, read, read at random, copy, rest, write at random."""
    size = _size(parameters, info)
    if size < 2 * MIB:
        raise FlashtwinError(
            f"power: {units.show_size(parameters.size)} are too little to be measured",
            hint="set power:size to 1GB or more",
            exit_code=USAGE,
        )
    there = yield Ask(label=METER, of="power")
    if isinstance(there, NotPossible):
        return
    yield Purge(label="power/purge")
    for step in _work(parameters, info, size):
        answer = yield step
        if isinstance(answer, Result) and answer.meter and _name(step) in TITLES:
            yield Mark(label=f"{step.label}/found")


def conclude(record: Record) -> list[Finding]:
    """The findings of every step that a meter watched; or why there was no meter."""
    there = record.answer(METER)
    if isinstance(there, NotPossible):
        return [
            Finding(battery=NAME, name="", title="Power", value=None, unit="W", note=there.reason)
        ]
    found: list[Finding] = []
    for step in _work(record.parameters, record.info, _size(record.parameters, record.info)):
        result = record.result(step.label) if _name(step) in TITLES else None
        if result is not None and result.meter:
            found += _findings(step, result)
    return found


def _size(parameters: Parameters, info: DriveInfo) -> int:
    return min(parameters.size, info.capacity_bytes) // MIB * MIB


def _name(step: Run | Rest) -> str:
    return step.label.removeprefix(f"{NAME}/")


def departs(parameters: Parameters, info: DriveInfo) -> list[str]:
    """Where this run leaves what the reviewers do."""
    said = []
    if not info.can.power_meter:
        said.append("the target has no meter: nothing is measured")
    elif info.can.purge:
        said.append("the drive is purged first")
    if parameters.size > info.capacity_bytes:
        said.append("writes the whole drive, which is smaller than size")
    return said


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """A part a finding's step, in the order of their worth; a rest is part of what it is for.

    What is read has to be written first, and the drive to have cleared up after it, for it would
    draw for both.
    """
    labels = {
        "idle": ("idle",),
        "write": ("write",),
        "after-write": ("after-write",),
        "read": ("read",),
        "random-read": ("random-read",),
        "random-write": ("rest", "random-write"),
        "copy": ("copy",),
    }
    needs = {
        "after-write": ("write",),
        **dict.fromkeys(("read", "random-read", "random-write", "copy"), ("write", "after-write")),
    }
    return [
        Part(
            title=TITLES[name].removeprefix("Power, "),
            labels=tuple(f"{NAME}/{label}" for label in labels[name]),
            needs=tuple(TITLES[one].removeprefix("Power, ") for one in needs.get(name, ())),
        )
        for name in labels
    ]


def _work(parameters: Parameters, info: DriveInfo, size: int) -> Sequence[Run | Rest]:
    def run(name: str, rw: ReadWrite, block_bytes: int, depth: int, **bounds: float | int) -> Run:
        job = Job(
            name=name,
            rw=rw,
            block_bytes=block_bytes,
            depth=depth,
            size=size,
            host_ns=host_ns(parameters, info),
            **bounds,  # type: ignore[arg-type]
        )
        return Run(label=f"power/{name}", jobs=(job,), sample_s=parameters.sample_s)

    return (
        Rest(label="power/idle", seconds=IDLE_S),
        run("write", "write", 128 << 10, 32),
        Rest(label="power/after-write", seconds=parameters.rest_s),
        run("read", "read", 128 << 10, 32),
        run("random-read", "randread", 4096, 32, runtime_s=parameters.random_s),
        # Half of it is read and half written: a folder that is copied on the drive itself.
        run("copy", "rw", MIB, 1, io_bytes=size // 2 // MIB * MIB),
        Rest(label="power/rest", seconds=parameters.rest_s),
        run("random-write", "randwrite", 4096, 32, runtime_s=parameters.random_s),
    )


TITLES = {
    "idle": "Power, idle",
    "write": "Power, sequential write",
    "after-write": "Power, idle after the write",
    "read": "Power, sequential read",
    "random-read": "Power, random read",
    "copy": "Power, copy on the drive",
    "random-write": "Power, random write",
}


def _findings(step: Run | Rest, answer: Result) -> list[Finding]:
    from flashtwin.analysis import power

    name = _name(step)
    read = power.readings(answer.meter["dt_ns"], answer.meter["power_uw"])
    if name == "idle":
        return [_finding(step, answer, "", "W", power.mean(read.from_share(SETTLED)), _SETTLED)]
    mean = _finding(step, answer, "", "W", power.mean(read), None)
    if isinstance(step, Rest):
        return [mean]
    return [mean, _most(step, answer, read), *_efficient(step, answer, read)]


_SETTLED = "the second half of the rest, when the drive has settled"


def _most(step: Run, answer: Result, read: Readings) -> Finding:
    from flashtwin.analysis import power
    from flashtwin.analysis.estimate import Estimate

    value = power.most(read)
    peak = None if value is None else Estimate(value=value, low=None, high=None)
    note = f"the largest of the samples of {units.show_seconds(step.sample_s)}"
    return _finding(step, answer, ".most", "W", peak, note)


def _efficient(step: Run, answer: Result, read: Readings) -> list[Finding]:
    from flashtwin.analysis import power

    moved = sum(job.bytes for job in answer.jobs)
    copied = step.jobs[0].rw == "rw"
    value = power.efficiency(read, moved // 2 if copied else moved)
    note = "each byte is read and written, and counts once" if copied else None
    return [_finding(step, answer, ".efficiency", "MB/J", value, note)]


def _finding(
    step: Run | Rest,
    answer: Result,
    suffix: str,
    unit: str,
    value: Estimate | None,
    note: str | None,
) -> Finding:
    name = _name(step)
    what = {"": "", ".most": ", most", ".efficiency": ", data for each joule"}[suffix]
    end = answer.duration_ns / 1e9
    start = end * SETTLED if name == "idle" else 0.0
    return Finding(
        battery=NAME,
        name=name + suffix,
        title=TITLES[name] + what,
        value=None if value is None else value.value,
        unit=unit,
        interval=None if value is None else Interval.of(value.low, value.high),
        beside=name if suffix else None,
        evidence=Evidence(battery=NAME, label=step.label, axis="seconds", start=start, end=end),
        note=note,
    )


BATTERY = Battery(
    name=NAME,
    title="watts idle, reading, writing and after a write, and data for each joule",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    departs=departs,
    parts=parts,
    present="flashtwin.batteries.power.present",
    meanings=beside(__file__),
)
