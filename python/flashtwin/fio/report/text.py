"""fio's normal output: what people read, line by line as fio 3.33 lays it out.

A simulated process has no process number, no CPU time and no date of its own: these are 0, and the
date is that of the run's virtual clock. Widths and breaks are fio's, so that what reads its text
reads this. Numbers are in fio's spelling: one with more digits than fit is divided by 1000 or 1024
until it does not have them; what room is left goes to decimals: 65536 bytes in four characters are
`64.0KiB`, 4096 are `4096B`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashtwin.fio.report.job import (
    BATCHES,
    DEPTHS,
    DIRECTIONS,
    LATENCIES,
    LEAST_DEPTH,
    Direction,
    JobReport,
    Spread,
    Style,
    aggregate,
    latency_classes,
    share_of,
    when,
)
from flashtwin.model.histogram import Bins, percentiles_of

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
    group_bytes_s = aggregate(jobs)
    blocks = [line for job in jobs for line in _job(job, group_bytes_s, unix_ms)]
    for group in dict.fromkeys(job.group for job in jobs):
        blocks += ["", *_group(group, [job for job in jobs if job.group == group])]
    return "\n".join(blocks) + "\n"


def _job(
    job: JobReport, group_bytes_s: Mapping[tuple[int, str], int], unix_ms: int
) -> Iterator[str]:
    if not any(side.ios for side in job.directions.values()):
        # As in fio, a job without requests has no lines.
        return
    yield (
        f"{job.name}: (groupid={job.group}, jobs={job.jobs}): err={job.error:2}: pid=0: "
        f"{when(unix_ms)}"
    )
    if job.description:
        yield f"  Description  : [{job.description}]"
    for name, side in job.directions_shown.items():
        if side.ios:
            yield from _direction(name, side, group_bytes_s.get((job.group, name), 0), job.style)
    yield from _classes(job)
    if job.sync.lat.count:
        yield "  fsync/fdatasync/sync_file_range:"
        yield _spread("sync", job.sync.lat)
        yield from _percentiles("sync", job.sync.bins, job.style)
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


def _direction(name: str, direction: Direction, group_bytes_s: int, style: Style) -> Iterator[str]:
    """The lines of a direction.

    fio 3.33 forgets the totals where `unified_rw_reporting=both` tells all directions beside each
    (`IOPS=0, BW=0`); they are told here, as in its JSON.
    """
    seconds = direction.runtime_ms / 1000
    bytes_s, iops = (direction.bytes / seconds, direction.ios / seconds) if seconds else (0.0, 0.0)
    resets = "; 0 zone resets" if name == "write" else ""
    units = _units(style)
    yield (
        f"  {name}: IOPS={short(iops, room=units.room)}, BW={units.both(bytes_s)}"
        f"({units.size(direction.bytes)}/{direction.runtime_ms}msec){resets}"
    )
    for label in LATENCIES:
        if direction.spread(label).count:
            yield _spread(f"{label:>4}", direction.spread(label))
    for label in LATENCIES:
        if label in style.latencies:
            yield from _percentiles(label, direction.bins(label), style)
    if direction.bw.count:
        yield _bandwidth(direction.bw, group_bytes_s, style)
    if direction.iops.count:
        yield (
            f"   iops        : min={direction.iops.min:5}, max={direction.iops.max:5}, "
            f"avg={direction.iops.mean:5.2f}, stdev={direction.iops.stddev:5.2f}, "
            f"samples={direction.iops.count}"
        )


def _units(style: Style) -> Units:
    return Units(room=style.significant, binary=style.kb_base == 1024, bits=style.bits)


def _bandwidth(bw: Spread, group_bytes_s: int, style: Style) -> str:
    """The line of bandwidth samples, one per window; `per` is the share of the group's
    bandwidth."""
    unit = "KiB" if style.kb_base == 1024 else "kB"
    low, high, mean, deviation = bw.min, bw.max, bw.mean, bw.stddev
    base = style.kb_base
    if mean > base * base:
        low, high, unit = low // base, high // base, "MiB"
        mean, deviation = mean / base, deviation / base
    share = share_of(int(bw.mean), group_bytes_s / 1024)
    return (
        f"   bw ({unit:>5}/s): min={low:5}, max={high:5}, per={share:3.2f}%, "
        f"avg={mean:5.2f}, stdev={deviation:5.2f}, samples={bw.count}"
    )


def _spread(label: str, spread: Spread) -> str:
    unit = unit_of(spread.min, spread.max, spread.stddev)
    scale = UNITS[unit]
    low, high = (short(value / scale, room=6) for value in (spread.min, spread.max))
    return (
        f"    {label} ({unit}): min={low}, max={high}, "
        f"avg={spread.mean / scale:5.2f}, stdev={spread.stddev / scale:5.2f}"
    )


def unit_of(low: float, high: float, deviation: float = 1e18) -> str:
    """The unit in which fio tells a range of nanoseconds: the coarsest in which nothing is lost."""
    unit = "nsec"
    for next_unit in ("usec", "msec"):
        if not (low > 2_000 and high > 99_999 and deviation > 1_000.0):
            break
        low, high, deviation, unit = low / 1000, high / 1000, deviation / 1000, next_unit
    return unit


def _percentiles(label: str, bins: Bins, style: Style) -> Iterator[str]:
    if not bins:
        return
    latencies = percentiles_of(bins, style.percentiles)
    unit = unit_of(min(latencies.values()), max(latencies.values()))
    scale = UNITS[unit]
    yield f"    {label} percentiles ({unit}):"
    # A list may name one twice, and fio tells it twice.
    values = [(share, -(-latencies[share] // scale)) for share in style.percentiles]
    width = max(5, len(str(max(latencies.values()) // scale)))
    digits = style.precision
    items = [f"{share:{digits + 3}.{digits}f}th=[{value:{width}}]" for share, value in values]
    line = LINE_COLUMNS // (width + digits + 10)
    for begin in range(0, len(items), line):
        end = "," if begin + line < len(items) else ""
        yield f"     | {', '.join(items[begin : begin + line])}{end}"


def _classes(job: JobReport) -> Iterator[str]:
    for unit, row in latency_classes(job).items():
        shares = [f"{name}={share:3.2f}%" for name, share in row.items() if share]
        for begin in range(0, len(shares), CLASSES_A_LINE):
            part = ", ".join(shares[begin : begin + CLASSES_A_LINE])
            yield f"  lat ({CLASS_UNITS[unit]})   : {part}"


def _shares(names: Sequence[str], shares: Mapping[str, float]) -> str:
    printed = {
        name: max(shares.get(name, 0.0), LEAST_DEPTH) if shares.get(name) else 0.0 for name in names
    }
    return ", ".join(f"{name}={share:3.1f}%" for name, share in printed.items())


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
    names = [*DIRECTIONS, "mixed"]
    listed = [
        (name, job.directions_shown[name])
        for job in jobs
        for name in names
        if name in job.directions_shown
    ]
    units = _units(jobs[0].style)
    for name in names:
        moving = [direction for key, direction in listed if key == name and direction.ios]
        if not moving:
            continue
        moved, longest = (
            sum(direction.bytes for direction in moving),
            max(direction.runtime_ms for direction in moving),
        )
        # The line for all directions together has the extremes of the single ones.
        beside = name == "mixed" and len({key for key, _ in listed}) > 1
        compared = [
            direction for key, direction in listed if direction.ios and (key == name) != beside
        ]
        rates = [direction.bytes / (direction.runtime_ms / 1000) for direction in compared]
        low, high = min(rates), max(rates)
        yield (
            f"{name.upper():>7}: bw={units.both(moved / (longest / 1000))}, "
            f"{units.rate(low)}-{units.rate(high)} "
            f"({units.rate(low, other=True)}-{units.rate(high, other=True)}), "
            f"io={units.size(moved)} ({units.size(moved, other=True)}), "
            f"run={min(direction.runtime_ms for direction in moving)}-{longest}msec"
        )


BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
DECIMAL = ("", "k", "M", "G", "T", "P")


def short(value: float, *, room: int = 4, binary: bool = False, unit: str = "") -> str:
    """A number in `room` characters with its prefix and unit."""
    step = 1024 if binary else 1000
    names = BINARY if binary else DECIMAL
    integer, power, remainder = int(value), 0, 0
    while len(str(integer)) > room and power + 1 < len(names):
        # What an earlier division left is gone, as in fio: 16,150,528 are 16.1 M.
        integer, remainder = divmod(integer, step)
        power += 1
    decimals = room - len(str(integer)) - 1
    if not power:
        text = str(integer)
    elif decimals > 0:
        # fio rounds the fraction apart: 54,050,816 are 54.1 M, though 54.05 is a little less.
        fraction = f"{remainder / step:.{decimals}f}"
        text = f"{integer + int(fraction[0])}{fraction[1:]}"
    else:
        text = str(integer + (remainder >= step / 2))
    return f"{text}{names[power]}{unit}"


@dataclass(frozen=True, kw_only=True)
class Units:
    """Sizes and rates: in how many digits, which prefixes come first, bytes or bits a second."""

    room: int = 4
    binary: bool = True
    bits: bool = False

    def size(self, count: float, *, other: bool = False) -> str:
        """Bytes: `39.1MiB`; `other`: with the other prefixes, `41.0MB`."""
        return short(count, room=self.room, binary=self.binary != other, unit="B")

    def rate(self, bytes_s: float, *, other: bool = False) -> str:
        """Bytes or bits a second."""
        # fio takes the fraction of a byte away before it counts bits.
        value, unit = (int(bytes_s) * 8, "bit/s") if self.bits else (bytes_s, "B/s")
        return short(value, room=self.room, binary=self.binary != other, unit=unit)

    def both(self, bytes_s: float) -> str:
        """`19.5MiB/s (20.5MB/s)`."""
        return f"{self.rate(bytes_s)} ({self.rate(bytes_s, other=True)})"


USUAL = Units()


def size(value: float) -> str:
    """Bytes by 1024: `39.1MiB`."""
    return USUAL.size(value)


def size_decimal(value: float) -> str:
    """Bytes by 1000: `41.0MB`."""
    return USUAL.size(value, other=True)
