"""Every chosen point of the theory, measured side by side, and judged.

A twin gives the interpreter's lock back while it runs, so threads are enough. Invariant: the rows
come in the order of the points, whichever ended first.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Event
from typing import Any, Literal

from flashtwin.drives import memory
from flashtwin.model.document import Document
from flashtwin.model.target import Interrupted
from flashtwin_lab.theory import collect, drives, laws
from flashtwin_lab.theory.drives import Sides
from flashtwin_lab.theory.points import CACHE_LAWS, READ_DEVIATION, READ_MEAN, Point

Verdict = Literal["pass", "miss"]


class LawDocument(Document, frozen=True):
    """A `LawRow` as it is printed."""

    law: str
    point: dict[str, Any]
    expected: float | list[float | None]
    found: float | None
    error: float | None
    tolerance: float | None
    verdict: Verdict
    unit: str
    origin: str


class TheoryDocument(Document, frozen=True):
    """flashtwin validate --theory --json"""

    rows: list[LawDocument]
    missed: int


@dataclass(frozen=True, kw_only=True)
class LawRow:
    """A point of the theory with the measured value and the verdict."""

    point: Point
    expected: float | None
    measured: float
    error: float | None
    verdict: Verdict

    def document(self) -> LawDocument:
        """The row as `flashtwin validate --theory --json` prints it."""
        bounds = [self.point.low, self.point.high]
        return LawDocument(
            law=self.point.law,
            point=dict(self.point.parameters),
            expected=bounds if self.expected is None else self.expected,
            found=self.measured,
            error=self.error,
            tolerance=self.point.tolerance,
            verdict=self.verdict,
            unit=self.point.unit,
            origin=self.point.origin,
        )


@dataclass(frozen=True, kw_only=True)
class Theory:
    """All rows."""

    rows: tuple[LawRow, ...]

    @property
    def missed(self) -> int:
        """The number of misses; the exit code depends on it."""
        return sum(row.verdict == "miss" for row in self.rows)

    def document(self) -> TheoryDocument:
        """As `flashtwin validate --theory --json` prints it."""
        return TheoryDocument([row.document() for row in self.rows], missed=self.missed)


def validate(
    points: Sequence[Point],
    *,
    seed: int = 1,
    on_end: Callable[[int, Point], None] | None = None,
    at_once: int | None = None,
) -> Theory:
    """Measure and judge. `on_end(how many, point)` is called as each point ends."""
    stop = Event()
    largest = drives.cached().memory_bytes
    workers = memory.processes(at_once or len(os.sched_getaffinity(0)), largest)
    rows: dict[int, LawRow] = {}
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures = {pool.submit(_row, point, seed, stop): i for i, point in enumerate(points)}
        try:
            for future in as_completed(futures):
                rows[futures[future]] = future.result()
                if on_end is not None:
                    on_end(len(rows), points[futures[future]])
        except KeyboardInterrupt:
            raise Interrupted("stopped; nothing is kept of a validation") from None
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
    return Theory(rows=tuple(rows[i] for i in range(len(points))))


def _row(point: Point, seed: int, stop: Event) -> LawRow:
    def watch(_bytes: int, _ns: int) -> bool:
        return not stop.is_set()

    return judge(point, _sides(point, seed, watch))


def _sides(point: Point, seed: int, watch: Callable[[int, int], bool]) -> Sides:
    parameters = point.parameters
    if point.law in CACHE_LAWS:
        return laws.measure(point.law, seed, watch)
    if point.law == "Little's law":
        return laws.little(int(parameters["depth"]), int(parameters["threads"]), seed, watch)
    if point.law == "conservation":
        return laws.conservation(str(parameters["policy"]), seed, watch)
    if point.law in (READ_MEAN, READ_DEVIATION):
        law = laws.read_mean if point.law == READ_MEAN else laws.read_deviation
        return law(float(parameters["block"]), float(parameters["layer"]), seed, watch)
    expected = math.nan if point.expected is None else point.expected
    return Sides(expected=expected, measured=collect.measure(point, seed, watch))


def judge(point: Point, sides: Sides) -> LawRow:
    """Judge a measured value: within the tolerance of the expected one, or within the bounds."""
    measured = sides.measured
    if point.low is not None and point.high is not None:
        passes = point.low <= measured <= point.high
        return LawRow(
            point=point,
            expected=None,
            measured=measured,
            error=None,
            verdict="pass" if passes else "miss",
        )
    error = measured / sides.expected - 1.0
    passes = abs(error) <= point.tolerance
    return LawRow(
        point=point,
        expected=sides.expected,
        measured=measured,
        error=error,
        verdict="pass" if passes else "miss",
    )
