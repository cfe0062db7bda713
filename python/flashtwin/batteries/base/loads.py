"""Loads: one kind of request at a queue depth, kept up for a time; and what is told of them.

What batteries share that keep up a load: its spelling (RND4K-Q32), the preparation of the drive,
the step, and findings of a step as a cell of a grid or over time, a point a second. Rates are
requests or bytes over time, with the interval of correlated samples (`analysis.estimate`).
Invariant: a load over time is read from the step's series alone.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from flashtwin.batteries.base.registry import host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Better, Evidence, Finding, Interval
from flashtwin.model.step import Fill, Job, Purge, Run
from flashtwin.model.units import show_block

if TYPE_CHECKING:
    from flashtwin.analysis.curve import Curve
    from flashtwin.analysis.estimate import Estimate
    from flashtwin.batteries.base.record import Record
    from flashtwin.model.step import JobTotals, ReadWrite, Step
    from flashtwin.model.target import DriveInfo

KIB, MIB = 1 << 10, 1 << 20
Way = Literal["read", "write", "mix"]
Axis = Literal["cell", "seconds", "bytes"]
# A target has to hold as many blocks for a load to be at random.
FEWEST_BLOCKS = 64
# A load that is kept up for less than a minute is sampled so often.
SAMPLES = 60


@dataclass(frozen=True, kw_only=True)
class Load:
    """Requests of one size in order or at random, `depth` of them outstanding.

    `read_percent`: 100 reads only, 0 writes only.
    """

    random: bool
    block_bytes: int
    read_percent: int
    depth: int

    @property
    def access(self) -> str:
        """Order and block size: RND4K."""
        return f"{'RND' if self.random else 'SEQ'}{show_block(self.block_bytes).upper()}"

    @property
    def name(self) -> str:
        """As CrystalDiskMark spells cells: RND4K-Q32."""
        return f"{self.access}-Q{self.depth}"

    @property
    def way(self) -> Way:
        """Whether the load reads, writes or mixes both."""
        return {100: "read", 0: "write"}.get(self.read_percent, "mix")  # type: ignore[return-value]

    @property
    def way_name(self) -> str:
        """What findings of the load are called: read, write, mix65."""
        return self.way if self.way != "mix" else f"mix{self.read_percent}"

    @property
    def title(self) -> str:
        """For a reader: RND4K Q32 read, RND4K Q32 80 % read."""
        way = self.way if self.way != "mix" else f"{self.read_percent} % read"
        return f"{self.access} Q{self.depth} {way}"

    @property
    def rw(self) -> ReadWrite:
        """As a job has it."""
        if self.way == "mix":
            return "randrw" if self.random else "rw"
        if self.random:
            return "randread" if self.way == "read" else "randwrite"
        return self.way

    def job(self, info: DriveInfo, *, size: int | None, seconds: float, host_ns: int) -> Job:
        """The load over the first `size` bytes of a target; over all of it without."""
        span = info.capacity_bytes if size is None else min(size, info.capacity_bytes)
        return Job(
            name=self.name,
            rw=self.rw,
            block_bytes=self.block_bytes,
            depth=self.depth,
            size=span // self.block_bytes * self.block_bytes,
            runtime_s=seconds,
            read_percent=self.read_percent if self.way == "mix" else 50,
            host_ns=host_ns,
        )

    def job_for(
        self,
        parameters: Any,
        info: DriveInfo,
        *,
        size: int | None = None,
        seconds: float | None = None,
        **changes: Any,
    ) -> Job:
        """The job with a battery's parameters: for its `seconds` where none are said, with its
        host's time a command; and with `changes` of the job's fields."""
        seconds = parameters.seconds if seconds is None else seconds
        job = self.job(info, size=size, seconds=seconds, host_ns=host_ns(parameters, info))
        return replace(job, **changes) if changes else job


def check_fits(battery: str, loads: Sequence[Load], info: DriveInfo) -> None:
    """Refuse a target that holds too few of the largest blocks."""
    least = FEWEST_BLOCKS * max(load.block_bytes for load in loads)
    if info.capacity_bytes < least:
        raise FlashtwinError(
            f"{battery}: {info.name} is too small: it holds fewer than {FEWEST_BLOCKS} of the"
            " largest blocks",
            hint=f"measure a target of {least} bytes or more",
            exit_code=USAGE,
        )


def prepared(
    stem: str, fills: int, *, block_bytes: int = 128 * KIB
) -> Generator[Step, object, None]:
    """Erase, and write everything in order so many times, as 545s reviews and SNIA do (WIPC)."""
    yield Purge(label=f"{stem}/purge")
    for number in range(1, fills + 1):
        yield Fill(label=f"{stem}/fill-{number}", block_bytes=block_bytes, depth=32)


def scattered(label: str, info: DriveInfo, percent: float) -> Generator[Step, object, None]:
    """Write so many percent of the target at random in blocks of 4 KiB, as drives in use are."""
    block = 4 * KIB
    count = int(info.capacity_bytes * percent / 100) // block
    if count:
        job = Job(
            name="random",
            rw="randwrite",
            block_bytes=block,
            depth=32,
            size=info.capacity_bytes // block * block,
            io_bytes=count * block,
        )
        yield Run(label=label, jobs=(job,), sample_s=10.0)


def over_time(label: str, job: Job) -> Run:
    """The step of a load that is watched over time: a sample a second, shorter where the load is
    short."""
    return Run(label=label, jobs=(job,), sample_s=min(1.0, (job.runtime_s or SAMPLES) / SAMPLES))


def totals_of(record: Record, label: str) -> JobTotals | None:
    """The totals of a step's only job; none where it did nothing."""
    step = record.step(label)
    if step is None or not step.jobs or not step.jobs[0].ios or not step.jobs[0].duration_ns:
        return None
    return step.jobs[0]


def rates_of(record: Record, label: str) -> Curve | None:
    """Requests over time, both directions together; none of a step that did nothing."""
    import numpy as np

    from flashtwin.analysis.curve import curve_of

    result = record.result(label)
    if result is None or not result.series.ios.sum():
        return None
    series = result.series
    starts, place = np.unique(series.t_ns, return_inverse=True)
    ios = np.bincount(place, weights=series.ios)
    lengths = np.zeros(starts.size, dtype=np.int64)
    np.maximum.at(lengths, place, series.dt_ns)
    return curve_of(starts, lengths, ios)


def mean_rate(curve: Curve, first: int = 0) -> Estimate:
    """The mean rate in requests a second, from the sample `first` on."""
    from flashtwin.analysis.estimate import speed

    estimate = speed(curve, [(first, len(curve))])
    assert estimate is not None, "a curve has samples"
    return estimate


@dataclass(frozen=True, kw_only=True)
class Teller:
    """Makes findings of a battery that rest on one step, up to its second `end_s`."""

    battery: str
    label: str
    title: str
    variant: str = ""
    axis: Axis = "seconds"
    end_s: float = 0.0

    @staticmethod
    def of(record: Record, battery: str, label: str, title: str, variant: str = "") -> Teller:
        """For findings that rest on all of a step."""
        end_s = record.seconds(label)
        return Teller(battery=battery, label=label, title=title, variant=variant, end_s=end_s)

    def tell(
        self,
        name: str,
        title: str,
        unit: str,
        value: Estimate | float | None,
        *,
        interval: Interval | None = None,
        beside: str | None = None,
        better: Better | None = None,
        headline: bool = False,
        note: str | None = None,
    ) -> Finding:
        """A finding in its unit; an estimate has its own interval."""
        number: float | None
        if value is None or isinstance(value, int | float):
            number = value
        else:
            number, interval = value.value, Interval.of(value.low, value.high)
        return Finding(
            battery=self.battery,
            name=name,
            variant=self.variant,
            title=", ".join(part for part in (self.title, title) if part),
            value=number,
            unit=unit,
            interval=interval,
            beside=beside,
            better=better,
            headline=headline,
            evidence=Evidence(
                battery=self.battery, label=self.label, axis=self.axis, start=0.0, end=self.end_s
            ),
            note=note,
        )


def cell_findings(record: Record, teller: Teller, load: Load, name: str) -> list[Finding]:
    """Speed, mean latency and rate of a step as a cell of a grid, under a name."""
    totals, curve = totals_of(record, teller.label), rates_of(record, teller.label)
    if totals is None or curve is None:
        return []
    rate = mean_rate(curve)
    failed = f"{totals.errors} requests failed" if totals.errors else None
    return [
        teller.tell(name, "", "MB/s", rate.scaled(load.block_bytes / 1e6), note=failed),
        teller.tell(f"{name}.latency", "latency", "us", totals.latency_mean_ns / 1000, beside=name),
        teller.tell(f"{name}.iops", "rate", "IOPS", rate, beside=name),
    ]


def load_cell(record: Record, battery: str, load: Load, label: str, name: str) -> list[Finding]:
    """The findings of a load as a cell that is its own variant; see `cell_findings`."""
    teller = Teller(battery=battery, label=label, title=load.title, variant=load.name, axis="cell")
    return cell_findings(record, teller, load, name)


def time_findings(record: Record, teller: Teller, load: Load) -> list[Finding]:
    """Findings of a load over time: mean, last quarter, lowest and highest second, and latency
    in two ways. Their texts are those of over_time.toml (`meaning.shared`).

    `latency` is the mean over requests, `latency.time` the mean over seconds of depth / rate, as
    a chart with a point a second has it: slow seconds count for more there.
    """
    totals, curve = totals_of(record, teller.label), rates_of(record, teller.label)
    if totals is None or curve is None:
        return []
    # A sequential load is told in MB/s, a random one in requests.
    scale, unit = (1.0, "IOPS") if load.random else (load.block_bytes / 1e6, "MB/s")
    moving = curve.rate[curve.rate > 0]
    stalled = int(len(curve) - moving.size)
    stalls = f"{stalled} samples without a completed request" if stalled else None
    quarter = mean_rate(curve, 3 * len(curve) // 4).scaled(scale)
    lowest, highest = (float(rate) * scale for rate in (curve.rate.min(), curve.rate.max()))
    over_time = float((load.depth / moving).mean()) * 1e6
    return [
        teller.tell("mean", "mean", unit, mean_rate(curve).scaled(scale), headline=True),
        teller.tell("settled", "last quarter", unit, quarter, beside="mean"),
        teller.tell("least", "lowest second", unit, lowest, beside="mean", note=stalls),
        teller.tell("most", "highest second", unit, highest, beside="mean"),
        teller.tell("latency", "latency", "us", totals.latency_mean_ns / 1000, beside="mean"),
        teller.tell("latency.time", "latency over time", "us", over_time, beside="mean"),
    ]
