"""`flashtwin blind`: what the analysis gets right on drives whose inside is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashtwin.cli import options, terminal
from flashtwin.errors import DONE, MISS

if TYPE_CHECKING:
    from flashtwin.study.blind.run import Campaign

MOST_DRIVES = 100_000
FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(
    "blind",
    epilog=options.examples(
        "flashtwin blind --count 20",
        "flashtwin blind --count 200 --seed 7 --json",
        "flashtwin blind --count 50 --generator prior.toml --detector mine.py",
    ),
)
@click.option(
    "--count", type=options.Integer(1, MOST_DRIVES), default=200, help="Drives; 200 by default."
)
@options.seed
@click.option("--generator", type=FILE, help="Another prior (.toml), or a program (.py).")
@click.option("--detector", type=FILE, help="A program (.py) whose detect() is tried instead.")
@options.as_json
@options.quiet
@click.pass_context
def command(
    context: click.Context,
    count: int,
    seed: int,
    generator: Path | None,
    detector: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw drives at random, fill them, and hold what the analysis says against the truth.

    The analysis gets the series as a host records it, with noise, stalls, heat and more, and the
    capacity; nothing else. Exit code 1 if a target was missed.
    """
    from flashtwin.cli import progress
    from flashtwin.study.blind.run import campaign

    with progress.counted("blind", count, quiet) as report:
        done = campaign(count, seed, generator=generator, detector=detector, on_end=report)
    if as_json:
        terminal.print_json(done.to_json())
    else:
        _show(done)
    context.exit(MISS if done.missed else DONE)


def _show(done: Campaign) -> None:
    table = terminal.table(["finding", "has to reach", "found", "n", "verdict"], right=["n"])
    for row in done.rows:
        verdict = ("pass", "green") if row.passes else ("miss", "bold red")
        texts = (row.finding, row.target, row.found, str(row.n))
        table.add_row(*(terminal.cell(text) for text in texts), terminal.cell(*verdict))
    terminal.emit(table, terminal.cell(f"\n{done.missed} of {len(done.rows)} targets missed"))
    for drive in done.worst:
        wrong = [name for name, right in drive.right.items() if not right]
        errors = [
            f"{name} off by {max(errors):.1%}"
            for name, errors in drive.errors.items()
            if max(errors, default=0.0) > 0.01
        ]
        with_what = f" with {', '.join(drive.effects)}" if drive.effects else ""
        reasons = "; ".join([*(f"wrong: {name}" for name in wrong), *errors])
        terminal.emit(terminal.cell(f"worst: {drive.name}{with_what}: {reasons}", "dim"))
