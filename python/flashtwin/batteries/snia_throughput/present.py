"""What a page shows of SNIA's throughput: both streams read and written, and the rounds."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Subject
from flashtwin.batteries.base.pts_present import PtsPresent
from flashtwin.batteries.snia_throughput import NAME


class SniaThroughputPresent(PtsPresent):
    """Streams of the steady rounds."""

    title = "PTS-2.0-like throughput"
    battery = NAME

    def columns(self, subject: Subject) -> list[Column]:
        """What a stream of writes keeps up for good."""
        steady = subject.finding("steady", "SEQ128K")
        return [Column(title="Steady 128 KiB writes", finding=steady, better="higher")]


PRESENT = SniaThroughputPresent()
