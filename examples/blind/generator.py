"""A generator for `flashtwin blind --generator`: drives of two plateaus, with noise of heavy tails.

The least that the interface asks for, to start from: a series and the truth behind it, from a seed
and a number alone; docs/guides/blind.md has the keys. `tests/study/synthetic.py` draws more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SAMPLE_S = 1.0


def generate(seed: int, number: int) -> dict[str, Any]:
    """One drive."""
    rng = np.random.default_rng((seed, number))
    capacity = int(rng.choice([250, 500, 1000, 2000])) * 10**9
    fast = float(rng.uniform(500e6, 5000e6))
    slow = fast / float(rng.uniform(1.5, 8.0))
    cache = float(rng.uniform(0.1, 0.4)) * capacity
    # Each byte's moment without noise, then samples whose lengths a busy host stretches: time
    # changes and bytes do not, so that a place in bytes stays true.
    seconds = cache / fast + (capacity - cache) / slow
    edges = np.append(np.arange(0.0, seconds, SAMPLE_S), seconds)
    done = np.round(np.interp(edges, [0.0, cache / fast, seconds], [0.0, cache, capacity]))
    stretched = 1.0 + np.abs(0.02 * rng.standard_t(3, edges.size - 1))
    dt_ns = np.round(np.diff(edges) * stretched * 1e9).astype(np.int64)
    slower = float(stretched.mean())
    return {
        "name": f"two plateaus {number}",
        "t_ns": np.concatenate(([0], np.cumsum(dt_ns)[:-1])),
        "dt_ns": dt_ns,
        "bytes": np.diff(done).astype(np.int64),
        "capacity_bytes": capacity,
        "truth": {
            "design": "two plateaus",
            "visible": True,
            "cache_bytes": cache,
            "fold_bytes": None,
            "plateaus": [[0.0, cache, fast / slower], [cache, capacity, slow / slower]],
        },
    }
