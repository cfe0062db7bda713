"""What ranks drives by what idle time gives back: the gain of the longest waits."""

from __future__ import annotations

from flashtwin.batteries.base.present import Claim, Column, Subject
from flashtwin.batteries.base.presents import DeclaredPresent
from flashtwin.batteries.snia_hir import BATTERY
from flashtwin.model.units import show_seconds

CLAIM = Claim(alone="writes {} more with the longest rests")


class SniaHirPresent(DeclaredPresent):
    """What pauses give back."""

    def columns(self, subject: Subject) -> list[Column]:
        """What the longest pauses give."""
        longest = max(subject.parameters(BATTERY.parameters).waits, default=0.0)
        gain = subject.finding("gain", show_seconds(longest))
        return [Column(title="With the longest rests", finding=gain, better="higher", claim=CLAIM)]


PRESENT = SniaHirPresent.beside(__file__)
