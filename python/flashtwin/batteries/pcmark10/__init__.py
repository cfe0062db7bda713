"""pcmark10: PCMark-10-like, the 23 traces of its full system drive benchmark.

Trust P for the traces' names, the copies, 204 GB written in three passes and the score; the mixes
are synthetic, see mixes.toml. The host's time a command is a prior: 20 us.
"""

from __future__ import annotations

from flashtwin.batteries.base.registry import Clause
from flashtwin.batteries.base.traces import Traces

NAME = "pcmark10"
TRACES = Traces.beside(__file__, NAME, "PCMark-10-like")

BATTERY = TRACES.as_battery(
    "PCMark-10-like: 23 synthetic traces of office, creation, games and copies; its score",
    presets={"three": {"passes": "3"}, "half-full": {"fill_percent": "50"}},
    follows=(
        Clause(
            says="23 traces, three times, 204 GB written in all",
            source="PCMark 10's full system drive benchmark (P)",
            here="68 GB a pass; one pass, preset three has three",
        ),
        Clause(
            says="score: geometric mean of bandwidth and of one over the mean access time",
            source="PCMark 10 (P)",
            here="the same of MB/s and 1/s, over all parts",
        ),
        Clause(
            says="recorded traces",
            source="closed",
            here="synthetic mixes, frozen in mixes.toml; copies as a file system sends them",
        ),
        Clause(
            says="only the time with outstanding requests counts",
            source="PCMark 10 (P)",
            here="nothing thinks between requests",
        ),
    ),
)
