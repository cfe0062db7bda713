"""The answer in the formats that were asked for, one after another as fio prints several.

fio's terse output is a line a job with fields between semicolons, versions 3 to 5: version 3 (the
default) has reads and writes, 5 adds the samples of the windows and trims; latencies are in
microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.fio.plan.plan import left_alone
from flashtwin.fio.report.document import document, indented
from flashtwin.fio.report.groups import ProcessCounts, reports
from flashtwin.fio.report.job import (
    DEPTHS,
    LEAST_DEPTH,
    Direction,
    JobReport,
    Spread,
    Style,
    aggregate,
    latency_classes,
    share_of,
)
from flashtwin.fio.report.text import normal
from flashtwin.model.histogram import percentiles_of

VERSIONS = (3, 4, 5)
# The version that has trims, and samples of the windows.
TRIMS = 5
# fio keeps room for twenty percentiles.
ROOM = 20


def lines(jobs: Sequence[JobReport], *, program: str, version: int = 3) -> str:
    """All jobs; `program` as in fio's first fields ("fio-3.33")."""
    if version not in VERSIONS:
        raise FlashtwinError(
            f"terse version {version} is not known",
            hint=f"--terse-version takes {', '.join(map(str, VERSIONS))}",
            exit_code=USAGE,
        )
    group_bytes_s = aggregate(jobs)
    return "".join(";".join(_job(job, group_bytes_s, program, version)) + "\n" for job in jobs)


def _job(
    job: JobReport, group_bytes_s: Mapping[tuple[int, str], int], program: str, version: int
) -> Iterator[str]:
    yield from (str(version), program, job.name, str(job.group), str(job.error))
    for name, side in job.directions_shown.items():
        if name != "trim" or version == TRIMS:
            yield from _direction(side, group_bytes_s.get((job.group, name), 0), job.style, version)
    # usr, sys, context switches, major and minor faults: nothing of this happens on a twin.
    yield from ("0.000000%", "0.000000%", "0", "0", "0")
    for name in DEPTHS:
        share = job.levels.get(name, 0.0)
        yield f"{max(share, LEAST_DEPTH) if share else 0.0:3.1f}%"
    classes = latency_classes(job)
    for unit in ("us", "ms"):
        yield from (f"{share:3.2f}%" for share in _from_microseconds(classes, unit))
    if job.description:
        yield job.description


def _from_microseconds(classes: Mapping[str, Mapping[str, float]], unit: str) -> Iterator[float]:
    """What took less than a microsecond counts as the shortest class."""
    below = sum(classes["ns"].values()) if unit == "us" else 0.0
    for place, share in enumerate(classes[unit].values()):
        yield share + (below if place == 0 else 0.0)


def _direction(
    direction: Direction, group_bytes_s: int, style: Style, version: int
) -> Iterator[str]:
    seconds = direction.runtime_ms / 1000
    bytes_s = int(direction.bytes / seconds) if seconds else 0
    iops = int(direction.ios / seconds) if seconds else 0
    yield from map(str, (direction.bytes >> 10, bytes_s >> 10, iops, direction.runtime_ms))
    yield from _spread(direction.slat)
    yield from _spread(direction.clat)
    yield from _percentiles(direction, style)
    yield from _spread(direction.lat)
    share = share_of(direction.bw.mean, group_bytes_s // 1024) if direction.bw.count else 0.0
    yield from _rates(direction.bw, share)
    if version == TRIMS:
        yield str(direction.bw.count)
        yield from (str(direction.iops.min), str(direction.iops.max))
        yield from (
            f"{direction.iops.mean:.6f}",
            f"{direction.iops.stddev:.6f}",
            str(direction.iops.count),
        )


def _percentiles(direction: Direction, style: Style) -> Iterator[str]:
    """Percentiles of total latency where they are asked for, else of completion latency: a terse
    line has room for one set."""
    latency = next((name for name in ("lat", "clat") if name in style.latencies), None)
    shares = style.percentiles if latency else ()
    latencies = percentiles_of(direction.bins(latency), shares) if latency else {}
    yield from (f"{share:.6f}%={latencies.get(share, 0) // 1000}" for share in shares)
    yield from ["0%=0"] * (ROOM - len(shares))


def _spread(spread: Spread) -> Iterator[str]:
    yield from (str(spread.min // 1000), str(spread.max // 1000))
    yield from (f"{spread.mean / 1000:.6f}", f"{spread.stddev / 1000:.6f}")


def _rates(spread: Spread, share: float) -> Iterator[str]:
    yield from (str(spread.min), str(spread.max), f"{share:.6f}%")
    yield from (f"{spread.mean:.6f}", f"{spread.stddev:.6f}")


# The version of fio whose formats these are; programs that read them look for it.
PROGRAM = "fio-3.33"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What to print: formats in fio's words, which terse fields, and how often (0: at the end)."""

    formats: tuple[str, ...] = ("normal",)
    terse: int = 3
    status_ns: int = 0


def rendered(processes: Sequence[ProcessCounts], shape: Shape, begin: str = "") -> str:
    """All of it as text; times on the run's own clock. `begin` stands before the normal output.

    As fio does, whatever the order in which formats were asked for: terse, JSON, normal. json+ is
    JSON with more in it, not a second one.
    """
    with left_alone():
        jobs = reports(processes)
        ended_ms = max((process.ended_ns for process in processes), default=0) // 1_000_000
        parts = [begin] if "normal" in shape.formats else []
        if "terse" in shape.formats:
            parts.append(lines(jobs, program=PROGRAM, version=shape.terse))
        if {"json", "json+"} & set(shape.formats):
            plus = "json+" in shape.formats
            answer = document(jobs, version=PROGRAM, unix_ms=ended_ms, plus=plus)
            parts.append(indented(answer) + "\n")
        if "normal" in shape.formats:
            parts.append(normal(jobs, unix_ms=ended_ms))
    return "".join(parts)
