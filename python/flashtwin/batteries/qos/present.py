"""What a page draws of the hour: the curves of its first window and of its last."""

from __future__ import annotations

from flashtwin.batteries.base.present import Subject
from flashtwin.batteries.base.presents import DeclaredPresent
from flashtwin.batteries.qos import LOAD
from flashtwin.charts.curves import Phase


class QosPresent(DeclaredPresent):
    """An hour of one load."""

    def phases(self, subject: Subject) -> list[Phase]:
        """The first window and the last: sixty would show no more."""
        labels = [label for label in subject.labels if label.startswith(f"{LOAD}/")]
        ends = dict(zip(labels[-1:] + labels[:1], ("last", "first"), strict=False))
        return subject.phases(
            Phase(label=label, group=LOAD, group_title=self.title, name=end, title=f"{end} window")
            for label, end in ends.items()
        )


PRESENT = QosPresent.beside(__file__)
