"""`flashtwin compare` as it is typed. `compare_run` carries it out, and is not loaded for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import options
from flashtwin.model.lazy import named


@click.command(
    "compare",
    epilog=options.examples(
        "flashtwin compare before after",
        "flashtwin compare before after -v",
        "flashtwin compare before after --fail-on 5% --fail-on cache_size=3%",
        "flashtwin compare flashtwin-runs/two-drives --out page.html",
    ),
)
@options.held(
    fail_on="Exit code 1 if a finding is worse by more than P % beyond its interval; may be "
    "repeated.",
    every="Also what does not differ.",
)
@options.verbose_tables
@options.out("An HTML page with the differences and the curves over one another.")
@options.as_json
def command(**chosen: Any) -> Any:
    """Hold each RUN against the first: set-ups, findings, curves, latencies.

    A RUN is a run directory, a folder of several, or the name of one in ./flashtwin-runs; one RUN
    to which a twin was fitted is held against the twin. Exit code 0, or with --fail-on 1 if some
    finding is beyond its limit.
    """
    return named("flashtwin.cli.compare_run:run")(**chosen)
