"""niobench: NIOBench's files, as the PM871b article used it: written one after another, and read.

Trust P: N files of a size, each written in blocks of a size, unbuffered, then read; the speed of
each step against the data written, medians and means. With repeats ("file group, 5 repeats") each
file is written, then read, so many times over before the next. Native scenario: 50 iterations;
zoomed: files of 100 MB in blocks of 10 MB. How large the native scenario's files are is not told.
One request is outstanding; the host's time a command is a prior: 100 us for a block of 10 MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from flashtwin.batteries.base.meaning import beside
from flashtwin.batteries.base.parameter import (
    SIZE,
    choice,
    decimal,
    integer,
    parameter,
)
from flashtwin.batteries.base.registry import Battery, Clause, Part, host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.step import Job, Mark, Purge, Run
from flashtwin.model.units import readable_size

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "niobench"
MB = 10**6
SECTOR = 4096
WAYS = ("write", "read")
# A speed below this share of the way from the slow to the fast ones is past the cache.
HALF = 0.5
# So many files make two plateaus that can be told apart, and so much they differ.
FEWEST, DIFFERS = 4, 0.9


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of the NIOBench-like test."""

    file: int = parameter(100 * MB, SIZE, "the size of a file")
    block: int = parameter(10 * MB, SIZE, "the size of a request")
    iterations: int = parameter(50, integer(1, 10_000), "how many files")
    repeats: int = parameter(1, integer(1, 100), "how often each file is written, then read")
    order: str = parameter(
        "each", choice("each", "all"), "each file is read when written, or all after the last"
    )
    host_us: float = parameter(
        100.0, decimal(0, 10_000), "the host's own time a command, in us (twins only)"
    )

    @property
    def block_bytes(self) -> int:
        """Whole blocks of flash's map."""
        return max(self.block // SECTOR, 1) * SECTOR

    @property
    def file_bytes(self) -> int:
        """Whole blocks."""
        return self.file // self.block_bytes * self.block_bytes


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """Erase; file after file is written and read, as often as it is repeated."""
    size = parameters.iterations * parameters.file_bytes
    if not 0 < size <= info.capacity_bytes:
        raise FlashtwinError(
            f"{NAME}: {parameters.iterations} files of {readable_size(parameters.file)} do not fit"
            f" on {info.name}, or hold no block",
            hint=f"set {NAME}:iterations, {NAME}:file or {NAME}:block to less",
            exit_code=USAGE,
        )
    yield Purge(label=f"{NAME}/purge")
    for number, repeat, way in _order(parameters):
        yield Run(
            label=_label(number, repeat, way),
            jobs=(_job(parameters, info, number, way),),
            sample_s=10.0,
            repeats=f"{NAME}/{way}",
        )
    yield Mark(label=f"{NAME}/found")


def _order(parameters: Parameters) -> Iterator[tuple[int, int, str]]:
    """File, repeat and way of each step."""
    files = range(1, parameters.iterations + 1)
    repeats = range(1, parameters.repeats + 1)
    if parameters.order == "each":
        for number in files:
            for repeat in repeats:
                yield from ((number, repeat, way) for way in WAYS)
        return
    for way in WAYS:
        for number in files:
            yield from ((number, repeat, way) for repeat in repeats)


def _label(number: int, repeat: int, way: str) -> str:
    return f"{NAME}/file-{number}/{way}-{repeat}"


def _job(parameters: Parameters, info: DriveInfo, number: int, way: str) -> Job:
    return Job(
        name=way,
        rw="read" if way == "read" else "write",
        block_bytes=parameters.block_bytes,
        offset=(number - 1) * parameters.file_bytes,
        size=parameters.file_bytes,
        host_ns=host_ns(parameters, info),
    )


@dataclass(frozen=True, kw_only=True)
class Point:
    """The speed of a file's step: in bytes a second, and how many bytes of files came before."""

    label: str
    file_bytes_before: int
    bytes: int
    seconds: float

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.bytes / self.seconds


def conclude(record: Record) -> list[Finding]:
    """Mean and median of all steps of a way; where the cache overflows, and the speeds around."""
    findings: list[Finding] = []
    for way in WAYS:
        points = _points(record, way)
        if points:
            findings += _sums(way, points)
        if way == "write" and len(points) == record.parameters.iterations:
            findings += overflow(points)
    return findings


def _points(record: Record, way: str) -> list[Point]:
    """A point for each file whose repeats all ran: their bytes over their time."""
    parameters: Parameters = record.parameters
    points = []
    for number in range(1, parameters.iterations + 1):
        labels = [_label(number, repeat + 1, way) for repeat in range(parameters.repeats)]
        steps = [step for label in labels if (step := record.step(label)) and step.jobs]
        if len(steps) < len(labels) or not all(step.jobs[0].duration_ns for step in steps):
            break
        points.append(
            Point(
                label=labels[-1],
                file_bytes_before=(number - 1) * parameters.file_bytes,
                bytes=sum(step.jobs[0].bytes for step in steps),
                seconds=sum(step.jobs[0].duration_ns for step in steps) / 1e9,
            )
        )
    return points


def _sums(way: str, points: Sequence[Point]) -> list[Finding]:
    rates = [point.rate / 1e6 for point in points]
    mean = sum(point.bytes for point in points) / sum(point.seconds for point in points) / 1e6
    scatter = Interval(low=min(rates), high=max(rates), means="range")
    title = f"{way.capitalize()} speed of the files"
    label = points[-1].label
    return [
        _finding(f"{way}.mean", f"{title}, mean", "MB/s", mean, label, scatter, headline=True),
        _finding(f"{way}.median", f"{title}, median", "MB/s", median(rates), label, scatter),
    ]


def overflow(points: Sequence[Point]) -> list[Finding]:
    """Where the files' speed falls for good, within a file by what of it was still fast."""
    rates = [point.rate for point in points]
    fast, slow = median(rates[: max(len(rates) // 10, 2)]), median(rates[-len(rates) // 2 :])
    if len(points) < FEWEST or slow > DIFFERS * fast:
        return []
    middle = slow + HALF * (fast - slow)
    # The first file of two that are slow, so that a single stall is none.
    slow_at = next(
        (
            number
            for number in range(len(rates) - 1)
            if rates[number] < middle and rates[number + 1] < middle
        ),
        len(rates) - 1,
    )
    # The file before may have begun to be slow.
    start = max(slow_at - 1, 0)
    past = median(rates[slow_at + 1 :]) if slow_at + 1 < len(rates) else slow
    file_bytes = points[1].file_bytes_before
    shares = [_fast_share(rate, fast, past) for rate in rates[start : slow_at + 1]]
    edge = points[start].file_bytes_before + file_bytes * sum(shares)
    interval = Interval(
        low=points[start].file_bytes_before / MB,
        high=(points[slow_at].file_bytes_before + file_bytes) / MB,
        means="bound",
    )
    label = points[slow_at].label
    return [
        _finding("cache", "Where the cache overflows", "MB", edge / MB, label, interval),
        _finding("fast", "Write speed before that", "MB/s", fast / MB, points[0].label),
        _finding("past", "Write speed past it", "MB/s", past / MB, label),
    ]


def _fast_share(rate: float, fast: float, slow: float) -> float:
    """How much of a file was written fast, if the rest was slow: times add up."""
    if rate <= 0 or slow >= fast:
        return 0.0
    share = (1 / rate - 1 / slow) / (1 / fast - 1 / slow)
    return min(max(share, 0.0), 1.0)


def _finding(
    name: str,
    title: str,
    unit: str,
    value: float,
    label: str,
    interval: Interval | None = None,
    *,
    headline: bool = False,
) -> Finding:
    return Finding(
        battery=NAME,
        name=name,
        title=title,
        value=value,
        unit=unit,
        interval=interval,
        better="higher",
        headline=headline,
        evidence=Evidence(battery=NAME, label=label, axis="seconds", start=0.0, end=0.0),
    )


def parts(parameters: Parameters, info: DriveInfo) -> list[Part]:
    """One part that says something when it is cut: fewer files."""
    return [Part(title="the files", labels=(NAME,), begins=True)]


BATTERY = Battery(
    name=NAME,
    title="NIOBench-like: files written one after another and read, median and mean",
    trust="P",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    parts=parts,
    present="flashtwin.batteries.niobench.present",
    meanings=beside(__file__),
    presets={
        "zoom": {"iterations": "30"},
        "repeats": {"iterations": "30", "repeats": "5"},
        "native": {"file": "1GB"},
        "all": {"order": "all"},
    },
    follows=(
        Clause(
            says="N files of a size, each written in blocks of a size, unbuffered, then read",
            source="the PM871b article, with NIOBench (P)",
            here="ranges of the drive one behind the other, which was erased first; blocks are"
            " whole multiples of 4 KiB",
        ),
        Clause(
            says="native scenario, 50 iterations; how large a file is is not told",
            source="the PM871b article (P)",
            here="preset native: 50 files of 1 GB",
        ),
        Clause(
            says="zoomed: files of 100 MB in blocks of 10 MB; each file written and read 5 times",
            source="the PM871b article (P)",
            here="presets zoom and repeats, with 30 files",
        ),
        Clause(
            says="speed of each step over data written; medians and means",
            source="the PM871b article (P)",
            here="the same; the mean is bytes over time, the median that of the files",
        ),
        Clause(
            says="where the cache overflows, read off the plot",
            source="the PM871b article (P)",
            here="within the file of the fall by how much of its time was fast",
        ),
    ),
)
