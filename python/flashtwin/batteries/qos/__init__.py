"""qos: an hour of one load, minute by minute: the slowest requests, and how even the drive is.

Quality of service as enterprise drives are rated and reviewed (trust M): percentiles up to 99.999 %
of a load that is kept up for an hour on a drive in steady use. The hour is measured in windows of a
minute, so that the worst of them can be told; each draws new addresses. On a twin they follow each
other without a gap. The drive is erased, written twice in order and once at random before. The
host's time a command is a prior: 5 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import (
    Load,
    Teller,
    check_fits,
    over_time,
    prepared,
    rates_of,
    scattered,
)
from flashtwin.batteries.base.registry import with_mark
from flashtwin.batteries.base.tail import bins_in, percentile_us, tail_findings
from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Result
    from flashtwin.model.target import DriveInfo

NAME = "qos"
LOAD = f"{NAME}/load"
# The percentile of which the worst window is told.
WORST = "p99_9"
# A second that brings so much of the mean is as the others are.
EVEN = 0.9
MOST_WINDOWS = 1440


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Prepare once; then window after window."""
    load = load_of(parameters)
    check_fits(NAME, [load], info)
    count = windows(parameters)
    if not 1 <= count <= MOST_WINDOWS:
        raise FlashtwinError(
            f"{NAME}: {count} windows are too {'few' if count < 1 else 'many'}: 1 to {MOST_WINDOWS}"
            " are possible",
            hint="set qos:window_s, or qos:seconds, which windows are parts of",
            exit_code=USAGE,
        )
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    yield from scattered(f"{NAME}/prepare/random", info, parameters.random_percent)
    for number in range(1, count + 1):
        # The same addresses again would find their data where it was put.
        job = load.job_for(parameters, info, seconds=parameters.window_s, seed=number)
        yield from with_mark(over_time(label_of(number), job))


def windows(parameters: Any) -> int:
    """How many windows there are; what is left of a last one is not measured."""
    if not parameters.window_s:
        return 0
    return int(parameters.seconds / parameters.window_s + 1e-9)


def load_of(parameters: Any) -> Load:
    """The load of every window."""
    return Load(
        random=True,
        block_bytes=parameters.block,
        read_percent=parameters.read_percent,
        depth=parameters.depth,
    )


def label_of(number: int) -> str:
    """The step of a window."""
    return f"{LOAD}/{number}"


def conclude(record: Record) -> list[Finding]:
    """The percentiles of all windows together, the worst window, and how even the rate is."""
    there: dict[int, Result] = {}
    for number in range(1, windows(record.parameters) + 1):
        result = record.result(label_of(number))
        if result is not None and result.hist:
            there[number] = result
    if not there:
        return []
    findings: list[Finding] = []
    for direction in ("read", "write"):
        bins = bins_in(there.values(), direction)
        if bins:
            teller = _teller(record, direction, max(there))
            findings += tail_findings(teller, bins, headline="p99_99")
            findings += _worst(record, direction, there)
    return [*findings, *_evenness(record, there)]


def _teller(record: Record, variant: str, number: int) -> Teller:
    """Findings rest on a window: on the last one where they are of all."""
    load = load_of(record.parameters)
    title = load.title if not variant or load.way != "mix" else f"{load.title}, {variant}s"
    return Teller(battery=NAME, label=label_of(number), title=title, variant=variant)


def _worst(record: Record, direction: str, there: dict[int, Result]) -> list[Finding]:
    """The window whose slowest requests were slowest."""
    slow = {
        number: value
        for number, result in there.items()
        if (value := percentile_us(bins_in([result], direction), WORST)) is not None
    }
    if not slow:
        return []
    number = max(slow, key=lambda number: slow[number])
    end_s = there[number].duration_ns / 1e9
    teller = replace(_teller(record, direction, number), end_s=end_s)
    note = f"window {number} of {len(there)}"
    title = "99.9 % in the worst window"
    return [teller.tell("worst", title, "us", slow[number], better="lower", note=note)]


def _evenness(record: Record, there: dict[int, Result]) -> list[Finding]:
    """The mean rate, and the share of the samples that come near it."""
    import numpy as np

    curves = [rates_of(record, label_of(number)) for number in there]
    rates = np.concatenate([curve.rate for curve in curves if curve is not None])
    seconds = np.concatenate([curve.dt for curve in curves if curve is not None])
    mean = float((rates * seconds).sum() / seconds.sum())
    even = float(seconds[rates >= EVEN * mean].sum() / seconds.sum())
    teller = _teller(record, "", max(there))
    share = f"share of the time with {100 * EVEN:.0f} % of the mean rate or more"
    return [
        teller.tell("mean", "mean rate", "IOPS", mean),
        teller.tell("even", share, "fraction", even, better="higher", headline=True),
    ]


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """How this run departs from an hour without a gap."""
    if info.can.virtual_time:
        return []
    return ["between two windows the drive is idle while fio starts, 0.2 to 0.4 s"]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
    present="flashtwin.batteries.qos.present",
)
