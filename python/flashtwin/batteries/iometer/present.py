"""What a page shows of the sweeps: a grid of cells, rates over the queue depth, and the highest."""

from __future__ import annotations

from flashtwin.batteries.base.grid import DepthsPresent
from flashtwin.batteries.base.present import Claim, Column, Subject
from flashtwin.batteries.iometer import NAME


class IometerPresent(DepthsPresent):
    """Sweeps over the queue depth."""

    title = "Iometer sweeps"
    battery = NAME

    def columns(self, subject: Subject) -> list[Column]:
        """The highest rates at random, as makers rate drives."""
        return [
            Column(
                title=f"Highest random {way}",
                finding=subject.finding(f"highest.RND4K-{way}", ""),
                better="higher",
                tile="Highest random read / write",
                claim=Claim(alone=f"{way}s at random at up to {{}}"),
            )
            for way in ("read", "write")
        ]


PRESENT = IometerPresent()
