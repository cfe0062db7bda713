"""What a page shows of CrystalDiskMark: the grid of its cells, and where drives differ most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Fact, Section, Subject
from flashtwin.batteries.base.presents import DeclaredPresent
from flashtwin.batteries.crystaldiskmark import PROFILES
from flashtwin.charts import numbers
from flashtwin.charts.cells import Cell, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

WAYS = {"read": "Read", "write": "Write", "mix": "Mixed"}
KNOWN = {str(cell): cell for cells in PROFILES.values() for cell in cells}
# Drives that differ by less are the same for a reader.
WORTH_SAYING = 1.1


class CrystalDiskMarkPresent(DeclaredPresent):
    """Cells by read, write and mix."""

    def section(self, subjects: Sequence[Subject]) -> Section:
        """The grid, and a table of what is no cell of it."""
        rest = [shared.others(subject, WAYS) for subject in subjects]
        others = [subject for subject in rest if subject.findings]
        cells = grid(subjects)
        return Section(
            tables=super().section(others).tables if others else (),
            grids=() if cells is None else (cells,),
        )

    def facts(self, subjects: Sequence[Subject]) -> list[Fact]:
        """The cell in which drives differ most."""
        cells = grid(subjects)
        if cells is None or len(subjects) < 2:
            return []
        names = {subject.index: subject.name for subject in subjects}
        widest: tuple[float, str, list[tuple[float, str]]] | None = None
        for cell, way in cells.places():
            speeds = [
                (finding.number, names[drive])
                for drive in names
                if (finding := cells.values.get((drive, cell.id, way, shared.SPEED)))
                and finding.number
            ]
            if len(speeds) > 1:
                ratio = max(speeds)[0] / min(speeds)[0]
                if widest is None or ratio > widest[0]:
                    widest = (ratio, f"{cell.title} {way}", speeds)
        return [] if widest is None else [_difference(*widest)]


def grid(subjects: Sequence[Subject]) -> Grid | None:
    """The cells of all drives; none where no drive has one."""
    return shared.grid(PRESENT.battery, PRESENT.title, subjects, WAYS, _cell)


def _cell(name: str) -> Cell:
    """Cells of one access and block size share a scale."""
    known = KNOWN.get(name)
    if known is None:
        return Cell(id=name, title=name, kind=name)
    depth = known.depth * known.threads
    return Cell(id=name, title=known.title, kind=known.access, depth=depth)


def _difference(ratio: float, where: str, speeds: Sequence[tuple[float, str]]) -> Fact:
    if ratio < WORTH_SAYING:
        return Fact(text="In CrystalDiskMark they differ by less than 10 % in every cell.")
    high, low = max(speeds), min(speeds)
    return Fact(
        text=f"In CrystalDiskMark they differ most in {where}: {numbers.mbs(high[0])} ({high[1]}) "
        f"against {numbers.mbs(low[0])} ({low[1]}), {numbers.significant(ratio, 2)} times."
    )


PRESENT = CrystalDiskMarkPresent.beside(__file__)
