"""What a page shows of the copies: a table of speeds, and curves of what was written."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Present, Ranked, Subject
from flashtwin.batteries.copies import NAME, TITLES, WAY_TITLES, WAYS
from flashtwin.charts.curves import Phase


class CopiesPresent(Present):
    """Copies of files."""

    title = "Copies of files"
    # The folder of a game, which is larger than most caches.
    ranked = (
        Ranked(
            title="Copy of a folder",
            name="write",
            variant="folder",
            claim=Claim(
                than="takes a game's folder {} faster",
                most="takes a game's folder fastest",
                alone="takes a game's folder at {}",
                what="the copy of a game's folder",
            ),
        ),
    )

    def phases(self, subject: Subject) -> list[Phase]:
        """Each copy by itself."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{name}/{way}",
                group=f"{NAME}/{name}",
                group_title=TITLES[name],
                name=way,
                title=WAY_TITLES[way],
            )
            for name, ways in WAYS.items()
            for way in ways
        )


PRESENT = CopiesPresent()
