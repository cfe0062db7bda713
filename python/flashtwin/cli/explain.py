"""`flashtwin explain`: what a finding means and how it is found."""

from __future__ import annotations

import click

from flashtwin.cli import options, terminal


@click.command(
    "explain",
    short_help="What a finding means and how it is found.",
    epilog=options.examples(
        "flashtwin explain fill.cache_size",
        "flashtwin explain crystaldiskmark.write",
        "flashtwin explain",
    ),
)
@click.argument("finding", required=False)
@options.as_json
def command(finding: str | None, as_json: bool) -> None:
    """Say what FINDING means and how it is found; without one, list them."""
    from flashtwin.batteries.base.registry import explain, meanings

    if finding is None:
        rows = meanings()
        if as_json:
            terminal.print_json({"findings": [row.to_json() for row in rows]})
            return
        table = terminal.table(["finding", "what it is"])
        for row in rows:
            table.add_row(terminal.cell(row.id), terminal.cell(row.title))
        terminal.emit(table)
        return
    meaning = explain(finding)
    if as_json:
        terminal.print_json(meaning.to_json())
        return
    sections = (("", meaning.means), ("How it is found", meaning.found), ("Mind", meaning.mind))
    terminal.emit(terminal.cell(f"{meaning.title} ({meaning.id})", "bold"))
    for title, text in sections:
        if text:
            body = " ".join(text.split())
            terminal.emit(terminal.cell(f"\n{title + ': ' if title else ''}{body}"))
