"""`flashtwin show`: every value of a drive, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashtwin.cli import options, terminal

if TYPE_CHECKING:
    from rich.console import RenderableType


@click.command(
    "show",
    short_help="Every value of a drive, with origin and source.",
    epilog=options.examples(
        "flashtwin show bx500-240",
        "flashtwin show bx500-240 --firmware slc-off",
        "flashtwin show ./mine.toml --json",
    ),
)
@click.argument("drive")
@options.firmware
@options.sets
@options.scale
@options.as_json
def command(
    drive: str,
    firmware: tuple[str, ...],
    sets: tuple[str, ...],
    scale: str | None,
    as_json: bool,
) -> None:
    """Show every value of DRIVE with its origin and source.

    DRIVE is an id of the catalogue or a spec file that ends in .toml.
    """
    from flashtwin.catalogue.loader import load
    from flashtwin.catalogue.summary import describe, grouped

    spec = load(drive, firmware=firmware, sets=sets, scale=scale)
    if as_json:
        terminal.print_json(describe(spec))
        return
    head = f"{spec.name} ({spec.id}), {terminal.size(spec.capacity_bytes)}, spec {spec.hash[:12]}"
    parts: list[RenderableType] = [terminal.cell(head, "bold")]
    if spec.firmware_profiles:
        parts.append(terminal.cell(f"firmware profiles: {', '.join(spec.firmware_profiles)}"))
    for title, values in grouped(spec.values()).items():
        table = terminal.table(["key", "value", "origin", "source"], title=f"\n[{title}]")
        for key, value in values:
            texts = (key, value["value"], value["origin"], value["source"])
            table.add_row(*(terminal.cell(text) for text in texts))
        parts.append(table)
    terminal.emit(*parts)
