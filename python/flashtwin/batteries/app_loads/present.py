"""What a page shows of app_loads: its parts in a table, curves, and the score."""

from __future__ import annotations

from flashtwin.batteries.app_loads import TRACES
from flashtwin.batteries.base.showing_traces import TracesPresent

PRESENT = TracesPresent(TRACES, title="Loads")
