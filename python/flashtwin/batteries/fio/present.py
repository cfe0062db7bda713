"""What a page shows of fio's jobs: a table for each job, and the curve of each group."""

from __future__ import annotations

from flashtwin.batteries.base.present import Present, Subject, Tile, tile_of
from flashtwin.batteries.fio import NAME
from flashtwin.charts.curves import Phase

# Jobs whose speed stands beside a drive's name; all are in the tables below.
MOST_TILES = 4


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

    def tiles(self, subject: Subject) -> list[Tile]:
        """The speed of the first jobs."""
        speeds = [finding for finding in subject.findings if finding.name == "speed"]
        return [tile_of(finding.variant, finding) for finding in speeds[:MOST_TILES]]


PRESENT = FioPresent()
