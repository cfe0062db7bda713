"""threedmark: 3DMark-like, the seven traces of its storage benchmark.

Trust P for the traces' names and the way of scoring; the mixes are synthetic, see mixes.toml, and
one share of theirs was set by a published outcome. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.registry import Clause
from flashtwin.batteries.base.traces import Traces

NAME = "threedmark"
TRACES = Traces.beside(__file__, NAME, "3DMark-like")

BATTERY = TRACES.as_battery(
    "3DMark-like: synthetic traces of loading, recording, installing, saving, copying games",
    presets={"three": {"passes": "3"}, "half-full": {"fill_percent": "50"}},
    follows=(
        Clause(
            says="three game loads, recording while playing, an install, a save, a copy of a game's"
            " folder",
            source="3DMark's storage benchmark (P)",
            here="the same parts, and 8 GB of a folder",
        ),
        Clause(
            says="score of bandwidth and mean access time, three passes",
            source="3DMark (P)",
            here="geometric mean of MB/s and 1/s; one pass, preset three has three",
        ),
        Clause(
            says="recorded traces",
            source="closed",
            here="synthetic mixes, frozen in mixes.toml; the share of small writes was set by the"
            " BX500 article's row",
        ),
    ),
)
