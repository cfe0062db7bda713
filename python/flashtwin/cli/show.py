"""`flashtwin show`: the values of a drive, and where they come from.

What nobody wrote down has the default of the format, two values in three of a usual drive; these
are counted and shown when asked for, so that what is known of the drive can be seen. JSON has all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from flashtwin.cli import options, terminal
from flashtwin.model import units

if TYPE_CHECKING:
    from rich.console import RenderableType


@click.command(
    "show",
    short_help="The values of a drive, with origin and source.",
    epilog=options.examples(
        "flashtwin show bx500-240",
        "flashtwin show bx500-240 --all",
        "flashtwin show bx500-240 --firmware slc-off",
        "flashtwin show ./mine.toml --json",
    ),
)
@click.argument("drive")
@options.firmware
@options.sets
@options.scale
@click.option("--all", "every", is_flag=True, help="Also the values at the format's default.")
@options.as_json
def command(
    drive: str,
    firmware: tuple[str, ...],
    sets: tuple[str, ...],
    scale: str | None,
    every: bool,
    as_json: bool,
) -> None:
    """Show the values of DRIVE with their origins and sources.

    DRIVE is an id of the catalogue or a spec file that ends in .toml.
    """
    from flashtwin.catalogue.loader import load
    from flashtwin.catalogue.summary import describe, grouped, written

    spec = load(drive, firmware=firmware, sets=sets, scale=scale)
    if as_json:
        terminal.print_json(describe(spec))
        return
    capacity = units.readable_size(spec.capacity_bytes)
    head = f"{spec.name} ({spec.id}), {capacity}, spec {spec.hash[:12]}"
    takes = f"takes {units.readable_size(spec.memory_bytes, 3)} of memory to simulate"
    parts: list[RenderableType] = [terminal.cell(head, "bold"), terminal.cell(takes)]
    if spec.firmware_profiles:
        parts.append(terminal.cell(f"firmware profiles: {', '.join(spec.firmware_profiles)}"))
    values = spec.values()
    shown = values if every else written(values)
    for title, rows in grouped(shown).items():
        table = terminal.table(["key", "value", "origin", "source"], title=f"\n[{title}]")
        for key, value in rows:
            (text,) = units.readable_sizes([value["value"]])
            texts = (key, text, value["origin"], value["source"])
            table.add_row(*(terminal.cell(text) for text in texts))
        parts.append(table)
    if hidden := len(values) - len(shown):
        said = f"{hidden} of {len(values)} values are at the format's default: --all shows them"
        parts.append(terminal.cell(f"\n{said}"))
    terminal.emit(*parts)
