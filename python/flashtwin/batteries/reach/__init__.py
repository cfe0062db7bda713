"""reach: how much of the drive its map cache tells of, by random reads over ever larger ranges.

Drives without DRAM hold a part of their map in the controller or in the host's memory. Reads over
a range that this part tells of are as quick as on a drive with DRAM, and over a larger one a share
of them waits for a piece of the map. The drive is erased, written once in order and left alone, so
that its data is in native cells; then single 4 KiB reads go over the first 16 MiB, 32 MiB and so
on up to all of it, each range with addresses of its own. At last the smallest range is read at
several places: where it takes longer than at the beginning, data lies in cells of different speed,
and a knee may be that. Data that is read sooner somewhere else makes no knee: what was written last
often lies in a block of one bit a cell that is still open.

Our own battery, after what reviewers show of drives without DRAM (trust P). The host's time a
command is a prior: 5 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.edges import Knee
from flashtwin.batteries.base.edges import beside as beside_knee
from flashtwin.batteries.base.loads import (
    KIB,
    Load,
    check_fits,
    over_time,
    prepared,
    totals_of,
)
from flashtwin.batteries.base.parameter import seconds_of
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.step import Mark, Rest, Run
from flashtwin.model.units import percent, readable_size, show_size
from flashtwin.model.units import readable_gb as gb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "reach"
LOAD = Load(random=True, block_bytes=4 * KIB, read_percent=100, depth=1)
KNEE = Knee(battery=NAME, title="Reach of the map cache", unit="GB")
# Places at which the smallest range is read, from the beginning of the drive to its end.
PLACES = 5
# Reads elsewhere may take longer by this part of what a knee makes of reads, and it is the map's.
ALIKE = 0.5
# What a drive usually takes to say where a unit of 4 KiB is.
ENTRY = 4


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Prepare; read range after range, then the smallest one at several places."""
    check_fits(NAME, [LOAD], info)
    if parameters.least > info.capacity_bytes // 4:
        raise FlashtwinError(
            f"{NAME}: the smallest range is more than a quarter of {info.name}",
            hint=f"set {NAME}:least to less than {info.capacity_bytes // 4} bytes",
            exit_code=USAGE,
        )
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    yield Rest(label=f"{NAME}/prepare/settle", seconds=seconds_of(parameters, "settle_s", info))
    for number, span in enumerate(spans(parameters, info), 1):
        yield _reads(parameters, info, span_label(span), span, offset=0, seed=number)
    yield Mark(label=f"{NAME}/span/found")
    for number, offset in enumerate(places(parameters, info), 1):
        step = place_label(number)
        yield _reads(parameters, info, step, parameters.least, offset=offset, seed=100 + number)


def spans(parameters: Any, info: DriveInfo) -> Iterator[int]:
    """The ranges, doubling, and all of the target."""
    span, most = parameters.least, info.capacity_bytes // LOAD.block_bytes * LOAD.block_bytes
    while span < most:
        yield span
        span *= 2
    yield most


def places(parameters: Any, info: DriveInfo) -> Iterator[int]:
    """Where the smallest range is read last."""
    last = info.capacity_bytes - parameters.least
    for number in range(PLACES):
        yield int(last * number / (PLACES - 1)) // LOAD.block_bytes * LOAD.block_bytes


def span_label(span: int) -> str:
    """The step of a range."""
    return f"{NAME}/span/{show_size(span)}"


def place_label(number: int) -> str:
    """The step of a place."""
    return f"{NAME}/place/{number}"


def _reads(
    parameters: Any, info: DriveInfo, label: str, size: int, *, offset: int, seed: int
) -> Run:
    return over_time(label, LOAD.job_for(parameters, info, size=size, offset=offset, seed=seed))


def conclude(record: Record) -> list[Finding]:
    """The time of a read over each range, and the reach once all of them were read."""
    sizes = list(spans(record.parameters, record.info))
    times = {span: time for span in sizes if (time := _seconds(record, span_label(span)))}
    findings = []
    for span, seconds in times.items():
        # Drives of other sizes have a line with the range that is all of the target.
        is_all = span == sizes[-1]
        title = f"Read over {'all of it' if is_all else readable_size(span, binary=True)}"
        size = "all" if is_all else show_size(span)
        findings.append(KNEE.cell(size, span_label(span), title, seconds))
    if len(times) < len(sizes):
        return findings
    return [*_reach(record, times), *findings]


def _seconds(record: Record, label: str) -> float | None:
    """The mean time of a read in a step."""
    totals = totals_of(record, label)
    return None if totals is None else totals.latency_mean_ns / 1e9


def _reach(record: Record, times: dict[int, float]) -> list[Finding]:
    import numpy as np

    from flashtwin.analysis.reach import reach

    seen = reach(np.array(list(times), dtype=np.float64), np.array(list(times.values())))
    largest = max(times)
    if seen is None:
        slowest = max(times.values()) / min(times.values()) - 1
        note = (
            f"none seen: reads over all {gb(largest)} take at most {percent(slowest, 1)} longer"
            " than over the smallest range; the whole map is at hand, as in DRAM, or looking it up"
            " costs next to nothing"
        )
        return [KNEE.size(span_label(largest), note)]
    by_place = [
        time for number in range(1, PLACES + 1) if (time := _seconds(record, place_label(number)))
    ]
    elsewhere = max(by_place) / by_place[0] - 1 if by_place else 0.0
    if len(by_place) < PLACES or elsewhere > ALIKE * seen.slower:
        note = (
            f"cannot tell: reads become slower from {gb(seen.size.value)} on, but those of a small "
            f"range take {percent(elsewhere)} longer elsewhere than at the beginning as well, so"
            " that data lies in cells of different speed; read once more after a longer rest"
        )
        return [KNEE.size(span_label(largest), note)]
    mib = seen.size.value / LOAD.block_bytes * ENTRY / (1 << 20)
    note = f"with {ENTRY} bytes for each 4 KiB these are {mib:.3g} MiB of the map"
    estimate = seen.size.scaled(1e-9)
    size = replace(
        KNEE.size(span_label(largest), note),
        value=estimate.value,
        interval=Interval.of(estimate.low, estimate.high),
    )
    longer = "Longer reads beyond the reach"
    return [size, beside_knee(size, "slower", longer, "fraction", seen.slower, "lower")]


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """What this target cannot do."""
    if info.can.whole_drive:
        return []
    return ["reads a file: a map cache that covers more than the file shows no reach"]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
)
