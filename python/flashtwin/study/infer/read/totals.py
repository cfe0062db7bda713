"""Bytes over time, of which nobody says whether they are those of an interval or since the start.

Their course says it: bytes that fall are those of intervals; bytes that never fall and end at many
times their largest step are running totals. What fits both, such as bytes that stay the same, is
open, and the name of the column decides.
"""

from __future__ import annotations

import numpy as np

from flashtwin.model.units import readable_gb as gb
from flashtwin.study.infer.read.header import is_total
from flashtwin.study.infer.read.series import Builder
from flashtwin.study.infer.samples import FEWEST, Floats, OpenError, UnreadableError

# A running total ends at this multiple of its largest step.
STEPS = 3.0
# A first value up to this multiple of a step is that of the first interval; one that was written
# since time 0 at up to this multiple of the fastest step's rate is a burst into a host's memory.
FIRST_STEP, FIRST_RATE = 1.5, 16.0


class Amounts:
    """The bytes of one column, in blocks."""

    def __init__(self, name: str, builder: Builder, *, total: bool | None = None) -> None:
        self._name, self._builder, self._total = name, builder, total
        self._done: float | None = None
        self._before = 0.0  # the bytes of a counter that began before the file

    def add(self, end: Floats, amount: Floats, degrees: Floats | None = None) -> None:
        """Bytes at, or up to, these times."""
        if self._total is None:
            self._total = self._is_total(amount)
        if not self._total:
            dt = self._builder.lengths(end)
            self._builder.add(dt, amount, degrees)
            return
        if self._done is None:
            self._done = 0.0
            is_step = amount.size > 1 and amount[0] <= FIRST_STEP * (amount[1] - amount[0])
            if not is_step and _began_at_0(end, amount):
                self._builder.begin(0.0)
            elif not is_step:
                # A counter that began before: of the time until its first row it says nothing.
                self._done = self._before = float(amount[0])
                self._builder.begin(float(end[0]))
                end, amount = end[1:], amount[1:]
                degrees = None if degrees is None else degrees[1:]
                if not end.size:
                    return
        size = np.diff(amount, prepend=self._done)
        if np.any(size < 0):
            raise UnreadableError(
                f"has a running total that becomes smaller: {self._name}",
                "hand over one file a run, with --join",
            )
        self._done = float(amount[-1])
        self._builder.counted(end, size, degrees)

    def finish(self) -> str:
        """How the bytes were read."""
        if not self._total:
            return "bytes of each interval"
        before = f", which began before the file at {gb(self._before)}" if self._before else ""
        return f"a running total{before}"

    def _is_total(self, amount: Floats) -> bool:
        steps = np.diff(amount)
        if steps.size == 0 or np.any(steps < 0):
            return False
        if amount.size >= FEWEST and amount[-1] - amount[0] > STEPS * steps.max() > 0:
            return True
        if is_total(self._name) and np.any(steps > 0):
            return True
        if not np.any(steps > 0) and not is_total(self._name):
            # The same bytes again and again are no total: nothing would have been written.
            return False
        raise OpenError(
            f"has bytes that may be those of each interval or since the start: {self._name}",
            "say it in the name of the column: written_total_GB, or GB_each",
        )


def _began_at_0(end: Floats, amount: Floats) -> bool:
    """True if a host's memory can have taken the first running total since time 0."""
    dt, steps = np.diff(end), np.diff(amount)
    if end[0] <= 0 or not np.all(dt > 0) or not steps.size:
        return False
    return bool(amount[0] <= FIRST_RATE * float((steps / dt).max()) * end[0])
