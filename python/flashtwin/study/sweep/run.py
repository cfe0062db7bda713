"""Carries a sweep out: what is finished stays, the rest runs, failures are written down.

    out/sweep.json       the plan
    out/points/NNNN-…/   a run directory a point
    out/failures.json    the points without a result, and why
    out/table.csv        a row a point: what was set, how it ended, its findings

Invariants: a finished point is never run again, so the same command goes on after a stop; what lies
at a point's place and is not that point's run is neither believed nor removed; the table
depends on the plan and the points alone, not on the order in which they ended or where they ran.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, Protocol

from flashtwin import outputs
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.finding import Finding
from flashtwin.model.target import Interrupted
from flashtwin.runner.estimate import Estimate
from flashtwin.runner.stop import listening
from flashtwin.runs import lock
from flashtwin.runs.folders import FAILURES, SWEEP, TABLE
from flashtwin.runs.rundir import Run
from flashtwin.runs.storage import json_bytes, write_whole
from flashtwin.study.sweep.executors import Executor, Local, tidy
from flashtwin.study.sweep.plan import (
    Failure,
    Order,
    Plan,
    claim,
    place_of,
    resolve,
    unfinished,
)

State = Literal["finished", "failed"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A point: `run` and `findings` where it finished, `failure` where it did not."""

    number: int
    settings: tuple[tuple[str, str], ...]
    run: Run | None
    failure: Failure | None
    findings: Mapping[str, Finding]

    @property
    def state(self) -> State:
        """Whether the point finished or failed."""
        return "finished" if self.run else "failed"


def rows_of(plan: Plan, places: Mapping[int, Path], failures: Mapping[int, Failure]) -> list[Row]:
    """The rows of a plan in the order of its grid."""
    rows = []
    for point in plan.points():
        failure = failures.get(point.number)
        run = None if failure else Run(places[point.number])
        findings = {finding.id: finding for finding in run.findings} if run else {}
        rows.append(
            Row(
                number=point.number,
                settings=point.settings,
                run=run,
                failure=failure,
                findings=findings,
            )
        )
    return rows


def columns(rows: Sequence[Row]) -> dict[str, Finding]:
    """Every finding that some point has, by id, with the first one that has a value for its title
    and unit."""
    by_id: dict[str, Finding] = {}
    for row in rows:
        for name, finding in row.findings.items():
            if name not in by_id or (by_id[name].value is None and finding.value is not None):
                by_id[name] = finding
    return by_id


def named(word: str, by_id: Mapping[str, Finding]) -> list[str]:
    """The ids of the findings that a name means: of every variant, where it names none."""
    return [word] if word in by_id else [id_ for id_ in by_id if word in by_id[id_].names]


def reasons(failures: Iterable[Failure]) -> dict[tuple[str, str | None], list[int]]:
    """Each reason (message, hint) once, with the points that failed for it."""
    points: dict[tuple[str, str | None], list[int]] = {}
    for failure in failures:
        points.setdefault((failure.message, failure.hint), []).append(failure.number)
    return points


def varying(rows: Sequence[Row]) -> list[str]:
    """The findings that are not the same at every point, those that vary most first.

    Values whose intervals all have a place in common are the same as far as anybody can tell. The
    measure is the range over the mean of what is positive; a finding that some points have and
    others have not varies too, after those that can be measured.
    """
    spread: dict[str, float] = {}
    for name in columns(rows):
        findings = [row.findings[name] for row in rows if name in row.findings]
        words = {finding.value for finding in findings if finding.choices}
        if words:
            # A choice that is not the same at every point ranks first.
            spread.update({name: math.inf} if len(words) > 1 else {})
            continue
        values = [finding.number for finding in findings]
        known = [value for value in values if value is not None]
        if not known:
            continue
        mean = sum(map(abs, known)) / len(known)
        apart = _apart(findings)
        if apart or len(known) < len(values):
            spread[name] = (max(known) - min(known)) / mean if apart and mean else 0.0
    return sorted(spread, key=lambda name: -spread[name])


def charted(rows: Sequence[Row]) -> list[str]:
    """Of those that vary, the numbers whose intervals do not all overlap: what a chart can show."""
    by_name = {
        name: [row.findings[name] for row in rows if name in row.findings] for name in varying(rows)
    }
    return [name for name, findings in by_name.items() if _apart(findings)]


def _apart(findings: Sequence[Finding]) -> bool:
    """Whether no single value lies in all intervals; a value without an interval counts as its
    own."""
    spans = [
        (finding.number, finding.number)
        if finding.interval is None
        else (finding.low, finding.high)
        for finding in findings
        if finding.number is not None
    ]
    lows = [low for low, _ in spans if low is not None]
    highs = [high for _, high in spans if high is not None]
    return bool(lows and highs) and max(lows) > min(highs)


def csv_bytes(plan: Plan, rows: Sequence[Row]) -> bytes:
    """A row a point: number, state, settings, then value, low and high of each finding."""
    by_id = columns(rows)
    keys = [axis.key for axis in plan.axes]
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    heads = [f"{name}{end}" for name in by_id for end in (_unit(by_id[name]), ".low", ".high")]
    writer.writerow(map(outputs.csv_cell, ["point", "state", *keys, *heads]))
    for row in rows:
        cells = [part for name in by_id for part in _cells(row.findings.get(name))]
        values = [value for _, value in row.settings]
        texts = [str(row.number), row.state, *values, *cells]
        writer.writerow(map(outputs.csv_cell, texts))
    return outputs.encoded(sink.getvalue())


def _unit(finding: Finding) -> str:
    return f" ({finding.unit})" if finding.unit else ""


def _cells(finding: Finding | None) -> tuple[str, str, str]:
    if finding is None:
        return "", "", ""
    value = finding.value
    numbers = [None if isinstance(value, str) else value, finding.low, finding.high]
    texts = ["" if part is None else repr(part) for part in numbers]
    if isinstance(value, str):
        return value, "", ""
    return texts[0], texts[1], texts[2]


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
    """Hears how a sweep goes on."""

    def expected(self, points: int, each: Estimate, at_once: int | None) -> None:
        """What a point takes, and how many run at once, where that is known; before all else."""

    def planned(self, points: int, there: int, refused: Sequence[Failure]) -> None:
        """Called before the first point: the grid, the points that are finished already, and
        those that are no valid drive."""

    def ended(self, count: int, total: int, name: str, failure: Failure | None) -> None:
        """A point is over; `count` of those that had to run."""


class Silent(Watcher):
    """Shows nothing."""

    def expected(self, points: int, each: Estimate, at_once: int | None) -> None:
        return None

    def planned(self, points: int, there: int, refused: Sequence[Failure]) -> None:
        return None

    def ended(self, count: int, total: int, name: str, failure: Failure | None) -> None:
        return None


def sweep(
    plan: Plan, out: Path, *, executor: Executor | None = None, watcher: Watcher | None = None
) -> Sweep:
    """Run what is missing of a plan in `out`.

    Raises `Interrupted` once the workers have stopped if somebody asked for it; the points that
    ended are there then. Another process that carries it out already is an error.
    """
    listener = watcher or Silent()
    where = executor or Local()
    count = len(plan.points())
    # There are never more at once than there are points.
    at_once = None if where.at_once is None else min(where.at_once, count)

    def expects(each: Estimate) -> None:
        listener.expected(count, each, at_once)

    orders, refused = resolve(plan, expects, at_once or 1)
    claim(out, plan, orders)
    with lock.holding(out, SWEEP):
        return _carry_out(plan, out, orders, refused, where, listener)


def _carry_out(
    plan: Plan,
    out: Path,
    orders: Sequence[Order],
    refused: Sequence[Failure],
    executor: Executor,
    listener: Watcher,
) -> Sweep:
    places = {order.point.number: place_of(out, order.point) for order in orders}
    open_ = unfinished(out, orders)
    tidy(out)
    listener.planned(len(plan.points()), len(orders) - len(open_), refused)
    failures = {failure.number: failure for failure in refused}
    stopped = False
    if open_:
        run = _Going(out, failures, listener.ended, len(open_))
        with listening() as stop:
            for order, failure in executor.run(
                open_, lambda order: places[order.point.number], stop
            ):
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
        report: Callable[[int, int, str, Failure | None], None],
        total: int,
    ) -> None:
        self._out, self._failures, self._report, self._total = out, failures, report, total
        self._done = 0

    def ended(self, order: Order, failure: Failure | None) -> None:
        """Write a failure down as it comes, so that a sweep that is killed keeps it."""
        self._done += 1
        if failure:
            self._failures[order.point.number] = failure
            write_failures(self._out, self._failures)
        self._report(self._done, self._total, order.point.name, failure)


def write_failures(out: Path, failures: dict[int, Failure]) -> None:
    """All that failed, in the order of the grid."""
    rows = [asdict(failures[number]) for number in sorted(failures)]
    for row in rows:
        del row["ends"]
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
