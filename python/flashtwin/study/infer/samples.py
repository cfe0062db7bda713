"""A write series as `infer` takes it, a table of figures that is none, and why there is neither."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtwin.model.document import Document

FEWEST = 4

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Intervals one after another: seconds at their ends, seconds in each, bytes in each.

    `pattern`: how the file says that it was written, in fio's words. `reads`: the file has reads
    too, which ran beside the writes. `degrees`: the drive's temperature in °C at their ends, where
    the file has it. `notes`: what was left out, summed or thinned. `holes`: where the times have
    holes, in bytes, and how many bytes each has if the write went on in it. `pauses`: where pauses
    were left out, in bytes.
    """

    end_s: Floats
    dt_s: Floats
    size: Floats
    columns: str
    reads: bool = False
    degrees: Floats | None = None
    notes: tuple[str, ...] = ()
    pattern: str | None = None
    holes: tuple[tuple[float, float], ...] = ()
    pauses: tuple[float, ...] = ()


class Figure(Document, frozen=True):
    """One figure of a summary: what was measured, its value and unit."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Figures of a program that measures no series over time, by the program's name."""

    program: str
    figures: tuple[Figure, ...]
    why: str
    test: str


class UnreadableError(Exception):
    """Why a text holds no series, and what to do; whoever knows the file's name tells both."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.hint = hint


class NoWritesError(UnreadableError):
    """A readable series in which nothing was written: of a set of logs it may be left out."""


class OpenError(UnreadableError):
    """Two readings are open, and nobody said which of them is right."""
