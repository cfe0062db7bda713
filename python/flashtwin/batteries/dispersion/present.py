"""What a page shows of dispersion: a table a kind of load, and its curve."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Present, Ranked, Subject
from flashtwin.batteries.dispersion import LOADS, NAME
from flashtwin.charts.curves import Phase


class DispersionPresent(Present):
    """How even a drive is."""

    title = "Dispersion"
    # What is left of random writes after an hour.
    ranked = (
        Ranked(
            title="Random write, settled",
            name="settled",
            variant="random-write",
            claim=Claim(alone="settles at {} in random writes"),
        ),
    )

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


PRESENT = DispersionPresent()
