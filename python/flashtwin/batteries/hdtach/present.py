"""What a page shows of the HD-Tach-like test: curves of writing and reading, and the means."""

from __future__ import annotations

from flashtwin.batteries.base.showing_along import AlongPresent
from flashtwin.batteries.hdtach import NAME

PRESENT = AlongPresent(NAME, title="HD-Tach-like", moved="of zones")
