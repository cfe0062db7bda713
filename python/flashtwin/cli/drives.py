"""`flashtwin drives`: the catalogue."""

from __future__ import annotations

import click

from flashtwin.cli import options, terminal
from flashtwin.model import units


@click.command(
    "drives",
    short_help="List the drives of the catalogue.",
    epilog=options.examples("flashtwin drives", "flashtwin drives --json"),
)
@options.as_json
def command(as_json: bool) -> None:
    """List the drives of the catalogue."""
    from flashtwin.catalogue.summary import summaries

    rows = summaries()
    if as_json:
        terminal.print_json({"drives": [row.to_json() for row in rows]})
        return
    table = terminal.table(["id", "name", "capacity", "cell", "cache"], right=["capacity"])
    for row in rows:
        size = units.readable_size(row.capacity_bytes)
        texts = (row.id, row.name, size, row.cell, row.cache)
        table.add_row(*(terminal.cell(text) for text in texts))
    terminal.emit(table)
