"""What a page shows of a tool that writes and reads along the drive: two curves and their means."""

from __future__ import annotations

from flashtwin.batteries.base.along import WAYS, Way
from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.charts.curves import Phase


class AlongPresent(Present):
    """Writing and reading, each a curve by itself; `moved` names what the tool goes through."""

    def __init__(self, battery: str, *, title: str, moved: str) -> None:
        self.battery, self.title, self.moved = battery, title, moved

    def phases(self, subject: Subject) -> list[Phase]:
        """Writing and reading, each by itself."""
        return subject.phases(
            Phase(
                label=f"{self.battery}/{way}",
                group=f"{self.battery}/{way}",
                group_title=f"{self.title} {way}",
                name=way,
                title=f"{way.capitalize()} {self.moved}",
            )
            for way in WAYS
        )

    def columns(self, subject: Subject) -> list[Column]:
        """The mean of each."""
        return [self._column(subject, way) for way in WAYS]

    def _column(self, subject: Subject, way: Way) -> Column:
        return Column(
            title=f"{self.title} {way}",
            finding=subject.finding("mean", way),
            better="higher",
            tile=f"{self.title} write / read",
        )
