"""The rhythm of collection: whether the steady drive's rate goes up and down evenly, and how often.

A drive that collects one superblock after another pays for each before it has its room. With A
the write amplification, a superblock of S bytes makes room for S / A of the host's: that is the
period where each write waits for its share of the copies, and S where all writes wait until a
superblock is free. The steady drive is watched for a minute, with a sample each 20 ms, in bytes
written; `analysis.rhythm` says whether there is a period at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashtwin.batteries.base.loads import rates_of
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.step import Run
from flashtwin.model.units import percent, readable_seconds

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.saturation import Saturation
    from flashtwin.model.target import DriveInfo

SAMPLE_S = 0.02
# No more bins than samples, and no fewer than a period can be seen in.
FEWEST = 100


def label(battery: str) -> str:
    """The step in which the drive is watched."""
    return f"{battery}/rhythm"


def step(battery: str, saturation: Saturation, info: DriveInfo, seconds: float) -> Run:
    """The same writes, to addresses of their own, with fine samples."""
    job = saturation.load.job(
        info, size=saturation.span(info), seconds=seconds, host_ns=saturation.host_ns
    )
    job = replace(job, threads=saturation.threads, seed=saturation.rounds(info).most + 2)
    return Run(label=label(battery), jobs=(job,), sample_s=min(SAMPLE_S, seconds))


def findings(battery: str, saturation: Saturation, record: Record) -> list[Finding]:
    """The period; without a value where the rate has none, and nothing where nobody looked."""
    curve = rates_of(record, label(battery))
    if curve is None:
        return []
    from flashtwin.analysis.curve import in_equal_bytes
    from flashtwin.analysis.rhythm import rhythm

    unseen = Finding(
        battery=battery,
        name="collection_period",
        title=f"{saturation.load.access} writes, period of collection",
        value=None,
        unit="MB",
        beside="steady",
        evidence=Evidence(
            battery=battery, label=label(battery), axis="seconds", start=0.0, end=curve.total_s
        ),
        note="none seen: the rate of the steady drive goes up and down without a period, as where "
        "collection is spread evenly over the writes",
    )
    window = saturation.window(record)
    if window is None or not window.steady or len(curve) < FEWEST:
        note = "cannot tell: the drive was not steady, or not watched for long enough"
        return [replace(unseen, note=note)]
    count = len(curve)
    seen = rhythm(in_equal_bytes(curve, 0.0, curve.total_bytes, count).rate)
    if seen is None:
        return [unseen]
    each = curve.total_bytes / count * saturation.load.block_bytes / 1e6
    period = seen.period.scaled(each)
    seconds = seen.period.value * curve.total_s / count
    swing = seen.swing * curve.total_s / curve.total_bytes
    note = (
        f"the rate swings by {percent(swing)} of its mean, once each {readable_seconds(seconds)};"
        " a superblock is this large, or as many times larger as the write amplification says"
    )
    interval = Interval.of(period.low, period.high)
    return [replace(unseen, value=period.value, interval=interval, note=note)]
