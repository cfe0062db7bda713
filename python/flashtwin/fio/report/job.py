"""A job's numbers as fio reports them, in whatever format: what it did, by direction.

Whoever has numbers (a job on a twin, a step of a run directory) fills `JobReport`s; `document`
makes fio's JSON of them, `text` what people read, `formats` a terse line. Units are those of fio's
JSON: bytes, KiB/s, nanoseconds, milliseconds of runtime. fio's tables of latency are shares of the
requests in classes of ns, us and ms.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from flashtwin.model.histogram import Bins, middle_of, summed

DIRECTIONS = ("read", "write", "trim")
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
BATCHES = ("0", "4", "8", "16", "32", "64", ">=64")


# Latencies that may have percentiles, in fio's order.
LATENCIES = ("slat", "clat", "lat")


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a job wants to be reported.

    `percentiles` rise, and the text has `precision` decimals of them; `latencies` are those that
    have percentiles. `significant` digits of sizes and rates in the text, where `kb_base` says
    which prefixes come first and `bits` that rates are of bits. `unified`: all directions as one,
    in place of each or beside them.
    """

    percentiles: tuple[float, ...] = PERCENTILES
    precision: int = 2
    latencies: tuple[str, ...] = ("clat",)
    significant: int = 4
    kb_base: int = 1024
    bits: bool = False
    unified: Literal["none", "mixed", "both"] = "none"


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What `count` samples come to: nanoseconds of requests, or rates over fio's windows (500 ms)
    in KiB/s or requests a second."""

    min: int = 0
    max: int = 0
    mean: float = 0.0
    stddev: float = 0.0
    count: int = 0

    @property
    def _squares(self) -> float:
        """Summed squares of the differences from the mean."""
        return self.stddev**2 * max(self.count - 1, 0)


@dataclass(frozen=True, kw_only=True)
class Direction:
    """What a job did in one direction; `slats`, `clats` and `lats` are counts in fio's buckets."""

    ios: int = 0
    bytes: int = 0
    runtime_ms: int = 0
    slat: Spread = field(default_factory=Spread)
    clat: Spread = field(default_factory=Spread)
    lat: Spread = field(default_factory=Spread)
    slats: Bins = field(default_factory=dict)
    clats: Bins = field(default_factory=dict)
    lats: Bins = field(default_factory=dict)
    bw: Spread = field(default_factory=Spread)
    iops: Spread = field(default_factory=Spread)

    def spread(self, latency: str) -> Spread:
        """The spread of one latency, by its name."""
        spread: Spread = getattr(self, latency)
        return spread

    def bins(self, latency: str) -> Bins:
        """The counts of one latency in fio's buckets."""
        bins: Bins = getattr(self, f"{latency}s")
        return bins


IDLE = Direction()


@dataclass(frozen=True, kw_only=True)
class Sync:
    """Flushes (fio's sync section); `bins` are counts of their latencies in fio's buckets."""

    ios: int = 0
    lat: Spread = field(default_factory=Spread)
    bins: Bins = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """A job, or a group of jobs reported as one.

    `options` are those of its own section as text. `levels`, `submits` and `completes` are shares
    in percent by the names in `DEPTHS` and `BATCHES`; names left out are 0. `classes` are fio's
    latency tables where they were counted request by request; else they follow from the buckets.
    `more` is put at the end as it is (fio's `steadystate`, say), and `common` is what was said for
    all jobs. `jobs`, `description` and `issued`
    (reads, writes, trims, syncs) are for the text, which says them too. A depth of 0 is that of a
    job that never began.
    """

    name: str
    options: Mapping[str, str]
    directions: Mapping[str, Direction]
    sync: Sync = field(default_factory=Sync)
    group: int = 0
    error: int = 0
    total_err: int = 0
    elapsed_s: int = 0
    runtime_ms: int = 0
    latency_depth: int = 1
    levels: Mapping[str, float] = field(default_factory=dict)
    submits: Mapping[str, float] = field(default_factory=dict)
    completes: Mapping[str, float] = field(default_factory=dict)
    classes: Mapping[str, Mapping[str, float]] | None = None
    latency_target: int = 0
    latency_percentile: float = 100.0
    latency_window: int = 0
    jobs: int = 1
    description: str | None = None
    issued: Sequence[int] = (0, 0, 0, 0)
    more: Mapping[str, Any] = field(default_factory=dict)
    common: Mapping[str, str] = field(default_factory=dict)
    style: Style = field(default_factory=Style)

    @cached_property
    def directions_shown(self) -> dict[str, Direction]:
        """The directions as they are told, in fio's order: each, or all as one, or both."""
        each = {name: self.directions.get(name, IDLE) for name in DIRECTIONS}
        if self.style.unified == "none":
            return each
        mixed = {"mixed": together(list(each.values()))}
        return mixed if self.style.unified == "mixed" else each | mixed


def together(directions: Sequence[Direction]) -> Direction:
    """Directions of processes as one, as fio adds them up: the longest runtime is that of all."""
    active = [direction for direction in directions if direction != IDLE]
    if len(active) < 2:
        return active[0] if active else IDLE
    return Direction(
        ios=sum(direction.ios for direction in active),
        bytes=sum(direction.bytes for direction in active),
        runtime_ms=max(direction.runtime_ms for direction in active),
        slat=joined([direction.slat for direction in active]),
        clat=joined([direction.clat for direction in active]),
        lat=joined([direction.lat for direction in active]),
        slats=summed(direction.slats for direction in active),
        clats=summed(direction.clats for direction in active),
        lats=summed(direction.lats for direction in active),
        bw=stacked([direction.bw for direction in active]),
        iops=stacked([direction.iops for direction in active]),
    )


def joined(parts: Sequence[Spread]) -> Spread:
    """Two or more sets of samples as one, with the mean and deviation of all samples."""
    filled = [part for part in parts if part.count]
    if len(filled) < 2:
        return filled[0] if filled else Spread()
    count = sum(part.count for part in filled)
    mean = sum(part.mean * part.count for part in filled) / count
    squares = sum(part._squares + part.count * (part.mean - mean) ** 2 for part in filled)
    return Spread(
        min=min(part.min for part in filled),
        max=max(part.max for part in filled),
        mean=mean,
        stddev=math.sqrt(squares / (count - 1)),
        count=count,
    )


def stacked(parts: Sequence[Spread]) -> Spread:
    """The sum of rates that hold at the same time."""
    filled = [part for part in parts if part.count]
    count = sum(part.count for part in filled)
    squares = sum(part._squares for part in filled)
    return Spread(
        min=sum(part.min for part in filled),
        max=sum(part.max for part in filled),
        mean=sum(part.mean for part in filled),
        stddev=math.sqrt(squares / (count - 1)) if count > 1 else 0.0,
        count=count,
    )


def aggregate(jobs: Sequence[JobReport]) -> dict[tuple[int, str], int]:
    """Bytes a second of each group and direction together, of which `bw_agg` is the share.

    What is told as one of all directions has the group's reads for its whole where reads are told
    too, as in fio.
    """
    moved: dict[tuple[int, str], tuple[int, int]] = {}
    for job in jobs:
        for name, direction in job.directions_shown.items():
            size, longest = moved.get((job.group, name), (0, 0))
            longest = max(longest, direction.runtime_ms)
            moved[job.group, name] = (size + direction.bytes, longest)
    bytes_s = {key: size * 1000 // ms for key, (size, ms) in moved.items() if ms}
    for job in jobs:
        if job.style.unified == "both":
            bytes_s[job.group, "mixed"] = bytes_s.get((job.group, "read"), 0)
    return bytes_s


def share_of(mean: float, total: float) -> float:
    """Percent that KiB/s are of `total`, in KiB/s too; all where the whole is next to nothing.

    fio drops the fraction of the mean for its JSON and text, and that of the whole for terse lines.
    """
    return min(mean * 100 / total, 100.0) if total > 1 else 100.0


def level_of(depth: int) -> str:
    """The class of `iodepth_level` that a queue depth falls into."""
    return ">=64" if depth >= 64 else str(1 << max(depth.bit_length() - 1, 0))


def six(value: float) -> float:
    """As fio prints fractions."""
    return round(float(value), 6)


def when(unix_ms: int) -> str:
    """A date in fio's words, whatever the machine's language."""
    return time.asctime(time.gmtime(unix_ms // 1000))


# The classes of fio's latency tables by unit, named after their upper ends.
_ENDS = ("2", "4", "10", "20", "50", "100", "250", "500", "750", "1000")
CLASSES = {"ns": _ENDS, "us": _ENDS, "ms": (*_ENDS, "2000", ">=2000")}
_SIZES = {"ns": 1, "us": 1_000, "ms": 1_000_000}
# The least percentage that a share above 0 is printed as.
LEAST_LATENCY, LEAST_DEPTH = 0.01, 0.1


def classes_of(bins: Bins) -> dict[str, dict[str, float]]:
    """fio's three tables of latency: percent by class in ns (below 1 us), us and ms."""
    total = sum(bins.values())
    shares = {unit: dict.fromkeys(names, 0.0) for unit, names in CLASSES.items()}
    for bucket, count in bins.items():
        ns = middle_of(bucket)
        unit, size = next(
            (unit, size) for unit, size in _SIZES.items() if ns < 1000 * size or unit == "ms"
        )
        row = shares[unit]
        end = next((end for end in row if end.isdecimal() and ns // size < int(end)), ">=2000")
        row[end] += count / total * 100
    return {unit: printable(row, LEAST_LATENCY) for unit, row in shares.items()}


def latency_classes(job: JobReport) -> dict[str, dict[str, float]]:
    """The tables of a job in percent, all directions together."""
    if job.classes is not None:
        return {unit: printable(row, LEAST_LATENCY) for unit, row in job.classes.items()}
    return classes_of(summed(direction.clats for direction in job.directions.values()))


def printable(shares: Mapping[str, float], least: float) -> dict[str, float]:
    """Shares with six decimals; one that is not 0 is at least `least`."""
    return {name: six(max(share, least)) if share else 0.0 for name, share in shares.items()}
