"""What a page shows of SNIA's latency: the grid of cells, the slowest requests, and the rounds."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Subject
from flashtwin.batteries.base.pts_present import PtsPresent
from flashtwin.batteries.snia_latency import NAME


class SniaLatencyPresent(PtsPresent):
    """Cells of the steady rounds."""

    title = "PTS-2.0-like latency"
    battery = NAME

    def columns(self, subject: Subject) -> list[Column]:
        """How long a single write waits for good."""
        steady = subject.finding("steady", "")
        return [Column(title="Steady 4 KiB write latency", finding=steady, better="lower")]


PRESENT = SniaLatencyPresent()
