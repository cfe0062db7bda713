"""What a page shows of the composite load: tables of rate and percentiles."""

from __future__ import annotations

from flashtwin.batteries.base.present import Column, Present, Subject


class SniaCompositePresent(Present):
    """A mix as servers have it."""

    title = "JESD219-like composite"

    def columns(self, subject: Subject) -> list[Column]:
        """What the mix keeps up."""
        steady = subject.finding("steady", "")
        return [Column(title="Composite load", finding=steady, better="higher")]


PRESENT = SniaCompositePresent()
