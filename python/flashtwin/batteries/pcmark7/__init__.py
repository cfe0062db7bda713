"""pcmark7: PCMark-7-like, the seven traces of its storage suite without think time.

Trust P for the traces' names and the raw score without think time; the mixes are synthetic, see
mixes.toml. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.registry import Clause
from flashtwin.batteries.base.traces import Traces

NAME = "pcmark7"
TRACES = Traces.beside(__file__, NAME, "PCMark-7-like", "bandwidth")

BATTERY = TRACES.as_battery(
    "PCMark-7-like: seven synthetic traces of everyday work, their bandwidths and raw score",
    presets={"steady": {"state": "steady"}, "three": {"passes": "3"}},
    follows=(
        Clause(
            says="Windows Defender, importing pictures, video editing, Media Center, adding music,"
            " starting applications, gaming",
            source="PCMark 7 (P)",
        ),
        Clause(
            says="raw score: without think time",
            source="PCMark 7 (P)",
            here="geometric mean of the parts' bandwidths in MB/s",
        ),
        Clause(
            says="recorded traces", source="closed", here="synthetic mixes, frozen in mixes.toml"
        ),
        Clause(
            says="on a drive in steady state",
            source="the OCZ Vertex article (P)",
            here="preset steady: everything is written twice before",
        ),
    ),
)
