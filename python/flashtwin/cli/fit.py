"""`flashtwin fit`: a twin from what a run measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashtwin import outputs
from flashtwin.cli import completions, options, terminal

if TYPE_CHECKING:
    from flashtwin.study.fit.fit import Twin

MOST_SIMULATIONS = 100_000


@click.command(
    "fit",
    epilog=options.examples(
        "flashtwin fit flashtwin-runs/mine -o mine.toml",
        "flashtwin fit mine -o mine.toml --simulations 3000",
        "flashtwin fit mine -o mine.toml --study fit.db",
    ),
)
@click.argument("run", metavar="RUN", type=options.FilePath(), shell_complete=completions.runs)
@click.option(
    "-o",
    "--out",
    type=options.FilePath(dir_okay=False),
    metavar="PATH",
    help="The spec to write; by default ./NAME-fitted.toml.",
)
@click.option(
    "--simulations",
    type=options.Integer(300, MOST_SIMULATIONS),
    help="Simulated drives; 500 by default, as most fits need. More are nearer, and take longer.",
)
@options.seed
@click.option(
    "--study",
    metavar="FILE.db",
    help="Keep the search in this database (a file, or a URL of SQLAlchemy): the same command goes "
    "on where it was, and on several machines they share the work. Needs flashtwin[fit].",
)
@click.option(
    "--run/--no-run",
    "measured",
    default=True,
    help="Measure the twin by the same fill, into a run beside RUN.",
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@options.as_json
@options.quiet
def command(
    run: Path,
    out: Path | None,
    simulations: int | None,
    seed: int,
    study: str | None,
    measured: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit a twin to what RUN measured: a spec whose simulated drive shows the same.

    RUN holds a fill of the erased drive, and better the batteries discover, crystaldiskmark and
    states too. Each value is written with its 95 % interval; what RUN does not determine stays what
    is usual, and says so. The twin is then measured by the same fill; its run is RUN-twin, and
    flashtwin report RUN draws both curves.
    """
    from flashtwin.cli import progress
    from flashtwin.runs import listing
    from flashtwin.runs.rundir import Run
    from flashtwin.study.fit import beside
    from flashtwin.study.fit.fit import SIMULATIONS, fit

    stored = Run(listing.find(run))
    path = out or Path(f"{stored.target['name']}-fitted.toml")
    options.check_new_spec(path, force)
    outputs.check(path)
    if measured:
        beside.check(stored)
    count = simulations or SIMULATIONS
    with progress.counted("fit", count, quiet) as report:
        twin = fit(
            stored,
            simulations=count,
            seed=seed,
            study=study,
            tell=lambda done, label: report(min(done, count), label),
        )
    try:
        twin_run = beside.measure(stored, twin) if measured else None
    finally:
        # Written last: where this was killed before, the same command is not refused by its spec.
        twin.write(path)
    if as_json:
        terminal.print_json(twin.document(path, twin_run))
        return
    _show(twin, path, quiet)
    if twin_run is None:
        terminal.note(f"next: flashtwin test {path} --battery fill, flashtwin compare RUN RUN")
    else:
        terminal.say(f"{twin_run}: the twin, measured by the same fill")
        terminal.note(f"next: flashtwin report {run}, flashtwin compare {run}: both curves")


def _show(twin: Twin, path: Path, quiet: bool) -> None:
    space = twin.fitted.space
    table = terminal.table(["value", "found", "95 %", ""], right=["found", "95 %"])
    for row in twin.rows():
        unit = f" {row.unit}" if row.unit else ""
        known = row.low is not None
        interval = f"{row.low:g} to {row.high:g}" if known else ""
        texts = (row.title, f"{row.value:g}{unit}", interval)
        table.add_row(
            *(terminal.cell(text) for text in texts),
            terminal.cell("" if known else "usual, not determined", "dim"),
        )
    terminal.emit(table)
    limit = ", programs limited by the firmware" if space.structure.by_core else ""
    terminal.say(
        f"{path}: cache {space.structure.name}, past it {space.structure.past}, "
        f"{space.cell.upper()}{limit}; {twin.fitted.simulations} simulated drives"
    )
    terminal.notes(list(twin.notes), quiet=quiet)
