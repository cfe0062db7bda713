"""power: what a drive draws while idle, while it reads and writes, and after it has written.

What reviewers do with a meter between host and drive (trust P): watts idle, mean and most while
writing, the mean over the minutes after a write, in which folding is paid for, and megabytes moved
for each joule. It departs from them in that the drive is erased first and nothing else runs.

A target without a meter answers the first step with the reason, and that is the whole answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashtwin.batteries.base.parameter import SAMPLE, SECONDS, SIZE, decimal, parameter
from flashtwin.batteries.base.registry import Battery, Part
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.step import Ask, Job, Mark, NotPossible, Purge, ReadWrite, Rest, Result, Run

if TYPE_CHECKING:
    from flashtwin.analysis.estimate import Estimate
    from flashtwin.analysis.power import Readings
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

MIB = 1 << 20
NAME = "power"
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


def steps(parameters: Parameters, info: DriveInfo) -> Steps:
    """Ask for the meter; rest, write, rest, read, read at random, copy, rest, write at random."""
    size = min(parameters.size, info.capacity_bytes) // MIB * MIB
    if size < 2 * MIB:
        raise FlashtwinError(
            f"power: {units.show_size(parameters.size)} are too little to be measured",
            hint="set power:size to 1GB or more",
            exit_code=USAGE,
        )
    there = yield Ask(label="power/meter", of="power")
    if isinstance(there, NotPossible):
        return [_none(there.reason)]
    found: list[Finding] = []
    yield Purge(label="power/purge")
    for step in _work(parameters, info, size):
        answer = yield step
        if isinstance(answer, Result) and answer.meter:
            new = _findings(step, answer)
            if answer.cut:
                said = f"the budget ended it after {answer.duration_ns / 1e9:.4g} s"
                new = [replace(o, note=f"{o.note}; {said}" if o.note else said) for o in new]
            found += new
            if new:
                yield Mark(label=f"{step.label}/found", found=tuple(new))
    return found


def departs(parameters: Parameters, info: DriveInfo) -> list[str]:
    """Where this run leaves what the reviewers do."""
    said = []
    if not info.can.power_meter:
        said.append("the target has no meter: nothing is measured")
    elif info.can.purge:
        said.append("the drive is purged first")
    if info.can.host_time:
        said.append(f"the host takes {parameters.host_us:g} us a command (a prior, set host_us)")
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
    host_ns = round(parameters.host_us * 1000) if info.can.host_time else 0

    def run(name: str, rw: ReadWrite, block_bytes: int, depth: int, **bounds: float | int) -> Run:
        job = Job(
            name=name,
            rw=rw,
            block_bytes=block_bytes,
            depth=depth,
            size=size,
            host_ns=host_ns,
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


def _none(reason: str) -> Finding:
    from flashtwin.model.finding import Finding

    return Finding(battery=NAME, name="", title="Power", value=None, unit="W", note=reason)


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

    name = step.label.removeprefix("power/")
    if name not in TITLES:
        return []
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
    from flashtwin.model.finding import Evidence, Finding, Interval

    name = step.label.removeprefix("power/")
    what = {"": "", ".most": ", most", ".efficiency": ", data for each joule"}[suffix]
    end = answer.duration_ns / 1e9
    start = end * SETTLED if name == "idle" else 0.0
    low = None if value is None or value.low is None else _rounded(value.low)
    high = None if value is None or value.high is None else _rounded(value.high)
    return Finding(
        battery=NAME,
        name=name + suffix,
        title=TITLES[name] + what,
        value=None if value is None else _rounded(value.value),
        unit=unit,
        interval=Interval.of(low, high),
        beside=name if suffix else None,
        evidence=Evidence(battery=NAME, label=step.label, axis="seconds", start=start, end=end),
        note=note,
    )


def _rounded(value: float) -> float:
    """Six digits: more than a meter tells, and no last bits of a sum in a file."""
    return float(f"{value:.6g}")


BATTERY = Battery(
    name=NAME,
    title="watts idle, reading, writing and after a write, and data for each joule",
    trust="P",
    parameters=Parameters,
    steps=steps,
    departs=departs,
    parts=parts,
    present="flashtwin.batteries.power_present",
)
