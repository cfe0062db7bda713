"""What a page shows of the Magician-like test: the grid of its four cells."""

from __future__ import annotations

from flashtwin.batteries.base import grid as shared
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


PRESENT = MagicianPresent()
