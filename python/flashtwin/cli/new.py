"""`flashtwin new`: a spec from what a label says."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from flashtwin import outputs
from flashtwin.cli import options, terminal
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model import units

INTERFACES = click.Choice(["sata", "pcie3", "pcie4", "pcie5"])
CELLS = click.Choice(["slc", "mlc", "tlc", "qlc"])
DRAM = click.Choice(["yes", "none", "hmb"])
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")


@click.command(
    "new",
    short_help="Write a spec from what a drive's label says.",
    epilog=options.examples(
        'flashtwin new mx500-1tb --capacity "1 TB" --interface sata --cell tlc --dram yes',
        'flashtwin new p3-2tb --capacity "2 TB" --interface pcie3 --cell qlc --dram hmb --dies 16',
        "flashtwin new mine",
    ),
)
@click.argument("drive_id", metavar="ID")
@click.option("--name", help="Name for people; by default the id.")
@click.option("--capacity", type=options.SIZE, metavar="SIZE", help='As sold: "240 GB", "1 TB".')
@click.option("--interface", type=INTERFACES)
@click.option("--cell", type=CELLS)
@click.option("--dram", type=DRAM, help="hmb: host memory buffer.")
@click.option("--dies", type=options.Whole(0), help="Dies of flash, if known.")
@click.option(
    "--slc-cache", type=options.SIZE, metavar="SIZE", help='Its size, if known; "0" for none.'
)
@options.out("The file to write; by default ./ID.toml.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def command(
    drive_id: str,
    name: str | None,
    capacity: int | None,
    interface: str | None,
    cell: str | None,
    dram: str | None,
    dies: int | None,
    slc_cache: int | None,
    out: Path | None,
    force: bool,
) -> None:
    """Write a spec for the drive ID from what its label says; all else gets usual values.

    On a terminal what is missing is asked for. The values from the label have the origin
    datasheet, all others are marked prior, to be replaced by what is known.
    """
    from flashtwin.catalogue.label import Label, spec_text
    from flashtwin.catalogue.loader import BadSpecError, load

    if not _ID.fullmatch(drive_id):
        raise click.BadParameter(
            "lower-case letters, digits, -, _ and . make an id", param_hint="ID"
        )
    label = Label(
        id=drive_id,
        name=name or drive_id,
        capacity_bytes=_asked("capacity", capacity, "240 GB", options.SIZE),
        interface=_asked("interface", interface, "sata", INTERFACES),
        cell=_asked("cell", cell, "tlc", CELLS),
        dram=_asked("dram", dram, "yes", DRAM),
        dies=dies,
        cache_bytes=slc_cache,
    )
    path = out or Path(f"{drive_id}.toml")
    text = spec_text(label)
    if path.suffix != ".toml":
        raise FlashtwinError(
            f"{path} does not end in .toml", hint="specs are TOML files", exit_code=USAGE
        )
    if path.exists() and not force:
        raise FlashtwinError(
            f"{path} is there already", hint="another --out, or --force", exit_code=USAGE
        )
    outputs.write(path, text)
    try:
        spec = load(str(path))
    except BadSpecError:
        terminal.note(f"wrote {path}, which is not a drive yet:")
        raise
    terminal.say(
        f"{path}: {spec.name}, {units.readable_size(spec.capacity_bytes)}, spec {spec.hash[:12]}"
    )
    terminal.note(f"next: flashtwin show {path}, flashtwin test {path} --battery fill")


def _asked(what: str, given: Any, usual: str, kind: click.ParamType[Any]) -> Any:
    """An option, asked for on a terminal; elsewhere it has to be there."""
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise click.UsageError(f"--{what} is missing, and there is no terminal to ask on")
    return click.prompt(what, default=usual, type=kind, err=True)
