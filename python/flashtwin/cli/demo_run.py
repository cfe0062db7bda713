"""`flashtwin demo`: what flashtwin does, on two simulated drives that come with it."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from functools import partial
from pathlib import Path

from flashtwin import report
from flashtwin.cli import progress, terminal, test_run
from flashtwin.report import summary
from flashtwin.runner import request
from flashtwin.runner.request import Request

DRIVES = ("bx500-240", "bx500-240-nocache")
BATTERIES = "fill:patterns=128k-q32,passes=1,crystaldiskmark"
THEN = "flashtwin test PATH --size 8GB --battery fill measures a drive of yours"


def run(opens: bool, out: Path | None, quiet: bool) -> None:
    if out is None and not os.access(".", os.W_OK):
        out = Path(tempfile.mkdtemp(prefix="flashtwin-")) / "demo"
    asked_for = Request(
        targets=DRIVES, batteries=BATTERIES, out=out, kept=False, say=test_run.silent
    )
    outcome = request.test(asked_for, partial(progress.observers, quiet))
    page = report.build(outcome.runs, outcome.where / "report.html", within=outcome.where)
    for line in summary.lines(outcome.runs, then=terminal.typed(THEN), page=page.resolve()):
        terminal.emit(terminal.cell(line))
    if opens and not webbrowser.open(page.resolve().as_uri()):
        terminal.note("no browser could be started: open the page by its path", head="note:")
