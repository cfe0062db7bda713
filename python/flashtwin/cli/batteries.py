"""`flashtwin batteries`: the tests that there are, and what can be set."""

from __future__ import annotations

import click

from flashtwin.cli import options, terminal


@click.command(
    "batteries",
    short_help="List the batteries, or the parameters of one.",
    epilog=options.examples("flashtwin batteries", "flashtwin batteries fill"),
)
@click.argument("name", required=False)
@options.as_json
def command(name: str | None, as_json: bool) -> None:
    """List the batteries, or the parameters of one."""
    if name is None:
        _all(as_json)
    else:
        _one(name, as_json)


def _all(as_json: bool) -> None:
    from flashtwin.batteries.base import registry

    batteries, wrong = registry.available()
    for error in wrong:
        terminal.note(error.message, head="note:", colour="yellow")
        terminal.note(str(error.hint), head="hint:", colour="cyan")
    if as_json:
        rows = [
            {
                "name": battery.name,
                "title": battery.title,
                "trust": battery.trust,
                "standard": battery.name in registry.standard(),
            }
            for battery in batteries
        ]
        terminal.print_json({"batteries": rows})
        return
    table = terminal.table(["name", "what it does", "original known from"])
    for battery in batteries:
        mark = " *" if battery.name in registry.standard() else ""
        texts = (f"{battery.name}{mark}", battery.title, TRUST[battery.trust])
        table.add_row(*(terminal.cell(text) for text in texts))
    terminal.emit(table, terminal.cell("* standard: runs where no battery is named"))


def _one(name: str, as_json: bool) -> None:
    from dataclasses import asdict

    from flashtwin.batteries.base import registry

    battery = registry.get(name)
    rows = [asdict(row) for row in battery.rows()]
    if as_json:
        head = {"name": battery.name, "title": battery.title, "trust": battery.trust}
        terminal.print_json({**head, "parameters": rows})
        return
    table = terminal.table(["parameter", "default", "type", "meaning"])
    for row in rows:
        texts = (row["name"], row["default"], row["type"], row["meaning"])
        table.add_row(*(terminal.cell(text) for text in texts))
    use = f"--battery {battery.name}:{rows[0]['name']}={rows[0]['default']}" if rows else ""
    terminal.emit(
        terminal.cell(f"{battery.name}: {battery.title}", "bold"),
        terminal.cell(f"the original is known from {TRUST[battery.trust]}"),
        table,
        terminal.cell(f"set with {use}" if use else "nothing can be set"),
    )


TRUST = {"S": "its source", "P": "public descriptions", "M": "general knowledge"}
