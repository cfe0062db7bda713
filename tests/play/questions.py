"""Questions to the core of pages whose answers are known by their hash."""

from __future__ import annotations

import json
from typing import Any

from flashtwin.catalogue.loader import load

JOB = {
    "name": "write",
    "rw": "write",
    "block_bytes": 131072,
    "depth": 32,
    "host_ns": 5000,
    "seed": 1,
}
FILL = {"fill": {"from": 0, "to": 1}}
PAUSED = [
    {"fill": {"from": 0, "to": 0.5}},
    {"rest": {"ns": 31_000_000_000}},
    {"fill": {"from": 0.5, "to": 1}},
]
# Name: drive, scale, what is changed, steps.
QUESTIONS: dict[str, tuple[str, str, list[str], list[dict[str, Any]]]] = {
    "fill": ("bx500-240", "1/176", [], [FILL]),
    "direct": ("bx500-240", "1/176", ["slc_cache.when_full=direct"], [FILL]),
    "paused": ("bx500-240", "1/176", ["slc_cache.size=6 GB"], PAUSED),
    "random": ("bx500-240", "1/176", [], [FILL, {"overwrite": {"share": 0.05}}]),
    "nvme": ("samsung-980-1tb", "1/64", [], [{"fill": {"from": 0, "to": 0.25}}]),
}


def question(name: str) -> str:
    """One of them as JSON."""
    drive, scale, sets, steps = QUESTIONS[name]
    return json.dumps(
        {
            "spec": load(drive).to_toml(),
            "sets": sets,
            "scale": scale,
            "seed": 1,
            "sample_ns": 50_000_000,
            "job": JOB,
            "steps": steps,
        }
    )
