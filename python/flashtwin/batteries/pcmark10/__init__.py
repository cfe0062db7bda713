"""pcmark10: PCMark-10-like, the 23 traces of its full system drive benchmark.

Trust P for the traces' names, the copies, 204 GB written in three passes and the score; the mixes
are synthetic, see mixes.toml. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.traces import Traces

NAME = "pcmark10"
TRACES = Traces.beside(__file__, NAME, "PCMark-10-like")

BATTERY = declared(__name__, **TRACES.functions())
