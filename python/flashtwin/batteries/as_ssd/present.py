"""What a page shows of the AS-SSD-like test: the grid of its rows, scores, copies, gains."""

from __future__ import annotations

from flashtwin.batteries.as_ssd import NAME
from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Claim, Column, Subject
from flashtwin.charts.cells import Cell

WAYS = {"write": "Write", "read": "Read"}


class AsSsdPresent(shared.GridPresent):
    """Rows by size, and points of the compression curve."""

    title = "AS-SSD-like"
    battery = NAME
    ways = WAYS

    def cell(self, name: str) -> Cell:
        """Rows of one kind share a scale, whatever the size of the file."""
        if name.endswith("%"):
            return Cell(id=name, title=f"SEQ, {name} compressible", kind="compressible")
        row, _, size = name.rpartition("-")
        return Cell(id=name, title=f"{row} {size}", kind=row)

    def columns(self, subject: Subject) -> list[Column]:
        """The score of the first size."""
        scores = [finding for finding in subject.findings if finding.name == "score"]
        return [
            Column(
                title="AS-SSD-like score",
                finding=scores[0] if scores else None,
                better="higher",
                claim=Claim(alone="scores {} in AS SSD's cells"),
            )
        ]


PRESENT = AsSsdPresent()
