"""`flashtwin conclude`: a stored run's findings again, with today's analysis."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import completions, documents, findings, options, terminal
from flashtwin.model.finding import Finding
from flashtwin.runner.conclude import reconclude
from flashtwin.runs import listing
from flashtwin.runs.rundir import Run


@click.command(
    "conclude",
    epilog=options.examples(
        "flashtwin conclude before",
        "flashtwin conclude before --write",
    ),
)
@click.argument("run", metavar="RUN", type=options.FilePath(), shell_complete=completions.runs)
@click.option("--write", is_flag=True, help="Store the findings in the run.")
@options.as_json
def command(run: Path, write: bool, as_json: bool) -> None:
    """Conclude again from what RUN measured, and say finding by finding what changed.

    RUN is a run directory or the name of one in ./flashtwin-runs, of this flashtwin or an older
    one, finished or not. Nothing is measured again.
    """
    outcome = reconclude(Run(listing.find(run)), write=write)
    if as_json:
        changes = [
            documents.Change(id=row.id, before=_finding(row.before), now=_finding(row.now))
            for row in outcome.changes
        ]
        terminal.print_json(
            documents.Conclude(
                run=str(outcome.path),
                changes=changes,
                findings=[documents.finding(row) for row in outcome.findings],
                unreadable=outcome.unreadable,
                written=outcome.written,
            )
        )
    if outcome.unreadable:
        terminal.note(
            "note: the stored findings are not those of this run, or are damaged, and all count as"
            f" new: {outcome.unreadable}"
        )
    if as_json:
        return
    rows = [
        (change.id, *("not there" if side is None else findings.value(side) for side in sides))
        for change in outcome.changes
        for sides in [(change.before, change.now)]
    ]
    if rows:
        columns = ["finding", "before", "now"]
        terminal.emit(terminal.table(columns, rows, right=columns[1:]))
    total = len(outcome.findings)
    changed = len(outcome.changes)
    summary = f"{changed} of {total} findings changed"
    if not changed:
        summary = f"nothing changed: {total} findings"
    terminal.emit(terminal.cell(summary))
    if write:
        terminal.say(f"findings: {outcome.path / 'findings.json'}")


def _finding(row: Finding | None) -> documents.Finding | None:
    return None if row is None else documents.finding(row)
