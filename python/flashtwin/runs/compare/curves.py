"""Curves of two runs over data: the speed at each place of a step, cut alike and held together.

Time differs from run to run, data does not: both series are cut at the same bytes, up to where the
shorter one ends, and a place compares the time that each took for the same piece. Invariant: a
stall counts for the piece that waited for it, so nothing is lost by the cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.model.document import Document
from flashtwin.model.series import Series
from flashtwin.runs.frames import DIRECTIONS, Grains, by_bytes
from flashtwin.runs.rundir import Run

PIECES = 200
# Below so many samples with data a step is a point and no curve: its findings say what it did.
FEWEST = 20

_Floats = NDArray[np.float64]


class ComparedCurve(Document, frozen=True):
    """A `CurvePair` as it is printed."""

    battery: str
    label: str
    direction: str
    percent: float
    typical_percent: float
    largest_percent: float
    largest_at_gb: float
    gb: list[float]
    base_mb_s: list[float]
    other_mb_s: list[float]


@dataclass(frozen=True, kw_only=True)
class CurvePair:
    """A direction of a step in two runs: MB/s of each piece, `gb` where each ends.

    `percent` is the difference of the mean speeds over the data that both have, `typical` the mean
    of the differences of the pieces without their signs, `largest` the greatest one with its sign
    and `at_gb` where it ends; all in % of the first run.
    """

    battery: str
    label: str
    direction: str
    gb: _Floats
    base: _Floats
    other: _Floats
    percent: float
    typical: float
    largest: float
    at_gb: float

    @property
    def name(self) -> str:
        """The label, with the direction where it is not the usual one."""
        return self.label if self.direction == "write" else f"{self.label}, {self.direction}"

    def document(self) -> ComparedCurve:
        """What `flashtwin compare --json` prints of it."""
        return ComparedCurve(
            battery=self.battery,
            label=self.label,
            direction=self.direction,
            percent=self.percent,
            typical_percent=self.typical,
            largest_percent=self.largest,
            largest_at_gb=self.at_gb,
            gb=[round(float(x), 6) for x in self.gb],
            base_mb_s=[round(float(x), 3) for x in self.base],
            other_mb_s=[round(float(x), 3) for x in self.other],
        )


def compare(base: Run, other: Run) -> list[CurvePair]:
    """Every step and direction that is a curve in both runs."""
    numbers = {(step.battery, step.label): step.step for step in other.steps if step.kind == "run"}
    pairs = []
    for step in base.steps:
        number = numbers.get((step.battery, step.label))
        if step.kind != "run" or number is None:
            continue
        first, second = base.series(step.step), other.series(number)
        for code, direction in enumerate(DIRECTIONS):
            pair = _pair(first.only(code), second.only(code))
            if pair is not None:
                pairs.append(
                    CurvePair(battery=step.battery, label=step.label, direction=direction, **pair)
                )
    return pairs


def _pair(base: Series, other: Series) -> dict[str, Any] | None:
    if min(int((first.bytes > 0).sum()) for first in (base, other)) < FEWEST:
        return None
    total = min(int(base.bytes.sum()), int(other.bytes.sum()))
    grain = max(total // PIECES, 1)
    first, second = _cut(base, grain), _cut(other, grain)
    count = min(len(first.bytes), len(second.bytes), PIECES)
    base_mb_s, other_mb_s = first.mb_s[:count], second.mb_s[:count]
    shares = (other_mb_s / base_mb_s - 1) * 100
    at = int(np.argmax(np.abs(shares)))
    seconds = float(first.seconds[:count].sum()), float(second.seconds[:count].sum())
    return {
        "gb": first.end_bytes[:count] / 1e9,
        "base": base_mb_s,
        "other": other_mb_s,
        "percent": (seconds[0] / seconds[1] - 1) * 100,
        "typical": float(np.abs(shares).mean()),
        "largest": float(shares[at]),
        "at_gb": float(first.end_bytes[at]) / 1e9,
    }


def _cut(series: Series, grain: int) -> Grains:
    return by_bytes(series.t_ns, series.dt_ns, series.bytes, grain)


def spark(values: Sequence[float] | _Floats, top: float, width: int = 40) -> str:
    """A curve as blocks of eight heights; `top` is the value at full height."""
    array = np.asarray(values, dtype=np.float64)
    parts = np.array_split(array, min(width, len(array)))
    levels = [min(int(part.mean() / top * 8), 7) if top > 0 else 0 for part in parts]
    return "".join("\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"[level] for level in levels)
