"""The part of `flashtwin validate` that holds drives against closed forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashtwin.cli import terminal
from flashtwin.errors import DONE, MISS
from flashtwin.model import units

if TYPE_CHECKING:
    from rich.table import Table

    from flashtwin.study.theory.points import Point
    from flashtwin.study.theory.run import LawRow, Theory

STYLES = {"pass": "green", "miss": "bold red"}
PAGES = 64


def show(
    policy: str | None,
    op: float | None,
    pages: int | None,
    trims: float | None,
    *,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> int:
    """Try the points, print them; the answer is the exit code."""
    from flashtwin.cli import progress
    from flashtwin.study.theory.run import validate

    points = _points(policy, op, pages, trims)
    with progress.counted("theory", len(points), quiet) as tell:
        done = validate(points, seed=seed, done=lambda count, point: tell(count, point.law))
    if as_json:
        terminal.print_json(done.to_json())
    else:
        terminal.emit(_table(done.rows), terminal.cell(_sum(done)))
    return MISS if done.missed else DONE


def _points(
    policy: str | None, op: float | None, pages: int | None, trims: float | None
) -> list[Point]:
    from flashtwin.study.theory import points

    if policy is None and op is None and pages is None and trims is None:
        return points.every()
    if policy is None or op is None:
        raise click.UsageError("a point needs --policy and --op")
    return [points.of_user(policy, op, pages or PAGES, trims or 0.0)]


def _table(rows: tuple[LawRow, ...]) -> Table:
    numbers = ["expected", "found", "error", "tolerance"]
    table = terminal.table(["law", "point", *numbers, "verdict"], right=numbers)
    for column in table.columns[2:]:
        column.no_wrap = True
    last = ""
    for row in rows:
        law = "" if row.point.law == last else row.point.law
        last = row.point.law
        cells = [terminal.cell(text) for text in (law, _point(row.point), *_numbers(row))]
        table.add_row(*cells, terminal.cell(row.verdict, STYLES[row.verdict]))
    return table


def _point(point: Point) -> str:
    """The parameters, without what the law's name says already."""
    said = {"policy", "separation"}
    return ", ".join(f"{key} {value}" for key, value in point.parameters.items() if key not in said)


def _numbers(row: LawRow) -> tuple[str, str, str, str]:
    low, high = row.point.low, row.point.high
    bounds = f"{units.readable_number(low)} to {units.readable_number(high)}"
    expected = bounds if row.expected is None else units.readable_number(row.expected)
    # Adding 0.0 takes the sign from what rounds to nothing.
    error = "-" if row.error is None else f"{round(row.error * 100, 2) + 0.0:+.2f} %"
    tolerance = "-" if row.expected is None else f"{row.point.tolerance * 100:g} %"
    return expected, units.readable_number(row.found), error, tolerance


def _sum(done: Theory) -> str:
    total = len(done.rows)
    return f"\n{total - done.missed} of {total} pass, {done.missed} missed"
