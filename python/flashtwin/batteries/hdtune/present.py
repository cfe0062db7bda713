"""What a page shows of the HD-Tune-like test: curves of writing and reading, and the means."""

from __future__ import annotations

from flashtwin.batteries.base.showing_along import AlongPresent
from flashtwin.batteries.hdtune import NAME

PRESENT = AlongPresent(NAME, title="HD-Tune-like", moved="along the range")
