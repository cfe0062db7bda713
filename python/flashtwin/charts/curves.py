"""Curves: the throughput of a step over data done and over time, with fewer points than samples.

A page draws a curve over both axes, and a cache that is a tenth of the bytes may be a fiftieth of
the time. So samples are joined in buckets that are equal steps of the mean of the two shares:
neither axis gets less than half of the points. A curve short enough has a bucket a sample.

Invariants: the lowest and the highest sample of every bucket are on the page, so a stall or a spike
of one sample is; a mean is bytes over time between two places, never a mean of speeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtwin.charts.numbers import compact, steps
from flashtwin.model.series import READ, TRIM, WRITE, Series

Floats = NDArray[np.float64]

DIRECTIONS = {WRITE: "write", READ: "read", TRIM: "trim"}
MOST_POINTS = 2000
FEWEST_POINTS = 400
# All curves of a page together: what keeps five drives within a few megabytes.
PAGE_POINTS = 40_000
# A last sample shorter than this share of the usual one is shown together with the one before it.
STUMP = 0.2
TABLE_ROWS = 24
# The box in which a curve is drawn in outline, and its points there.
WIDTH, HEIGHT, OUTLINE_POINTS = 220, 44, 110


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A step that a curve is drawn of, by its `label`.

    Phases of one `group` share a chart: the passes of one pattern, with the rests between them.
    `name` tells them apart there ("pass-1"); titles are for readers. `goes_on`: labels of later
    steps that are one curve with it, each beginning where the one before ended.
    """

    label: str
    group: str
    group_title: str
    name: str
    title: str
    goes_on: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One direction of a phase of the drive with that number on the page.

    `seconds` and `done` (in bytes) are corners: they begin with 0 and are one longer than `rates`,
    which is in bytes a second.
    """

    drive: int
    phase: Phase
    direction: str
    seconds: Floats
    done: Floats
    rates: Floats

    def mean(self, axis: str, start: float, end: float) -> float | None:
        """Bytes over time between two places on an axis; none beyond the end of the curve."""
        along = self.done if axis == "gb" else self.seconds
        end = min(end, float(along[-1]))
        if end <= start:
            return None
        seconds = np.interp([start, end], along, self.seconds)
        written = np.interp([start, end], along, self.done)
        took = float(seconds[1] - seconds[0])
        return float(written[1] - written[0]) / took if took > 0 else None


def curves_of(drive: int, phase: Phase, *parts: Series) -> list[Curve]:
    """A curve for each direction in which something was done, over all steps one after another."""
    curves = [_curve(drive, phase, parts, direction) for direction in DIRECTIONS]
    return [curve for curve in curves if curve is not None]


def _curve(drive: int, phase: Phase, parts: Sequence[Series], direction: int) -> Curve | None:
    samples = [_samples(part.only(direction)) for part in parts]
    lengths, sizes = (np.concatenate(columns) for columns in zip(*samples, strict=True))
    if not sizes.sum() > 0:
        return None
    return Curve(
        drive=drive,
        phase=phase,
        direction=DIRECTIONS[direction],
        seconds=np.append(0.0, np.cumsum(lengths)),
        done=np.append(0.0, np.cumsum(sizes)),
        rates=sizes / lengths,
    )


def _samples(rows: Series) -> tuple[Floats, Floats]:
    """Seconds and bytes of each sample of a step."""
    keep = rows.dt_ns > 0
    lengths, sizes = rows.dt_ns[keep] / 1e9, rows.bytes[keep].astype(np.float64)
    if len(lengths) > 1:
        # NumPy's own median imports all of numpy.ma.
        usual = np.partition(lengths, len(lengths) // 2)[len(lengths) // 2]
        if lengths[-1] < STUMP * usual:
            return _joined(lengths), _joined(sizes)
    return lengths, sizes


def _joined(values: Floats) -> Floats:
    """The columns with the last two samples as one."""
    return np.append(values[:-2], values[-2] + values[-1])


def payload(curves: Sequence[Curve]) -> list[dict[str, object]]:
    """The curves in columns, for the page."""
    most = points_each(len(curves))
    return [_columns(curve, most) for curve in curves]


def _columns(curve: Curve, most: int) -> dict[str, object]:
    """`gb` and `s` are the edges of the buckets, `low` and `high` the samples in them, in MB/s.

    The mean of any stretch is the difference of its edges; that is why these are as good as exact.
    """
    at = progress(curve.seconds, curve.done)
    ends = buckets((at[1:] + at[:-1]) / 2, most // 2)
    starts = np.append(0, ends[:-1])
    edges = np.append(0, ends)
    return {
        "drive": curve.drive,
        "group": curve.phase.group,
        "phase": curve.phase.name,
        "label": curve.phase.label,
        "direction": curve.direction,
        "gb": steps(curve.done[edges] / 1e9),
        "s": steps(curve.seconds[edges]),
        "low": compact(np.minimum.reduceat(curve.rates, starts) / 1e6, 4),
        "high": compact(np.maximum.reduceat(curve.rates, starts) / 1e6, 4),
    }


def means(curve: Curve, most: int) -> tuple[Floats, Floats]:
    """GB done and the mean speed in MB/s from there on, in at most so many pieces; the last speed
    stands at the end once more."""
    at = progress(curve.seconds, curve.done)
    edges = np.append(0, buckets((at[1:] + at[:-1]) / 2, most))
    speeds = np.diff(curve.done[edges]) / np.diff(curve.seconds[edges]) / 1e6
    return curve.done[edges] / 1e9, np.append(speeds, speeds[-1])


def step_of_table(end: float) -> float:
    """A round step (1, 2 or 5 times a power of ten) that gives at most `TABLE_ROWS` rows."""
    rough = max(end, 1e-9) / TABLE_ROWS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= rough * 0.999)


def table(curves: Sequence[Curve], axis: str) -> list[tuple[float, float, list[float | None]]]:
    """Rows (from, to, mean rate of each curve in bytes a second); the axis in GB or seconds."""
    scale = 1e9 if axis == "gb" else 1.0
    end = max(float((c.done if axis == "gb" else c.seconds)[-1]) for c in curves) / scale
    step = step_of_table(end)
    rows = []
    for number in range(math.ceil(end / step - 1e-9)):
        start, stop = number * step, min((number + 1) * step, end)
        rows.append((start, stop, [c.mean(axis, start * scale, stop * scale) for c in curves]))
    return rows


def points_each(curves: int) -> int:
    """How many points a curve may have on a page with so many curves."""
    return max(FEWEST_POINTS, min(MOST_POINTS, PAGE_POINTS // max(curves, 1)))


def progress(seconds: Floats, done: Floats) -> Floats:
    """From 0 to 1 at each sample: the mean of the share of time and the share of bytes."""
    shares = [axis / axis[-1] for axis in (seconds, done) if len(axis) and axis[-1] > 0]
    return np.mean(shares, axis=0) if shares else np.zeros(len(seconds))


def buckets(at: Floats, most: int) -> NDArray[np.int64]:
    """Where each bucket ends (one past its last sample); `at` rises from 0 to 1."""
    if len(at) <= most:
        return np.arange(1, len(at) + 1)
    number = _bucket(at, most)
    return np.append(np.flatnonzero(np.diff(number)) + 1, len(at))


def ends(at: Floats, most: int) -> NDArray[np.int64]:
    """Indices of the last sample of each bucket. Differences of counters between them add up."""
    if len(at) <= most:
        return np.arange(len(at))
    return np.flatnonzero(np.diff(_bucket(at, most), append=most + 1))


def _bucket(at: Floats, count: int) -> NDArray[np.int64]:
    return np.minimum((at * count).astype(np.int64), count - 1)


def outlines(curves: Sequence[Curve]) -> dict[int, str]:
    """The first curve of each drive as a path in the box, all on one scale."""
    first: dict[int, Curve] = {}
    for curve in curves:
        first.setdefault(curve.drive, curve)
    if not first:
        return {}
    end = max(float(curve.done[-1]) for curve in first.values())
    means = {drive: _means(curve, end) for drive, curve in first.items()}
    top = max(float(np.max(rates)) for _, rates in means.values())
    return {drive: path(x, rates / top) for drive, (x, rates) in means.items()}


def path(x: Floats, y: Floats) -> str:
    """A line through places given as shares of the box, from its lower left corner."""
    high = HEIGHT - 4
    points = [
        f"{across * WIDTH:.1f} {HEIGHT - 2 - high * up:.1f}"
        for across, up in zip(x.tolist(), y.tolist(), strict=True)
    ]
    return "M" + "L".join(points)


def _means(curve: Curve, end: float) -> tuple[Floats, Floats]:
    steps = max(round(OUTLINE_POINTS * float(curve.done[-1]) / end), 2)
    edges = np.linspace(0, curve.done[-1], steps + 1)
    seconds = np.interp(edges, curve.done, curve.seconds)
    rates = np.diff(edges) / np.maximum(np.diff(seconds), 1e-12)
    return (edges[1:] + edges[:-1]) / 2 / end, rates
