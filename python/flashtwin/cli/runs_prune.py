"""`flashtwin runs prune`: old runs go, after a look at what that means."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashtwin.cli import options, terminal
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units

if TYPE_CHECKING:
    from flashtwin.runs.listing import Stored


@click.command(
    "prune",
    short_help="Remove old runs.",
    epilog=options.examples(
        "flashtwin runs prune --keep 10 --dry-run",
        "flashtwin runs prune /data/runs --older-than 30d --where \"state <> 'finished'\" --yes",
    ),
)
@click.argument("places", nargs=-1, metavar="[DIR...]", type=click.Path(path_type=Path))
@click.option("--keep", type=options.Whole(0), metavar="N", help="Keep the N newest of them.")
@click.option(
    "--older-than",
    type=options.AGE,
    metavar="TIME",
    help="Only runs begun so long ago: 12h, 30d, 4w.",
)
@click.option("--where", metavar="SQL", help="Only runs for which this holds; see runs list.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and remove nothing.")
@click.option("--yes", "-y", is_flag=True, help="Remove without asking.")
@options.as_json
def prune(
    places: tuple[Path, ...],
    keep: int | None,
    older_than: float | None,
    where: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove the runs in each DIR, by default ./flashtwin-runs, that --keep, --older-than and
    --where leave over.

    A run under way stays, and so does every folder that is not a run.
    """
    from flashtwin.runs.listing import chosen, total_bytes
    from flashtwin.runs.query import search

    if keep is None and older_than is None and where is None:
        raise FlashtwinError(
            "prune without a choice would remove every run",
            hint="say --keep N, --older-than 30d or --where SQL; --keep 0 removes all",
            exit_code=USAGE,
        )
    going = chosen(
        search(places, where=where),
        keep=keep or 0,
        older=timedelta(seconds=older_than) if older_than is not None else None,
        now=datetime.now(UTC),
    )
    if not dry_run and going:
        _agreed(going, yes, as_json)
        _remove(going)
    if as_json:
        rows = [{"path": str(run.path), "bytes": run.bytes, "state": run.state} for run in going]
        said = {"dry_run": dry_run, "bytes": total_bytes(going), "removed": rows}
        terminal.print_json(said)
        return
    if dry_run or yes:
        _show(going)
    verb = "would remove" if dry_run else "removed"
    terminal.emit(terminal.cell(f"{verb} {_sum(going)}"))


def _agreed(going: list[Stored], yes: bool, as_json: bool) -> None:
    """Ask, where somebody can answer."""
    if yes:
        return
    if as_json or not _somebody_there():
        raise FlashtwinError(
            f"{_sum(going)} would be removed, and there is no terminal to ask on",
            hint="--dry-run lists them, --yes removes them",
            exit_code=USAGE,
        )
    _show(going)
    if not click.confirm(f"remove {_sum(going)}?", err=True):
        raise click.Abort


def _somebody_there() -> bool:
    return sys.stdin.isatty()


def _remove(going: list[Stored]) -> None:
    from flashtwin.runs.listing import remove

    for run in going:
        remove(run)


def _show(going: list[Stored]) -> None:
    from flashtwin.cli.runs_show import started

    if not going:
        return
    table = terminal.table(["run", "started", "target", "state", "size"], right=["size"])
    for run in going:
        texts = (str(run.path), started(run), run.target, run.state, units.readable_size(run.bytes))
        table.add_row(*(terminal.cell(text) for text in texts))
    terminal.emit(table)


def _sum(going: list[Stored]) -> str:
    from flashtwin.cli.runs_show import counted
    from flashtwin.runs.listing import total_bytes

    return f"{counted(len(going))}, {units.readable_size(total_bytes(going))}"


def add_to(group: click.Group) -> None:
    """The group is the one of `flashtwin runs`."""
    group.add_command(prune)
