"""pcmark7: PCMark-7-like, the seven traces of its storage suite without think time.

Trust P for the traces' names and the raw score without think time; the mixes are synthetic, see
mixes.toml. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.traces import Traces

NAME = "pcmark7"
TRACES = Traces.beside(__file__, NAME, "PCMark-7-like", "bandwidth")

BATTERY = declared(__name__, **TRACES.functions())
