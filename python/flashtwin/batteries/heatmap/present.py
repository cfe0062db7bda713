"""What a page shows of the map: a heat map of the rate for each share of reads, and the highest."""

from __future__ import annotations

from dataclasses import replace

from flashtwin.batteries.base.grid import METRICS, DepthsPresent
from flashtwin.batteries.base.present import Claim, Column, Subject
from flashtwin.batteries.heatmap import NAME


class HeatmapPresent(DepthsPresent):
    """Rates over queue depth and block size."""

    title = "Queue depth by block size"
    battery = NAME
    # The map shows rates; speeds and latencies of so many cells stand in its table alone.
    metrics = tuple(
        replace(metric, drawn="heat" if metric.id == "iops" else None) for metric in METRICS
    )

    def columns(self, subject: Subject) -> list[Column]:
        """The highest rates of 4 KiB, at whatever depth."""
        return [
            Column(
                title=f"Highest 4 KiB {way}",
                finding=subject.finding(f"highest.RND4K-{way}", ""),
                better="higher",
                tile="Highest 4 KiB read / write",
                claim=Claim(alone=f"{way}s 4\u00a0KiB at up to {{}}"),
            )
            for way in ("read", "write")
        ]


PRESENT = HeatmapPresent()
