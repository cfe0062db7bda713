"""Carries a sweep out: what is finished stays, the rest runs, failures are written down.

    out/sweep.json       the plan
    out/points/NNNN-…/   a run directory a point
    out/failures.json    the points without a result, and why
    out/table.csv        a row a point: what was set, how it ended, its findings

Invariants: a finished point is never run again, so the same command goes on after a stop; the table
depends on the plan and the points alone, not on the order in which they ended or where they ran.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.target import Interrupted
from flashtwin.runner.estimate import Estimate
from flashtwin.runner.stop import listening
from flashtwin.runs import lock
from flashtwin.runs.folders import FAILURES, SWEEP, TABLE
from flashtwin.runs.rundir import Run
from flashtwin.runs.storage import json_bytes, write_whole
from flashtwin.study.sweep.executors import Executor, Local
from flashtwin.study.sweep.plan import Failure, Order, Plan, claim, place_of, resolve
from flashtwin.study.sweep.table import Row, csv_bytes, rows_of


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A sweep that was carried out, as far as it went; `rows` are in the order of the grid."""

    out: Path
    plan: Plan
    rows: tuple[Row, ...]
    failures: tuple[Failure, ...]
    repeated: int

    @property
    def runs(self) -> list[Run]:
        """The finished points."""
        return [row.run for row in self.rows if row.run is not None]


class Watcher(Protocol):
    """Told how a sweep goes."""

    def expected(self, points: int, each: Estimate, at_once: int | None) -> None:
        """What a point takes, and how many run at once, where that is known; before all else."""

    def planned(self, points: int, there: int, refused: Sequence[Failure]) -> None:
        """Before the first point: the grid, what is finished already, what is no drive."""

    def ended(self, done: int, total: int, name: str, failure: Failure | None) -> None:
        """A point is over; `done` of those that had to run."""


class Silent(Watcher):
    """Shows nothing."""

    def expected(self, points: int, each: Estimate, at_once: int | None) -> None:
        return None

    def planned(self, points: int, there: int, refused: Sequence[Failure]) -> None:
        return None

    def ended(self, done: int, total: int, name: str, failure: Failure | None) -> None:
        return None


def sweep(
    plan: Plan, out: Path, *, executor: Executor | None = None, watcher: Watcher | None = None
) -> Sweep:
    """Run what is missing of a plan in `out`.

    Raises `Interrupted` once the workers have stopped if somebody asked for it; the points that
    ended are there then. Another process that carries it out already is an error.
    """
    told = watcher or Silent()
    where = executor or Local()
    count = len(plan.points())
    orders, refused = resolve(plan, lambda each: told.expected(count, each, where.at_once))
    claim(out, plan, orders)
    with lock.holding(out, SWEEP):
        return _carry_out(plan, out, orders, refused, where, told)


def _carry_out(
    plan: Plan,
    out: Path,
    orders: Sequence[Order],
    refused: Sequence[Failure],
    executor: Executor,
    told: Watcher,
) -> Sweep:
    places = {order.point.number: place_of(out, order.point) for order in orders}
    open_ = [order for order in orders if not _is_finished(places[order.point.number])]
    told.planned(len(plan.points()), len(orders) - len(open_), refused)
    failures = {failure.number: failure for failure in refused}
    stopped = False
    if open_:
        run = _Going(out, failures, told.ended, len(open_))
        with listening() as stop:
            for order, failure in executor.run(open_, lambda one: places[one.point.number], stop):
                run.ended(order, failure)
                if failure and failure.ends:
                    raise FlashtwinError(
                        f"{order.point.name}: {failure.message}",
                        hint="make room; the same command goes on with the points that are left",
                        exit_code=ENVIRONMENT,
                    )
            stopped = stop.asked
    if stopped:
        raise Interrupted(f"stopped; the same command goes on with {out}")
    return _close(plan, out, orders, failures, len(orders) - len(open_))


class _Going:
    def __init__(
        self,
        out: Path,
        failures: dict[int, Failure],
        tell: Callable[[int, int, str, Failure | None], None],
        total: int,
    ) -> None:
        self._out, self._failures, self._tell, self._total = out, failures, tell, total
        self._done = 0

    def ended(self, order: Order, failure: Failure | None) -> None:
        """Write a failure down as it comes, so that a sweep that is killed keeps it."""
        self._done += 1
        if failure:
            self._failures[order.point.number] = failure
            write_failures(self._out, self._failures)
        self._tell(self._done, self._total, order.point.name, failure)


def write_failures(out: Path, failures: dict[int, Failure]) -> None:
    """All that failed, in the order of the grid."""
    rows = [failures[number].to_json() for number in sorted(failures)]
    write_whole(out / FAILURES, json_bytes({"failures": rows}))


def _close(
    plan: Plan, out: Path, orders: Sequence[Order], failures: dict[int, Failure], there: int
) -> Sweep:
    places = {order.point.number: place_of(out, order.point) for order in orders}
    rows = rows_of(plan, places, failures)
    write_failures(out, failures)
    write_whole(out / TABLE, csv_bytes(plan, rows))
    return Sweep(
        out=out,
        plan=plan,
        rows=tuple(rows),
        failures=tuple(failures[number] for number in sorted(failures)),
        repeated=there,
    )


def _is_finished(place: Path) -> bool:
    """Whether a point has its result; a directory that cannot be read is made anew."""
    try:
        return (place / "manifest.json").exists() and Run(place).finished
    except FlashtwinError:
        return False
