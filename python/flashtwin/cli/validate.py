"""`flashtwin validate`: twins against published outcomes, and drives against closed forms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from flashtwin.cli import completions, options, terminal
from flashtwin.errors import DONE, MISS
from flashtwin.model import units

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from flashtwin.study.theory.points import Point
    from flashtwin.study.theory.run import LawRow, Theory
    from flashtwin.study.validation.rows import Row
    from flashtwin.study.validation.validate import Validation

# Pages a block of a point of the user's.
PAGES = 64
STYLES = {"pass": "green", "known": "yellow", "miss": "bold red", "computed": "dim"}


@click.command(
    "validate",
    epilog=options.examples(
        "flashtwin validate bx500-240 bx500-240-nocache",
        "flashtwin validate bx500-240 --json",
        "flashtwin validate --theory",
        "flashtwin validate --theory --policy fifo --op 0.2",
    ),
)
@click.argument("drives", nargs=-1, metavar="[DRIVE...]", shell_complete=completions.drives)
@click.option("--theory", is_flag=True, help="Closed forms instead of drives; see below.")
@click.option("--policy", metavar="NAME", help="With --theory: a point of yours, by victim policy.")
@click.option(
    "--op", type=options.Share(), metavar="SHARE", help="Its over-provisioning; 0.2 is 20 %."
)
@click.option("--pages", type=options.Integer(4, 65536), help="Its pages a block; 64 by default.")
@click.option(
    "--trims", type=options.Share(), metavar="SHARE", help="The share of TRIMs in its requests."
)
@options.seed
@options.sets
@options.as_json
@options.quiet
@click.pass_context
def command(
    context: click.Context,
    drives: tuple[str, ...],
    theory: bool,
    policy: str | None,
    op: float | None,
    pages: int | None,
    trims: float | None,
    seed: int,
    sets: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Hold the twin of each DRIVE against every published outcome whose battery exists.

    Comparisons of two drives are made when both are named. Exit code 1 if anything was missed.

    With --theory every table and law of the theory is tried on drives built for it: write
    amplification by victim policy, the laws of SLC caches, Little's law, conservation. With
    --policy and --op it is one point of yours.
    """
    theory_options = {"--policy": policy, "--op": op, "--pages": pages, "--trims": trims}
    if theory:
        if drives or sets:
            raise click.UsageError("--theory builds its own drives; leave DRIVE and --set out")
        context.exit(_theory(policy, op, pages, trims, seed=seed, as_json=as_json, quiet=quiet))
    misplaced = [name for name, value in theory_options.items() if value is not None]
    if misplaced:
        raise click.UsageError(f"{', '.join(misplaced)}: only with --theory")
    if not drives:
        raise click.UsageError("Missing argument 'DRIVE...'")
    from flashtwin.cli import progress
    from flashtwin.study.validation.validate import validate

    validation = validate(drives, partial(progress.observers, quiet), seed=seed, sets=sets)
    if as_json:
        terminal.print_json(validation.to_json())
    else:
        terminal.emit(*_page(validation))
    for miss in validation.outlived:
        terminal.note(f"note: {miss.drive}: {miss.metric} passes and is still listed as known")
    context.exit(MISS if validation.missed else DONE)


def _page(validation: Validation) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for drive in dict.fromkeys(row.fact.drive for row in validation.rows):
        parts.append(_table(drive, [row for row in validation.rows if row.fact.drive == drive]))
    parts += [
        terminal.cell(f"\nknown: {row.fact.drive}: {_called(row)}: {row.why}")
        for row in validation.rows
        if row.verdict == "known"
    ]
    return [*parts, terminal.cell(_sum(validation))]


def _table(drive: str, rows: list[Row]) -> Table:
    """A drive's rows; a test that all of them share is said once, in the heading."""
    tests = {row.fact.test for row in rows}
    same_test = len(tests) == 1
    title = f"\n{drive}: {tests.pop()}" if same_test else f"\n{drive}"
    numbers = ["published", "found", "error"]
    table = terminal.table(["outcome", *numbers, "verdict"], title=title, right=numbers)
    for column in table.columns[1:]:
        column.no_wrap = True
    for row in rows:
        name = row.fact.metric if same_test else f"{row.fact.test}: {row.fact.metric}"
        name = f"  {row.variant}" if row.variant else name
        table.add_row(terminal.cell(name), *_cells(row))
        if beside := _beside(row):
            table.add_row(terminal.cell(f"  {beside}", "dim"))
    return table


def _called(row: Row) -> str:
    return f"{row.fact.metric}, {row.variant}" if row.variant else row.fact.metric


def _cells(row: Row) -> list[Text]:
    # Adding 0.0 takes the sign from what rounds to nothing.
    error = "-" if row.error is None else f"{round(row.error * 100, 1) + 0.0:+.1f} %"
    texts = (_published(row), units.readable_number(row.measured), error)
    verdict = terminal.cell(row.verdict, STYLES[row.verdict])
    return [*(terminal.cell(text) for text in texts), verdict]


def _beside(row: Row) -> str:
    """Which cell it is, what else was found, and whether an assumed condition decides."""
    parts = [f"worst: {row.cell}"] if row.cell else []
    parts += [f"{name} {units.readable_number(value)}" for name, value in row.also.items()]
    parts += ["calibration"] if row.fact.calibration else []
    return "; ".join(parts)


def _published(row: Row) -> str:
    fact = row.fact
    if fact.target is None:
        return f"{units.readable_number(fact.low)} to {units.readable_number(fact.high)}"
    tolerance = f" ± {(fact.tolerance or 0) * 100:g} %"
    return f"{units.readable_number(fact.target)} {fact.unit}".rstrip() + tolerance


def _sum(validation: Validation) -> str:
    """How many of each, calibration apart; what waits for a battery is told, not counted."""
    lines = []
    for name, counted in validation.counts().items():
        total = sum(counted.values())
        if total or name == "validation":
            lines.append(
                f"{name}: {counted['pass']} of {total} pass, {counted['known']} known, "
                f"{counted['miss']} missed"
            )
    if validation.waiting:
        lines.append(f"{validation.waiting} published rows have no battery yet")
    return "\n" + "\n".join(lines)


def _theory(
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
    with progress.counted("theory", len(points), quiet) as report:
        theory = validate(points, seed=seed, on_end=lambda count, point: report(count, point.law))
    if as_json:
        terminal.print_json(theory.to_json())
    else:
        terminal.emit(_law_table(theory.rows), terminal.cell(_law_sum(theory)))
    return MISS if theory.missed else DONE


def _points(
    policy: str | None, op: float | None, pages: int | None, trims: float | None
) -> list[Point]:
    from flashtwin.study.theory import points

    if policy is None and op is None and pages is None and trims is None:
        return points.every()
    if policy is None or op is None:
        raise click.UsageError("a point needs --policy and --op")
    return [points.of_user(policy, op, pages or PAGES, trims or 0.0)]


def _law_table(rows: tuple[LawRow, ...]) -> Table:
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
    known = {"policy", "separation"}
    return ", ".join(
        f"{key} {value}" for key, value in point.parameters.items() if key not in known
    )


def _numbers(row: LawRow) -> tuple[str, str, str, str]:
    low, high = row.point.low, row.point.high
    bounds = f"{units.readable_number(low)} to {units.readable_number(high)}"
    expected = bounds if row.expected is None else units.readable_number(row.expected)
    # Adding 0.0 takes the sign from what rounds to nothing.
    error = "-" if row.error is None else f"{round(row.error * 100, 2) + 0.0:+.2f} %"
    tolerance = "-" if row.expected is None else f"{row.point.tolerance * 100:g} %"
    return expected, units.readable_number(row.measured), error, tolerance


def _law_sum(theory: Theory) -> str:
    total = len(theory.rows)
    return f"\n{total - theory.missed} of {total} pass, {theory.missed} missed"
