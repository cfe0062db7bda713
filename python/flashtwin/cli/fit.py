"""`flashtwin fit`: a twin from what a run measured, or from figures that somebody published."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.model.lazy import named

MOST_SIMULATIONS = 100_000


@click.command(
    "fit",
    epilog=options.examples(
        "flashtwin fit flashtwin-runs/mine -o mine.toml",
        "flashtwin fit mine -o mine.toml --simulations 3000",
        "flashtwin fit mine -o mine.toml --study fit.db",
        "flashtwin fit --published micron-7450-pro-960",
    ),
)
@click.argument(
    "run", metavar="[RUN]", required=False, type=options.FilePath(), shell_complete=completions.runs
)
@click.option(
    "--published",
    metavar="FILE",
    help="In place of a run, a table of what somebody measured of a drive: loads, spans, write "
    "amplification or rates. A file, or the name of a table that is shipped.",
)
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
    help="Simulated drives; 500 by default, which most fits need. More fit closer and take longer.",
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
def command(**chosen: Any) -> Any:
    """Fit a twin to what RUN measured: a spec whose simulated drive shows the same.

    RUN holds a fill of the erased drive, and better the batteries discover, crystaldiskmark and
    states too. Each value gets an interval; one that RUN does not determine keeps its usual
    value and is marked. The same fill then measures the twin, in the run RUN-twin, and flashtwin
    report RUN draws both curves.
    """
    return named("flashtwin.cli.fit_run:run")(**chosen)
