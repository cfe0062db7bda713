"""Latency percentiles of two runs, step by step: the median and the tails.

Steps that repeat the same measurement (`Run.repeats`, as the scored runs of a cell do) count
together. Percentiles come from fio's buckets, which are 1/64 wide, so what shifts by less than
`RESOLUTION` may be the bucket and not the drive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flashtwin.model.document import Document
from flashtwin.model.histogram import percentiles
from flashtwin.model.series import Counts
from flashtwin.runs.journal import StepRecord
from flashtwin.runs.rundir import Run

SHARES = (50.0, 99.0, 99.9)
RESOLUTION = 100 / 64


class ComparedPercentile(Document, frozen=True):
    """A percentile of both runs, and the shift in % of the first."""

    percentile: float
    base_ns: int
    other_ns: int
    percent: float | None


class ComparedLatencies(Document, frozen=True):
    """A `LatencyPair` as it is printed."""

    battery: str
    label: str
    direction: str
    percentiles: list[ComparedPercentile]


@dataclass(frozen=True, kw_only=True)
class LatencyPair:
    """Percentiles in ns of a step and direction in two runs, by share in %."""

    battery: str
    label: str
    direction: str
    base: Mapping[float, int]
    other: Mapping[float, int]

    def shift(self, share: float) -> float | None:
        """In % of the first run; none where its percentile is 0."""
        first = self.base[share]
        return (self.other[share] / first - 1) * 100 if first else None

    @property
    def largest(self) -> float:
        """The greatest shift of the percentiles, without its sign."""
        return max(abs(self.shift(share) or 0.0) for share in SHARES)

    def document(self) -> ComparedLatencies:
        """What `flashtwin compare --json` prints of it."""
        rows = [
            ComparedPercentile(share, self.base[share], self.other[share], self.shift(share))
            for share in SHARES
        ]
        return ComparedLatencies(self.battery, self.label, self.direction, percentiles=rows)


def compare(base: Run, other: Run) -> list[LatencyPair]:
    """Every step and direction of which both runs have a histogram."""
    base_counts, other_counts = counts_of(base), counts_of(other)
    return [
        LatencyPair(
            battery=battery,
            label=label,
            direction=direction,
            base=percentiles(base_counts[battery, label, direction], SHARES),
            other=percentiles(other_counts[battery, label, direction], SHARES),
        )
        for battery, label, direction in base_counts
        if (battery, label, direction) in other_counts
    ]


def measured(step: StepRecord) -> str:
    """The label of what a step measures, which steps that repeat it share."""
    return str(step.detail.get("repeats") or step.label)


def counts_of(run: Run) -> dict[tuple[str, str, str], Counts]:
    """Latency counts by battery, what was measured, and direction."""
    counted: dict[tuple[str, str, str], Counts] = {}
    for step in run.steps:
        if step.kind not in ("run", "chain"):
            continue
        label = measured(step)
        for direction, counts in run.hist(step.step).items():
            if counts.any():
                key = (step.battery, label, direction)
                counted[key] = np.add(counted[key], counts) if key in counted else counts
    return counted
