"""What a drive draws, from the samples of a meter between host and drive.

The mean is energy over time, so long samples count for more; its interval is that of correlated
samples (`estimate`), as for a speed: joules take the place of bytes. The most is the largest
sample: what a meter shows as peak depends on how often it samples, so it carries no interval.

Invariants: knows arrays and nothing of where they come from. Microwatts and nanoseconds in, watts
and megabytes a joule out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from flashtwin.analysis.curve import Curve, Floats
from flashtwin.analysis.estimate import Estimate, speed


@dataclass(frozen=True, kw_only=True)
class Readings:
    """Samples of a meter: seconds, and the watts in each."""

    seconds: Floats
    watts: Floats

    def __len__(self) -> int:
        return int(self.seconds.size)

    @property
    def joules(self) -> float:
        """Everything that was drawn."""
        return float(self.seconds @ self.watts)

    def from_share(self, share: float) -> Readings:
        """The samples that begin at or after this share of the time; the last one at least."""
        begin = np.append(0.0, np.cumsum(self.seconds)[:-1])
        late = begin >= share * float(self.seconds.sum())
        late[-1:] = True
        return Readings(seconds=self.seconds[late], watts=self.watts[late])


def readings(dt_ns: ArrayLike, power_uw: ArrayLike) -> Readings:
    """Samples as a meter gives them, in floats of seconds and watts."""
    return Readings(
        seconds=np.asarray(dt_ns, dtype=np.float64) / 1e9,
        watts=np.asarray(power_uw, dtype=np.float64) / 1e6,
    )


def mean(of: Readings) -> Estimate | None:
    """Mean watts; none without a sample."""
    drawn = Curve(dt=of.seconds, size=of.seconds * of.watts)
    return speed(drawn, [(0, len(of))]) if len(of) else None


def most(of: Readings) -> float | None:
    """Watts of the sample that drew most."""
    return float(of.watts.max()) if len(of) else None


def efficiency(of: Readings, moved_bytes: int) -> Estimate | None:
    """Megabytes (10^6) moved for each joule; the interval is that of the power."""
    power, seconds = mean(of), float(of.seconds.sum())
    if power is None or power.value <= 0 or not moved_bytes:
        return None
    rate = moved_bytes / 1e6 / seconds
    low = rate / power.high if power.high else None
    high = rate / power.low if power.low else None
    return Estimate(value=rate / power.value, low=low, high=high)
