"""What a drive draws, from the samples of a meter between host and drive.

The mean is energy over time, so long samples count for more; its interval is that of correlated
samples (`analysis.estimate`), as for a speed: joules take the place of bytes. The most is the
largest sample: what a meter shows as peak depends on how often it samples, so it carries no
interval. Microwatts and nanoseconds in, watts and megabytes a joule out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.estimate import Estimate, speed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, kw_only=True)
class Readings:
    """Samples of a meter: the length of each in seconds, and the watts in it."""

    seconds: Floats
    watts: Floats

    @staticmethod
    def of(dt_ns: ArrayLike, power_uw: ArrayLike) -> Readings:
        """Samples as a meter gives them."""
        seconds, watts = (np.asarray(column, dtype=np.float64) for column in (dt_ns, power_uw))
        return Readings(seconds=seconds / 1e9, watts=watts / 1e6)

    def from_share(self, share: float) -> Readings:
        """The samples that begin at or after this share of the time; the last one at least."""
        begin = np.append(0.0, np.cumsum(self.seconds)[:-1])
        late = begin >= share * float(self.seconds.sum())
        late[-1:] = True
        return Readings(seconds=self.seconds[late], watts=self.watts[late])

    def mean(self) -> Estimate | None:
        """Mean watts; none without a sample."""
        drawn = Curve(dt=self.seconds, size=self.seconds * self.watts)
        return speed(drawn, [(0, self.seconds.size)])

    def most(self) -> Estimate | None:
        """Watts of the sample that drew most."""
        if not self.watts.size:
            return None
        return Estimate(value=float(self.watts.max()), low=None, high=None)

    def efficiency(self, moved_bytes: int) -> Estimate | None:
        """Megabytes (10^6) moved for each joule; the interval is that of the power."""
        power = self.mean()
        if power is None or power.value <= 0 or not moved_bytes:
            return None
        rate = moved_bytes / 1e6 / float(self.seconds.sum())
        low = rate / power.high if power.high else None
        high = rate / power.low if power.low else None
        return Estimate(value=rate / power.value, low=low, high=high)
