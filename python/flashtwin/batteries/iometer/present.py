"""What a page shows of the sweeps: a grid of cells, rates over the queue depth, and the highest."""

from __future__ import annotations

from collections.abc import Sequence

from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Column, Subject
from flashtwin.batteries.iometer import NAME
from flashtwin.charts.cells import Cell
from flashtwin.model.finding import Finding


class IometerPresent(shared.GridPresent):
    """Sweeps over the queue depth."""

    title = "Iometer sweeps"
    battery = NAME

    def ways_of(self, subjects: Sequence[Subject]) -> dict[str, str]:
        """Reads, writes, then mixes by their share of reads."""
        cells = [finding for subject in subjects for finding in subject.findings if finding.is_cell]
        mixes = sorted({way for way in map(_way, cells) if way.startswith("mix")})
        return {"read": "Read", "write": "Write"} | {
            way: f"{way.removeprefix('mix')} % read" for way in mixes
        }

    def cell(self, name: str) -> Cell:
        """Cells of one access and block size share a scale."""
        access, _, depth = name.partition("-Q")
        return Cell(
            id=name, title=f"{access} Q{depth}", kind=access, depth=int(depth) if depth else None
        )

    def columns(self, subject: Subject) -> list[Column]:
        """The highest rates at random, as makers rate drives."""
        return [
            Column(
                title=f"Highest random {way}",
                finding=subject.finding(f"highest.RND4K-{way}", ""),
                better="higher",
                tile="Highest random read / write",
            )
            for way in ("read", "write")
        ]


def _way(finding: Finding) -> str:
    return finding.name.partition(".")[0]


PRESENT = IometerPresent()
