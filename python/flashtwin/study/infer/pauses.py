"""A series without the times in which nobody wrote: before it, after it, and pauses in it.

What: a log of a meter goes on when the write has ended, and a host that waits writes nothing. Such
stretches are taken out, with a note; of those in the middle only a few that are longer than any
stall that an analysis reads as one. More of them are the drive's own.

Invariants: no byte is lost but those of idle rows, which have less than a five-hundredth of the
usual rate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flashtwin.analysis.interruptions import DEAD_S, SINGLE, ranges_of
from flashtwin.analysis.quantiles import median
from flashtwin.model.units import readable_gb as gb
from flashtwin.model.units import readable_seconds
from flashtwin.study.infer.samples import Samples

# A row is idle below both this share of the usual rate and this rate in bytes a second: a file
# system writes a little while nobody does, and a worn or shingled drive may become very slow.
IDLE, IDLE_RATE = 0.002, 1e6
# Bytes added up in another order give sums that differ by rounding, by less than this share.
EXACT = 1e-9


def without_pauses(samples: Samples) -> Samples:
    """The series between its first and its last byte, without its few pauses."""
    rate = samples.size / samples.dt_s
    if not (rate > 0).any():
        return samples
    most = min(IDLE * median(rate[rate > 0]), IDLE_RATE)
    idle = ranges_of(rate < most)
    count = rate.size
    time_at = np.concatenate(([0.0], np.cumsum(samples.dt_s)))
    middle = [
        (first, last)
        for first, last in idle
        if first > 0 and last < count and time_at[last] - time_at[first] > DEAD_S
    ]
    pauses = middle if len(middle) <= SINGLE else []
    ends = [(first, last) for first, last in idle if first == 0 or last == count]
    keep = np.ones(count, dtype=np.bool_)
    for first, last in (*ends, *pauses):
        keep[first:last] = False
    if keep.all():
        return samples
    done = np.concatenate(([0.0], np.cumsum(samples.size)))
    notes = [
        f"nothing was written for {readable_seconds(time_at[last] - time_at[first])} from "
        f"{gb(done[first])} on: left out, as a pause of the host, in which a cache is emptied; a "
        "drive that froze looks the same"
        for first, last in pauses
    ]
    idle_s = sum(float(time_at[last] - time_at[first]) for first, last in ends)
    if idle_s:
        notes.append(f"{readable_seconds(idle_s)} without writes at the ends: left out")
    return replace(
        samples,
        end_s=np.cumsum(samples.dt_s[keep]),
        dt_s=samples.dt_s[keep],
        size=samples.size[keep],
        degrees=None if samples.degrees is None else samples.degrees[keep],
        notes=(*samples.notes, *notes),
        pauses=tuple(float(done[first]) for first, _ in pauses),
    )


def up_to(samples: Samples, end: float) -> Samples:
    """The series up to so many bytes, at which a sample ends."""
    count = int(np.searchsorted(np.cumsum(samples.size), end * (1 - EXACT))) + 1
    return replace(
        samples,
        end_s=samples.end_s[:count],
        dt_s=samples.dt_s[:count],
        size=samples.size[:count],
        degrees=None if samples.degrees is None else samples.degrees[:count],
        pauses=(),
    )
