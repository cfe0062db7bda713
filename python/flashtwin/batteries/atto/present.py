"""What a page shows of the ATTO-like battery: the grid of its cells, and the sizes that suffice."""

from __future__ import annotations

from flashtwin.batteries.atto import NAME
from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Column, Subject
from flashtwin.charts.cells import Cell

TITLES = {"write": "Write", "read": "Read"}


class AttoPresent(shared.GridPresent):
    """Speed over block size."""

    title = "ATTO-like"
    battery = NAME
    ways = TITLES

    def cell(self, name: str) -> Cell:
        """Cells of one depth share a scale: the sizes of a bar chart."""
        block, _, depth = name.removeprefix("SEQ").partition("-Q")
        return Cell(id=name, title=f"{block} Q{depth}", kind=f"Q{depth}")

    def columns(self, subject: Subject) -> list[Column]:
        """Blocks of 64 KiB, as much as many programs ask for at once."""
        return [
            Column(
                title=f"64 KiB QD1 {way}",
                finding=subject.finding(way, "SEQ64K-Q1"),
                better="higher",
                tile="64 KiB QD1 write / read",
            )
            for way in TITLES
        ]


PRESENT = AttoPresent()
