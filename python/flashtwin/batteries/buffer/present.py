"""What a page shows of buffer: latency over the size of a burst, and what the buffer holds."""

from __future__ import annotations

from flashtwin.batteries.base.presents import KneePresent
from flashtwin.batteries.buffer import NAME

PRESENT = KneePresent(
    NAME, title="Write buffer", request="Single 64 KiB writes of a burst", unit_bytes=1e6
)
