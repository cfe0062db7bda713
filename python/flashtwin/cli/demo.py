"""`flashtwin demo` as it is typed. `demo_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import options
from flashtwin.model.lazy import named


@click.command(
    "demo", epilog=options.examples("flashtwin demo", "flashtwin demo --open --out first-look")
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@options.out("The run directory; by default ./flashtwin-runs/<time>-<target>.")
@options.quiet
def command(**chosen: Any) -> Any:
    """Fill a simulated Crucial BX500 with its SLC cache on and off, and say in five lines what that
    shows. Where the current directory cannot be written, the run goes to a temporary one.

    Nothing is written to a drive of this machine but the run directory.
    """
    return named("flashtwin.cli.demo_run:run")(**chosen)
