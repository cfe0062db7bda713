"""`flashtwin infer`: what a fill that somebody else measured tells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashtwin.cli import options, terminal
from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    from flashtwin.study.infer.infer import Inferred

FILE = options.FilePath(dir_okay=False)
HISTORIES = ("fresh", "preconditioned")


@click.command(
    "infer",
    epilog=options.examples(
        "flashtwin infer fill_bw.1.log",
        "flashtwin infer job_bw.1.log job_bw.2.log",
        "flashtwin infer monday.csv tuesday.csv --join --history used:200GB",
        "flashtwin infer again.csv --history preconditioned --first erased.csv",
    ),
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--join", is_flag=True, help="The files are runs one after another, not jobs at once."
)
@click.option(
    "--doubled", is_flag=True, help="Sum rows of one time stamp instead of refusing them."
)
@click.option(
    "--history",
    default="fresh",
    metavar="STATE",
    help="The drive before: fresh, preconditioned, or used:SIZE; fresh by default.",
)
@click.option(
    "--first",
    type=FILE,
    metavar="FILE",
    help="With --history preconditioned: a fill of the erased drive before.",
)
@options.as_json
def command(
    files: tuple[Path, ...],
    join: bool,
    doubled: bool,
    history: str,
    first: Path | None,
    as_json: bool,
) -> None:
    """Read a sequential fill from FILE: is there a cache, how large, how fast is each plateau.

    FILE is a bandwidth log of fio, what fio prints as JSON with --status-interval=1, or CSV whose
    header names units: time or bytes, and a rate; temperature_C where there is one. Logs of several
    files are jobs that ran at once and are summed.
    """
    from flashtwin.study.infer.infer import infer
    from flashtwin.study.infer.read import joined, read, summed

    _check(history, first)
    parts = [read(path, doubled=doubled) for path in files]
    samples = joined(parts) if join else summed(parts)
    before = None if first is None else read(first, doubled=doubled)
    answer = infer(samples, history, before)
    if as_json:
        terminal.print_json(answer.to_json())
        return
    _show(answer)


def _check(history: str, first: Path | None) -> None:
    from flashtwin.model.units import parse_size

    if first is not None and history != "preconditioned":
        raise FlashtwinError(
            f"--first says what ended a plateau of a full drive, not of one that was {history}",
            hint="add --history preconditioned",
            exit_code=USAGE,
        )
    if history in HISTORIES:
        return
    word, _, size = history.partition(":")
    try:
        if word != "used":
            raise ValueError(history)
        parse_size(size)
    except ValueError as error:
        raise FlashtwinError(
            f"--history {history} is not known",
            hint="write fresh, preconditioned, or used:SIZE, for example used:200GB",
            exit_code=USAGE,
        ) from error


def _show(answer: Inferred) -> None:
    from flashtwin.cli import findings

    terminal.say(answer.sentence)
    if answer.findings:
        terminal.emit(*findings.tables({"file": answer.findings}))
    terminal.note(f"columns: {answer.columns}")
    if answer.stalls:
        terminal.note(f"{answer.stalls} stalls left out")
    terminal.notes(list(answer.notes), quiet=False)
