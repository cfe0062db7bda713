"""What a page shows of recovery: the ladder as a table, and the curve of each rewrite."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Present, Ranked, Subject
from flashtwin.batteries.recovery import BATTERY, FIRST, NAME, rungs
from flashtwin.charts.curves import Phase


class RecoveryPresent(Present):
    """The ladder of rests."""

    title = "Recovery of the cache"
    # How soon the cache is back.
    ranked = (
        Ranked(
            title="Cache back after",
            name="back",
            better="lower",
            claim=Claim(alone="has its SLC cache back after a rest of {}"),
        ),
    )

    def phases(self, subject: Subject) -> list[Phase]:
        """The first write and every rewrite, on one chart."""
        titles = {FIRST: "erased drive"}
        for rung in rungs(subject.parameters(BATTERY.parameters)):
            titles[rung.label] = f"after {rung.title}"
        return subject.phases(
            Phase(label=label, group=NAME, group_title=self.title, name=label, title=title)
            for label, title in titles.items()
        )


PRESENT = RecoveryPresent()
