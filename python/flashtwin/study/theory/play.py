"""A twin of a law, played through the core: one job at a time, and its counters at the end of it.

The laws speak of bytes and of programs, so they read the core's own answers and not the results of
a battery.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flashtwin._core import Twin

SAMPLE_NS = 20 * 10**6
SECOND_NS = 10**9

# Bytes and nanoseconds of the job so far; false stops it.
Watch = Callable[[int, int], bool]
Xray = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class Sides:
    """What a law says and what the drive does, in the law's unit."""

    expected: float
    found: float


def run(twin: Twin, watch: Watch, *, sample_ns: int = SAMPLE_NS, **job: Any) -> Any:
    """Carries out a job to its end; the core's answer."""
    return twin.run(json.dumps([{"name": "theory", **job}]), sample_ns, watch)


def last(xray: Xray, name: str) -> float:
    """A counter at the end."""
    return float(xray[name][-1])


def now(twin: Twin, watch: Watch, name: str) -> float:
    """A counter as it is."""
    return last(twin.rest(1, 1, watch)["xray"], name)
