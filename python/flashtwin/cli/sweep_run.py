"""`flashtwin sweep`: a battery over a grid of a drive's variants, one table and one page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Literal

from flashtwin.batteries.base import registry
from flashtwin.cli import findings, options, progress, terminal
from flashtwin.errors import MISS, USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.document import Document
from flashtwin.model.finding import Finding, FindingRow
from flashtwin.report import sweep as page
from flashtwin.runner.estimate import Estimate
from flashtwin.study.sweep.executors import executor_of
from flashtwin.study.sweep.grid import axes
from flashtwin.study.sweep.plan import Failure, Plan, PlanDocument
from flashtwin.study.sweep.run import Row, Sweep, columns, named, reasons, sweep, varying

# What a point takes besides its simulation: its drive, its tables, its findings.
POINT_S = 0.5
# Findings in the terminal's table, where none are named: those that vary most.
SHOWN = 4


class SweptPoint(Document, frozen=True):
    """A point of the grid: its run, or why it has none."""

    point: int
    state: Literal["finished", "failed"]
    settings: dict[str, str]
    run: str | None
    error: str | None
    hint: str | None
    findings: list[FindingRow]


class Swept(Document, frozen=True):
    """flashtwin sweep --json"""

    report: str
    out: str
    plan: PlanDocument
    repeated: int
    points: list[SweptPoint]


def run(
    drive: str,
    vary: tuple[str, ...],
    battery: str | None,
    shown: tuple[str, ...],
    jobs: int | None,
    cluster: str | None,
    out: Path | None,
    changes: options.Changes,
    as_json: bool,
    quiet: bool,
) -> int | None:
    plan = Plan(
        drive=drive,
        batteries=battery or registry.standard()[0],
        axes=tuple(axes(vary)),
        **changes,
    )
    where = out or plan.default_out(datetime.now())
    with ExitStack() as stack:
        watcher = _ShownProgress(plan.name, quiet, stack)
        result = sweep(plan, where, executor=executor_of(jobs, cluster), watcher=watcher)
    report = page.build(result, where)
    if as_json:
        terminal.print_json(document(result, report))
    else:
        print_sweep(result, report, shown)
    return MISS if result.failures else None


class _ShownProgress:
    """Progress by points, and a line for each that fails; nothing where it is to be quiet."""

    def __init__(self, name: str, quiet: bool, stack: ExitStack) -> None:
        self._name, self._quiet, self._stack = name, quiet, stack
        self._tell: Callable[[int, str], None] | None = None

    def expected(self, points: int, each: Estimate, at_once: int | None) -> None:
        if self._quiet:
            return
        wall_s = each.wall_s + POINT_S
        took = f"about {units.rough_seconds(wall_s)}"
        took += f" for {units.rough_seconds(each.drive_s)} of its time"
        together = ""
        if at_once:
            together = f"; together about {units.rough_seconds(points * wall_s / at_once)}"
        needs = f"{progress.moved(each)}, {took}, {progress.memory(each)}"
        terminal.note(f"{self._name}: {points} points, each {needs}{together}")

    def planned(self, points: int, there: int, refused: Sequence[Failure]) -> None:
        if self._quiet:
            return
        remaining = points - there - len(refused)
        parts = [f"{remaining} of {points} points to run"]
        parts += [f"{there} there already"] if there else []
        parts += [f"{len(refused)} are not valid drives"] if refused else []
        terminal.note(f"{self._name}: {', '.join(parts)}")
        counter = progress.counted(self._name, max(remaining, 1), self._quiet, even=False)
        self._tell = self._stack.enter_context(counter)

    def ended(self, count: int, total: int, point: str, failure: Failure | None) -> None:
        if self._tell:
            self._tell(count, point)
        if failure and not self._quiet:
            terminal.note(f"note: {point} failed: {failure.message.splitlines()[-1]}")


def print_sweep(sweep: Sweep, report: Path, words: tuple[str, ...]) -> None:
    findings = columns(sweep.rows)
    names_by_word = {word: named(word, findings) for word in words}
    vary = varying(sweep.rows)
    names = list(dict.fromkeys(name for known in names_by_word.values() for name in known))
    names = names or [name for name in findings if name in vary[:SHOWN]]
    heads = ["point", *(axis.key for axis in sweep.plan.axes), *_titles(names, findings)]
    terminal.emit(terminal.table(heads, (_texts(row, names) for row in sweep.rows), right=heads))
    for (message, hint), points in reasons(sweep.failures).items():
        terminal.note(f"failed at point {', '.join(map(str, points))}: {message}")
        if hint:
            terminal.note(f"hint: {hint}")
    hidden = len(vary) - len(names)
    if hidden > 0 and not words:
        terminal.say(f"{hidden} more findings vary: see the page, table.csv, or --show FINDING")
    terminal.say(f"report: {report}")
    unknown = [word for word, known in names_by_word.items() if not known]
    if unknown and findings:
        # A wrong name is reported at the end, so that nothing that was measured is lost.
        raise FlashtwinError(
            f"no point has a finding {unknown[0]}",
            hint=f"there are: {', '.join(findings)}",
            exit_code=USAGE,
        )


def _titles(names: Sequence[str], findings: Mapping[str, Finding]) -> list[str]:
    """The title of each finding, with its pattern where several patterns have it."""
    shown = [findings[name] for name in names]
    titles = [finding.title for finding in shown]
    return [
        f"{finding.title}, {finding.variant}" if titles.count(finding.title) > 1 else finding.title
        for finding in shown
    ]


def _texts(row: Row, names: Sequence[str]) -> list[str]:
    values = [value for _, value in row.settings]
    if row.failure:
        return [str(row.number), *values, *("failed" if n == 0 else "" for n in range(len(names)))]
    cells = [findings.value(row.findings[name]) if name in row.findings else "-" for name in names]
    return [str(row.number), *values, *cells]


def document(sweep: Sweep, report: Path) -> Swept:
    points = [
        SweptPoint(
            point=row.number,
            state=row.state,
            settings=dict(row.settings),
            run=str(row.run.path) if row.run else None,
            error=row.failure.message if row.failure else None,
            hint=row.failure.hint if row.failure else None,
            findings=[finding.row() for finding in row.findings.values()],
        )
        for row in sweep.rows
    ]
    return Swept(
        report=str(report),
        out=str(sweep.out),
        plan=sweep.plan.document(),
        repeated=sweep.repeated,
        points=points,
    )
