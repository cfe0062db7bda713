"""Throughput of a phase, over data done and over time: curves for the chart, rows for its table.

Invariants: the lowest and the highest sample of every bucket are on the page, so a stall or a spike
of one sample is; a mean is bytes over time between two places, never a mean of speeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flashtwin.model.series import READ, TRIM, WRITE, Series
from flashtwin.report import points
from flashtwin.report.numbers import compact
from flashtwin.report.points import Floats
from flashtwin.report.view import Drive, Phase

DIRECTIONS = {WRITE: "write", READ: "read", TRIM: "trim"}
# A last sample shorter than this share of the usual one is shown together with the one before it.
STUMP = 0.2
TABLE_ROWS = 24


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One direction of one phase: corners (`seconds`, `done` in bytes) and the rates between them.

    `seconds` and `done` begin with 0 and are one longer than `rates`, which is in bytes a second.
    """

    drive: Drive
    phase: Phase
    direction: str
    seconds: Floats
    done: Floats
    rates: Floats

    def mean(self, axis: str, start: float, end: float) -> float | None:
        """Bytes over time between two places on an axis; none past the end of the curve."""
        along = self.done if axis == "gb" else self.seconds
        end = min(end, float(along[-1]))
        if end <= start:
            return None
        seconds = np.interp([start, end], along, self.seconds)
        done = np.interp([start, end], along, self.done)
        took = float(seconds[1] - seconds[0])
        return float(done[1] - done[0]) / took if took > 0 else None


def curves_of(drives: Sequence[Drive]) -> list[Curve]:
    """All curves of all drives, without those in which nothing was done."""
    found = []
    for drive in drives:
        for phase in drive.phases:
            if phase.step.kind == "run":
                series = drive.run.series(phase.step.step)
                found += [
                    curve
                    for direction in DIRECTIONS
                    if (curve := _curve(drive, phase, series, direction)) is not None
                ]
    return found


def _curve(drive: Drive, phase: Phase, series: Series, direction: int) -> Curve | None:
    rows = series.only(direction)
    keep = rows.dt_ns > 0
    lengths, sizes = rows.dt_ns[keep] / 1e9, rows.bytes[keep].astype(np.float64)
    if not sizes.sum() > 0:
        return None
    if len(lengths) > 1 and lengths[-1] < STUMP * np.median(lengths):
        lengths, sizes = _joined(lengths), _joined(sizes)
    return Curve(
        drive=drive,
        phase=phase,
        direction=DIRECTIONS[direction],
        seconds=np.append(0.0, np.cumsum(lengths)),
        done=np.append(0.0, np.cumsum(sizes)),
        rates=sizes / lengths,
    )


def _joined(values: Floats) -> Floats:
    """The last two as one."""
    return np.append(values[:-2], values[-2] + values[-1])


def payload(curves: Sequence[Curve]) -> list[dict[str, object]]:
    """The curves in columns, for the page."""
    most = points.points_each(len(curves))
    return [_columns(curve, most) for curve in curves]


def _columns(curve: Curve, most: int) -> dict[str, object]:
    """`gb` and `s` are the edges of the buckets, `low` and `high` the samples in them, in MB/s.

    The mean of any stretch is the difference of its edges; that is why they have more digits.
    """
    at = points.progress(curve.seconds, curve.done)
    ends = points.buckets((at[1:] + at[:-1]) / 2, most // 2)
    starts = np.append(0, ends[:-1])
    edges = np.append(0, ends)
    return {
        "drive": curve.drive.index,
        "group": curve.phase.group,
        "phase": curve.phase.name,
        "label": curve.phase.step.label,
        "direction": curve.direction,
        "gb": compact(curve.done[edges] / 1e9, 8),
        "s": compact(curve.seconds[edges], 8),
        "low": compact(np.minimum.reduceat(curve.rates, starts) / 1e6, 4),
        "high": compact(np.maximum.reduceat(curve.rates, starts) / 1e6, 4),
    }


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
