"""`flashtwin review` as it is typed. `review_run` carries it out, and is not imported for help."""

from __future__ import annotations

from typing import Any

import click

from flashtwin.cli import completions, options
from flashtwin.model.lazy import named


@click.command(
    "review",
    epilog=options.examples(
        "flashtwin review bx500-240 bx500-240-nocache",
        "flashtwin review bx500-240 --quick",
        "flashtwin review ./probe.bin --size 4GB",
    ),
)
@click.argument(
    "targets", nargs=-1, required=True, metavar="TARGET...", shell_complete=completions.drives
)
@click.option("--quick", is_flag=True, help="The group quick instead: seconds on a twin.")
@click.option(
    "--group",
    metavar="NAME",
    shell_complete=completions.groups,
    help="Another group than review; flashtwin batteries lists them.",
)
@click.option("--size", metavar="SIZE", help="Size of the file to make, for a path; e.g. 4GB.")
@options.budget("Run what fits into this time on each drive's clock; e.g. 30m.")
@options.out("The run directory; by default ./flashtwin-runs/<time>-<target>.")
@options.changes
@options.verbose
@options.as_json
@options.quiet
@click.pass_context
def command(context: click.Context, /, **chosen: Any) -> Any:
    """Run what a review runs on each TARGET, and make one page of it.

    The page begins with a verdict, has a section for each battery, and ranks the drives among the
    catalogue's twins. A battery that does not suit one target is left out on all of them, with a
    note. flashtwin test --resume goes on with a review that was stopped; its page has no ranking.
    """
    return named("flashtwin.cli.review_run:run")(context, **chosen)
