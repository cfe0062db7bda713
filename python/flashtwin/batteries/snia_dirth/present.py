"""What a page shows of demand intensity: the grid of threads and depths, and the three points."""

from __future__ import annotations

from dataclasses import replace

from flashtwin.batteries.base.grid import METRICS, SPEED
from flashtwin.batteries.base.present import Claim, Ranked
from flashtwin.batteries.base.presents import PtsPresent
from flashtwin.batteries.snia_dirth import NAME
from flashtwin.charts.cells import Cell


class SniaDirthPresent(PtsPresent):
    """Rate and latency by threads and depth."""

    # Rates and latencies as maps of threads over depth; what is 4 KiB times the rate has no chart.
    metrics = tuple(
        replace(metric, drawn=None if metric.id == SPEED else "heat") for metric in METRICS
    )

    def cell(self, name: str) -> Cell:
        """Cells of as many threads share a scale."""
        threads, _, depth = name.partition("-Q")
        return Cell(
            id=name, title=name.replace("-", " "), kind=threads, depth=int(depth) if depth else None
        )


PRESENT = SniaDirthPresent(
    NAME,
    title="PTS-2.0-like demand intensity",
    # What a drive does while a request takes less than 5 ms.
    ranked=Ranked(
        title="4 KiB within 5 ms",
        name="rate",
        variant="highest",
        claim=Claim(alone="reaches {} of 4\u00a0KiB within 5\u00a0ms"),
    ),
)
