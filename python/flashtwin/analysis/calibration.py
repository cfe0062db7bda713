"""Intervals widened until they hold as often as they say, on drives whose inside is known.

What: an interval from one series knows its noise, and nothing of what stands between series and
drive: how much a buffer or a superblock moves an edge, what heat and a journal leave behind. Split
conformal scaling (Lei and others 2018) asks drives with known truth how far off answers were, in
units of the interval's own half-width plus a share of the value and of a sample: the 95 % quantile
is the factor. Of an own half-width only a small share of the value is scaled: what is wide already
holds as it is. `calibration.toml` has the factors and how they were made.

Invariants: no interval gets narrower and none has no width; values stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from flashtwin.analysis.curve import Curve
from flashtwin.analysis.edges import Edge
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.quantiles import median
from flashtwin.analysis.shape import Plateau, Shape
from flashtwin.inputs import read_toml

Kind = Literal["cache", "fold", "speed", "bound"]
DATA = Path(__file__).with_name("calibration.toml")
# An interrupted sample took this many times as long as without its interruption.
INTERRUPTED = 1.1


@cache
def _factors(kind: Kind) -> tuple[float, float, float, float]:
    """Scale, share of the value, share of a sample, and the share of the value up to which the
    interval's own half-width is scaled."""
    table = read_toml(DATA)[kind]
    scale, share, samples, most = (table[key] for key in ("scale", "share", "samples", "most"))
    return float(scale), float(share), float(samples), float(most)


def widened(estimate: Estimate, kind: Kind, *, sample_bytes: float = 0.0) -> Estimate:
    """The estimate with the interval that holds; `sample_bytes` are those of a sample there."""
    scale, share, samples, most = _factors(kind)
    value = estimate.value
    least = share * abs(value) + samples * sample_bytes
    low = value if estimate.low is None else estimate.low
    high = value if estimate.high is None else estimate.high
    below, above = (
        max(scale * (min(own, most * abs(value)) + least), own)
        for own in (value - low, high - value)
    )
    return Estimate(value=value, low=max(value - below, 0.0), high=value + above)


def bound(smallest_visible: float, total: float) -> float:
    """No cache larger than this was there, where none was seen."""
    return min(_factors("bound")[0] * smallest_visible, total)


def sample_at(curve: Curve, place: float) -> float:
    """The bytes of a usual sample around a place."""
    at = int(np.clip(np.searchsorted(curve.bytes_at, place), 0, len(curve) - 1))
    return median(curve.size[max(at - 3, 0) : at + 3])


def widened_shape(shape: Shape, curve: Curve) -> Shape:
    """The shape with the intervals that hold: of each speed, and of each edge in bytes."""
    quiet = shape.quiet
    edge = None if shape.edge is None else widened_edge(shape.edge, "cache", curve, quiet)
    rest = replace(
        shape.rest,
        plateaus=tuple(_plateau(plateau) for plateau in shape.rest.plateaus),
        edges=tuple(widened_edge(later, "fold", curve, quiet) for later in shape.rest.edges),
    )
    return replace(shape, head=_plateau(shape.head), edge=edge, rest=rest)


def _plateau(plateau: Plateau) -> Plateau:
    return replace(plateau, speed=widened(plateau.speed, "speed"))


def widened_edge(edge: Edge, kind: Kind, curve: Curve, quiet: Curve) -> Edge:
    """The edge with the interval that holds, a pause at it and interrupted samples included;
    `quiet` is the curve without interruptions."""
    sample_bytes = sample_at(curve, edge.place.value)
    place = widened(edge.place, kind, sample_bytes=sample_bytes)
    if edge.paused is not None:
        place = replace(place, high=max(place.high or 0.0, edge.paused))
    return replace(edge, place=with_interrupted(place, curve, quiet))


def with_interrupted(place: Estimate, curve: Curve, quiet: Curve) -> Estimate:
    """The interval with the whole of each interrupted sample at it: which of its bytes were written
    before the change nobody can tell from its rate."""
    low, high = place.low or 0.0, place.high or curve.total_bytes
    first = max(int(np.searchsorted(curve.bytes_at, low, side="right")) - 2, 0)
    last = min(int(np.searchsorted(curve.bytes_at, high, side="left")) + 1, len(curve))
    ends = curve.bytes_at[first : last + 1]
    interrupted = curve.dt[first:last] > INTERRUPTED * np.diff(quiet.seconds_to(ends))
    for at in np.flatnonzero(interrupted & (np.diff(ends) > 0)):
        low, high = min(low, float(ends[at])), max(high, float(ends[at + 1]))
    return replace(place, low=low, high=high)
