"""Intervals out of times and rates that come block by block, thinned where they are too many.

A series holds `MOST` samples at the end: of a longer one neighbours are added up as it is read, so
that a file of 256 MB takes no more memory than one of ten, and a note says it.

Invariants: no byte that was read is lost by thinning; times rise; a hole in the times is refused
and nothing is made up for it; what cannot be (rates of no drive, an exabyte, intervals below a
microsecond) is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flashtwin.analysis.quantiles import median
from flashtwin.model.units import readable_gb as gb
from flashtwin.model.units import readable_size
from flashtwin.study.infer.samples import Floats, Samples, UnreadableError

MOST = 1 << 14
# Bytes a second that no drive reaches, bytes that no drive holds, seconds that nobody measures.
FASTEST, LARGEST, LONGEST_S = 1e12, 1e18, 1e9
# An interval that is no stall, in seconds and usual ones; one that no program samples.
GAP_S, GAP_USUAL, SHORTEST_S = 600.0, 100.0, 1e-6
# A log has a hole where two rows are five usual intervals apart. A note tells of holes that hold a
# hundredth of all bytes.
HOLE_USUAL, HOLE_SHARE = 5.0, 0.01
# A log that has no rows of intervals without bytes lacks one where two are so many intervals apart.
IDLE_USUAL = 1.9
# Where a running total is rounded so that the bytes of an interval are fewer steps than this, as
# many neighbours are read as one. Bytes that differ by less of the largest are the same.
FEWEST_STEPS, SAME_SIZE = 30.0, 1e-6
# So many samples are left of them.
FEWEST_ROUNDED = 60
# Different times of rows that are summed.
MOST_STAMPS = 1 << 20
DOUBLED = "several jobs in one log are summed with --doubled"


class Builder:
    """A series as it is read: seconds and bytes of each interval, and its temperature."""

    def __init__(self) -> None:
        self._each = 1
        self._seen = 0
        self._columns: list[list[Floats]] = [[], [], []]
        self._waiting = [np.zeros(0)] * 3
        self._kept = 0
        self._usual_s: float | None = None
        self._end_s: float | None = None
        # All bytes so far; those in holes of the times with their places, and the longest of these
        # in seconds.
        self._total = self._hole_s = 0.0
        self._holes: list[tuple[float, float]] = []
        # The least by which the bytes of two intervals differ: the step of a rounded total.
        self._step = np.inf

    def add(self, dt: Floats, size: Floats, degrees: Floats | None = None) -> None:
        """Intervals that follow those before."""
        warm = np.full(dt.size, np.nan) if degrees is None else degrees
        self._seen += dt.size
        self._total += float(size.sum())
        blocks = [dt, size, warm * dt]
        if self._each > 1:
            blocks = self._pooled(blocks)
        for column, block in zip(self._columns, blocks, strict=True):
            column.append(block)
        self._kept += blocks[0].size
        if self._kept > 2 * MOST:
            self._thin(MOST)

    def timed(
        self, end: Floats, rate: Floats, degrees: Floats | None = None, *, skips_idle: bool = False
    ) -> None:
        """Rates of intervals that end at these times. `skips_idle`: whoever wrote the log leaves
        intervals without bytes out, so that a hole in the times is idle."""
        self._refuse_too_fast(rate)
        dt = self.lengths(end)
        usual = self._usual_s or 0.0
        if skips_idle:
            idle = np.where(dt >= IDLE_USUAL * usual, dt - usual, 0.0)
            dt, rate = (
                np.column_stack(pair).ravel() for pair in ((idle, dt - idle), (0.0 * rate, rate))
            )
            keep = dt > 0
            self.add(dt[keep], (rate * dt)[keep])
            return
        size = rate * dt
        hole = dt > HOLE_USUAL * usual
        places = self._total + np.cumsum(size) - size
        self._holes += zip(places[hole].tolist(), size[hole].tolist(), strict=True)
        self._hole_s = max(self._hole_s, float(dt[hole].max(initial=0.0)))
        self.add(dt, size, degrees)

    def counted(self, end: Floats, size: Floats, degrees: Floats | None = None) -> None:
        """Bytes of intervals that end at these times, out of a total that may be rounded."""
        own = np.unique(size[size > 0])
        apart = np.diff(own, prepend=0.0)
        if own.size > 1:
            self._step = min(self._step, float(apart[apart > SAME_SIZE * own[-1]].min()))
        self.add(self.lengths(end), size, degrees)

    @staticmethod
    def _refuse_too_fast(rate: Floats) -> None:
        fastest = float(rate.max(initial=0.0))
        if fastest > FASTEST:
            raise UnreadableError(
                f"has a rate of {fastest:.6g} bytes a second, more than any drive's",
                "check the unit of the column",
            )

    def rated(self, size: Floats, rate: Floats, degrees: Floats | None = None) -> None:
        """Bytes that were written at these rates, none of them 0."""
        if size.size:
            self._refuse_too_fast(rate)
            self.add(size / rate, size, degrees)

    def begin(self, at_s: float) -> None:
        """The series begins here, and not a usual interval before its first end."""
        self._end_s = at_s

    def lengths(self, end: Floats) -> Floats:
        """Seconds of the intervals that end at these times, each since the end before."""
        if self._usual_s is None:
            steps = np.diff(end)
            self._usual_s = median(steps) if steps.size else 1.0
        if self._end_s is None:
            # A log may begin at 0 with the end of nothing: its first interval is a usual one.
            early = end[0] < 0.5 * self._usual_s
            self._end_s = end[0] - self._usual_s if early else max(end[0] - self._usual_s, 0.0)
        dt: Floats = np.diff(end, prepend=self._end_s)
        self._check(dt, end)
        self._end_s = float(end[-1])
        return dt

    def _check(self, dt: Floats, end: Floats) -> None:
        usual = self._usual_s or 0.0
        twice = int((dt == 0).sum())
        if np.any(dt < 0):
            raise UnreadableError("has times that go back", "hand over one file a run, with --join")
        if twice:
            stamps = "1 time stamp that comes twice"
            stamps = stamps if twice == 1 else f"{twice} time stamps that come twice"
            raise UnreadableError(f"has {stamps}", DOUBLED)
        longest = int(np.argmax(dt))
        if dt[longest] > max(GAP_S, GAP_USUAL * usual):
            raise UnreadableError(
                f"has nothing for {dt[longest]:.6g} s before {end[longest]:.6g} s",
                "hand over the parts as files of their own, with --join",
            )
        if usual < SHORTEST_S:
            raise UnreadableError(
                f"has samples {usual:.3g} s apart, closer than any program takes them",
                "check the unit of the time",
            )

    def _pooled(self, blocks: list[Floats]) -> list[Floats]:
        """As many neighbours added up as before; the rest waits for those that follow."""
        together = [np.concatenate(pair) for pair in zip(self._waiting, blocks, strict=True)]
        groups = together[0].size // self._each * self._each
        self._waiting = [column[groups:] for column in together]
        return [column[:groups].reshape(-1, self._each).sum(axis=1) for column in together]

    def _thin(self, most: int) -> None:
        """Add up neighbours until at most `most` intervals are left."""
        columns = [np.concatenate(column) for column in self._columns]
        while columns[0].size > most:
            if columns[0].size % 2:
                # The last one has no neighbour yet.
                self._waiting = [
                    np.concatenate((column[-1:], waiting))
                    for column, waiting in zip(columns, self._waiting, strict=True)
                ]
            columns = [
                column[: column.size // 2 * 2].reshape(-1, 2).sum(axis=1) for column in columns
            ]
            self._each *= 2
        self._columns = [[column] for column in columns]
        self._kept = columns[0].size

    def _rounded(self, size: Floats) -> int:
        """How many neighbours have to be read as one, because the total is rounded."""
        moving = size[size > 0]
        if not np.isfinite(self._step) or not moving.size:
            return 1
        wanted = int(np.ceil(FEWEST_STEPS * self._step / median(moving)))
        return int(np.clip(wanted, 1, max(size.size // FEWEST_ROUNDED, 1)))

    def samples(self, columns: str, *, notes: Sequence[str] = (), reads: bool = False) -> Samples:
        """All of it."""
        if self._kept > MOST:
            self._thin(MOST)
        for column, waiting in zip(self._columns, self._waiting, strict=True):
            column.append(waiting.sum(keepdims=True)[: waiting.size])
        dt, size, warm = (np.concatenate(column) for column in self._columns)
        dt, size, warm = _without_slivers(dt, size, warm)
        rounded = self._rounded(size)
        if rounded > 1:
            dt, size, warm = _by(rounded, dt, size, warm)
            notes = (
                *notes,
                f"the running total goes in steps of {readable_size(self._step)}: "
                f"{rounded} neighbours are read as one",
            )
        end = np.cumsum(dt)
        if end.size and end[-1] > LONGEST_S:
            raise UnreadableError(
                f"lasts {end[-1]:.6g} s, longer than anybody measures", "check the unit of the time"
            )
        if size.sum() > LARGEST:
            raise UnreadableError(
                f"has {size.sum():.6g} bytes written, more than any drive holds",
                "check the units of the columns",
            )
        in_holes = sum(size for _, size in self._holes)
        if in_holes > HOLE_SHARE * size.sum():
            doubt = (
                f"rows are up to {self._hole_s:.6g} s apart, and the rate after such a hole counts "
                f"for all of it, {gb(in_holes)} in all: if nothing was written in it, or the "
                "clock was set, places after it are too large by that"
            )
            notes = (*notes, doubt)
        if self._each > 1:
            notes = (*notes, f"{self._seen:,} samples: {self._each} neighbours are read as one")
        degrees = warm / dt
        return Samples(
            end_s=end,
            dt_s=dt,
            size=size,
            columns=columns,
            reads=reads,
            degrees=degrees if dt.size and np.isfinite(degrees).all() else None,
            notes=tuple(notes),
            holes=tuple(self._holes),
        )


def _by(count: int, *columns: Floats) -> list[Floats]:
    """So many neighbours added up; the last ones may be fewer."""
    starts = np.arange(0, columns[0].size, count)
    return [np.add.reduceat(column, starts) for column in columns]


def _without_slivers(*columns: Floats) -> list[Floats]:
    """Intervals of less than a thousandth of the usual one, added to the one before."""
    dt = columns[0]
    if dt.size < 2:
        return list(columns)
    own = dt >= 1e-3 * median(dt)
    if own.all():
        return list(columns)
    group = np.maximum(np.cumsum(own) - 1, 0)
    return [np.bincount(group, weights=column).astype(np.float64) for column in columns]


class Doubled:
    """Rates of several jobs in one file, summed where their times are the same."""

    def __init__(self) -> None:
        self._end = np.zeros(0)
        self._rate = np.zeros(0)

    def add(self, end: Floats, rate: Floats) -> None:
        """Rows in any order."""
        stamps, index = np.unique(np.concatenate((self._end, end)), return_inverse=True)
        rates = np.bincount(index, weights=np.concatenate((self._rate, rate)))
        self._end, self._rate = stamps, rates.astype(np.float64)
        if stamps.size > MOST_STAMPS:
            raise UnreadableError(
                f"has more than {MOST_STAMPS:,} different times, too many to sum",
                "hand over one log a job; logs of several files are summed",
            )

    def into(self, builder: Builder) -> None:
        """The sums as a series."""
        if self._end.size:
            builder.timed(self._end, self._rate)


class Requests:
    """Bytes of single requests, added up by the time at which each ended."""

    BINS = 1 << 15
    # A sample wants so many requests, and a fill so many samples at most.
    REQUESTS, SAMPLES = 50, 2000

    def __init__(self) -> None:
        self._width = 1
        self._bins = np.zeros(self.BINS)
        self._count = 0
        self._last = 0

    def add(self, ms: Floats, size: Floats) -> None:
        """Requests in any order, times in whole milliseconds."""
        latest = int(ms.max())
        while latest >= self._width * self.BINS:
            self._width *= 2
            self._bins = np.concatenate(
                (self._bins.reshape(-1, 2).sum(axis=1), np.zeros(self.BINS // 2))
            )
        places = (ms // self._width).astype(np.int64)
        self._bins += np.bincount(places, weights=size, minlength=self.BINS)
        self._count += ms.size
        self._last = max(self._last, latest)

    def samples(self, columns: str, *, notes: Sequence[str], reads: bool) -> Samples:
        """The sums, in intervals with enough requests in each."""
        wanted = max(self._last / self.SAMPLES, self.REQUESTS * self._last / max(self._count, 1), 1)
        each = max(1, round(wanted / self._width))
        bins = self._bins[: self._last // self._width + 1]
        size = np.add.reduceat(bins, np.arange(0, bins.size, each))
        interval = each * self._width
        end = np.minimum(np.arange(1, size.size + 1) * interval, max(self._last, 1)).astype(float)
        if size.size > 1 and end[-1] - end[-2] < 0.5 * interval:
            size = np.append(size[:-2], size[-2] + size[-1])
            end = np.append(end[:-2], end[-1])
        builder = Builder()
        builder.add(np.diff(end, prepend=0.0) * 1e-3, size)
        summed = f"{self._count:,} requests, summed in intervals of {interval} ms"
        return builder.samples(columns, notes=(summed, *notes), reads=reads)
