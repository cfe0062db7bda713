"""What a page shows of host idle recovery: tables, and the curves after each wait."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Column, Present, Subject
from flashtwin.batteries.snia_hir import BATTERY, NAME, label_of
from flashtwin.charts.curves import Phase
from flashtwin.model.units import show_seconds


class SniaHirPresent(Present):
    """What pauses give back."""

    title = "PTS-2.0-like host idle recovery"

    def phases(self, subject: Subject) -> list[Phase]:
        """The writes without waits, after the bursts of each wait."""
        return subject.phases(
            Phase(
                label=label_of(wait, "after"),
                group=NAME,
                group_title="Host idle recovery, writes without waits again",
                name=show_seconds(wait),
                title=f"after waits of {show_seconds(wait)}",
            )
            for wait in subject.parameters(BATTERY.parameters).waits
        )

    def columns(self, subject: Subject) -> list[Column]:
        """What the longest pauses give."""
        longest = max(subject.parameters(BATTERY.parameters).waits, default=0.0)
        gain = subject.finding("gain", show_seconds(longest))
        return [
            Column(
                title="With the longest rests",
                finding=gain,
                better="higher",
                claim=Claim(alone="writes {} more with the longest rests"),
            )
        ]


PRESENT = SniaHirPresent()
