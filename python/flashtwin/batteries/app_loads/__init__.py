"""app_loads: what somebody waits for: a large project, a game and a start of the system.

Trust P for what the BX500 article timed (a project of 16.5 GB, Final Fantasy XIV, a start); the
mixes are synthetic, see mixes.toml. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from flashtwin.batteries.base import meaning, traces
from flashtwin.batteries.base.registry import Battery, Clause
from flashtwin.batteries.base.traces import Parameters, Traces

NAME = "app_loads"
TRACES = Traces.beside(__file__, NAME, "time")

BATTERY = Battery(
    name=NAME,
    title="loading a project of 16.5 GB, loading a game, starting the system: synthetic reads",
    trust="P",
    parameters=Parameters,
    measure=TRACES.measure,
    conclude=TRACES.conclude,
    departs=TRACES.departs,
    parts=TRACES.parts,
    present="flashtwin.batteries.app_loads.present",
    meanings=partial(meaning.read, Path(traces.__file__).with_suffix(".toml")),
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
