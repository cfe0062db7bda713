"""`flashtwin export`: a run's numbers for other programs."""

from __future__ import annotations

from pathlib import Path

from flashtwin.cli import terminal
from flashtwin.model.document import Document
from flashtwin.runs import listing
from flashtwin.runs.export.export import Format, export_all


class ExportedRun(Document, frozen=True):
    """A run and the files that were made of it."""

    run: str
    directory: str
    files: list[str]


class Exported(Document, frozen=True):
    """flashtwin export --json"""

    format: Format
    exports: list[ExportedRun]


def run(run: str, form: Format, out: Path | None, as_json: bool) -> None:
    runs = listing.named([run])
    parent = out or Path(f"{listing.find(run).resolve().name}-{form}")
    alone = len(runs) == 1
    places = {parent if alone else parent / stored.path.name: stored for stored in runs}
    exports = export_all(places, form)
    if as_json:
        rows = [
            ExportedRun(str(places[at].path), str(at), files=[str(file) for file in files])
            for at, files in exports.items()
        ]
        terminal.print_json(Exported(format=form, exports=rows))
        return
    for at, files in exports.items():
        terminal.say(f"{at}: {', '.join(file.name for file in files[:8])}", nl=False)
        terminal.say(f" and {len(files) - 8} more" if len(files) > 8 else "")
    for at in places.keys() - exports.keys():
        terminal.note(f"note: {places[at].path} has no step in which jobs ran")
