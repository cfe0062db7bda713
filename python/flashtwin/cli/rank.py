"""`flashtwin rank` as it is typed. `rank_run` carries it out, and is not loaded for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.model.lazy import named


@click.command(
    "rank",
    epilog=options.examples(
        "flashtwin rank unit-1 unit-2 unit-3",
        "flashtwin rank flashtwin-runs --out ranking.html",
        "flashtwin rank unit-2 unit-3 --golden unit-1 --fail-on 3%",
    ),
)
@click.option(
    "--golden",
    metavar="RUN",
    shell_complete=completions.runs,
    help="The run that the others have to be as good as; exit code 1 if one is not.",
)
@options.held(
    fail_on="With --golden: how much worse than it a finding may be; 5 % by default.",
    every="All findings and not only the headlines.",
)
@options.out("An HTML page with the bars.")
@options.as_json
def command(**chosen: Any) -> Any:
    """Rank the drives of RUNs by what their runs found: bars, the best first, and how far the
    drives spread.

    A RUN is a run directory, a folder of several, or the name of one in ./flashtwin-runs. With
    --golden each drive passes or fails against one run, as compare --fail-on holds it.
    """
    return named("flashtwin.cli.rank_run:run")(**chosen)
