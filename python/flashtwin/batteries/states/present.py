"""What a page shows of the four states: a table, and the curve of each state."""

from __future__ import annotations

from flashtwin.batteries.base.present import Present, Ranked, Subject
from flashtwin.batteries.states import NAME, TITLES
from flashtwin.charts.curves import Phase


class StatesPresent(Present):
    """Fresh, dirty, rested, trimmed."""

    title = "Four states"
    # Whether TRIM brings a drive back.
    ranked = (Ranked(title="After TRIM, of fresh", name="trimmed.share"),)

    def phases(self, subject: Subject) -> list[Phase]:
        """The random writes of each state, on one chart."""
        return subject.phases(
            Phase(
                label=f"{NAME}/{state}/write",
                group=NAME,
                group_title="Random writes in four states",
                name=state,
                title=title,
            )
            for state, title in TITLES.items()
        )


PRESENT = StatesPresent()
