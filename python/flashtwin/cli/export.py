"""`flashtwin export`: a run's numbers for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from flashtwin.cli import completions, options, terminal
from flashtwin.runs import listing
from flashtwin.runs.export.export import export_all

# As in flashtwin.runs.export.export, which is not imported to print a help page.
FORMATS = ("csv", "parquet", "fio-json")


@click.command(
    "export",
    epilog=options.examples(
        "flashtwin export 20260115-101500-bx500-240 --format csv",
        "flashtwin export 20260115-101500-bx500-240 --format fio-json --out json",
    ),
)
@click.argument("run", metavar="RUN", shell_complete=completions.runs)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    required=True,
    help="Tables as csv or parquet, or a file a step as fio --output-format=json+ has it.",
)
@options.out("The directory to make; by default ./<name of the run>-<format>.")
@options.as_json
def command(run: str, form: str, out: Path | None, as_json: bool) -> None:
    """Write the series, findings, histograms and steps of RUN into a directory.

    RUN is a run directory, or the name of one in ./flashtwin-runs; of a folder of several runs each
    gets a directory of its own.
    """
    runs = listing.named([run])
    parent = out or Path(f"{listing.find(run).resolve().name}-{form}")
    alone = len(runs) == 1
    places = {parent if alone else parent / stored.path.name: stored for stored in runs}
    exports = export_all(places, form)  # type: ignore[arg-type]
    if as_json:
        rows = [
            {
                "run": str(places[at].path),
                "directory": str(at),
                "files": [str(file) for file in files],
            }
            for at, files in exports.items()
        ]
        terminal.print_json({"format": form, "exports": rows})
        return
    for at, files in exports.items():
        terminal.say(f"{at}: {', '.join(file.name for file in files[:8])}", nl=False)
        terminal.say(f" and {len(files) - 8} more" if len(files) > 8 else "")
    for at in places.keys() - exports.keys():
        terminal.note(f"note: {places[at].path} has no step in which jobs ran")
