"""What a page shows of write amplification: a table by how full the drive is, and its curves."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Column, Present, Subject
from flashtwin.batteries.waf import BATTERY, NAME
from flashtwin.charts.curves import Phase


class WafPresent(Present):
    """Write amplification of random writes."""

    title = "WAF"

    def phases(self, subject: Subject) -> list[Phase]:
        """Of each fill: the rest before, the random writes, and the rest after them."""
        titles = {"settle": "rest before", "write": "write", "rest": "rest"}
        return subject.phases(
            Phase(
                label=f"{NAME}/{percent:g}/{name}",
                group=f"{NAME}/{percent:g}",
                group_title=f"Random writes, {percent:g} % full",
                name=name,
                title=title,
            )
            for percent in subject.parameters(BATTERY.parameters).fills
            for name, title in titles.items()
        )

    def columns(self, subject: Subject) -> list[Column]:
        """The fullest drive that was measured, where it is highest."""
        measured = [
            finding
            for finding in subject.findings
            if not finding.name and finding.number is not None
        ]
        last = measured[-1] if measured else None
        claim = Claim(
            than="programs {} less flash for random writes",
            most="programs least flash for random writes",
            alone="has a write amplification of {} in random writes",
            what="the write amplification of random writes",
            in_times=False,
        )
        return [Column(title="WAF", finding=last, better="lower", claim=claim)]


PRESENT = WafPresent()
