"""`flashtwin review`: an article about drives with one command, a section a battery."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import completions, options, test_run
from flashtwin.runner.request import Request


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
@options.budget("Choose what fits into so long on each drive's clock, and end with it; e.g. 30m.")
@options.out("The run directory; by default ./flashtwin-runs/<time>-<target>.")
@options.changes
@options.verbose
@options.as_json
@options.quiet
@click.pass_context
def command(
    context: click.Context,
    targets: tuple[str, ...],
    quick: bool,
    group: str | None,
    size: str | None,
    budget: str | None,
    out: Path | None,
    changes: options.Changes,
    verbose: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run what a review runs on each TARGET, and make one page of it.

    The page begins with what it comes to, has a section for each battery, and ranks the drives
    among the catalogue's twins, whose results are shipped. What does not suit the targets is left
    out on all of them, and told. It is flashtwin test with --group; a review that was stopped is
    gone on with by flashtwin test --resume, whose page ranks nothing.
    """
    if quick and group is not None:
        raise click.UsageError("--quick is a group itself; leave out --group", context)
    asked_for = Request(
        targets=targets,
        size=size,
        budget=budget,
        **changes,
        out=out,
        say=test_run.silent if quiet else None,
    )
    name = "quick" if quick else group or "review"
    asked_for = test_run.of_group(asked_for, name, quiet)
    how = test_run.How(quiet=quiet, as_json=as_json, verbose=verbose, ranks=True)
    test_run.carry_out(asked_for, how)
