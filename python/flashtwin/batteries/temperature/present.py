"""What a page shows of temperature: a table of degrees and speeds, and the curve of the write."""

from __future__ import annotations

from flashtwin.batteries.base.present import Present, Ranked, Subject
from flashtwin.batteries.temperature import COOL, NAME, WRITE
from flashtwin.charts.curves import Phase


class TemperaturePresent(Present):
    """Degrees under a sustained write."""

    title = "Temperature"
    # How warm a drive gets.
    ranked = (Ranked(title="Most degrees", name="most", better="lower"),)

    def phases(self, subject: Subject) -> list[Phase]:
        """The write, and the rest in which the drive cools."""
        return subject.phases(
            Phase(label=label, group=NAME, group_title=self.title, name=name, title=name)
            for label, name in ((WRITE, "write"), (COOL, "cooling"))
        )


PRESENT = TemperaturePresent()
