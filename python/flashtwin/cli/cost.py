"""`flashtwin cost`: what a trace costs on drives, for judging a change of a program."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import options
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units
from flashtwin.model.fio_job import Reading
from flashtwin.runner.target import Variant

FILE = options.FilePath(dir_okay=False)
# The largest growth that a limit may allow, in percent.
MOST_PERCENT = 1000


@click.command(
    "cost",
    epilog=options.examples(
        "flashtwin cost app.blkparse.txt --on samsung-980-1tb --scale 1/16",
        "flashtwin cost pr.iolog --against main.iolog --on samsung-980-1tb --fail-on 2%",
        "flashtwin cost pr.iolog --against main.iolog --on crucial-p1-1tb --markdown comment.md",
    ),
)
@click.argument("trace", type=FILE, metavar="TRACE")
@click.option(
    "--on", "drives", multiple=True, required=True, metavar="DRIVE", help="May be given again."
)
@click.option("--against", type=FILE, metavar="BASE", help="Another trace to compare with.")
@click.option(
    "--fail-on",
    metavar="PERCENT",
    help="With --against: exit code 1 where any figure grows by more.",
)
@click.option(
    "--state",
    default="full",
    show_default=True,
    metavar="STATE",
    help="The drive before: fresh, half-full, full, cache-full, worn, or a file of a twin's state.",
)
@options.reading
@click.option("--markdown", type=FILE, metavar="FILE", help="Write the table for a comment.")
@options.changes
@options.as_json
@options.quiet
def command(
    trace: Path,
    drives: tuple[str, ...],
    against: Path | None,
    fail_on: str | None,
    state: str,
    reading: Reading,
    markdown: Path | None,
    changes: options.Changes,
    as_json: bool,
    quiet: bool,
) -> int:
    """Say what the requests of TRACE cost on drives: time, and bytes that the flash takes.

    The requests go to a simulated drive one after another, without the pauses of the trace; then
    it rests until what it put off is done. The same trace gives the same nanoseconds and bytes on
    every machine, so that a change of a program can be judged by two traces of it.
    """
    limit = _limit(fail_on, against)

    from flashtwin.cli import load_run

    return load_run.cost(
        trace,
        against=against,
        limit=limit,
        state=state,
        reading=reading,
        variants=[Variant(drive=drive, **changes) for drive in drives],
        markdown=markdown,
        as_json=as_json,
        quiet=quiet,
    )


def _limit(fail_on: str | None, against: Path | None) -> float | None:
    """--fail-on as a share."""
    if fail_on is None:
        return None
    if against is None:
        raise FlashtwinError(
            "--fail-on judges a trace beside another one, and there is none",
            hint="add --against BASE",
            exit_code=USAGE,
        )
    try:
        percent = float(units.parse_number(fail_on.removesuffix("%").strip()))
    except ValueError as error:
        raise click.BadParameter(
            f"{fail_on} is no percentage: {error}", param_hint="--fail-on"
        ) from None
    if not 0 <= percent <= MOST_PERCENT:
        raise click.BadParameter(
            f"write a percentage from 0 to {MOST_PERCENT}", param_hint="--fail-on"
        )
    return percent / 100
