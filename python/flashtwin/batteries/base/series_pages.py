"""Transfer rates along the range of addresses, as HD Tune and HD Tach draw them.

One stream in order at queue depth 1, written, then read; its samples are points of a curve over the
data moved. What is told of it: mean, least and most of the points, and of writes where the first
plateau ends. Invariant: everything is read from a step's series alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flashtwin.batteries.base.loads import Load, Teller, cell_findings, totals_of
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


def steps(battery: str, parameters: Any, job_of: Callable[[Way], Job], range_bytes: int) -> Steps:
    """Erase, and fill what is read without having been written; the ways, a rest before reads."""
    yield Purge(label=f"{battery}/purge")
    if "write" not in parameters.ways:
        yield Fill(label=f"{battery}/fill", size=range_bytes)
    for way in parameters.ways:
        if way == "read":
            yield Rest(label=f"{battery}/rest", seconds=parameters.rest_s)
        job = job_of(way)
        moved = job.size if job.io_bytes is None else job.io_bytes
        yield Run(label=f"{battery}/{way}", jobs=(job,), sample_s=sample_s(moved or 0))
        yield Mark(label=f"{battery}/{way}/found")


def findings(battery: str, record: Record, job_of: Callable[[Way], Job]) -> list[Finding]:
    """What is told of each way, in data moved, and the access time."""
    of_ways = [
        finding
        for way in record.parameters.ways
        for finding in Stretch(
            battery=battery, label=f"{battery}/{way}", way=way, job=job_of(way)
        ).findings(record)
    ]
    return of_ways + access_findings(record, battery, f"{battery}/access")


def parts(battery: str, moved: str, parameters: Any, info: DriveInfo) -> list[Part]:
    """Writing, then reading what was written, then the access time."""
    titles = {way: f"{way} {moved}" for way in parameters.ways}
    before = (titles["write"],) if "write" in titles else ()
    rows = [
        Part(
            title=title,
            labels=(f"{battery}/{way}", *((f"{battery}/rest",) if way == "read" else ())),
            needs=before if way == "read" else (),
            begins=True,
        )
        for way, title in titles.items()
    ]
    return [*rows, Part(title="access time", labels=(f"{battery}/access",), needs=before)]


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


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """A step of a battery whose curve is read."""

    battery: str
    label: str
    way: Way
    job: Job

    def findings(self, record: Record) -> list[Finding]:
        """Mean, lowest and highest point; for writes also the end of the first plateau, and the
        speed behind it."""
        from flashtwin.analysis.estimate import speed

        curve = curve_of(record, self.label, self.way)
        if curve is None:
            return []
        teller = self._teller(record)
        mean = speed(curve, [(0, len(curve))])
        assert mean is not None, "a curve has points"
        # The last point may be of a shorter sample.
        points = curve.rate[:-1]
        rates = [
            teller.tell("mean", "mean", "MB/s", mean.scaled(1e-6), headline=True),
            teller.tell("least", "lowest point", "MB/s", float(points.min()) / 1e6, beside="mean"),
            teller.tell("most", "highest point", "MB/s", float(points.max()) / 1e6, beside="mean"),
        ]
        return rates + (_edge(teller, curve) if self.way == "write" else [])

    def _teller(self, record: Record) -> Teller:
        step = record.step(self.label)
        return Teller(
            battery=self.battery,
            load=load_of(self.way, self.job.block_bytes),
            variant=self.way,
            label=self.label,
            title=self.way.capitalize(),
            end_s=0.0 if step is None else step.duration_ns / 1e9,
        )


def _edge(teller: Teller, curve: Curve) -> list[Finding]:
    """Where the first plateau of writes ends, and the speeds on both sides of it."""
    from flashtwin.batteries.base.writing import burst_of

    burst = burst_of(curve)
    if isinstance(burst, str):
        return []
    return [
        teller.tell("cache", "size of the SLC cache", "GB", burst.size.scaled(1e-9)),
        teller.tell("fast", "in the SLC cache", "MB/s", burst.fast.scaled(1e-6), beside="cache"),
        teller.tell("past", "past the SLC cache", "MB/s", burst.slow / 1e6, beside="cache"),
    ]


def access_findings(record: Record, battery: str, label: str) -> list[Finding]:
    """The access time: the mean latency of single reads anywhere."""
    teller = Teller(
        battery=battery, load=ACCESS, variant="", label=label, title="Access time", axis="seconds"
    )
    cells = cell_findings(record, teller, "access")
    totals = totals_of(record, label)
    if totals is None or not cells:
        return []
    return [teller.tell("access", "", "us", totals.latency_mean_ns / 1000)]
