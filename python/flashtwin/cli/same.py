"""`flashtwin same` as it is typed. `same_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.model.lazy import named


@click.command(
    "same",
    epilog=options.examples(
        "flashtwin same bought-in-march bought-in-june",
        "flashtwin same measured bx500-240",
        "flashtwin same measured /dev/sdb --destroy-data",
    ),
)
@click.argument("run", type=options.FilePath(), metavar="RUN", shell_complete=completions.runs)
@click.argument("drives", nargs=-1, required=True, metavar="DRIVE...")
@click.option(
    "--prior",
    type=options.Share(),
    metavar="P",
    help="How likely it is before anything is compared; by default 0.5.",
)
@options.out("Where the run of a drive that is measured for it goes; by default a new directory.")
@options.destroying
@options.as_json
@options.quiet
def command(**chosen: Any) -> Any:
    """How likely it is that each DRIVE is built as the drive of RUN, with what says so.

    Drives sold under one name may hold other flash, and a fake bears the right label too. A DRIVE
    is a run; anything else is measured first by the batteries of RUN: a drive of the catalogue is
    simulated, a device only read unless --destroy-data is given, and a path gets a file. The
    answer depends on priors, which are printed with it: docs/concepts/same.md.
    """
    return named("flashtwin.cli.same_run:run")(**chosen)
