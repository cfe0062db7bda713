"""`flashtwin submit`: a measured run as a folder for a catalogue."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import completions, options, terminal
from flashtwin.model.document import Document
from flashtwin.runs import listing
from flashtwin.runs.rundir import Run
from flashtwin.runs.submission import submit as making


class Submitted(Document, frozen=True):
    """flashtwin submit --json"""

    run: str
    folder: str
    files: list[str]


@click.command(
    "submit",
    epilog=options.examples(
        'flashtwin submit 20260115-101500-mx500 --drive "Crucial MX500 1 TB"',
        "flashtwin submit 20260115-101500-bx500-240 --twin --out bx500-240-simulated",
    ),
)
@click.argument("run", metavar="RUN", shell_complete=completions.runs)
@click.option(
    "-o",
    "--out",
    type=options.FilePath(),
    metavar="FOLDER",
    help="The folder to make; by default one here, named by drive and run.",
)
@click.option("--drive", metavar="NAME", help="The drive as it is sold, where the run has no name.")
@click.option("--twin", is_flag=True, help="Also a simulated run; the folder says SIMULATED.")
@options.as_json
def command(run: str, out: Path | None, drive: str | None, twin: bool, as_json: bool) -> None:
    """Make a folder of the measured RUN that a catalogue can take in by a pull request.

    It has the findings, the conditions under which they hold, the steps, the series, the drive as
    far as the run knows it and a SHA-256 of every file; of the machine what a speed depends on. No
    serial number, no name of a machine or a user and no path goes in. A run that is not finished
    or was cut short is refused. flashtwin check --catalogue checks such a folder.
    """
    stored = Run(listing.find(run))
    place = making.submit(stored, out, drive=drive, twin=twin)
    if as_json:
        files = sorted(path.name for path in place.iterdir())
        folder = str(place)
        terminal.print_json(Submitted(run=str(stored.path), folder=folder, files=files))
        return
    terminal.say(str(place))
    terminal.note(f"next: flashtwin check --catalogue {place}")
