"""What a page shows of the hour: a table a direction, and the curves of its windows."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Present, Ranked, Subject
from flashtwin.batteries.qos import LOAD
from flashtwin.charts.curves import Phase


class QosPresent(Present):
    """An hour of one load."""

    title = "Quality of service"
    # The slowest reads of the hour.
    ranked = (
        Ranked(
            title="Read in an hour, 99.99 %",
            name="p99_99",
            variant="read",
            better="lower",
            claim=Claim(alone="answers 99.99\u00a0% of reads within {}"),
        ),
    )

    def phases(self, subject: Subject) -> list[Phase]:
        """The first window and the last: sixty would show no more."""
        labels = [label for label in subject.labels if label.startswith(f"{LOAD}/")]
        ends = dict.fromkeys(labels[:1] + labels[-1:])
        return subject.phases(
            Phase(
                label=label,
                group=LOAD,
                group_title=self.title,
                name="first" if label == labels[0] else "last",
                title="first window" if label == labels[0] else "last window",
            )
            for label in ends
        )


PRESENT = QosPresent()
