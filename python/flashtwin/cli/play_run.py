"""`flashtwin play`: a page with a simulated drive whose values one can move."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from flashtwin.cli import progress, terminal
from flashtwin.report import play as page_of
from flashtwin.study import play


def run(
    drive: str,
    firmware: tuple[str, ...],
    sets: tuple[str, ...],
    out: Path | None,
    opens: bool,
    quiet: bool,
) -> None:
    """What `flashtwin play` does with what was typed."""
    page_of.packed_core()
    board = play.board(drive, firmware=firmware, sets=sets)
    total = len(board.choices)
    with progress.counted(board.id, total, quiet) as shown:
        game = play.game(board, lambda done: shown(done, f"{done} of {total} positions"))
    page = page_of.build(game, out or Path(f"play-{board.id}.html"))
    terminal.say(str(page))
    if opens and not webbrowser.open(page.resolve().as_uri()):
        terminal.note("no browser could be started: open the page by its path", head="note:")
