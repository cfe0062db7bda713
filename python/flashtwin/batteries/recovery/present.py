"""What a page shows of recovery: the ladder as a table, and the curve of each rewrite."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.batteries.recovery import FIRST, NAME, Parameters, rungs
from flashtwin.charts.curves import Phase


class RecoveryPresent(Present):
    """The ladder of rests."""

    title = "Recovery of the cache"

    def phases(self, subject: Subject) -> list[Phase]:
        """The first write and every rewrite, on one chart."""
        titles = {FIRST: "erased drive"}
        for rung in rungs(subject.parameters(Parameters)):
            titles[rung.label] = f"after {rung.title}"
        return subject.phases(
            Phase(label=label, group=NAME, group_title=self.title, name=label, title=title)
            for label, title in titles.items()
        )

    def columns(self, subject: Subject) -> list[Column]:
        """How soon the cache is back."""
        return [
            Column(title="Cache back after", finding=subject.finding("back", ""), better="lower")
        ]


PRESENT = RecoveryPresent()
