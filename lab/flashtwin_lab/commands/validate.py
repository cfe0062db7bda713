"""`flashtwin validate`: twins against published outcomes, and drives against closed forms."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashtwin.cli import completions, options, terminal
from flashtwin.errors import DONE, MISS
from flashtwin.model import units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from flashtwin_lab.theory.points import Point
    from flashtwin_lab.theory.run import LawRow, Theory
    from flashtwin_lab.validation.rows import Row
    from flashtwin_lab.validation.validate import Validation

# Pages a block of a point of the user's.
PAGES = 64
# The unit of shares in the list of what was published, and what else of a row is told in one line.
SHARE, MOST_BESIDE = "fraction", 4
STYLES = {"pass": "green", "known": "yellow", "miss": "bold red", "computed": "dim", "shown": "dim"}


@click.command(
    "validate",
    epilog=options.examples(
        "flashtwin validate bx500-240 bx500-240-nocache",
        "flashtwin validate bx500-240 --json",
        "flashtwin validate --page validation.md",
        "flashtwin validate pm871b-128 --knock-out",
        "flashtwin validate --theory",
        "flashtwin validate --theory --policy fifo --op 0.2",
    ),
)
@click.argument("drives", nargs=-1, metavar="[DRIVE...]", shell_complete=completions.drives)
@click.option("--theory", is_flag=True, help="Closed forms instead of drives, as said above.")
@click.option("--policy", metavar="NAME", help="With --theory: a point of yours, e.g. greedy.")
@click.option(
    "--op",
    type=options.Share(),
    metavar="SHARE",
    help="With --policy: over-provisioning, e.g. 0.2.",
)
@click.option(
    "--pages", type=options.Integer(4, 65536), help="With --policy: pages a block; 64 by default."
)
@click.option(
    "--trims",
    type=options.Share(),
    metavar="SHARE",
    help="With --policy: TRIMs of all requests, e.g. 0.1.",
)
@click.option(
    "--page",
    type=options.FilePath(dir_okay=False),
    metavar="FILE",
    help="Write the rows as a page in Markdown.",
)
@click.option(
    "--knock-out",
    is_flag=True,
    help="Switch each mechanism off in turn: which rows break without it.",
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
    page: Path | None,
    knock_out: bool,
    seed: int,
    sets: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Hold the twin of each DRIVE against every published outcome whose battery exists.

    Without DRIVE every drive with published outcomes is run, some four minutes on two cores.
    Comparisons of two drives are made when both are named; a drive that an article only describes
    is stood in for by another of the catalogue. Exit code 1 if anything was missed.

    With --theory every table and law of the theory is tried on drives built for it: write
    amplification by victim policy, the laws of SLC caches, Little's law, conservation. With
    --policy and --op it is one point of yours.
    """
    theory_options = {"--policy": policy, "--op": op, "--pages": pages, "--trims": trims}
    if theory:
        if drives or sets or page or knock_out:
            raise click.UsageError(
                "--theory builds its own drives; leave out DRIVE and its options"
            )
        context.exit(_theory(policy, op, pages, trims, seed=seed, as_json=as_json, quiet=quiet))
    misplaced = [name for name, value in theory_options.items() if value is not None]
    if misplaced:
        raise click.UsageError(f"{', '.join(misplaced)}: only with --theory")
    from flashtwin.cli import progress
    from flashtwin_lab.validation.records import families
    from flashtwin_lab.validation.validate import validate

    if page is not None and sets:
        raise click.UsageError("--page shows drives as the catalogue has them; leave out --set")
    chosen = drives or tuple(drive for family in families() for drive in family)
    if knock_out:
        if page is not None or sets:
            raise click.UsageError("--knock-out sets values itself; leave --set and --page out")
        _knock_out(chosen, seed=seed, as_json=as_json, quiet=quiet)
        return
    if page is not None:
        from flashtwin import outputs

        outputs.check(page)
    validation = validate(chosen, partial(progress.observers, quiet), seed=seed, sets=sets)
    if page is not None:
        from flashtwin_lab.validation.page import page as page_text

        outputs.write(page, page_text(validation.rows))
    if as_json:
        terminal.print_json(validation.document())
    else:
        terminal.emit(*_page(validation))
    for miss in validation.outlived:
        terminal.note(f"note: {miss.drive}: {miss.metric} passes and is still listed as known")
    context.exit(MISS if validation.missed else DONE)


def _knock_out(drives: Sequence[str], *, seed: int, as_json: bool, quiet: bool) -> None:
    """Run the knock-outs and print which rows broke."""
    from flashtwin.cli import progress
    from flashtwin_lab.validation.knockouts import KnockOuts, knock_out
    from flashtwin_lab.validation.sections import broken_text

    knocked = knock_out(drives, partial(progress.observers, quiet), seed=seed)
    if as_json:
        terminal.print_json(KnockOuts([row.document() for row in knocked]))
        return
    parts: list[RenderableType] = []
    for row in knocked:
        head = f"\nwithout {row.mechanism.name} ({', '.join(row.drives)}): {row.mechanism.without}"
        parts.append(terminal.cell(head, "bold"))
        broken = [terminal.cell(f"  breaks: {broken_text(of)}") for of in row.broken]
        parts += broken or [terminal.cell(f"  none of {row.tried} rows breaks")]
    terminal.emit(*(parts or [terminal.cell("no mechanism of these drives can be switched off")]))


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
    texts = (_published(row), units.readable_number(_share(row, row.measured)), error)
    verdict = terminal.cell(row.verdict, STYLES[row.verdict])
    return [*(terminal.cell(text) for text in texts), verdict]


def _beside(row: Row) -> str:
    """The cell of a row, what else was found, and whether the row rests on an assumed condition."""
    stand_ins = [twin for twin in row.fact.twins if twin not in row.fact.drives]
    parts = [f"measured on {', '.join(stand_ins)}"] if stand_ins else []
    parts += [f"worst: {row.cell}"] if row.cell else []
    also = [f"{name} {units.readable_number(_share(row, v))}" for name, v in row.also.items()]
    parts += also[:MOST_BESIDE]
    if len(also) > MOST_BESIDE:
        parts.append(f"{len(also) - MOST_BESIDE} more in --json")
    parts += ["calibration"] if row.fact.calibration else []
    return "; ".join(parts)


def _published(row: Row) -> str:
    fact = row.fact
    if fact.target is None:
        ends = (units.readable_number(_share(row, end)) for end in (fact.low, fact.high))
        return " to ".join(ends)
    tolerance = f" ± {(fact.tolerance or 0) * 100:g} %"
    unit = "%" if fact.unit == SHARE else fact.unit
    return f"{units.readable_number(_share(row, fact.target))} {unit}".rstrip() + tolerance


def _share(row: Row, value: float | None) -> float | None:
    """A share of one is told in percent, as everywhere."""
    return value * 100 if value is not None and row.fact.unit == SHARE else value


def _sum(validation: Validation) -> str:
    """How many rows of each kind, calibration apart; rows that wait for a battery are named and
    not counted."""
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
    """Simulate the points and print them; the answer is the exit code."""
    from flashtwin.cli import progress
    from flashtwin_lab.theory.run import validate

    points = _points(policy, op, pages, trims)
    with progress.counted("theory", len(points), quiet) as report:
        theory = validate(points, seed=seed, on_end=lambda count, point: report(count, point.law))
    if as_json:
        terminal.print_json(theory.document())
    else:
        terminal.emit(_law_table(theory.rows), terminal.cell(_law_sum(theory)))
    return MISS if theory.missed else DONE


def _points(
    policy: str | None, op: float | None, pages: int | None, trims: float | None
) -> list[Point]:
    from flashtwin_lab.theory import points

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
    """The parameters of a point, without those that the law's name has."""
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
