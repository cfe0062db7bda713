"""`flashtwin validate`: twins against what was published of their drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashtwin.cli import options, terminal
from flashtwin.errors import DONE, MISS

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from flashtwin.validation.rows import Row
    from flashtwin.validation.validate import Validation

STYLES = {"pass": "green", "known": "yellow", "miss": "bold red", "computed": "dim"}


@click.command(
    "validate",
    short_help="Twins against what was published of their drives.",
    epilog=options.examples(
        "flashtwin validate bx500-240 bx500-240-nocache",
        "flashtwin validate bx500-240 --json",
    ),
)
@click.argument("drives", nargs=-1, required=True, metavar="DRIVE...")
@options.seed
@options.sets
@options.as_json
@options.quiet
@click.pass_context
def command(
    context: click.Context,
    drives: tuple[str, ...],
    seed: int,
    sets: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Hold the twin of each DRIVE against every published outcome whose battery exists.

    Comparisons of two drives are made when both are named. Exit code 1 if anything was missed.
    """
    from flashtwin.cli import progress
    from flashtwin.validation.validate import validate

    with progress.display(quiet) as shown:
        done = validate(
            drives,
            seed=seed,
            sets=sets,
            observer_for=lambda drive, plan: shown.observer(f"{drive}, {plan}"),
        )
    if as_json:
        terminal.print_json(done.to_json())
    else:
        terminal.emit(*_page(done))
    for one in done.outlived:
        terminal.note(f"note: {one.drive}: {one.metric} passes and is still listed as known")
    context.exit(MISS if done.missed else DONE)


def _page(done: Validation) -> list[RenderableType]:
    made: list[RenderableType] = []
    drives = dict.fromkeys(row.fact.drive for row in done.rows)
    for drive in drives:
        table = terminal.table(
            ["test", "metric", "published", "found", "error", "tolerance", "verdict", "also"],
            title=f"\n{drive}",
            right=["published", "found", "error", "tolerance"],
        )
        for row in done.rows:
            if row.fact.drive == drive:
                table.add_row(*_cells(row))
        made.append(table)
    made += [
        terminal.cell(f"\nknown: {row.fact.drive}: {row.fact.metric}: {row.why}")
        for row in done.rows
        if row.verdict == "known"
    ]
    return [*made, terminal.cell(_sum(done))]


def _cells(row: Row) -> list[Text]:
    fact = row.fact
    # Adding 0.0 takes the sign from what rounds to nothing.
    error = "-" if row.error is None else f"{round(row.error * 100, 1) + 0.0:+.1f} %"
    tolerance = "" if fact.tolerance is None else f"± {fact.tolerance * 100:g} %"
    also = "; ".join(f"{name} {terminal.number(value)}" for name, value in row.also.items())
    found = terminal.number(row.found) + (f" ({row.cell})" if row.cell else "")
    verdict = f"{row.verdict}, calibration" if fact.calibration else row.verdict
    texts = (fact.test, fact.metric, _published(row), found, error, tolerance)
    return [
        *(terminal.cell(text) for text in texts),
        terminal.cell(verdict, STYLES[row.verdict]),
        terminal.cell(also),
    ]


def _published(row: Row) -> str:
    fact = row.fact
    if fact.target is not None:
        return f"{terminal.number(fact.target)} {fact.unit}".rstrip()
    return f"{terminal.number(fact.low)} to {terminal.number(fact.high)}"


def _sum(done: Validation) -> str:
    """How many of each, calibration apart; what waits for a battery is told, not counted."""
    lines = []
    for name, counted in done.counts().items():
        total = sum(counted.values())
        if total or name == "validation":
            lines.append(
                f"{name}: {counted['pass']} of {total} pass, {counted['known']} known, "
                f"{counted['miss']} missed"
            )
    if done.waiting:
        lines.append(f"{done.waiting} published rows have no battery yet")
    return "\n" + "\n".join(lines)
