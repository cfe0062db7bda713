"""What a page shows of the cache by how full the drive is: a table, and the curve of each write."""

from __future__ import annotations

from flashtwin.batteries.base.present import Present, Ranked, Subject
from flashtwin.batteries.cache_by_fill import NAME, Parameters
from flashtwin.charts.curves import Phase


class CacheByFillPresent(Present):
    """The cache of a drive that fills."""

    title = "Cache by how full the drive is"
    # What is left of the cache.
    ranked = (Ranked(title="Cache left when full", name="left"),)

    def phases(self, subject: Subject) -> list[Phase]:
        """The write at each share."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{percent:g}/write",
                group=NAME,
                group_title=self.title,
                name=f"{percent:g}",
                title=f"{percent:g} % full",
            )
            for percent in subject.parameters(Parameters).fills
        )


PRESENT = CacheByFillPresent()
