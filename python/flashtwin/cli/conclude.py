"""`flashtwin conclude`: a stored run's findings again, with today's analysis."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import completions, findings, options, terminal
from flashtwin.model.document import Document
from flashtwin.model.finding import FindingRow
from flashtwin.runner.conclude import reconclude
from flashtwin.runs import listing
from flashtwin.runs.rundir import Run


class ChangedFinding(Document, frozen=True):
    """A finding before and now; none where there is none."""

    id: str
    before: FindingRow | None
    now: FindingRow | None


class Concluded(Document, frozen=True):
    """flashtwin conclude --json"""

    run: str
    changes: list[ChangedFinding]
    findings: list[FindingRow]
    unreadable: str | None
    written: bool


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
            ChangedFinding(
                id=row.id,
                before=None if row.before is None else row.before.row(),
                now=None if row.now is None else row.now.row(),
            )
            for row in outcome.changes
        ]
        terminal.print_json(
            Concluded(
                run=str(outcome.path),
                changes=changes,
                findings=[row.row() for row in outcome.findings],
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
