"""niobench: NIOBench's files, as the PM871b article used it: written one after another, and read.

Trust P: N files of a size, each written in blocks of a size, unbuffered, then read; the speed of
each step against the data written, medians and means. With repeats ("file group, 5 repeats") each
file is written, then read, so many times over before the next. Native scenario: 50 iterations;
zoomed: files of 100 MB in blocks of 10 MB. How large the native scenario's files are is not told.
The article's three series (zoomed, with repeats, native) run one after another, each on the erased
drive, as `series=article`; otherwise it is one series as the parameters say.
One request is outstanding; the host's time a command is a prior: 100 us for a block of 10 MB.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import Teller
from flashtwin.batteries.base.parameter import here
from flashtwin.batteries.base.registry import Part, host_ns
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.finding import Finding, Interval
from flashtwin.model.step import Job, Mark, Purge, Run
from flashtwin.model.units import readable_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "niobench"
MB = 10**6
SECTOR = 4096
WAYS = ("write", "read")
# A speed below this share of the way from the slow to the fast ones is past the cache.
HALF = 0.5
# The article's series: how many times the size of a file, at most how many files, repeats.
ARTICLE = {"zoom": (1, 30, 1), "repeats": (1, 30, 5), "native": (10, 10_000, 1)}
# So many files make two plateaus that can be told apart, and so much they differ.
FEWEST, DIFFERS = 4, 0.9


@dataclass(frozen=True, kw_only=True)
class Series:
    """Files that are written one after another on the erased drive; "" is the only one."""

    file_bytes: int
    iterations: int
    repeats: int
    name: str = ""

    @property
    def stem(self) -> str:
        """What its steps' labels begin with."""
        return f"{NAME}/{self.name}" if self.name else NAME

    def label(self, number: int, repeat: int, way: str) -> str:
        """The label of a file's step."""
        return f"{self.stem}/file-{number}/{way}-{repeat}"


def block_of(parameters: Any, info: DriveInfo) -> int:
    """Whole blocks of flash's map; a file is at least a block."""
    count: int = max(min(parameters.block, here(parameters, "file", info)) // SECTOR, 1)
    return count * SECTOR


def series_of(parameters: Any, info: DriveInfo) -> list[Series]:
    """The series in their order: the article's, or one as the parameters say."""
    block, file_bytes = block_of(parameters, info), int(here(parameters, "file", info))
    if parameters.series == "article":
        return [
            Series(
                name=name,
                file_bytes=file_bytes * times // block * block,
                iterations=min(parameters.iterations, most),
                repeats=repeats,
            )
            for name, (times, most, repeats) in ARTICLE.items()
        ]
    return [
        Series(
            file_bytes=file_bytes // block * block,
            iterations=parameters.iterations,
            repeats=parameters.repeats,
        )
    ]


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase; file after file is written and read, as often as it is repeated."""
    for series in series_of(parameters, info):
        _check(series, info)
    for series in series_of(parameters, info):
        yield Purge(label=f"{series.stem}/purge")
        for number, repeat, way in _order(series, parameters.order):
            yield Run(
                label=series.label(number, repeat, way),
                jobs=(_job(parameters, series, info, number, way),),
                sample_s=10.0,
                repeats=f"{series.stem}/{way}",
            )
        yield Mark(label=f"{series.stem}/found")


def _check(series: Series, info: DriveInfo) -> None:
    """Refuse files that there is no room for."""
    size = series.iterations * series.file_bytes
    if not 0 < size <= info.capacity_bytes:
        raise FlashtwinError(
            f"{NAME}: {series.iterations} files of {readable_size(series.file_bytes)} do not fit"
            f" on {info.name}, or hold no block",
            hint=f"set {NAME}:iterations, {NAME}:file or {NAME}:block to less",
            exit_code=USAGE,
        )


def _order(series: Series, order: str) -> Iterator[tuple[int, int, str]]:
    """File, repeat and way of each step."""
    files = range(1, series.iterations + 1)
    repeats = range(1, series.repeats + 1)
    if order == "each":
        for number in files:
            for repeat in repeats:
                yield from ((number, repeat, way) for way in WAYS)
        return
    for way in WAYS:
        for number in files:
            yield from ((number, repeat, way) for repeat in repeats)


def _job(parameters: Any, series: Series, info: DriveInfo, number: int, way: str) -> Job:
    return Job(
        name=way,
        rw="read" if way == "read" else "write",
        block_bytes=block_of(parameters, info),
        offset=(number - 1) * series.file_bytes,
        size=series.file_bytes,
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
    for series in series_of(record.parameters, record.info):
        of_series: list[Finding] = []
        for way in WAYS:
            points = _points(record, series, way)
            if points:
                of_series += _sums(way, points)
            if way == "write" and len(points) == series.iterations:
                of_series += overflow(points)
        findings += [replace(finding, variant=series.name) for finding in of_series]
    return findings


def _points(record: Record, series: Series, way: str) -> list[Point]:
    """A point for each file whose repeats all ran: their bytes over their time."""
    points = []
    for number in range(1, series.iterations + 1):
        labels = [series.label(number, repeat + 1, way) for repeat in range(series.repeats)]
        steps = [step for label in labels if (step := record.step(label)) and step.jobs]
        if len(steps) < len(labels) or not all(step.jobs[0].duration_ns for step in steps):
            break
        points.append(
            Point(
                label=labels[-1],
                file_bytes_before=(number - 1) * series.file_bytes,
                bytes=sum(step.jobs[0].bytes for step in steps),
                seconds=sum(step.jobs[0].duration_ns for step in steps) / 1e9,
            )
        )
    return points


def _sums(way: str, points: Sequence[Point]) -> list[Finding]:
    rates = [point.rate / 1e6 for point in points]
    mean = sum(point.bytes for point in points) / sum(point.seconds for point in points) / 1e6
    scatter = Interval(low=min(rates), high=max(rates), means="range")
    teller = Teller(
        battery=NAME, label=points[-1].label, title=f"{way.capitalize()} speed of the files"
    )
    findings = [
        teller.tell(f"{way}.mean", "mean", "MB/s", mean, interval=scatter, headline=True),
        teller.tell(f"{way}.median", "median", "MB/s", median(rates), interval=scatter),
    ]
    return [replace(finding, better="higher") for finding in findings]


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
    at_edge = Teller(battery=NAME, label=points[slow_at].label, title="")
    title = "Where the cache overflows"
    findings = [
        at_edge.tell("cache", title, "MB", edge / MB, interval=interval),
        replace(at_edge, label=points[0].label).tell(
            "fast", "Write speed before that", "MB/s", fast / MB
        ),
        at_edge.tell("past", "Write speed past it", "MB/s", past / MB),
    ]
    return [replace(finding, better="higher") for finding in findings]


def _fast_share(rate: float, fast: float, slow: float) -> float:
    """How much of a file was written fast, if the rest was slow: times add up."""
    if rate <= 0 or slow >= fast:
        return 0.0
    share = (1 / rate - 1 / slow) / (1 / fast - 1 / slow)
    return min(max(share, 0.0), 1.0)


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """Each series says something when it is cut: fewer files."""
    return [
        Part(title=series.name or "the files", labels=(series.stem,), begins=True)
        for series in series_of(parameters, info)
    ]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    parts=parts,
)
