"""What a page shows of SNIA's IOPS: the grid of all cells, and whether the rounds are steady."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Subject
from flashtwin.batteries.base.pts_present import PtsPresent
from flashtwin.batteries.snia_iops import NAME


class SniaIopsPresent(PtsPresent):
    """Cells of the steady rounds."""

    title = "PTS-2.0-like IOPS"
    battery = NAME

    def columns(self, subject: Subject) -> list[Column]:
        """What is left of random writes when the drive is steady."""
        return [
            Column(
                title="Steady 4 KiB writes", finding=subject.finding("steady", ""), better="higher"
            )
        ]


PRESENT = SniaIopsPresent()
