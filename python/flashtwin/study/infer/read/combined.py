"""Several series as one: logs of jobs that ran at once, or of runs one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from flashtwin.study.infer.samples import Floats, Samples


def summed(parts: Sequence[Samples]) -> Samples:
    """Logs of jobs that ran side by side, on the intervals of the one that lasts longest.

    The temperatures of the first that has any count: it is one drive.
    """
    longest = max(parts, key=lambda part: float(part.end_s[-1]))
    edges = np.concatenate(([0.0], longest.end_s))
    size = np.zeros(longest.end_s.size)
    for part in parts:
        done = np.concatenate(([0.0], np.cumsum(part.size)))
        size += np.diff(np.interp(edges, np.concatenate(([0.0], part.end_s)), done))
    warm = next((part for part in parts if part.degrees is not None), None)
    degrees = None
    if warm is not None and warm.degrees is not None:
        degrees = np.interp(longest.end_s, warm.end_s, warm.degrees)
    return replace(
        longest,
        size=size,
        columns=parts[0].columns,
        reads=any(part.reads for part in parts),
        degrees=degrees,
        notes=_notes(parts),
    )


def joined(parts: Sequence[Samples]) -> Samples:
    """Runs one after another, without the time between them."""
    ends, begin = [], 0.0
    written = [float(part.size.sum()) for part in parts]
    for part in parts:
        ends.append(part.end_s + begin)
        begin += float(part.end_s[-1])
    return Samples(
        end_s=np.concatenate(ends),
        dt_s=np.concatenate([part.dt_s for part in parts]),
        size=np.concatenate([part.size for part in parts]),
        columns=parts[0].columns,
        reads=any(part.reads for part in parts),
        degrees=_joined_degrees(parts),
        notes=_notes(parts),
        holes=tuple(
            (at + before, size)
            for part, before in zip(parts, np.cumsum([0.0, *written[:-1]]).tolist(), strict=True)
            for at, size in part.holes
        ),
    )


def _notes(parts: Sequence[Samples]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for part in parts for note in part.notes))


def _joined_degrees(parts: Sequence[Samples]) -> Floats | None:
    """The temperatures of all runs; none where one of them has none."""
    degrees = [part.degrees for part in parts if part.degrees is not None]
    return np.concatenate(degrees) if len(degrees) == len(parts) else None
