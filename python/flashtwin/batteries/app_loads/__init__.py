"""app_loads: what somebody waits for: a large project, a game and a start of the system.

Trust P for what the BX500 article timed (a project of 16.5 GB, Final Fantasy XIV, a start); the
mixes are synthetic, see mixes.toml. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.traces import Traces

NAME = "app_loads"
TRACES = Traces.beside(__file__, NAME, "Loads", "time")

BATTERY = declared(__name__, **TRACES.functions())
