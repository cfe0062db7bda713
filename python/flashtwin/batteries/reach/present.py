"""What a page shows of reach: latency over the range, and the range that the map cache tells of."""

from __future__ import annotations

from flashtwin.batteries.base.presents import KneePresent
from flashtwin.batteries.reach import NAME

PRESENT = KneePresent(
    NAME, title="Reach of the map cache", request="Single 4 KiB reads", unit_bytes=1e9
)
