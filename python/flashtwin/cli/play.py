"""`flashtwin play`: a page with a simulated drive whose values one can move."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from flashtwin.cli import completions, options, progress, terminal
from flashtwin.report import play as page_of
from flashtwin.study import play


@click.command(
    "play",
    epilog=options.examples(
        "flashtwin play bx500-240 --open",
        "flashtwin play samsung-980-1tb --out 980.html",
        "flashtwin play ./mine.toml --set slc_cache.size=8GB",
    ),
)
@click.argument("drive", shell_complete=completions.drives)
@options.firmware
@options.sets
@options.out("The page to write; by default ./play-DRIVE.html.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@options.as_json
@options.quiet
def command(
    drive: str,
    firmware: tuple[str, ...],
    sets: tuple[str, ...],
    out: Path | None,
    opens: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make a page on which DRIVE can be changed and is filled anew at once: its cache and what it
    does when that is full, over-provisioning, dies, a pause.

    The page is one file and needs no network: the simulator is in it and runs in the browser. What
    the analysis finds is computed now, with one value moved at a time. DRIVE is an id of the
    catalogue or a spec file that ends in .toml.
    """
    page_of.packed_core()
    board = play.board(drive, firmware=firmware, sets=sets)
    total = len(board.choices)
    with progress.counted(board.id, total, quiet) as shown:
        game = play.game(board, lambda done: shown(done, f"{done} of {total} positions"))
    page = page_of.build(game, out or Path(f"play-{board.id}.html"))
    if as_json:
        terminal.print_json({"page": str(page), "scale": f"1/{board.divisor}"})
    else:
        terminal.say(str(page))
    if opens and not webbrowser.open(page.resolve().as_uri()):
        terminal.note("no browser could be started: open the page by its path", head="note:")
