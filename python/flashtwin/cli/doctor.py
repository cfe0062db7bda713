"""`flashtwin doctor`: what this machine and this user may do, and the command for the rest."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import options, terminal
from flashtwin.drives.device import doctor
from flashtwin.drives.device.facts import is_device
from flashtwin.errors import DONE, MISS, USAGE, FlashtwinError
from flashtwin.model.document import Document


class Machine(Document, frozen=True):
    """flashtwin doctor [DEVICE] --json"""

    checks: list[doctor.Check]


@click.command(
    "doctor", epilog=options.examples("flashtwin doctor", "flashtwin doctor /dev/nvme0n1")
)
@click.argument("device", type=options.FilePath(), metavar="[DEVICE]", required=False)
@options.as_json
def command(device: Path | None, as_json: bool) -> int:
    """What this machine and this user may do with drives, and how to get the rest.

    Beside what is lacking stands the command that brings it. Nothing is installed or changed. Exit
    code 1 where something is lacking.
    """
    checks = [*doctor.of_machine()]
    if device is not None:
        if not is_device(device):
            raise FlashtwinError(
                f"{device} is no block device",
                hint="lsblk lists those of this machine",
                exit_code=USAGE,
            )
        checks += doctor.of_device(device)
    if as_json:
        terminal.print_json(Machine(checks=checks))
    for row in checks if not as_json else ():
        terminal.say(f"{'ok ' if row.fine else '-- '} {row.name:<10} {row.text}")
        if row.command is not None:
            terminal.say(f"               {row.command}")
    return DONE if all(row.fine for row in checks) else MISS
