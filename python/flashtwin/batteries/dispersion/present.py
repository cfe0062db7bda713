"""What a page shows of dispersion: a table a kind of load, and its curve."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.batteries.dispersion import LOADS, NAME
from flashtwin.charts.curves import Phase


class DispersionPresent(Present):
    """How even a drive is."""

    title = "Dispersion"

    def phases(self, subject: Subject) -> list[Phase]:
        """Each load by itself."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{kind}/load",
                group=f"{NAME}/{kind}",
                group_title=f"Dispersion, {load.title}",
                name="load",
                title="load",
            )
            for kind, load in LOADS.items()
        )

    def columns(self, subject: Subject) -> list[Column]:
        """What is left of random writes after an hour."""
        settled = subject.finding("settled", "random-write")
        return [Column(title="Random write, settled", finding=settled, better="higher")]


PRESENT = DispersionPresent()
