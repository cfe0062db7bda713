"""`flashtwin export` as it is typed. `export_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.model.lazy import named

# As in flashtwin.runs.export.export, which is not imported to print a help page.
FORMATS = ("csv", "parquet", "fio-json", "openmetrics")


@click.command(
    "export",
    epilog=options.examples(
        "flashtwin export 20260115-101500-bx500-240 --format csv",
        "flashtwin export 20260115-101500-bx500-240 --format fio-json --out json",
        "flashtwin export 20260115-101500-bx500-240 --format openmetrics",
    ),
)
@click.argument("run", metavar="RUN", shell_complete=completions.runs)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    required=True,
    help="Tables as csv or parquet, a file a step as fio --output-format=json+ has it, or metrics.",
)
@options.out("The directory to make; by default ./<name of the run>-<format>.")
@options.as_json
def command(**chosen: Any) -> Any:
    """Write the series, findings, histograms and steps of RUN into a directory.

    RUN is a run directory, or the name of one in ./flashtwin-runs; of a folder of several runs each
    gets a directory of its own.
    """
    return named("flashtwin.cli.export_run:run")(**chosen)
