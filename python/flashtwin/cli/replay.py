"""`flashtwin replay`: what a served drive was asked is asked again, up to a power cut."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashtwin.cli import options, terminal
from flashtwin.model.lazy import Lazy

if TYPE_CHECKING:
    from flashtwin.drives import served_log
    from flashtwin.drives.served_log import Replayed
else:
    served_log = Lazy("flashtwin.drives.served_log")


@click.command(
    "replay",
    epilog=options.examples(
        "flashtwin replay crash.log",
        "flashtwin replay crash.log --cut 7 --image after-7.img",
    ),
)
@click.argument("log", type=options.FilePath())
@click.option(
    "--cut",
    type=options.Integer(1),
    metavar="N",
    help="End right after the N-th power cut; by default at the log's end.",
)
@click.option(
    "--image",
    type=options.FilePath(),
    metavar="FILE",
    help="Write what the drive holds then, byte for byte, into a sparse file.",
)
@options.as_json
def command(log: Path, cut: int | None, image: Path | None, as_json: bool) -> None:
    """Ask a drive again for all that a LOG of flashtwin serve --log-data tells of.

    The drive is made as the log's was and asked the same at the same instants of its own time, so
    that it holds the same bytes after each power cut. Where the log ends because its server was
    killed, a power cut follows.
    """
    outcome = served_log.replay(log, cut, image, lambda seconds: True)
    if as_json:
        terminal.print_json(outcome)
        return
    for line in _lines(outcome):
        terminal.say(line)
    if image is not None:
        assert outcome.held_bytes is not None, "an image was written"
        terminal.say(f"{image}: {outcome.held_bytes / 1e6:.1f} MB of data, the rest are holes")


def _lines(outcome: Replayed) -> list[str]:
    cuts = outcome.cuts
    lines = [
        f"{outcome.reads} reads, {outcome.writes} writes, {outcome.trims} trims and"
        f" {outcome.flushes} flushes in {outcome.clock_s:.6g} s of the drive's time, of which"
        f" {outcome.answered} were answered",
        f"{cuts} power cut{'' if cuts == 1 else 's'}; the last broke off {outcome.broken_off}"
        " requests"
        if cuts
        else "no power cut",
    ]
    if not outcome.comes_back:
        lines.append("the drive does not come back")
    return lines
