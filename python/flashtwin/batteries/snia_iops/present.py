"""What a page shows of SNIA's IOPS: the grid of all cells, and whether the rounds are steady."""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Column, Present, Section, Subject
from flashtwin.batteries.snia_iops import NAME
from flashtwin.charts import tables
from flashtwin.charts.cells import Cell


class SniaIopsPresent(Present):
    """Cells of the steady rounds."""

    title = "PTS-2.0-like IOPS"

    def section(self, subjects: Sequence[Subject]) -> Section:
        """The grid of all cells, and a table of what the rounds say."""
        ways = _ways(subjects)
        rest = {subject.index: tuple(shared.others(subject, ways).findings) for subject in subjects}
        cells = shared.grid(
            NAME, self.title, subjects, ways, lambda name: Cell(id=name, title=name)
        )
        return Section(
            tables=(tables.table(self.title, "", rest),) if any(rest.values()) else (),
            grids=() if cells is None else (cells,),
        )

    def columns(self, subject: Subject) -> list[Column]:
        """What is left of random writes when the drive is steady."""
        return [
            Column(
                title="Steady 4 KiB writes", finding=subject.finding("steady", ""), better="higher"
            )
        ]


def _ways(subjects: Sequence[Subject]) -> dict[str, str]:
    """Titles of the ways of all cells, from reads alone to writes alone."""
    cells = [finding for subject in subjects for finding in subject.findings if finding.is_cell]
    names = {finding.name.partition(".")[0] for finding in cells}
    shares = sorted((int(way[3:]) for way in names if way.startswith("mix")), reverse=True)
    return {
        "read": "Read",
        **{f"mix{share}": f"{share} % read" for share in shares},
        "write": "Write",
    }


PRESENT = SniaIopsPresent()
