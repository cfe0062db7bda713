"""What batteries share that look for a size from which on requests take longer.

Each size that was asked for has a finding `latency`, a cell of a chart over sizes; `size` is where
they begin to take longer, and what else follows from that stands beside it. Invariant: a `size`
that cannot be told has no value, and its note says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flashtwin.batteries.base.loads import Load, Teller
from flashtwin.model.finding import Better, Evidence, Finding

LATENCY, SIZE = "latency", "size"


@dataclass(frozen=True, kw_only=True)
class Knee:
    """Makes the findings of one battery: its name, its load, and how its `size` is called."""

    battery: str
    load: Load
    title: str
    unit: str

    def cell(self, variant: str, label: str, title: str, seconds: float) -> Finding:
        """How long a request of a size takes on average."""
        teller = Teller(
            battery=self.battery,
            load=self.load,
            variant=variant,
            label=label,
            title=title,
            axis="cell",
        )
        return teller.tell(LATENCY, "latency", "us", seconds * 1e6, better="lower")

    def size(self, label: str, note: str) -> Finding:
        """Where requests begin to take longer, without a value; `label`: the step of the largest
        size."""
        return Finding(
            battery=self.battery,
            name=SIZE,
            title=self.title,
            value=None,
            unit=self.unit,
            better="higher",
            headline=True,
            evidence=Evidence(
                battery=self.battery, label=label, axis="seconds", start=0.0, end=0.0
            ),
            note=note,
        )


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
