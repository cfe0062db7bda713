"""What a page shows of the ATTO-like battery: the grid of its cells, and the sizes that suffice."""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.batteries.atto import NAME
from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Column, Present, Section, Subject
from flashtwin.charts import tables
from flashtwin.charts.cells import Cell

TITLES = {"write": "Write", "read": "Read"}


class AttoPresent(Present):
    """Speed over block size."""

    title = "ATTO-like"

    def section(self, subjects: Sequence[Subject]) -> Section:
        """The grid of all cells, and a table of the least sizes."""
        rest = {
            subject.index: tuple(shared.others(subject, TITLES).findings) for subject in subjects
        }
        cells = shared.grid(NAME, self.title, subjects, TITLES, _cell)
        return Section(
            tables=(tables.table(self.title, "", rest),) if any(rest.values()) else (),
            grids=() if cells is None else (cells,),
        )

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


def _cell(name: str) -> Cell:
    """Cells of one depth share a scale: the sizes of a bar chart."""
    block, _, depth = name.removeprefix("SEQ").partition("-Q")
    return Cell(id=name, title=f"{block} Q{depth}", kind=f"Q{depth}")


PRESENT = AttoPresent()
