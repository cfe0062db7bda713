"""snia_xsr: a stream, random writes, the stream again: how long the stream takes to recover.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P), which call it cross stimulus recovery. Purge; 8 hours of 1024 KiB writes in
order, 6 hours of 8 KiB random writes, 8 hours in order again. The stream is back from the first
moment on from which five samples keep nine tenths of what it had settled at before. The host's time
a command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import (
    KIB,
    MIB,
    Load,
    Teller,
    check_fits,
    prepared,
    rates_of,
    time_findings,
)
from flashtwin.batteries.base.registry import with_mark
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.step import Run

if TYPE_CHECKING:
    from flashtwin.analysis.curve import Curve
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "snia_xsr"
BEFORE, RANDOM, AFTER = "before", "random", "after"
TITLES = {BEFORE: "Stream before", RANDOM: "Random writes", AFTER: "Stream after"}
# The stream is back when it keeps so much of its rate before, for so many samples.
BACK, SAMPLES = 0.9, 5
MOST_SAMPLES = 3000


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Purge; the three writes one after another."""
    loads = _loads(parameters)
    check_fits(NAME, list(loads.values()), info)
    yield from prepared(NAME, 0)
    for kind, load in loads.items():
        seconds = parameters.random_s if kind == RANDOM else parameters.stream_s
        job = load.job_for(parameters, info, seconds=seconds)
        sample_s = max(1.0, seconds / MOST_SAMPLES) if seconds >= 60 else seconds / 60
        yield from with_mark(Run(label=f"{NAME}/{kind}", jobs=(job,), sample_s=sample_s))


def _loads(parameters: Any) -> dict[str, Load]:
    stream = Load(random=False, block_bytes=MIB, read_percent=0, depth=parameters.depth)
    random = Load(random=True, block_bytes=8 * KIB, read_percent=0, depth=parameters.depth)
    return {BEFORE: stream, RANDOM: random, AFTER: stream}


def conclude(record: Record) -> list[Finding]:
    """Each write over time, and how long the stream was slow after the random writes."""
    findings: list[Finding] = []
    for kind, load in _loads(record.parameters).items():
        teller = Teller.of(record, NAME, f"{NAME}/{kind}", TITLES[kind], kind)
        findings += time_findings(record, teller, load)
    before, after = (rates_of(record, f"{NAME}/{kind}") for kind in (BEFORE, AFTER))
    if before is None or after is None:
        return findings
    return [*findings, _recovery(before, after)]


def _recovery(before: Curve, after: Curve) -> Finding:
    """The time until the stream is back; a bound where it never was."""
    import numpy as np

    settled = before.mean(3 * len(before) // 4, len(before))
    first = after.mean(0, max(len(after) // 100, 1)) / settled
    near = after.rate >= BACK * settled
    # A short last sample says little, and belongs to no five.
    runs = np.convolve(near[:-1], np.ones(SAMPLES), mode="valid") >= SAMPLES - 0.5
    place = int(np.argmax(runs)) if runs.any() else None
    sample = float(after.dt[0])
    seconds = None if place is None else float(after.time_at[place])
    note = f"its first hundredth has {100 * first:.0f} % of the rate before"
    if seconds is None:
        note = f"not within {after.total_s:.0f} s; {note}"
    title = f"Until the stream keeps {100 * BACK:.0f} % of its rate again"
    end_s = after.total_s if seconds is None else seconds
    teller = Teller(battery=NAME, label=f"{NAME}/{AFTER}", title=title, end_s=end_s)
    known = None if seconds is None else Interval.of(seconds - sample, seconds, "bound")
    return teller.tell(
        "recovery", "", "s", seconds, interval=known, better="lower", headline=True, note=note
    )


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=pts.departs,
)
