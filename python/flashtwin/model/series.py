"""The host-visible time series: one row a sample interval and direction.

Columns (numpy arrays of one length): `t_ns` the interval's start on the drive's clock since the
step began, `dt_ns` its length (the last one may be shorter), `direction` 0 read, 1 write, 2 trim,
`ios`, `bytes`, `lat_sum_ns`, `lat_min_ns`, `lat_max_ns`. An interval without a completed request of
a direction that the step uses has a row with zeros: a stall is data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from flashtwin.model.lazy import Lazy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

READ, WRITE, TRIM = 0, 1, 2
COLUMNS = ("t_ns", "dt_ns", "direction", "ios", "bytes", "lat_sum_ns", "lat_min_ns", "lat_max_ns")

Ints: TypeAlias = "NDArray[np.int64]"
# Of a latency histogram: the count of each of fio's buckets.
Counts: TypeAlias = "NDArray[np.uint64]"


@dataclass(frozen=True, kw_only=True)
class Series:
    """Arrays of int64, equally long; see the module's text for what each holds."""

    t_ns: Ints
    dt_ns: Ints
    direction: Ints
    ios: Ints
    bytes: Ints
    lat_sum_ns: Ints
    lat_min_ns: Ints
    lat_max_ns: Ints

    @staticmethod
    def empty() -> Series:
        """A series without a row, for steps in which the host asks for nothing."""
        return Series(**{name: np.zeros(0, dtype=np.int64) for name in COLUMNS})

    def only(self, direction: int) -> Series:
        """The rows of one direction."""
        keep = self.direction == direction
        return Series(**{name: getattr(self, name)[keep] for name in COLUMNS})
