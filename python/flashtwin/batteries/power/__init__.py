"""power: what a drive draws while idle, while it reads and writes, and after it has written.

What reviewers do with a meter between host and drive (trust P): watts idle, mean and most while
writing, the mean over the minutes after a write, in which folding is paid for, and megabytes moved
for each joule. It departs from them in that the drive is erased first and nothing else runs.

A target without a meter answers the first step with the reason, and that is the whole answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.assumed import noted_assumed
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.finding import Finding
from flashtwin.model.step import Ask, Job, Mark, NotPossible, Purge, ReadWrite, Rest, Result, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

MIB = 1 << 20
NAME = "power"
METER = f"{NAME}/meter"
IDLE_S = 60.0
# A drive settles into its low-power states first.
SETTLED = 0.5
# What has findings: a word of the finding's name, and its title.
TITLES = {
    "idle": "idle",
    "write": "sequential write",
    "after-write": "idle after the write",
    "read": "sequential read",
    "random-read": "random read",
    "copy": "copy on the drive",
    "random-write": "random write",
}
BEFORE_RANDOM_WRITE = "rest"
# Keys of a twin's spec that decide what is drawn: at work, and after a minute of rest.
RESTS_ON = ("power.active", "power.flash_program", "power.flash_read")
RESTS_ON_AT_REST = ("power.idle", "power.light.after", "power.light.power")


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Ask for the meter; rest, write, rest, read, read at random, copy, rest, write at random."""
    size = _size(parameters, info)
    if size < 2 * MIB:
        raise FlashtwinError(
            f"power: {units.show_size(parameters.size)} are too little to be measured",
            hint="set power:size to 1GB or more",
            exit_code=USAGE,
        )
    meter = yield Ask(label=METER, of="power")
    if isinstance(meter, NotPossible):
        return
    yield Purge(label="power/purge")
    for name, step in _work(parameters, info, size).items():
        answer = yield step
        if isinstance(answer, Result) and answer.meter and name in TITLES:
            yield Mark(label=f"{step.label}/found")


def conclude(record: Record) -> list[Finding]:
    """The findings of every step that a meter watched; or why there was no meter."""
    meter = record.answer(METER)
    if isinstance(meter, NotPossible):
        return [
            Finding(battery=NAME, name="", title="Power", value=None, unit="W", note=meter.reason)
        ]
    findings: list[Finding] = []
    work = _work(record.parameters, record.info, _size(record.parameters, record.info))
    for name in TITLES:
        result = record.result(work[name].label)
        if result is not None and result.meter:
            keys = RESTS_ON_AT_REST if name == "idle" else RESTS_ON
            findings += noted_assumed(_findings(name, work[name], result), record.info, keys)
    return findings


def _size(parameters: Any, info: DriveInfo) -> int:
    size: int = min(here(parameters, "size", info), info.capacity_bytes)
    return size // MIB * MIB


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """How this run departs from what the reviewers do."""
    departures = []
    if info.can.purge:
        departures.append("the drive is purged first")
    if here(parameters, "size", info) > info.capacity_bytes:
        departures.append("writes the whole drive, which is smaller than size")
    return departures


def _work(parameters: Any, info: DriveInfo, size: int) -> dict[str, Run | Rest]:
    """The steps by name, in order."""
    rest_s = here(parameters, "rest_s", info)
    random_s = here(parameters, "random_s", info)

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
        return Run(label=f"{NAME}/{name}", jobs=(job,), sample_s=parameters.sample_s)

    def rest(name: str, seconds: float) -> Rest:
        return Rest(label=f"{NAME}/{name}", seconds=seconds)

    return {
        "idle": rest("idle", IDLE_S),
        "write": run("write", "write", 128 << 10, 32),
        "after-write": rest("after-write", rest_s),
        "read": run("read", "read", 128 << 10, 32),
        "random-read": run("random-read", "randread", 4096, 32, runtime_s=random_s),
        # Half of the requests read and half write, as when a folder is copied within the drive.
        "copy": run("copy", "rw", MIB, 1, io_bytes=size // 2 // MIB * MIB),
        BEFORE_RANDOM_WRITE: rest(BEFORE_RANDOM_WRITE, rest_s),
        "random-write": run("random-write", "randwrite", 4096, 32, runtime_s=random_s),
    }


def _findings(name: str, step: Run | Rest, result: Result) -> list[Finding]:
    """Watts of a step; of work also the most that was drawn, and the data for each joule."""
    from flashtwin.batteries.power.meter import Readings

    readings = Readings.of(result.meter["dt_ns"], result.meter["power_uw"])
    end = result.duration_ns / 1e9
    teller = Teller(battery=NAME, label=step.label, title=f"Power, {TITLES[name]}", end_s=end)

    if name == "idle":
        settled = "the second half of the rest, when the drive has settled"
        mean = teller.tell(name, "", "W", readings.from_share(SETTLED).mean(), note=settled)
        assert mean.evidence is not None, "a teller tells of a step"
        return [replace(mean, evidence=replace(mean.evidence, start=end * SETTLED))]
    mean = teller.tell(name, "", "W", readings.mean())
    if isinstance(step, Rest):
        return [mean]
    sample = f"the largest of the samples of {units.readable_period(step.sample_s)}"
    moved, once = sum(job.bytes for job in result.jobs), None
    if step.jobs[0].rw == "rw":
        moved, once = moved // 2, "each byte is read and written, and counts once"
    joule, per_joule = "data for each joule", readings.efficiency(moved)
    return [
        mean,
        teller.tell(f"{name}.most", "most", "W", readings.most(), beside=name, note=sample),
        teller.tell(f"{name}.efficiency", joule, "MB/J", per_joule, beside=name, note=once),
    ]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
)
