"""What a page shows of the HD-Tune-like test: curves over time, and a table of what they tell."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.batteries.hdtune import NAME
from flashtwin.charts.curves import Phase

TITLES = {"write": "Write along the range", "read": "Read along the range"}


class HdTunePresent(Present):
    """The rate along the range."""

    title = "HD-Tune-like"

    def phases(self, subject: Subject) -> list[Phase]:
        """Writing and reading, each by itself."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{way}",
                group=f"{NAME}/{way}",
                group_title=f"HD-Tune-like {way}",
                name=way,
                title=title,
            )
            for way, title in TITLES.items()
        )

    def columns(self, subject: Subject) -> list[Column]:
        """The means along the range."""
        return [
            Column(
                title=f"HD-Tune-like {way}",
                finding=subject.finding("mean", way),
                better="higher",
                tile="HD-Tune-like write / read",
            )
            for way in TITLES
        ]


PRESENT = HdTunePresent()
