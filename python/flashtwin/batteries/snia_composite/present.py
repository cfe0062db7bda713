"""What a page shows of the composite load: tables of rate and percentiles."""

from __future__ import annotations

from flashtwin.batteries.base.present import Present, Ranked


class SniaCompositePresent(Present):
    """A mix as servers have it, and what of it a drive keeps up."""

    title = "JESD219-like composite"
    ranked = (Ranked(title="Composite load", name="steady"),)


PRESENT = SniaCompositePresent()
