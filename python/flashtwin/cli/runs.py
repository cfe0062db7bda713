"""`flashtwin runs`: what was measured and is kept; listing is what it does without a word more."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashtwin.cli import options, runs_prune, runs_show, terminal
from flashtwin.model import units
from flashtwin.runs.judge import SORTS

if TYPE_CHECKING:
    from flashtwin.runs.listing import Stored

STYLES = {"finished": "", "under way": "cyan", "no run": "dim", "unreadable": "red"}


class _Runs(click.Group):
    """A group whose first word may be left out: without one of its commands it lists."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def place(function: Any) -> Any:
    """[DIR...], the place of runs."""
    path = click.Path(path_type=Path)
    return click.argument("places", nargs=-1, metavar="[DIR...]", type=path)(function)


@click.group(
    "runs",
    cls=_Runs,
    short_help="List, show and prune stored runs.",
    epilog=options.examples(
        "flashtwin runs",
        "flashtwin runs --where \"target like 'bx500%' and cache_size > 20\" --sort -cache_size",
        "flashtwin runs show flashtwin-runs/20260115-101500-bx500-240",
        "flashtwin runs prune --keep 10 --older-than 30d --dry-run",
    ),
)
def command() -> None:
    """List, show and prune stored runs; flashtwin runs alone lists those in ./flashtwin-runs.

    The options of the list are shown by flashtwin runs list --help.
    """


@command.command(
    "list",
    short_help="List runs; the same as flashtwin runs.",
    epilog=options.examples(
        "flashtwin runs /data/runs --sort -size --limit 20",
        "flashtwin runs --where \"state = 'finished' and started > '2026-01-01'\"",
        "flashtwin runs --where '\"fill.cache_size[1m-q1]\".low > 23'",
    ),
)
@place
@click.option(
    "--where",
    metavar="SQL",
    help="Only runs for which this holds (DuckDB); a wrong name lists the columns.",
)
@click.option(
    "--sort",
    default="-time",
    show_default=True,
    metavar="[-]KEY",
    help=f"By {', '.join(SORTS)} or a finding (cache_size); - for the other way round.",
)
@click.option("--limit", type=options.Whole(1), metavar="N", help="At most so many.")
@options.as_json
def listed(
    places: tuple[Path, ...], where: str | None, sort: str, limit: int | None, as_json: bool
) -> None:
    """List the runs in each DIR, by default ./flashtwin-runs, the newest first.

    What cannot be read as a run is listed too, with the reason.
    """
    from flashtwin.runs.query import search

    found = search(places, where=where, sort=sort)
    shown = found[:limit]
    if as_json:
        terminal.print_json({"runs": [run.to_json() for run in shown], "total": len(found)})
        return
    if shown:
        terminal.emit(_table(shown))
    terminal.emit(terminal.cell(_sum(found, shown)))
    for run in shown:
        if run.why:
            terminal.note(f"note: {run.path}: {run.why}")


def _table(runs: Sequence[Stored]) -> Any:
    table = terminal.table(
        ["run", "started", "target", "battery", "state", "findings", "size"], right=["size"]
    )
    for run in runs:
        texts = (
            str(run.path),
            runs_show.started(run),
            run.target,
            ", ".join(run.batteries),
            run.state,
            findings_text(run),
            units.readable_size(run.bytes),
        )
        style = STYLES.get(run.state, "yellow")
        cells = [terminal.cell(text) for text in texts]
        cells[4] = terminal.cell(run.state, style)
        table.add_row(*cells)
    return table


def findings_text(run: Stored) -> str:
    """The few findings that say most, short enough for a line."""
    from flashtwin.cli.findings import plain

    names = [one.names[2] if one.is_cell else one.short for one in run.key_findings()]
    told = zip(names, run.key_findings(), strict=True)
    return ", ".join(f"{name} {plain(one)}" for name, one in told)


def _sum(found: Sequence[Stored], shown: Sequence[Stored]) -> str:
    from flashtwin.runs.listing import total_bytes

    runs = sum(run.is_run for run in found)
    said = f"{runs_show.counted(runs)}, {units.readable_size(total_bytes(found))}"
    if other := len(found) - runs:
        said += f"; {other} {'folder' if other == 1 else 'folders'} that cannot be read as a run"
    return said + (f"; {len(shown)} shown" if len(shown) < len(found) else "")


runs_show.add_to(command)
runs_prune.add_to(command)
