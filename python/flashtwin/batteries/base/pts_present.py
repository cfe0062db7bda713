"""What pages show of SNIA's tests: the grid of cells over the steady rounds, and a table."""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.batteries.base.grid import GridPresent
from flashtwin.batteries.base.present import Subject
from flashtwin.charts.cells import Cell


class PtsPresent(GridPresent):
    """Cells of the steady rounds, from reads alone to writes alone."""

    def ways_of(self, subjects: Sequence[Subject]) -> dict[str, str]:
        """Titles of the ways of all cells, from reads alone to writes alone."""
        cells = [finding for subject in subjects for finding in subject.findings if finding.is_cell]
        names = {finding.name.partition(".")[0] for finding in cells}
        shares = sorted((int(way[3:]) for way in names if _is_mix(way)), reverse=True)
        return {
            "read": "Read",
            **{f"mix{share}": f"{share} % read" for share in shares},
            "write": "Write",
        }

    def cell(self, name: str) -> Cell:
        """Cells have no scale in common."""
        return Cell(id=name, title=name)


def _is_mix(way: str) -> bool:
    return way.startswith("mix") and way[3:].isdigit()
