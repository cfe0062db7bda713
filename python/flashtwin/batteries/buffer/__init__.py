"""buffer: how much a drive's write buffer holds, by bursts of growing size on a rested drive.

The drive is erased, so that nothing has to be folded or collected for a write. Then bursts of 64
KiB, 128 KiB and so on up to 64 MiB are written in order, each twice, one request of 64 KiB at a
time, and each after a short rest in which the buffer empties. A burst that the buffer holds takes
as long as the link needs; from the size on that it does not, each further request waits for the
flash. Of the times of one size the shorter counts.

Our own battery (trust M): reviewers read the buffer off the first moments of a write. The host's
time a command is a prior: 5 us.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.edges import Knee
from flashtwin.batteries.base.edges import beside as beside_knee
from flashtwin.batteries.base.loads import KIB, Load, check_fits, totals_of
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.step import Mark, Purge, Rest, Run
from flashtwin.model.units import readable_mb_s as mbs
from flashtwin.model.units import readable_size, show_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "buffer"
LOAD = Load(random=False, block_bytes=64 * KIB, read_percent=0, depth=1)

KNEE = Knee(battery=NAME, title="Write buffer", unit="MB")


@dataclass(frozen=True, kw_only=True)
class Burst:
    """One burst: its size, which of its repeats it is, and where it begins."""

    size: int
    number: int
    offset: int

    @property
    def label(self) -> str:
        """The step of the burst."""
        return f"{NAME}/burst/{show_size(self.size)}-{self.number}"


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Purge; rest and write, burst after burst."""
    check_fits(NAME, [LOAD], info)
    bursts = list(bursts_of(parameters))
    written = bursts[-1].offset + bursts[-1].size
    if written > info.capacity_bytes:
        raise FlashtwinError(
            f"{NAME}: all bursts together are {written} bytes, more than {info.name} holds",
            hint=f"set {NAME}:most to a smaller size",
            exit_code=USAGE,
        )
    yield Purge(label=f"{NAME}/purge")
    for number, burst in enumerate(bursts, 1):
        yield Rest(label=f"{NAME}/rest/{number}", seconds=parameters.rest_s)
        job = LOAD.job_for(parameters, info, size=burst.size, seconds=0.0, offset=burst.offset)
        job = replace(job, runtime_s=None)
        yield Run(label=burst.label, jobs=(job,), sample_s=0.1)
    yield Mark(label=f"{NAME}/burst/found")


def sizes(parameters: Any) -> list[int]:
    """From one request to the largest burst, each 1.4 times the one before, in whole requests."""
    most, count = parameters.most // LOAD.block_bytes, 0
    requests: list[int] = []
    while (size := round(2 ** (count / 2))) <= most:
        count += 1
        if size not in requests:
            requests.append(size)
    return [size * LOAD.block_bytes for size in requests]


def bursts_of(parameters: Any) -> Iterator[Burst]:
    """All bursts, one behind the other on the drive."""
    offset = 0
    for size in sizes(parameters):
        for number in range(1, parameters.repeats + 1):
            yield Burst(size=size, number=number, offset=offset)
            offset += size


def conclude(record: Record) -> list[Finding]:
    """The time of a request in a burst of each size, and what the buffer holds, once all bursts
    were written."""
    times: dict[int, float] = {}
    labels: dict[int, str] = {}
    for burst in bursts_of(record.parameters):
        totals = totals_of(record, burst.label)
        if totals is None or totals.bytes < burst.size:
            return []
        # With one request at a time the burst takes as long as all of its requests.
        seconds = totals.latency_mean_ns * totals.ios / 1e9
        if seconds < times.get(burst.size, inf):
            times[burst.size], labels[burst.size] = seconds, burst.label
    findings = _findings(times)
    for size, seconds in times.items():
        title = f"Request in a burst of {readable_size(size, binary=True)}"
        mean = seconds * LOAD.block_bytes / size
        findings.append(KNEE.cell(show_size(size), labels[size], title, mean))
    return findings


def _findings(times: dict[int, float]) -> list[Finding]:
    import numpy as np

    from flashtwin.analysis.write_buffer import buffer

    amounts, seconds = np.array(list(times), dtype=np.float64), np.array(list(times.values()))
    seen = buffer(amounts, seconds, LOAD.block_bytes)
    last = f"{NAME}/burst/{show_size(max(times))}-1"
    if seen is None:
        rates = amounts / seconds
        return [KNEE.size(last, _none_seen(float(rates.min()), float(rates.max())))]
    note = (
        f"{mbs(seen.link)} until it is full, {mbs(seen.flash)} from there on; at most if no "
        "program ends before that"
    )
    held = seen.size.scaled(1e-6)
    size = replace(
        KNEE.size(last, note),
        value=held.value,
        interval=Interval.of(held.low, held.high, "bound"),
    )
    filling, full = "Rate until the buffer is full", "Rate with the buffer full"
    return [
        size,
        beside_knee(size, "rate.filling", filling, "MB/s", seen.link / 1e6),
        beside_knee(size, "rate.full", full, "MB/s", seen.flash / 1e6),
    ]


def _none_seen(slowest: float, fastest: float) -> str:
    return (
        f"cannot tell: bursts of all sizes are written at {mbs(slowest)} to {mbs(fastest)} without "
        "one clear knee, so that the buffer is never full, is not there, or is emptied in turns; a "
        "faster link, or a drive whose cache is full, may show it"
    )


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """What this target cannot do."""
    if info.can.purge:
        return []
    return ["the target is not erased: a burst may wait for what the drive does by itself"]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
)
