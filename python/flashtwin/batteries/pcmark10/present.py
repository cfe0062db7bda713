"""What a page shows of pcmark10: its parts in a table, curves, and the score."""

from __future__ import annotations

from flashtwin.batteries.base.showing_traces import TracesPresent
from flashtwin.batteries.pcmark10 import TRACES

PRESENT = TracesPresent(TRACES, title="PCMark-10-like")
