"""threedmark: 3DMark-like, the seven traces of its storage benchmark.

Trust P for the traces' names and the way of scoring; the mixes are synthetic, see mixes.toml, and
one share of theirs was set by a published outcome. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.traces import Traces

NAME = "threedmark"
TRACES = Traces.beside(__file__, NAME, "3DMark-like")

BATTERY = declared(__name__, **TRACES.functions())
