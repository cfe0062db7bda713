"""`flashtwin icf`: Iometer's configuration files as a battery, and the other way."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import completions, options, terminal

SUFFIX = ".icf"
# An Iometer configuration has a few kilobytes.
MOST_BYTES = 4 << 20


@click.command(
    "icf",
    epilog=options.examples(
        "flashtwin icf sweep.icf",
        "flashtwin icf --battery iometer:preset=545s --out sweep.icf",
    ),
)
@click.argument("file", required=False, type=options.FilePath())
@click.option(
    "--battery",
    metavar="NAME[:KEY=VALUE,...]",
    shell_complete=completions.batteries,
    help="Write a file for these loads, instead of reading one.",
)
@options.out("The file to write, with --battery.")
@options.as_json
@click.pass_context
def command(
    context: click.Context,
    file: Path | None,
    battery: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Say what FILE, an Iometer configuration (.icf), asks for: what to type after --battery.

    With --battery the other way: a file that asks Iometer for the same loads.
    """
    if (file is None) == (battery is None):
        raise click.UsageError("give a FILE to read, or --battery to write one", context)
    if battery is not None:
        if out is None:
            raise click.UsageError("--battery asks for the file to write: add --out FILE", context)
        _write(battery, out, as_json)
        return
    if out is not None:
        raise click.UsageError("--out belongs to --battery", context)
    assert file is not None, "one of both is there"
    _read(file, as_json)


def _read(file: Path, as_json: bool) -> None:
    from flashtwin.batteries.base import registry
    from flashtwin.inputs import read_regular

    data = read_regular(file, most_bytes=MOST_BYTES)
    _, configuration = registry.configured_by(SUFFIX)
    setup = configuration.parse(data.decode("utf-8", errors="replace"), file.name)
    registry.parse(setup.battery)
    if as_json:
        terminal.print_json({"battery": setup.battery, "notes": setup.notes, "written": None})
        return
    terminal.notes(setup.notes, quiet=False)
    terminal.say(f"--battery {setup.battery}")


def _write(battery: str, out: Path, as_json: bool) -> None:
    from flashtwin.batteries.base import registry
    from flashtwin.errors import USAGE, FlashtwinError
    from flashtwin.outputs import write

    follower, configuration = registry.configured_by(SUFFIX)
    (first, *more) = registry.parse(battery)
    if first.name != follower.name or more:
        raise FlashtwinError(
            f"{battery} is not the battery {follower.name} alone",
            hint=f"write --battery {follower.name}; flashtwin batteries {follower.name} shows what"
            " may be set",
            exit_code=USAGE,
        )
    write(out, configuration.text_of(first.parameters))
    if as_json:
        terminal.print_json({"battery": battery, "notes": [], "written": str(out)})
        return
    terminal.say(str(out))
