"""`flashtwin report`: the page of runs that are on disk, made anew."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin import outputs, report
from flashtwin.cli import completions, options, terminal
from flashtwin.model.document import Document
from flashtwin.model.lazy import named
from flashtwin.runs import fitted, listing


class Report(Document, frozen=True):
    """flashtwin report --json"""

    report: str
    runs: list[str]


@click.command(
    "report",
    epilog=options.examples(
        "flashtwin report 20260115-101500-bx500-240",
        "flashtwin report run-a run-b --out both.html",
        "flashtwin report run-a --card card.svg",
    ),
)
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    metavar="RUN...",
    type=options.FilePath(),
    shell_complete=completions.runs,
)
@options.out("The file to write; by default report.html in the directory of the runs.")
@click.option(
    "--card",
    type=options.FilePath(dir_okay=False),
    metavar="FILE.svg",
    help="Write a card to embed as well: one picture and three sentences.",
)
@options.as_json
def command(runs: tuple[Path, ...], out: Path | None, card: Path | None, as_json: bool) -> None:
    """Make the report of one or more RUNs: run directories, or names in ./flashtwin-runs.

    If a twin was fitted to a run, its curve is drawn beside the run's.
    """
    stored = fitted.with_twins(listing.named(runs))
    default = listing.find(runs[0]) / "report.html" if len(runs) == 1 else Path("report.html")
    within = default.parent if out is None else None
    if card is not None:
        outputs.write(card, named("flashtwin.report.card:svg")(stored))
    page = report.build(stored, out or default, within=within)
    if as_json:
        paths = [str(run.path) for run in stored]
        terminal.print_json(Report(report=str(page), runs=paths))
    else:
        terminal.say(str(page))
