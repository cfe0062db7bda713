"""app_loads: what somebody waits for: a large project, a game and a start of the system.

Trust P for what the BX500 article timed (a project of 16.5 GB, Final Fantasy XIV, a start); the
mixes are synthetic, see mixes.toml. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.registry import Clause
from flashtwin.batteries.base.traces import Traces

NAME = "app_loads"
TRACES = Traces.beside(__file__, NAME, "Loads", "time")

BATTERY = TRACES.as_battery(
    "loading a project of 16.5 GB, loading a game, starting the system: synthetic reads",
    presets={"half-full": {"fill_percent": "50"}},
    follows=(
        Clause(
            says="a project of 16.5 GB is loaded, a game is loaded, the system starts",
            source="the BX500 article (P)",
            here="synthetic mixes, frozen in mixes.toml",
        ),
        Clause(
            says="timed by the programs themselves, with what they compute",
            source="the BX500 article (P)",
            here="the game and the start think after each request; the project does not",
        ),
    ),
)
