"""What a page shows of the Magician-like test: the grid of its four cells."""

from __future__ import annotations

from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Claim, Column, Subject
from flashtwin.batteries.magician import NAME
from flashtwin.charts.cells import Cell

WAYS = {"write": "Write", "read": "Read"}


class MagicianPresent(shared.GridPresent):
    """In order and at random."""

    title = "Magician-like"
    battery = NAME
    ways = WAYS

    def cell(self, name: str) -> Cell:
        """Each order has its own scale."""
        access, _, depth = name.partition("-Q")
        return Cell(id=name, title=f"{access} Q{depth}", kind=access)

    def columns(self, subject: Subject) -> list[Column]:
        """Reads and writes in order, as the program's own window has them first."""
        rows = [row for row in subject.findings if row.variant.startswith("SEQ")]
        return [
            Column(
                title=f"Sequential {way}",
                finding=next((row for row in rows if row.name == way), None),
                better="higher",
                tile="Sequential read / write",
                claim=Claim(alone=f"{way}s {{}} in order"),
            )
            for way in ("read", "write")
        ]


PRESENT = MagicianPresent()
