"""A throughput series made ready for inference: cleaned samples on two axes, time and bytes.

Why: samples come equal in time, but a plateau's weight is the data that it took. A `Curve` holds
both running totals, so that any stretch can be named by its bytes and measured as bytes over time.

Invariants: `dt` is positive; times follow each other without a gap (a gap in the log becomes
samples without bytes: a stall is data); no byte of the input is lost; the totals have one entry
more than the samples and begin at 0. Units: seconds and bytes; rates are bytes a second.

Source of the numbers: a sample shorter than half of the usual length (`SHORT`) is a remainder whose
rate is mostly rounding, and joins its neighbour. Where nearly all samples hold the same bytes
(`ALIKE` of them within `ABOUT`), as in a log by the GB, length says speed, and only a sample that
is short of bytes too is a remainder. These shares are choices, the rest is arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flashtwin.analysis.quantiles import median

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHORT = 0.5
ALIKE, ABOUT = 0.9, 0.02
# Long series are searched for changes in so many pools of samples.
POOLS = 1500


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Samples of one direction: lengths in seconds, bytes in each."""

    dt: Floats
    size: Floats

    @cached_property
    def rate(self) -> Floats:
        """Bytes a second of each sample."""
        return self.size / self.dt

    @cached_property
    def time_at(self) -> Floats:
        """Seconds since the step began at the start of each sample, and at the very end."""
        return np.concatenate(([0.0], np.cumsum(self.dt)))

    @cached_property
    def bytes_at(self) -> Floats:
        """Bytes done at the start of each sample, and at the very end."""
        return np.concatenate(([0.0], np.cumsum(self.size)))

    def __len__(self) -> int:
        return int(self.dt.size)

    @property
    def total_bytes(self) -> float:
        """Everything that was written."""
        return float(self.bytes_at[-1])

    @property
    def total_s(self) -> float:
        """From the first request to the last completion."""
        return float(self.time_at[-1])

    def mean(self, first: int, last: int) -> float:
        """Bytes over time of the samples `first` to `last` (not included)."""
        seconds = self.time_at[last] - self.time_at[first]
        return float((self.bytes_at[last] - self.bytes_at[first]) / seconds) if seconds > 0 else 0.0

    def seconds_to(self, positions: Floats) -> Floats:
        """When so many bytes were done; bytes flow evenly within a sample."""
        index = np.searchsorted(self.bytes_at, positions, side="left").clip(1, len(self)) - 1
        inside = positions - self.bytes_at[index]
        share = np.divide(inside, self.size[index], out=np.zeros_like(inside), where=inside > 0)
        seconds: Floats = self.time_at[index] + share.clip(0.0, 1.0) * self.dt[index]
        return seconds

    def mean_between(self, start: float, end: float) -> float:
        """Bytes over time between two positions on the axis of bytes."""
        begin, finish = self.seconds_to(np.array([start, end]))
        seconds = float(finish - begin)
        return (end - start) / seconds if seconds > 0 else 0.0


def curve_of(t_ns: ArrayLike, dt_ns: ArrayLike, bytes_: ArrayLike) -> Curve:
    """Samples in the order of time, gaps filled with stalls, remainders joined to a neighbour."""
    start, length, size = (np.asarray(column, dtype=np.float64) for column in (t_ns, dt_ns, bytes_))
    if not start.shape == length.shape == size.shape or start.ndim != 1:
        shapes = f"{start.shape}, {length.shape}, {size.shape}"
        raise ValueError(f"columns of a series have to be equally long, not {shapes}")
    order = np.argsort(start, kind="stable")
    start, length, size = start[order], np.maximum(length[order], 0.0), size[order]
    if not np.any(length > 0):
        return Curve(dt=np.zeros(0), size=np.zeros(0))
    usual = median(length[length > 0])
    start, length, size = _with_stalls(start, length, size, usual)
    length, size = _joined(length, size, usual)
    return Curve(dt=length / 1e9, size=size)


def _with_stalls(
    start: Floats, length: Floats, size: Floats, usual: float
) -> tuple[Floats, Floats, Floats]:
    """Intervals that the log left out, as samples of at most the usual length and without bytes."""
    gap = start[1:] - (start[:-1] + length[:-1])
    holes = np.flatnonzero(gap > SHORT * usual)
    if holes.size == 0:
        return start, length, size
    # A log whose clock jumped by days would otherwise become millions of rows: at most 10,000.
    pieces = np.minimum(np.maximum(np.round(gap[holes] / usual), 1), 10_000).astype(np.int64)
    where = np.repeat(holes + 1, pieces)
    lengths = np.repeat(gap[holes] / pieces, pieces)
    starts = np.repeat(start[holes] + length[holes], pieces)
    return (
        np.insert(start, where, starts),
        np.insert(length, where, lengths),
        np.insert(size, where, 0.0),
    )


def _joined(length: Floats, size: Floats, usual: float) -> tuple[Floats, Floats]:
    """Samples with every remainder added to the sample before it (the first: to the one after)."""
    full_length = length >= SHORT * usual
    usual_size = median(size[size > 0]) if np.any(size > 0) else 0.0
    if np.mean(np.abs(size - usual_size) <= ABOUT * usual_size) >= ALIKE:
        full_length |= size >= SHORT * usual_size
    # A sample belongs to the last whole one before it; what precedes the first joins the first.
    group = np.maximum(np.cumsum(full_length) - 1, 0)
    totals = (np.bincount(group, weights=column) for column in (length, size))
    joined_length, joined_size = (total.astype(np.float64) for total in totals)
    return joined_length, joined_size


def pool_size(curve: Curve) -> int:
    """So many samples make a pool, for at most `POOLS` of them."""
    return -(-len(curve) // POOLS)


def pooled(curve: Curve, each: int) -> Curve:
    """Every `each` neighbouring samples as one; the last ones may be fewer."""
    starts = np.arange(0, len(curve), each)
    return Curve(dt=np.add.reduceat(curve.dt, starts), size=np.add.reduceat(curve.size, starts))


def in_equal_bytes(curve: Curve, first: float, last: float, count: int) -> Curve:
    """The stretch from `first` to `last` bytes in `count` bins of equal bytes.

    A saw-tooth or a stall shorter than a bin averages out here, and a bin weighs what it wrote.
    """
    edges = np.linspace(first, last, count + 1)
    moments = curve.seconds_to(edges)
    # The last edge takes a stall at the very end along, which no byte follows.
    if last >= curve.total_bytes:
        moments[-1] = curve.total_s
    seconds = np.maximum(np.diff(moments), 1e-9)
    return Curve(dt=seconds, size=np.diff(edges))
