"""`flashtwin sweep` as it is typed. `sweep_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.model.lazy import named


@click.command(
    "sweep",
    epilog=options.examples(
        "flashtwin sweep bx500-240 --vary slc_cache.size=6GB..48GB/8 --battery fill",
        "flashtwin sweep bx500-240 --vary slc_cache.size=6GB,24GB --vary op=0.07,0.14,0.28",
        "flashtwin sweep bx500-240 --vary firmware=none,slc-off --vary seed=1,2,3 --scale 1/4",
        "flashtwin sweep mine.toml --vary op=7%..28%/4 --cluster tcp://127.0.0.1:8786",
    ),
)
@click.argument("drive", metavar="DRIVE", shell_complete=completions.drives)
@click.option(
    "--vary",
    multiple=True,
    required=True,
    metavar="KEY=VALUES",
    help="A key of the spec, op, firmware or seed, with A,B,C or FROM..TO/COUNT (FROM..TO*COUNT "
    "in equal ratios); several make a grid.",
)
@click.option(
    "--battery",
    metavar="NAME[:KEY=VALUE,...],...",
    help="What each point runs; by default the first of the standard ones, which flashtwin "
    "batteries marks.",
)
@click.option(
    "--show",
    "shown",
    multiple=True,
    metavar="FINDING",
    help="Findings for the table on the terminal; by default those that vary most.",
)
@click.option("--jobs", type=options.Integer(1), help="Points at once; by default one a processor.")
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask scheduler at this address.")
@options.out(
    "The sweep's directory; by default ./flashtwin-runs/<time>-sweep-<drive>. One that "
    "holds this sweep already is resumed."
)
@options.changes
@options.as_json
@options.quiet
def command(**chosen: Any) -> Any:
    """Run a battery on every combination of the values that --vary gives for DRIVE.

    DRIVE is an id of the catalogue or a spec file. Finished points are never repeated: the same
    command with the same --out goes on after a stop and tries failed points again. Exit code 1
    where a point has no result.
    """
    return named("flashtwin.cli.sweep_run:run")(**chosen)
