"""`flashtwin play`: a page with a simulated drive whose values one can move."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from flashtwin.cli import progress, terminal
from flashtwin.model.document import Document
from flashtwin.report import play as page_of
from flashtwin.study import play


class Apart(Document, frozen=True):
    """A finding, and how far off the page's small drive is."""

    finding: str
    percent: float


class Position(Document, frozen=True):
    """The controls as they stand, and the findings there, in words."""

    options: dict[str, str]
    findings: dict[str, str]


class Play(Document, frozen=True):
    """flashtwin play --json"""

    page: str
    drive: str
    scale: str
    apart: list[Apart]
    positions: list[Position]


def document(game: play.Game, page: Path) -> Play:
    """What the page says of the analysis; the options are the words of its controls."""
    texts = {control.id: [o.text for o in control.options] for control in game.board.controls}
    return Play(
        page=str(page),
        drive=game.board.id,
        scale=f"1/{game.board.divisor}",
        apart=[Apart(finding=title, percent=percent) for title, percent in game.apart],
        positions=[
            Position(
                options={name: texts[name][at] for name, at in position.options.items()},
                findings=dict(position.findings),
            )
            for position in game.positions
        ],
    )


def run(
    drive: str,
    firmware: tuple[str, ...],
    sets: tuple[str, ...],
    out: Path | None,
    opens: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """What `flashtwin play` does with what was typed."""
    page_of.packed_core()
    board = play.board(drive, firmware=firmware, sets=sets)
    total = play.fills(board)
    with progress.counted(board.id, total, quiet) as shown:
        game = play.game(board, lambda done: shown(done, f"{done} of {total} fills"))
    page = page_of.build(game, out or Path(f"play-{board.id}.html"))
    if as_json:
        terminal.print_json(document(game, page))
    else:
        terminal.say(str(page))
    if opens and not webbrowser.open(page.resolve().as_uri()):
        terminal.note("no browser could be started: open the page by its path", head="note:")
