"""What a page shows of power: a table of what was drawn, and a curve of each workload."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.batteries.power import NAME, TITLES
from flashtwin.charts.curves import Phase


class PowerPresent(Present):
    """Watts by workload."""

    title = "Power"

    def phases(self, subject: Subject) -> list[Phase]:
        """Each workload by itself."""
        titles = {f"{NAME}/{name}": f"Power, {title}" for name, title in TITLES.items()}
        return [
            Phase(label=label, group=label, group_title=titles[label], name="run", title="run")
            for label in subject.labels
            if label in titles
        ]

    def columns(self, subject: Subject) -> list[Column]:
        """What a drive draws when it does nothing."""
        return [Column(title="Idle", finding=subject.finding("idle", ""), better="lower")]


PRESENT = PowerPresent()
