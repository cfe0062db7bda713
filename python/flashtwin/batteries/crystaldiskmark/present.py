"""What a page shows of CrystalDiskMark: the grid of its cells, and where drives differ most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Claim, Column, Fact, Present, Section, Subject
from flashtwin.batteries.crystaldiskmark import PROFILES
from flashtwin.charts import numbers
from flashtwin.charts.cells import Cell, Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

WAYS = {"read": "Read", "write": "Write", "mix": "Mixed"}
KNOWN = {str(cell): cell for cells in PROFILES.values() for cell in cells}
SINGLE = "RND4K-Q1T1"
# Drives that differ by less are the same for a reader.
WORTH_SAYING = 1.1


class CrystalDiskMarkPresent(Present):
    """Cells by read, write and mix."""

    title = "CrystalDiskMark"

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

    def columns(self, subject: Subject) -> list[Column]:
        """Single requests of 4 KiB, which is what most programs wait for."""
        return [
            Column(
                title=f"4 KiB QD1 {way}",
                finding=subject.finding(way, SINGLE),
                better="higher",
                tile="4 KiB QD1 read / write",
                claim=Claim(
                    than=f"{way}s 4\u00a0KiB {{}} faster",
                    most=f"{way}s 4\u00a0KiB fastest",
                    alone=f"{way}s 4\u00a0KiB at {{}}",
                    brief="4\u00a0KiB {}",
                    what=f"{way}s of 4\u00a0KiB",
                ),
            )
            for way in ("read", "write")
        ]


def grid(subjects: Sequence[Subject]) -> Grid | None:
    """The cells of all drives; none where no drive has one."""
    return shared.grid("crystaldiskmark", CrystalDiskMarkPresent.title, subjects, WAYS, _cell)


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


PRESENT = CrystalDiskMarkPresent()
