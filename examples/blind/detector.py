"""A detector for `flashtwin blind --detector`: two plateaus, cut where their levels part best.

The least that the interface asks for, to start from. It is handed three arrays of equal length and
the capacity, and answers with a dict; docs/guides/blind.md has the keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
CONTRAST = 1.25


def detect(t_ns: Ints, dt_ns: Ints, bytes: Ints, capacity_bytes: int) -> dict[str, Any]:
    """Where a fill's first plateau ends, by least squares on the logarithm of the speed."""
    seconds = dt_ns / 1e9
    speed = np.log(np.maximum(bytes / seconds, 1e3))
    count = np.arange(1, speed.size)
    total = np.cumsum(speed)
    before, after = total[:-1] / count, (total[-1] - total[:-1]) / (speed.size - count)
    cut = int(np.argmax(count * (speed.size - count) * (before - after) ** 2)) + 1
    written = float(bytes.sum())
    first, rest = bytes[:cut].sum() / seconds[:cut].sum(), bytes[cut:].sum() / seconds[cut:].sum()
    if first < CONTRAST * rest:
        mean = written / float(seconds.sum())
        return {"cache": False, "plateaus": [[0.0, written, mean, 0.98 * mean, 1.02 * mean]]}
    end = float(bytes[:cut].sum())
    sample = float(bytes[cut - 1])
    return {
        "cache": True,
        "cache_bytes": [end, end - sample, end + sample],
        "plateaus": [
            [0.0, end, first, 0.98 * first, 1.02 * first],
            [end, written, rest, 0.98 * rest, 1.02 * rest],
        ],
    }
