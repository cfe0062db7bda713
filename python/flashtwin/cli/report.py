"""`flashtwin report`: the page of runs that are on disk, made anew."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import options, terminal


@click.command(
    "report",
    short_help="Make the report of runs anew.",
    epilog=options.examples(
        "flashtwin report flashtwin-runs/20260115-101500-bx500-240",
        "flashtwin report run-a run-b --out both.html",
    ),
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@options.out("The file to write; by default report.html in the directory of the runs.")
@options.as_json
def command(runs: tuple[Path, ...], out: Path | None, as_json: bool) -> None:
    """Make the report of one or more RUNs, directories that flashtwin test wrote."""
    from flashtwin import report
    from flashtwin.results.rundir import find_runs

    found = [run for path in runs for run in find_runs(path)]
    default = runs[0] / "report.html" if len(runs) == 1 else Path("report.html")
    page = report.build(found, out or default)
    if as_json:
        terminal.print_json({"report": str(page), "runs": [str(run.path) for run in found]})
    else:
        click.echo(str(page))
