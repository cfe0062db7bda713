"""What a run through fio measured, and the grid of intervals that its series lies on.

`start_unix_ns` is the wall clock at the run's first request (0 if there was none); everything else
counts from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flashtwin.model.histogram import Counts
from flashtwin.model.series import COLUMNS, READ, TRIM, WRITE, Ints, Series
from flashtwin.model.step import Job, JobTotals

MS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One run of a step."""

    start_unix_ns: int
    duration_ns: int
    series: Series
    jobs: tuple[JobTotals, ...]
    hist: Mapping[str, Counts]
    notes: tuple[str, ...] = ()


def directions(jobs: Sequence[Job]) -> list[int]:
    """The directions that jobs use, in the order of their codes."""
    used = set()
    for job in jobs:
        if job.rw in ("rw", "randrw"):
            used |= {READ, WRITE}
        else:
            used.add({"read": READ, "write": WRITE, "trim": TRIM}[job.rw.removeprefix("rand")])
    return sorted(used)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Intervals of one length from 0 on; the last ends with the run."""

    sample_ns: int
    duration_ns: int

    @property
    def count(self) -> int:
        return max(-(-self.duration_ns // self.sample_ns), 1)

    def starts(self) -> Ints:
        return np.arange(self.count, dtype=np.int64) * self.sample_ns

    def lengths(self) -> Ints:
        ends = np.append(self.starts()[1:], self.duration_ns)
        lengths: Ints = ends - self.starts()
        return lengths

    def edges(self) -> Ints:
        return np.append(self.starts(), self.duration_ns)


def assembled(grid: Grid, rows: Mapping[int, Mapping[str, Ints]]) -> Series:
    """A series out of the columns of each direction: by time, then by direction."""
    columns = {
        "t_ns": [grid.starts() for _ in rows],
        "dt_ns": [grid.lengths() for _ in rows],
        "direction": [np.full(grid.count, code, dtype=np.int64) for code in rows],
    }
    for name in COLUMNS[3:]:
        columns[name] = [row[name] for row in rows.values()]
    return Series(**{name: np.stack(arrays, axis=1).ravel() for name, arrays in columns.items()})
