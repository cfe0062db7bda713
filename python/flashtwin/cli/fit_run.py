"""The work of `flashtwin fit`: to a run, whose twin is measured too, or to published figures."""

from __future__ import annotations

from pathlib import Path

from flashtwin import outputs
from flashtwin.cli import options, progress, terminal
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.runs import listing
from flashtwin.runs.rundir import Run
from flashtwin.study.fit import beside, settled_twin
from flashtwin.study.fit import fit as fitting
from flashtwin.study.fit.fit import Twin
from flashtwin.study.fit.intervals import TELLING
from flashtwin.study.fit.published import find as find_figures
from flashtwin.study.fit.published import read as read_figures
from flashtwin.study.fit.settled_twin import SettledTwin

# Simulated drives for each published figure, about as many as a search takes.
SEARCHED = 15


def run(
    run: Path | None,
    published: str | None,
    out: Path | None,
    simulations: int | None,
    seed: int,
    study: str | None,
    measured: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit a twin to what a run measured, and measure it as well; or to published figures."""
    if (run is None) == (published is None):
        raise FlashtwinError(
            "fit needs either a run or --published",
            hint="flashtwin fit RUN, or flashtwin fit --published FILE",
            exit_code=USAGE,
        )
    if published is not None:
        if study is not None or simulations is not None:
            raise FlashtwinError(
                "--study and --simulations are for fits of a run",
                hint="leave them out with --published",
                exit_code=USAGE,
            )
        table = read_figures(find_figures(published))
        path = _path(out, table.label.id, force)
        count = len(table.fitted) * SEARCHED
        with progress.counted("fit", count, quiet) as report:
            settled = settled_twin.fit_published(
                table, seed=seed, tell=lambda done, label: report(min(done, count), label)
            )
        outputs.write(path, settled.toml)
        if as_json:
            terminal.print_json(settled.document(path))
        else:
            _show_settled(settled, path, quiet)
        return
    assert run is not None, "one of both is given"
    stored = Run(listing.find(run))
    path = _path(out, stored.target["name"], force)
    if measured:
        beside.check(stored)
    count = simulations or fitting.SIMULATIONS
    with progress.counted("fit", count, quiet, even=False) as report:
        twin = fitting.fit(
            stored,
            simulations=count,
            seed=seed,
            study=study,
            tell=lambda done, label: report(min(done, count), label),
            foretell=lambda all_s: report(0, "fill", all_s),
        )
    try:
        twin_run = beside.measure(stored, twin) if measured else None
    finally:
        # Written last: where this was killed before, the same command is not refused by its spec.
        twin.write(path)
    if as_json:
        terminal.print_json(twin.document(path, twin_run))
        return
    _show(twin, path, quiet)
    if twin_run is None:
        terminal.note(f"next: flashtwin test {path} --battery fill, flashtwin compare RUN RUN")
    else:
        terminal.say(f"{twin_run}: the twin, measured by the same fill")
        terminal.note(f"next: flashtwin report {run}, flashtwin compare {run}: both curves")


def _path(out: Path | None, name: str, force: bool) -> Path:
    """The spec to write; refused where it may not be written."""
    path = out or Path(f"{name}-fitted.toml")
    options.check_new_spec(path, force)
    outputs.check(path)
    return path


def _show_settled(twin: SettledTwin, path: Path, quiet: bool) -> None:
    table = terminal.table(
        ["load", "published", "twin", "off", ""], right=["published", "twin", "off"]
    )
    for row in twin.rows:
        texts = (row.figure.title, *row.words())
        use = "held out" if row.figure.held_out else "fitted"
        table.add_row(*(terminal.cell(text) for text in texts), terminal.cell(use, "dim"))
    terminal.emit(table)
    terminal.say(f"{path}: {twin.sentence()}; {twin.simulations} simulated drives")
    terminal.notes(list(twin.notes), quiet=quiet)


def _show(twin: Twin, path: Path, quiet: bool) -> None:
    space = twin.fitted.space
    table = terminal.table(["value", "found", "interval", ""], right=["found", "interval"])
    for row in twin.rows():
        unit = f" {row.unit}" if row.unit else ""
        known = row.low is not None
        interval = f"{row.low:g} to {row.high:g}" if known else ""
        texts = (row.title, f"{row.value:g}{unit}", interval)
        held = "95 %" if row.checked_on >= TELLING else f"checked on {row.checked_on} drives"
        table.add_row(
            *(terminal.cell(text) for text in texts),
            terminal.cell(held if known else "usual, not determined", "dim"),
        )
    terminal.emit(table)
    limit = ", programs limited by the firmware" if space.structure.by_core else ""
    terminal.say(
        f"{path}: cache {space.structure.name}, past it {space.structure.past}, "
        f"{space.cell.upper()}{limit}; {twin.fitted.simulations} simulated drives"
    )
    terminal.notes(list(twin.notes), quiet=quiet)
