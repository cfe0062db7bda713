"""What a page shows of the HD-Tach-like test: curves over time, and a table of what they tell."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.batteries.hdtach import NAME
from flashtwin.charts.curves import Phase

TITLES = {"write": "Write of zones", "read": "Read along the range"}


class HdTachPresent(Present):
    """The rate over zones."""

    title = "HD-Tach-like"

    def phases(self, subject: Subject) -> list[Phase]:
        """Writing and reading, each by itself."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{way}",
                group=f"{NAME}/{way}",
                group_title=f"HD-Tach-like {way}",
                name=way,
                title=title,
            )
            for way, title in TITLES.items()
        )

    def columns(self, subject: Subject) -> list[Column]:
        """The means over all zones."""
        return [
            Column(
                title=f"HD-Tach-like {way}",
                finding=subject.finding("mean", way),
                better="higher",
                tile="HD-Tach-like write / read",
            )
            for way in TITLES
        ]


PRESENT = HdTachPresent()
