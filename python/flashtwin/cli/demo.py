"""`flashtwin demo`: what flashtwin does, on two simulated drives that come with it."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from functools import partial
from pathlib import Path

import click

from flashtwin import report
from flashtwin.cli import options, progress, terminal, test
from flashtwin.report import summary
from flashtwin.runner import request
from flashtwin.runner.request import Request

DRIVES = ("bx500-240", "bx500-240-nocache")
BATTERIES = "fill:patterns=128k-q32,passes=1,crystaldiskmark"
THEN = (
    "flashtwin test PATH --size 8GB --battery fill measures a drive of yours, "
    "flashtwin explain cache_size says how"
)


@click.command(
    "demo", epilog=options.examples("flashtwin demo", "flashtwin demo --open --out first-look")
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@options.out("The run directory; by default ./flashtwin-runs/<time>-<target>.")
@options.quiet
def command(opens: bool, out: Path | None, quiet: bool) -> None:
    """Fill a simulated Crucial BX500 with its SLC cache on and off, and say in five lines what that
    shows. Where the current directory cannot be written, the run goes to a temporary one.

    Nothing is written to a drive of this machine but the run directory.
    """
    if out is None and not os.access(".", os.W_OK):
        out = Path(tempfile.mkdtemp(prefix="flashtwin-")) / "demo"
    asked_for = Request(targets=DRIVES, batteries=BATTERIES, out=out, kept=False, say=test.silent)
    outcome = request.test(asked_for, partial(progress.observers, quiet))
    page = report.build(outcome.runs, outcome.where / "report.html", within=outcome.where)
    for line in summary.lines(outcome.runs, then=terminal.typed(THEN), page=page.resolve()):
        terminal.emit(terminal.cell(line))
    if opens and not webbrowser.open(page.resolve().as_uri()):
        terminal.note("no browser could be started: open the page by its path", head="note:")
