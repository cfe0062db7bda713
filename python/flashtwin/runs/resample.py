"""A series over data instead of over time: how long each GB took, as AnandTech's plots have it.

Within a sample the rate is taken as even, which is all that a sample says. Invariant: a stall
counts for the grain that waited for it, and all the time of the series is in the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GB = 10**9


@dataclass(frozen=True, kw_only=True)
class Grains:
    """One row a grain of data: where it ends, its size (the last may be smaller), its time."""

    end_bytes: NDArray[np.int64]
    bytes: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @property
    def mb_s(self) -> NDArray[np.float64]:
        """10^6 bytes a second."""
        return self.bytes / self.seconds / 1e6


def by_bytes(
    t_ns: NDArray[np.int64],
    dt_ns: NDArray[np.int64],
    bytes_: NDArray[np.int64],
    grain_bytes: int = GB,
) -> Grains:
    """The samples of one direction cut anew, at every `grain_bytes` of data."""
    moved = bytes_ > 0
    amount = bytes_[moved]
    after = np.cumsum(amount)
    total = int(after[-1]) if len(after) else 0
    ends = np.append(np.arange(grain_bytes, total, grain_bytes, dtype=np.int64), total)
    if not total:
        return Grains(end_bytes=ends[:0], bytes=ends[:0], seconds=np.zeros(0))
    row = np.searchsorted(after, ends, side="left")
    share = 1.0 - (after[row] - ends) / amount[row]
    reached_ns = t_ns[moved][row] + share * dt_ns[moved][row]
    # What comes after the last byte (a drive that still answers nothing) is the last grain's.
    reached_ns[-1] = max(float(reached_ns[-1]), float(t_ns[-1] + dt_ns[-1]))
    return Grains(
        end_bytes=ends,
        bytes=np.diff(ends, prepend=0),
        seconds=np.diff(reached_ns, prepend=float(t_ns[0])) / 1e9,
    )
