"""What a page shows of reads beside a writer: a table a pace, and its curve."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Present, Ranked, Subject
from flashtwin.batteries.under_load import NAME
from flashtwin.charts.curves import Phase


class UnderLoadPresent(Present):
    """Reads beside a writer that keeps a pace."""

    title = "Latency under load"
    # The slowest reads beside 50 MB/s, as a download or a copy writes.
    ranked = (
        Ranked(
            title="Read beside 50 MB/s, 99.9 %",
            name="p99_9",
            variant="50MBs",
            better="lower",
            claim=Claim(
                alone="answers 99.9\u00a0% of reads within {} beside writes at 50\u00a0MB/s"
            ),
        ),
    )

    def phases(self, subject: Subject) -> list[Phase]:
        """Each pace by itself."""
        steps = [label for label in subject.labels if label.endswith("/reads")]
        return subject.phases(
            Phase(
                label=label,
                group=label.removesuffix("/reads"),
                group_title=f"{self.title}, {label.split('/')[1].replace('MBs', ' MB/s')}",
                name="load",
                title="reads and writes",
            )
            for label in steps
            if label.startswith(f"{NAME}/")
        )


PRESENT = UnderLoadPresent()
