"""What a page shows of power: a table of what was drawn, and a curve of each workload."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Present, Ranked, Subject
from flashtwin.batteries.power import NAME, TITLES
from flashtwin.charts.curves import Phase


class PowerPresent(Present):
    """Watts by workload."""

    title = "Power"
    # What a drive draws when it does nothing.
    ranked = (
        Ranked(
            title="Idle",
            name="idle",
            better="lower",
            claim=Claim(
                than="draws {} less when idle",
                most="draws least when idle",
                alone="draws {} when idle",
                what="idle power",
                in_times=False,
            ),
        ),
    )

    def phases(self, subject: Subject) -> list[Phase]:
        """Each workload by itself."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{name}",
                group=f"{NAME}/{name}",
                group_title=f"Power, {title}",
                name="run",
                title="run",
            )
            for name, title in TITLES.items()
        )


PRESENT = PowerPresent()
