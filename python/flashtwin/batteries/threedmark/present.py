"""What a page shows of threedmark: its parts in a table, curves, and the score."""

from __future__ import annotations

from flashtwin.batteries.base.showing_traces import TracesPresent
from flashtwin.batteries.threedmark import TRACES

PRESENT = TracesPresent(TRACES, title="3DMark-like")
