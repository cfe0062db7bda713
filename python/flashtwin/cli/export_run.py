"""`flashtwin export`: a run's numbers for other programs."""

from __future__ import annotations

from pathlib import Path

from flashtwin.cli import documents, terminal
from flashtwin.runs import listing
from flashtwin.runs.export.export import Format, export_all


def run(run: str, form: Format, out: Path | None, as_json: bool) -> None:
    runs = listing.named([run])
    parent = out or Path(f"{listing.find(run).resolve().name}-{form}")
    alone = len(runs) == 1
    places = {parent if alone else parent / stored.path.name: stored for stored in runs}
    exports = export_all(places, form)
    if as_json:
        rows = [
            documents.Exported(
                run=str(places[at].path), directory=str(at), files=[str(file) for file in files]
            )
            for at, files in exports.items()
        ]
        terminal.print_json(documents.Export(format=form, exports=rows))
        return
    for at, files in exports.items():
        terminal.say(f"{at}: {', '.join(file.name for file in files[:8])}", nl=False)
        terminal.say(f" and {len(files) - 8} more" if len(files) > 8 else "")
    for at in places.keys() - exports.keys():
        terminal.note(f"note: {places[at].path} has no step in which jobs ran")
