"""`flashtwin cache` as it is typed. `cache_run` carries it out, and is not imported for help."""

from __future__ import annotations

import click

from flashtwin.cli import options
from flashtwin.model.lazy import named


@click.group(
    "cache",
    invoke_without_command=True,
    epilog=options.examples(
        "flashtwin cache", "flashtwin cache clear --older-than 30d", "flashtwin cache --json"
    ),
)
@options.as_json
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the prepared drives that are kept, the one used last first.

    Twins whose preparation (purge, fill, rest, trim) took long are kept as they were after it, and
    runs that begin alike load them: the results are the same. FLASHTWIN_CACHE is the directory, or
    off; FLASHTWIN_CACHE_SIZE bounds it (8GB).
    """
    if context.invoked_subcommand:
        return
    named("flashtwin.cli.cache_run:show")(as_json)


@command.command(
    "clear",
    short_help="Remove prepared drives.",
    epilog=options.examples("flashtwin cache clear", "flashtwin cache clear --older-than 30d"),
)
@options.older_than("Only drives unused for so long: 12h, 30d, 4w.")
@options.as_json
def clear(older_than: float | None, as_json: bool) -> None:
    """Remove the prepared drives that are kept, or those that were not used for long."""
    named("flashtwin.cli.cache_run:clear")(older_than, as_json)
