"""What a page shows of discover: the kinds with their probabilities, and the curve of each test."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Present, Subject
from flashtwin.batteries.discover.tests import PAST
from flashtwin.batteries.discover.words import FILL, NAME
from flashtwin.charts.curves import Phase


class DiscoverPresent(Present):
    """The fill and the tests in the order in which they were run."""

    title = "Kind of cache"

    def phases(self, subject: Subject) -> list[Phase]:
        """The fill and every test, on one chart."""
        titles = {FILL: "erased drive"}
        for label in subject.labels:
            if label.startswith(f"{NAME}/") and label.endswith("/write"):
                title = label.split("/")[1].partition("-")[2]
                # Reads of where data lies, and single writes, draw no curve.
                if title != PAST.name:
                    titles[label] = title
        return subject.phases(
            Phase(label=label, group=NAME, group_title=self.title, name=label, title=title)
            for label, title in titles.items()
        )

    def columns(self, subject: Subject) -> list[Column]:
        """How soon the cache is back."""
        return [
            Column(
                title="Rest until the cache is back",
                finding=subject.finding("rest_full", ""),
                better="lower",
            )
        ]


PRESENT = DiscoverPresent()
