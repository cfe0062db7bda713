"""`flashtwin diff`: what tells two drives apart."""

from __future__ import annotations

import click

from flashtwin.cli import options, terminal


@click.command(
    "diff",
    short_help="The values in which two drives differ.",
    epilog=options.examples(
        "flashtwin diff bx500-240 bx500-240-nocache",
        "flashtwin diff bx500-240 ./mine.toml --json",
    ),
)
@click.argument("first", metavar="SPEC")
@click.argument("second", metavar="SPEC")
@options.as_json
def command(first: str, second: str, as_json: bool) -> None:
    """Show every value in which two drives differ, and where each comes from.

    A SPEC is an id of the catalogue or a spec file that ends in .toml. Exit code 0 either way.
    """
    from flashtwin.catalogue.loader import load
    from flashtwin.catalogue.summary import differences

    one, other = load(first), load(second)
    found = differences(one, other)
    if as_json:
        terminal.print_json(
            {
                "first": {"spec": first, "hash": one.hash},
                "second": {"spec": second, "hash": other.hash},
                "differences": [difference.to_json() for difference in found],
            }
        )
        return
    if not found:
        terminal.say(f"{first} and {second} are the same drive, spec {one.hash[:12]}")
        return
    table = terminal.table(["key", first, second, "origins"])
    for row in found:
        same = row.first_origin == row.second_origin
        origins = row.first_origin if same else f"{row.first_origin}, {row.second_origin}"
        texts = (row.key, row.first, row.second, origins)
        table.add_row(*(terminal.cell(text) for text in texts))
    terminal.emit(table)
