"""fio's normal output: what people read, line by line as fio 3.33 lays it out.

A simulated process has no process number, no CPU time and no date of its own: these are 0, and the
date is that of the run's virtual clock. Widths and breaks are fio's, so that what reads its text
reads this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from flashtwin.fiojob.report.classes import LEAST_DEPTH, latency_classes
from flashtwin.fiojob.report.job import (
    BATCHES,
    DEPTHS,
    DIRECTIONS,
    PERCENTILES,
    Direction,
    JobReport,
    Spread,
    aggregate,
)
from flashtwin.fiojob.report.words import rate, short, size, size_decimal
from flashtwin.results.hist import Counts, percentiles

UNITS = {"nsec": 1, "usec": 1_000, "msec": 1_000_000}
CLASS_UNITS = {"ns": "nsec", "us": "usec", "ms": "msec"}
LINE_COLUMNS = 73
CLASSES_A_LINE = 5


def normal(
    jobs: Sequence[JobReport],
    *,
    unix_ms: int = 0,
) -> str:
    """Every job, then every group."""
    whole = aggregate(jobs)
    blocks = [line for job in jobs for line in _job(job, whole, unix_ms)]
    for group in dict.fromkeys(job.group for job in jobs):
        blocks += ["", *_group(group, [job for job in jobs if job.group == group])]
    return "\n".join(blocks) + "\n"


def _job(job: JobReport, whole: Mapping[tuple[int, str], float], unix_ms: int) -> Iterator[str]:
    when = datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%a %b %e %H:%M:%S %Y")
    yield (f"{job.name}: (groupid={job.group}, jobs={job.jobs}): err={job.error:2}: pid=0: {when}")
    if job.description:
        yield f"  Description  : [{job.description}]"
    for name in DIRECTIONS:
        one = job.directions.get(name, Direction())
        if one.ios:
            yield from _direction(name, one, whole.get((job.group, name), 0.0))
    yield from _classes(job)
    if job.sync.lat.count:
        yield "  fsync/fdatasync/sync_file_range:"
        yield _spread("sync", job.sync.lat, indent=4)
        yield from _percentiles("sync", job.sync.counts)
    yield "  cpu          : usr=0.00%, sys=0.00%, ctx=0, majf=0, minf=0"
    yield f"  IO depths    : {_shares(DEPTHS, job.levels)}"
    yield f"     submit    : {_shares(BATCHES, job.submits)}"
    yield f"     complete  : {_shares(BATCHES, job.completes)}"
    total = ",".join(map(str, job.issued))
    yield f"     issued rwts: total={total} short=0,0,0,0 dropped=0,0,0,0"
    yield (
        f"     latency   : target={job.latency_target}, window={job.latency_window}, "
        f"percentile={job.latency_percentile:.2f}%, depth={job.latency_depth}"
    )
    if "steadystate" in job.more:
        yield _steady(job.more["steadystate"])


def _direction(name: str, one: Direction, whole: float) -> Iterator[str]:
    seconds = one.runtime_ms / 1000
    bytes_s, iops = (one.bytes / seconds, one.ios / seconds) if seconds else (0.0, 0.0)
    resets = "; 0 zone resets" if name == "write" else ""
    yield (
        f"  {name}: IOPS={short(iops)}, BW={rate(bytes_s)}"
        f"({size(one.bytes)}/{one.runtime_ms}msec){resets}"
    )
    for label, spread in (("slat", one.slat), ("clat", one.clat), (" lat", one.lat)):
        if spread.count:
            yield _spread(label, spread, indent=4)
    yield from _percentiles("clat", one.counts)
    if one.bw.count:
        # Samples of a window each; what a group did together is the whole.
        per = min(one.bw.mean / whole * 100, 100.0) if whole else 0.0
        yield (
            f"   bw (  KiB/s): min={one.bw.minimum:5}, max={one.bw.maximum:5}, "
            f"per={per:3.2f}%, avg={one.bw.mean:5.2f}, stdev={one.bw.stddev:5.2f}, "
            f"samples={one.bw.count}"
        )
    if one.iops.count:
        yield (
            f"   iops        : min={one.iops.minimum:5}, max={one.iops.maximum:5}, "
            f"avg={one.iops.mean:5.2f}, stdev={one.iops.stddev:5.2f}, samples={one.iops.count}"
        )


def _spread(label: str, one: Spread, *, indent: int) -> str:
    unit = unit_of(one.minimum, one.maximum, one.stddev)
    scale = UNITS[unit]
    low, high = (short(value / scale, room=6) for value in (one.minimum, one.maximum))
    return (
        f"{' ' * indent}{label} ({unit}): min={low}, max={high}, "
        f"avg={one.mean / scale:5.2f}, stdev={one.stddev / scale:5.2f}"
    )


def unit_of(low: float, high: float, deviation: float = 1e18) -> str:
    """The unit in which fio tells a range of nanoseconds: the coarsest in which nothing is lost."""
    unit = "nsec"
    for next_unit in ("usec", "msec"):
        if not (low > 2_000 and high > 99_999 and deviation > 1_000.0):
            break
        low, high, deviation, unit = low / 1000, high / 1000, deviation / 1000, next_unit
    return unit


def _percentiles(label: str, counts: Counts | None) -> Iterator[str]:
    if counts is None or not counts.any():
        return
    found = percentiles(counts, PERCENTILES)
    unit = unit_of(min(found.values()), max(found.values()))
    scale = UNITS[unit]
    yield f"    {label} percentiles ({unit}):"
    shown = {share: (value + scale // 2) // scale for share, value in found.items()}
    width = max(5, len(str(max(shown.values()))))
    items = [f"{share:5.2f}th=[{value:{width}}]" for share, value in shown.items()]
    line = LINE_COLUMNS // (width + 12)
    for begin in range(0, len(items), line):
        end = "," if begin + line < len(items) else ""
        yield f"     | {', '.join(items[begin : begin + line])}{end}"


def _classes(job: JobReport) -> Iterator[str]:
    for unit, row in latency_classes(job).items():
        some = [f"{name}={share:3.2f}%" for name, share in row.items() if share]
        for begin in range(0, len(some), CLASSES_A_LINE):
            part = ", ".join(some[begin : begin + CLASSES_A_LINE])
            yield f"  lat ({CLASS_UNITS[unit]})   : {part}"


def _shares(names: Sequence[str], shares: Mapping[str, float]) -> str:
    shown = {
        name: max(shares.get(name, 0.0), LEAST_DEPTH) if shares.get(name) else 0.0 for name in names
    }
    return ", ".join(f"{name}={share:3.1f}%" for name, share in shown.items())


def _steady(state: Mapping[str, Any]) -> str:
    metric, _, _ = str(state["ss"]).partition(":")
    kind, slope = metric.partition("_")[0], metric.endswith("_slope")
    data, attained = state["data"], "yes" if state["attained"] else "no"
    percent = "%" if str(state["criterion"]).endswith("%") else ""
    value = float(str(state["criterion"]).removesuffix("%"))
    # fio tells the same number of KiB once more as if they were kB.
    kib = int(data["bw_mean"]) // 1024
    bw = f"{size(kib * 1024)}/s ({size_decimal(kib * 1000)}/s)"
    return (
        f"  steadystate  : attained={attained}, bw={bw}, iops={short(data['iops_mean'])}, "
        f"{kind} {'slope' if slope else 'mean dev'}={value:.3f}{percent}"
    )


def _group(group: int, jobs: Sequence[JobReport]) -> Iterator[str]:
    yield f"Run status group {group} (all jobs):"
    for name in DIRECTIONS:
        some = [job.directions[name] for job in jobs if job.directions[name].ios]
        if not some:
            continue
        moved, longest = sum(one.bytes for one in some), max(one.runtime_ms for one in some)
        rates = [one.bytes / (one.runtime_ms / 1000) for one in some]
        low, high = min(rates), max(rates)
        yield (
            f"{name.upper():>7}: bw={rate(moved / (longest / 1000))}, "
            f"{size(low)}/s-{size(high)}/s ({size_decimal(low)}/s-{size_decimal(high)}/s), "
            f"io={size(moved)} ({size_decimal(moved)}), "
            f"run={min(one.runtime_ms for one in some)}-{longest}msec"
        )
