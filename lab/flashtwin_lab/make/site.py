"""Puts pages to play with into the built site: `python -m flashtwin_lab.make.site SITE`.

`./dev docs` calls it. Without the core of pages they show their prepared positions.
"""

from __future__ import annotations

import sys
from pathlib import Path

from flashtwin.charts import assets
from flashtwin.report import play as page_of
from flashtwin.study import play

# Those that a page of the docs shows.
DRIVES = ("bx500-240",)


def main(site: Path) -> None:
    """Write the pages."""
    for drive in DRIVES:
        game = play.game(play.board(drive))
        page_of.build(game, site / "play" / f"{drive}.html", core=assets.CORE.exists())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
