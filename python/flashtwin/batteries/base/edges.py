"""What batteries share that look for a size from which on requests take longer.

Each size that was asked for has a finding `latency`, a cell of a chart over sizes; `size` is where
they begin to take longer, and what else follows from that stands beside it. Invariant: a `size`
that cannot be told has no value, and its note says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flashtwin.batteries.base.loads import Teller
from flashtwin.model.finding import Better, Finding

LATENCY, SIZE = "latency", "size"


@dataclass(frozen=True, kw_only=True)
class Knee:
    """Makes the findings of one battery: its name, and how its `size` is called."""

    battery: str
    title: str
    unit: str

    def cell(self, variant: str, label: str, title: str, seconds: float) -> Finding:
        """How long a request of a size takes on average."""
        teller = Teller(
            battery=self.battery, label=label, title=title, variant=variant, axis="cell"
        )
        return teller.tell(LATENCY, "latency", "us", seconds * 1e6, better="lower")

    def size(self, label: str, note: str) -> Finding:
        """Where requests begin to take longer, without a value; `label`: the step of the largest
        size."""
        teller = Teller(battery=self.battery, label=label, title=self.title)
        return teller.tell(SIZE, "", self.unit, None, better="higher", headline=True, note=note)


def beside(
    size: Finding, name: str, title: str, unit: str, value: float, better: Better = "higher"
) -> Finding:
    """What follows from the knee of a `size`."""
    return replace(
        size,
        name=name,
        title=title,
        value=value,
        unit=unit,
        interval=None,
        beside=SIZE,
        better=better,
        headline=False,
        note=None,
    )
