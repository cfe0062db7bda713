"""What a page shows of the ATTO-like battery: the grid of its cells, and the sizes that suffice."""

from __future__ import annotations

from dataclasses import replace

from flashtwin.batteries.atto import NAME
from flashtwin.batteries.base import grid as shared
from flashtwin.batteries.base.present import Claim, Column, Subject
from flashtwin.charts.cells import Cell, Metric
from flashtwin.charts.numbers import mbs, significant

TITLES = {"write": "Write", "read": "Read"}


class AttoPresent(shared.GridPresent):
    """The program's own chart: for each size a bar of writes and one of reads."""

    title = "ATTO-like"
    battery = NAME
    ways = TITLES
    metrics = (
        Metric(id="speed", title="Speed", unit="MB/s", column="MB_per_s", drawn="ways"),
        *(replace(metric, drawn=None) for metric in shared.METRICS[1:]),
    )

    def cell(self, name: str) -> Cell:
        """Cells of one depth share a scale: the sizes of a bar chart."""
        block, _, depth = name.removeprefix("SEQ").partition("-Q")
        return Cell(id=name, title=f"{block} Q{depth}", kind=f"Q{depth}")

    def alone(self, subject: Subject) -> str:
        """The least size that reads and writes at full speed, or the highest rate."""
        limit = subject.finding("interface", "")
        full = [subject.finding(f"full.{way}-Q4", "") for way in TITLES]
        sizes = [finding.number for finding in full if finding is not None and finding.number]
        if limit is None or limit.number is None:
            return ""
        size = f" from {significant(max(sizes))}\u00a0KiB on" if len(sizes) == len(TITLES) else ""
        return f"Up to {mbs(limit.number)}{size}"

    def columns(self, subject: Subject) -> list[Column]:
        """Blocks of 64 KiB, as much as many programs ask for at once."""
        return [
            Column(
                title=f"64 KiB QD1 {way}",
                finding=subject.finding(way, "SEQ64K-Q1"),
                better="higher",
                tile="64 KiB QD1 write / read",
                claim=Claim(
                    than=f"{way}s 64\u00a0KiB {{}} faster",
                    most=f"{way}s 64\u00a0KiB fastest",
                    alone=f"{way}s 64\u00a0KiB at {{}}",
                    brief="64\u00a0KiB {}",
                    what=f"{way}s of 64\u00a0KiB",
                ),
            )
            for way in TITLES
        ]


PRESENT = AttoPresent()
