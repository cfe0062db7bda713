"""The rates that a step of a run showed, and how far those of a small drive are from them.

What: the bytes of a write are cut into bins, and the logarithm of each bin's rate is compared; of a
read, or a write of little, the mean alone. How much neighbouring bins differ is noise, and so is
what the host does to the first seconds of a write.

Invariants: only what a host sees is used; stalls without a byte are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.analysis.curve import Curve, curve_of, in_equal_bytes
from flashtwin.hypothesis import distance
from flashtwin.model.fio_job import Syncs
from flashtwin.model.job import Job
from flashtwin.model.series import TRIM

Floats = NDArray[np.float64]

WHOLE_SHARE = 0.9
# The standard deviation of the logarithm of one read's time where some data lies in SLC mode and
# some does not, or is being folded.
READS_DIFFER = 1.0
# The least shares of the capacity from which a sequential and a random write are compared as
# curves. A shorter random write swings with the data that it happens to meet; its mean shows more.
CURVE_SHARE, RANDOM_CURVE_SHARE = 0.02, 0.15
BINS_FILL, BINS_CURVE, BINS_RANDOM = 96, 32, 12
# The least share of the capacity in a bin of a write that is no fill: some six superblocks of the
# small copy. In smaller bins each superblock's beginning would show.
LEAST_BIN = 0.01
# A fill's beginning is compared once more, in finer bins: there small caches end.
BEGINNING, BINS_BEGINNING = 1 / 24, 24
# A host makes the first seconds of a write slower or faster: by a deviation of this share where no
# more than those are compared.
BEGINS_OFF, BEGINNING_S = 0.13, 6.0
# The number of independent values that a curve counts as. A step with a single rate counts as less
# than one.
FILL_COUNTS, CURVE_COUNTS, RANDOM_COUNTS, RATE_COUNTS = 24.0, 8.0, 8.0, 0.7
BEGINNING_COUNTS = 6.0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """The rates of a step, as logarithms of bytes a second, and how much they count.

    `noise`: the standard deviation of each; `common`: that of what all of them have in common.
    `until`: the part of the step that they cover, as a share from its beginning.
    """

    label: str
    at: int
    rate: tuple[float, ...]
    noise: tuple[float, ...]
    counts: float
    until: float = 1.0
    common: float = 0.0

    def apart(self, rate: Floats) -> Floats:
        """Distances to other rates in units of the noise, weighted so that a step with all of them
        at 1 adds `counts` to the misfit, and less where they are so in common."""
        noise = np.array(self.noise)
        distances = distance.signed(rate - np.array(self.rate), noise)
        # The mean of independent values against what they have in common.
        more = self.counts * self.common**2 / float(np.mean(np.square(noise)))
        distances -= float(distances.mean()) * (1 - 1 / math.sqrt(1 + more))
        return distances * math.sqrt(self.counts / rate.size)


def waits(job: Job) -> bool:
    """True if the job waits for the flash, by a flush or by FUA."""
    return job.sync or (job.fio is not None and job.fio.syncs != Syncs())


def curve_seen(
    label: str, at: int, curve: Curve, jobs: Sequence[Job], capacity: int, share: float
) -> list[Seen]:
    """The rates of the first `share` of a step's bytes; `at`: which step of its chapter it is."""
    random = any(job.rw == "randwrite" for job in jobs)
    least = (RANDOM_CURVE_SHARE if random else CURVE_SHARE) * capacity
    writes = any(job.rw in ("write", "randwrite") for job in jobs)
    (seconds,) = curve.seconds_to(np.array([share * curve.total_bytes]))
    begins = BEGINS_OFF * min(1.0, BEGINNING_S / float(seconds))
    # A write that waits for the flash meets no buffer of the host's.
    common = begins if writes and not any(waits(job) for job in jobs) else 0.0
    if not writes or curve.total_bytes < least:
        rate = curve.mean_between(0.0, share * curve.total_bytes)
        return [rate_seen(label, at, rate, _noise_of_few(jobs, curve), common)]

    def parts(bins: int, noise: float, counts: float, until: float = 1.0) -> Seen:
        rates = binned(curve, bins, share * until)
        return Seen(
            label=label,
            at=at,
            rate=tuple(float(rate) for rate in rates),
            noise=(distance.with_swings(noise, rates),) * len(rates),
            counts=counts,
            until=until,
            common=common,
        )

    if random:
        return [parts(BINS_RANDOM, distance.RANDOM_NOISE, RANDOM_COUNTS)]
    if at > 0 or curve.total_bytes < WHOLE_SHARE * capacity:
        bins = int(np.clip(curve.total_bytes / (LEAST_BIN * capacity), 2, BINS_CURVE))
        return [parts(bins, distance.CURVE_NOISE, CURVE_COUNTS * bins / BINS_CURVE)]
    fill = [parts(BINS_FILL, distance.FILL_NOISE, FILL_COUNTS)]
    samples = int((np.cumsum(curve.size) < BEGINNING * curve.total_bytes).sum())
    if samples >= BINS_BEGINNING:
        fill.append(parts(BINS_BEGINNING, distance.FILL_NOISE, BEGINNING_COUNTS, BEGINNING))
    return fill


def _noise_of_few(jobs: Sequence[Job], curve: Curve) -> float:
    """The standard deviation of the mean of a few reads, in its logarithm."""
    if any(job.rw != "randread" for job in jobs):
        return 0.0
    return READS_DIFFER / math.sqrt(max(curve.total_bytes / jobs[0].block_bytes, 1.0))


def rate_seen(
    label: str, at: int, rate: float, by_chance: float = 0.0, common: float = 0.0
) -> Seen:
    """A mean rate alone, in bytes a second; `by_chance`: what it varies by beside the usual."""
    return Seen(
        label=label,
        at=at,
        rate=(float(np.log(rate)),),
        noise=(math.hypot(distance.CURVE_NOISE, by_chance),),
        counts=RATE_COUNTS,
        common=common,
    )


def binned(curve: Curve, bins: int, until: float = 1.0) -> Floats:
    """Logarithms of the rate in `bins` bins of equal bytes over the first `until` of the curve."""
    end = until * curve.total_bytes
    if bins == 1:
        rate = np.array([curve.mean_between(0.0, end)])
    else:
        rate = in_equal_bytes(curve, 0.0, end, bins).rate
    result: Floats = np.log(np.maximum(rate, 1.0))
    return result


def curve_of_columns(series: Mapping[str, Any]) -> Curve:
    """The curve of a series' columns: rows of one interval in several directions are added up."""
    keep = np.asarray(series["direction"]) != TRIM
    start, length, size = (np.asarray(series[name])[keep] for name in ("t_ns", "dt_ns", "bytes"))
    if start.size == 0:
        return Curve(dt=np.zeros(0), size=np.zeros(0))
    at, row = np.unique(start, return_inverse=True)
    lengths = np.zeros(at.size, dtype=np.int64)
    np.maximum.at(lengths, row, length)
    return curve_of(at, lengths, np.bincount(row, weights=size.astype(np.float64)))
