"""A write series as `infer` takes it, and why there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST = 4

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Intervals one after another: seconds at their ends, seconds in each, bytes in each.

    `reads`: the file has reads too, which ran beside the writes. `degrees`: the drive's temperature
    in °C at their ends, where the file has it.
    """

    end_s: Floats
    dt_s: Floats
    size: Floats
    columns: str
    reads: bool = False
    degrees: Floats | None = None


class UnreadableError(Exception):
    """Why a text holds no series, and what to do; whoever knows the file's name tells both."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.hint = hint
