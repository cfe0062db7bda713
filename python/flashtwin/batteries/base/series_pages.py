"""Transfer rates along the range of addresses, as HD Tune and HD Tach draw them.

One stream in order at queue depth 1, written, then read; its samples are points of a curve over the
data moved. What is told of it: mean, least and most of the points, and of writes where the first
plateau ends. Invariant: everything is read from a step's series alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flashtwin.batteries.base.loads import Load, Teller, rates_of, totals_of
from flashtwin.batteries.base.registry import Part
from flashtwin.model.series import READ, WRITE
from flashtwin.model.step import Fill, Mark, Purge, Rest, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashtwin.analysis.curve import Curve
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job
    from flashtwin.model.target import DriveInfo

Way = Literal["write", "read"]
STEPS: dict[Way, tuple[str, ...]] = {"write": ("write",), "read": ("read", "rest")}
ACCESS_S = 5.0
ACCESS = Load(random=True, block_bytes=4096, read_percent=100, depth=1)
# A stretch is sampled about so often, at rates that drives have, within what a page shows.
POINTS, USUAL_RATE = 600, 4e8
SAMPLE_S_LEAST, SAMPLE_S_MOST = 0.005, 0.5


def sample_s(moved_bytes: int) -> float:
    """The length of a sample of a stretch that moves so many bytes."""
    seconds = moved_bytes / USUAL_RATE / POINTS
    return round(min(max(seconds, SAMPLE_S_LEAST), SAMPLE_S_MOST), 3)


def load_of(way: Way, block_bytes: int) -> Load:
    """The stream of a way: in order, one request after another."""
    percent = 100 if way == "read" else 0
    return Load(random=False, block_bytes=block_bytes, read_percent=percent, depth=1)


@dataclass(frozen=True, kw_only=True)
class Along:
    """A tool that goes along the drive: `job_of` is the job of a way, `moved` names what it goes
    through. What is only read is written before, in whole `fill_unit`."""

    battery: str
    job_of: Callable[[Any, DriveInfo, Way], Job]
    moved: str
    fill_unit: int = 1

    def functions(self) -> dict[str, Any]:
        """What the battery does, by the names of `Battery`."""
        return {"measure": self.measure, "conclude": self.conclude, "parts": self.parts}

    def measure(self, parameters: Any, info: DriveInfo) -> Steps:
        """Erase, and fill what is read without having been written; the ways, a rest before reads;
        then reads anywhere."""
        jobs = {way: self.job_of(parameters, info, way) for way in parameters.ways}
        yield Purge(label=f"{self.battery}/purge")
        if "write" not in jobs:
            size = (jobs["read"].size or 0) // self.fill_unit * self.fill_unit
            yield Fill(label=f"{self.battery}/fill", size=size)
        for way, job in jobs.items():
            if way == "read":
                yield Rest(label=f"{self.battery}/rest", seconds=parameters.rest_s)
            moved = job.size if job.io_bytes is None else job.io_bytes
            step = Run(label=f"{self.battery}/{way}", jobs=(job,), sample_s=sample_s(moved or 0))
            yield step
            yield Mark(label=f"{step.label}/found")
        access = ACCESS.job_for(
            parameters, info, size=getattr(parameters, "size", None), seconds=ACCESS_S
        )
        yield Run(label=f"{self.battery}/access", jobs=(access,))

    def conclude(self, record: Record) -> list[Finding]:
        """What is told of each way, in data moved, and the access time."""
        findings: list[Finding] = []
        for way in record.parameters.ways:
            label = f"{self.battery}/{way}"
            findings += _of_way(record, self.battery, label, way)
        return findings + access_findings(record, self.battery, f"{self.battery}/access")

    def parts(self, parameters: Any, info: DriveInfo) -> list[Part]:
        """Writing, then reading what was written, then the access time."""
        titles = {way: f"{way} {self.moved}" for way in parameters.ways}
        before = (titles["write"],) if "write" in titles else ()
        rows = [
            Part(
                title=title,
                labels=tuple(f"{self.battery}/{step}" for step in STEPS[way]),
                needs=before if way == "read" else (),
                begins=True,
            )
            for way, title in titles.items()
        ]
        access = Part(title="access time", labels=(f"{self.battery}/access",), needs=before)
        return [*rows, access]


def curve_of(record: Record, label: str, way: Way) -> Curve | None:
    """The rate over the data moved; none where there are too few points."""
    from flashtwin.analysis import curve

    result = record.result(label)
    if result is None or totals_of(record, label) is None:
        return None
    series = result.series.only(READ if way == "read" else WRITE)
    if int((series.bytes > 0).sum()) < 8:
        return None
    return curve.curve_of(series.t_ns, series.dt_ns, series.bytes)


def _of_way(record: Record, battery: str, label: str, way: Way) -> list[Finding]:
    """Mean, lowest and highest point of a stretch; for writes also the end of the first plateau,
    and the speeds on both sides of it."""
    from flashtwin.analysis.estimate import speed
    from flashtwin.batteries.base.writing import burst_of

    curve = curve_of(record, label, way)
    if curve is None:
        return []
    teller = Teller.of(record, battery, label, way.capitalize(), way)
    mean = speed(curve, [(0, len(curve))])
    assert mean is not None, "a curve has points"
    # The last point may be of a shorter sample.
    least, most = (float(rate) / 1e6 for rate in (curve.rate[:-1].min(), curve.rate[:-1].max()))
    findings = [
        teller.tell("mean", "mean", "MB/s", mean.scaled(1e-6), headline=True),
        teller.tell("least", "lowest point", "MB/s", least, beside="mean"),
        teller.tell("most", "highest point", "MB/s", most, beside="mean"),
    ]
    burst = burst_of(curve) if way == "write" else ""
    if isinstance(burst, str):
        return findings
    fast, past = burst.fast.scaled(1e-6), burst.slow / 1e6
    return [
        *findings,
        teller.tell("cache", "size of the SLC cache", "GB", burst.size.scaled(1e-9)),
        teller.tell("fast", "in the SLC cache", "MB/s", fast, beside="cache"),
        teller.tell("past", "past the SLC cache", "MB/s", past, beside="cache"),
    ]


def access_findings(record: Record, battery: str, label: str) -> list[Finding]:
    """The access time: the mean latency of single reads anywhere."""
    totals = totals_of(record, label)
    if totals is None or rates_of(record, label) is None:
        return []
    teller = Teller(battery=battery, label=label, title="Access time")
    return [teller.tell("access", "", "us", totals.latency_mean_ns / 1000)]
