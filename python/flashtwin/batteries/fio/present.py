"""What a page shows of fio's jobs: a table for each job, and the curve of each group."""

from __future__ import annotations

from flashtwin.batteries.base.present import Present, Subject
from flashtwin.batteries.fio import NAME
from flashtwin.charts.curves import Phase


class FioPresent(Present):
    """Jobs of fio job files."""

    title = "fio"

    def phases(self, subject: Subject) -> list[Phase]:
        """The groups, each in a chart of its own."""
        return [
            Phase(label=label, group=label, group_title=title, name="jobs", title=title)
            for label in subject.labels
            if (title := label.removeprefix(f"{NAME}/"))
        ]


PRESENT = FioPresent()
