"""What batteries that write sequentially have in common: the job, its samples, how much was fast.

Reviewers sample a fill twice a second. A small target is written in a few such samples, so it is
sampled more often; a scaled copy is sampled as often as its drive, by what is written. Invariants:
`measure` of a battery may use what is here without numpy; what reads a curve imports the analysis
when it is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.model.step import Job, Run

if TYPE_CHECKING:
    from flashtwin.analysis.curve import Curve
    from flashtwin.analysis.estimate import Estimate
    from flashtwin.analysis.shape import Shape
    from flashtwin.batteries.base.record import Record
    from flashtwin.model.target import DriveInfo

MIB = 1 << 20
GB = 1e9
SAMPLE_S = 0.5
# Below so many bytes half a second is too coarse: a small file is written in a few of them.
COARSE_BYTES = 50 * 10**9
SAMPLE_S_LEAST = 0.02
# AnandTech's pattern, at which no drive waits for the host.
BLOCK, DEPTH = 128 << 10, 32
# Fewer samples with data say nothing about a plateau.
FEWEST = 4
# A drop lasts where the median of so many samples from there on is slow: single ones are stalls.
LASTING = 5


def sample_s(info: DriveInfo) -> float:
    """The length of a sample on this target."""
    share = min(1.0, info.capacity_bytes / COARSE_BYTES, 1 / info.scale)
    return max(SAMPLE_S_LEAST, round(SAMPLE_S * share, 3))


def write(label: str, info: DriveInfo, *, offset: int, size: int, host_ns: int) -> Run:
    """One sequential write over a range, with samples short enough for its plateaus."""
    job = Job(
        name="write",
        rw="write",
        block_bytes=BLOCK,
        depth=DEPTH,
        offset=offset,
        size=size,
        host_ns=host_ns,
    )
    return Run(label=label, jobs=(job,), sample_s=sample_s(info))


def whole_blocks(count: float) -> int:
    """Bytes rounded down to whole mebibytes, which all blocks of a battery divide."""
    return int(count) // MIB * MIB


def curve_of(record: Record, label: str) -> Curve | None:
    """The writes of a step as a curve; none where there are too few samples to read."""
    from flashtwin.analysis import curve
    from flashtwin.model.series import WRITE

    result = record.result(label)
    if result is None:
        return None
    written = result.series.only(WRITE)
    if int((written.bytes > 0).sum()) < FEWEST:
        return None
    return curve.curve_of(written.t_ns, written.dt_ns, written.bytes)


@dataclass(frozen=True, kw_only=True)
class Burst:
    """A write whose first plateau ends: how much was fast, and the speeds before and after."""

    size: Estimate
    fast: Estimate
    slow: float

    @property
    def between(self) -> float:
        """The speed halfway between both, in bytes a second."""
        return (self.fast.value + self.slow) / 2


def burst_of(curve: Curve) -> Burst | str:
    """How much of a write was fast; a few words where that cannot be said."""
    from flashtwin.analysis.shape import shape_of

    shape = shape_of(curve)
    if shape.edge is None:
        return _without_end(shape, curve)
    start = shape.edge.place.high or shape.edge.place.value
    return Burst(
        size=shape.edge.place,
        fast=shape.head.speed,
        slow=curve.mean_between(min(start, curve.total_bytes * 0.999), curve.total_bytes),
    )


def _without_end(shape: Shape, curve: Curve) -> str:
    if shape.first_plateau.verdict == "swings":
        return "the speed swings from the beginning: no fast beginning can be told"
    if shape.first_plateau.verdict == "gradual":
        return "the speed falls little by little: there is no edge"
    return (
        f"the speed stays the same over all {curve.total_bytes / GB:.4g} GB: no cache, or one that"
        " is larger"
    )


def fast_part(curve: Curve, between: float) -> Estimate:
    """How many bytes were written before the speed fell below `between` for good.

    A sample or a few of stall do not end it (`LASTING`). The place is known to a sample either way.
    """
    import numpy as np

    from flashtwin.analysis.estimate import Estimate

    count = len(curve)
    windows = [np.median(curve.rate[at : at + LASTING]) for at in range(count)]
    slow = (curve.rate < between) & (np.array(windows) < between)
    at = int(np.argmax(slow)) if slow.any() else count
    # The sample in which the drop lies may hold some of both: it counts by its speed.
    ends = curve.bytes_at
    return Estimate(
        value=float(ends[at]), low=float(ends[max(at - 1, 0)]), high=float(ends[min(at + 1, count)])
    )
