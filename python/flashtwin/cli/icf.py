"""`flashtwin icf`: Iometer's configuration files as a battery, and the other way."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.batteries.base import registry
from flashtwin.cli import completions, options, terminal
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.inputs import encoding_title, read_regular, wide_encoding
from flashtwin.model.document import Document
from flashtwin.outputs import write

SUFFIX = ".icf"
# An Iometer configuration has a few kilobytes.
MOST_BYTES = 4 << 20
# Byte order marks, and the V of Version without one.


class Icf(Document, frozen=True):
    """flashtwin icf --json"""

    battery: str | None
    jobs: str | None
    notes: list[str]
    written: str | None


@click.command(
    "icf",
    epilog=options.examples(
        "flashtwin icf sweep.icf",
        "flashtwin icf servers.icf --target D:",
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
@click.option(
    "--target",
    "targets",
    metavar="NAME",
    multiple=True,
    help="The disk of FILE that the drive stands for; may be repeated.",
)
@options.out("The file to write, with --battery.")
@options.as_json
@click.pass_context
def command(
    context: click.Context,
    file: Path | None,
    battery: str | None,
    targets: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> None:
    """Say what FILE, an Iometer configuration (.icf), asks for: what to type after --battery.

    What the battery cannot say, as workers that run at once or sizes with shares, is printed as a
    job file for flashtwin fio. With --battery the other way: a file that asks Iometer for the same
    loads.
    """
    if (file is None) == (battery is None):
        raise click.UsageError("give a FILE to read, or --battery to write one", context)
    if battery is not None:
        if targets:
            raise click.UsageError("--target belongs to a FILE that is read", context)
        if out is None:
            raise click.UsageError("--battery asks for the file to write: add --out FILE", context)
        _write(battery, out, as_json)
        return
    if out is not None:
        raise click.UsageError("--out belongs to --battery", context)
    assert file is not None, "one of both is there"
    _read(file, targets, as_json)


def _read(file: Path, targets: tuple[str, ...], as_json: bool) -> None:
    data = read_regular(file, most_bytes=MOST_BYTES)
    _, configuration = registry.configured_by(SUFFIX)
    setup = configuration.parse(_text(data, file.name), file.name, targets)
    notes = list(setup.notes)
    if setup.battery is not None:
        registry.parse(setup.battery)
    else:
        notes.append("no battery says this; it is a job file for flashtwin fio JOBFILE --on DRIVE")
    if as_json:
        terminal.print_json(Icf(setup.battery, setup.jobs, notes=notes, written=None))
        return
    terminal.notes(notes, quiet=False)
    terminal.say(f"--battery {setup.battery}" if setup.battery else (setup.jobs or "").rstrip())


def _text(data: bytes, name: str) -> str:
    if encoding := wide_encoding(data[:4096]):
        raise FlashtwinError(
            f"{name} is {encoding_title(encoding)}, and neither ANSI nor UTF-8",
            hint="save it as ANSI or UTF-8",
            exit_code=USAGE,
        )
    return data.decode("utf-8", errors="replace")


def _write(battery: str, out: Path, as_json: bool) -> None:
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
        terminal.print_json(Icf(battery=battery, jobs=None, notes=[], written=str(out)))
        return
    terminal.say(str(out))
