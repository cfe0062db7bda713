"""A job's numbers as fio reports them, in whatever format: what it did, by direction.

Whoever has numbers (a job on a twin, a step of a run directory) fills `JobReport`s; `document`
makes fio's JSON of them, `text` what people read, `terse` a line. Units are those of fio's JSON:
bytes, KiB/s, nanoseconds, milliseconds of runtime.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flashtwin.results.hist import Counts

DIRECTIONS = ("read", "write", "trim")
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
BATCHES = ("0", "4", "8", "16", "32", "64", ">=64")


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Nanoseconds of `count` requests."""

    minimum: int = 0
    maximum: int = 0
    mean: float = 0.0
    stddev: float = 0.0
    count: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "min": self.minimum,
            "max": self.maximum,
            "mean": six(self.mean),
            "stddev": six(self.stddev),
            "N": self.count,
        }


@dataclass(frozen=True, kw_only=True)
class Windows:
    """Rates over fio's windows (500 ms): KiB/s or requests a second."""

    minimum: int = 0
    maximum: int = 0
    mean: float = 0.0
    stddev: float = 0.0
    count: int = 0


@dataclass(frozen=True, kw_only=True)
class Direction:
    """What a job did in one direction. `counts`: completion latencies in fio's buckets."""

    ios: int = 0
    bytes: int = 0
    runtime_ms: int = 0
    slat: Spread = field(default_factory=Spread)
    clat: Spread = field(default_factory=Spread)
    lat: Spread = field(default_factory=Spread)
    counts: Counts | None = None
    bw: Windows = field(default_factory=Windows)
    iops: Windows = field(default_factory=Windows)


@dataclass(frozen=True, kw_only=True)
class Sync:
    """Flushes (fio's sync section); `counts` of their latencies in fio's buckets."""

    ios: int = 0
    lat: Spread = field(default_factory=Spread)
    counts: Counts | None = None


@dataclass(frozen=True, kw_only=True)
class JobReport:
    """A job, or a group of jobs reported as one.

    `options` are those of its own section as text. `levels`, `submits` and `completes` are shares
    in percent by the names in `DEPTHS` and `BATCHES`; names left out are 0. `classes` are fio's
    latency tables where they were counted request by request; else they follow from the buckets.
    `more` is put at the end as it is (fio's `steadystate`, say). `jobs`, `description` and `issued`
    (reads, writes, trims, syncs) are for the text, which says them too.
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
    issued: tuple[int, int, int, int] = (0, 0, 0, 0)
    more: Mapping[str, Any] = field(default_factory=dict)


def aggregate(jobs: Sequence[JobReport]) -> dict[tuple[int, str], float]:
    """KiB/s of each group and direction together, of which `bw_agg` is the share."""
    moved: dict[tuple[int, str], tuple[int, int]] = {}
    for job in jobs:
        for name, one in job.directions.items():
            size, longest = moved.get((job.group, name), (0, 0))
            moved[job.group, name] = (size + one.bytes, max(longest, one.runtime_ms))
    return {key: size / 1024 / (ms / 1000) for key, (size, ms) in moved.items() if ms}


def level_of(depth: int) -> str:
    """The class of `iodepth_level` that a queue depth falls into."""
    return ">=64" if depth >= 64 else str(1 << max(depth.bit_length() - 1, 0))


def six(value: float) -> float:
    """As fio prints fractions."""
    return round(float(value), 6)
