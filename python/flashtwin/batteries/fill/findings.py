"""Findings of a fill: what a whole-drive sequential write tells about the cache behind it.

What: the first plateau that ends for good is the cache as the host sees it; the next one is the
speed past it; a later, slower one is folding if folding can be forced there at all. Every finding
carries a 95 % interval and the stretch of bytes it rests on; what the data do not tell has no
value and a reason.

Why the caution: from outside a second cache tier and a fold look alike, and so do "no cache" and "a
cache larger than what was written". The notes say which readings are open.

Invariants: takes numbers of the host's side only (`label` and `pattern` name the findings, nothing
is inferred from them; the X-ray is never read); the same series gives the same findings; the ids of
a pass are always all there, in one order, and more where a second cache tier, a saw-tooth or slower
stretches are seen.

Source of the numbers: GB is 10^9 bytes, MB/s 10^6 bytes a second; what is assumed of the flash is
in `notes`.
"""

from __future__ import annotations

import math
from dataclasses import replace

from numpy.typing import ArrayLike

from flashtwin.analysis import calibration
from flashtwin.analysis.curve import Curve, curve_of
from flashtwin.analysis.estimate import Estimate, total_time
from flashtwin.analysis.first_plateau import smallest_cache
from flashtwin.analysis.left_out import about, beginning, bursts, dipping, rising, sentence
from flashtwin.analysis.sawtooth import teeth
from flashtwin.analysis.shape import Plateau, Shape, shape_of
from flashtwin.batteries.fill import causes, notes
from flashtwin.batteries.fill.causes import Degrees
from flashtwin.batteries.fill.notes import Target, third_note
from flashtwin.batteries.fill.wording import LATER_TITLES, TITLES, Writer
from flashtwin.model.finding import Finding
from flashtwin.model.units import readable_gb as gb

# The most that a drive's own RAM may hold of the host's data, as a share of its capacity: drives
# with their map in DRAM have a gigabyte of it for each terabyte.
RAM_SHARE = 1e-3
FEWEST = 4
SMALL = 0.05
COUNTED = ("mean", "duration")
COUNTED_NOTE = "counted; the interval is for another fill with the same plateaus"
WHOLE_NOTE = "no cache was seen: this is the whole fill"
ENDS_WITH_IT = "the fill ends within the cache"


def analyse_fill(
    t_ns: ArrayLike,
    dt_ns: ArrayLike,
    bytes_: ArrayLike,
    *,
    pattern: str,
    label: str,
    capacity_bytes: int,
    raw_bytes: int | None = None,
    bits: int | None = None,
    pass_number: int = 1,
    first: bool = True,
    calibrate: bool = True,
    shape: Shape | None = None,
    warm: Degrees | None = None,
    excluded: frozenset[str] = frozenset(),
) -> list[Finding]:
    """Findings of one pass over a target; the columns are those of a write series (see results).

    `raw_bytes`: the flash where it is published; none to assume it from the capacity, 0 for a
    target that has no flash of its own, such as a file. `bits`: those of a cell, where published.
    `first`: the pattern is the run's first.
    `calibrate`: intervals are those that `flashtwin blind` holds against drives whose inside is
    known; without it they are those of the series alone. `shape`: that of the series, from whoever
    has it already. `warm`: the drive's temperature in the pass, where it is known. `excluded`: what
    is known not to have ended the first plateau, in the words of `causes.CAUSES`.
    """
    curve = curve_of(t_ns, dt_ns, bytes_)
    target = Target(capacity_bytes=capacity_bytes, raw_bytes=raw_bytes, bits=bits)
    write = Writer(pattern=pattern, label=label, pass_number=pass_number, first=first)
    reason = _why_nothing(curve)
    if reason is not None:
        return _without_values(curve, write, reason)
    if shape is None:
        memory = math.inf if "burst" not in excluded else RAM_SHARE * capacity_bytes
        shape = shape_of(curve, memory_bytes=memory)
    tooth = teeth(shape) if pass_number == 1 else None
    least = smallest_cache(curve)
    if calibrate:
        shape = calibration.widened_shape(shape, curve)
        least = calibration.bound(least, curve.total_bytes)
    if shape.burst is not None:
        least = max(least, shape.burst[0])
    if pass_number > 1:
        return _later_pass(curve, shape, write, target, least)
    return [
        _cache_size(curve, shape, write, target, least),
        _speed_cache(curve, shape, write, target),
        _speed_past_cache(curve, shape, write, target),
        *_folding(curve, shape, write, target),
        _mean_past_cache(curve, shape, write, target),
        _mean(curve, shape, write),
        _duration(curve, shape, write),
        _one_third(shape, write, target),
        causes.cache_probability(curve, shape, write, target, warm, excluded),
        *causes.slowed_by(curve, shape, tooth, write, warm),
        *causes.saw_tooth(tooth, write),
        causes.rate_held(curve, shape, write),
    ]


def _why_nothing(curve: Curve) -> str | None:
    """Why a series cannot be read at all, or none if it can."""
    if curve.total_bytes <= 0:
        return "nothing was written" if len(curve) else "the series is empty"
    moving = int((curve.size > 0).sum())
    if moving < FEWEST:
        return f"only {moving} samples with data, at least {FEWEST} are needed"
    return None


def _without_values(curve: Curve, write: Writer, reason: str) -> list[Finding]:
    """Every finding without a value but what can be counted from a few samples."""

    def without_value(name: str) -> Finding:
        if name not in COUNTED or curve.total_bytes <= 0:
            return write.missing(name, reason)
        value = curve.total_s if name == "duration" else curve.total_bytes / curve.total_s
        exact = Estimate(value=value, low=None, high=None)
        return write.value(name, exact, 0.0, curve.total_bytes, f"no interval: {reason}")

    # What ended a later pass's first plateau is told beside the first pass, and not here.
    later = (name for name in LATER_TITLES if name != "ended_by")
    return [without_value(name) for name in (TITLES if write.pass_number == 1 else later)]


def _cache_size(curve: Curve, shape: Shape, write: Writer, target: Target, least: float) -> Finding:
    """`least`: no smaller cache would have been seen."""
    if shape.first_plateau.verdict == "swings":
        return write.missing("cache_size", notes.swinging(shape))
    if shape.edge is None and not target.is_whole:
        reason = notes.no_end(curve, shape, target)
        return write.missing("cache_size", reason, looked_at=curve.total_bytes)
    if shape.edge is None and least >= curve.total_bytes:
        reason = notes.why_none(curve, shape, least)
        return write.missing("cache_size", reason, looked_at=curve.total_bytes)
    if shape.edge is None:
        none = Estimate(value=0.0, low=0.0, high=least)
        note = sentence((notes.why_none(curve, shape, least), notes.unfinished(curve, target)))
        return write.value("cache_size", none, 0.0, curve.total_bytes, note, means="bound")
    end = shape.rest.plateaus[0].end if shape.rest.plateaus else curve.total_bytes
    parts = (
        beginning(shape),
        rising(shape),
        dipping(shape),
        notes.second_tier(shape, target),
        bursts(shape),
    )
    return write.value("cache_size", shape.edge.place, 0.0, end, sentence(parts))


def _speed_cache(curve: Curve, shape: Shape, write: Writer, target: Target) -> Finding:
    if shape.edge is None:
        return write.missing("speed_cache", notes.no_end(curve, shape, target))
    note = sentence((rising(shape), dipping(shape)))
    return write.value("speed_cache", shape.head.speed, 0.0, shape.head.end, note)


def _speed_past_cache(curve: Curve, shape: Shape, write: Writer, target: Target) -> Finding:
    name = "speed_past_cache"
    if shape.first_plateau.verdict == "swings" or (shape.edge is None and not target.is_whole):
        return write.missing(name, notes.no_end(curve, shape, target))
    if shape.edge is None:
        note = sentence((WHOLE_NOTE, dipping(shape)))
        return write.value(name, shape.head.speed, 0.0, curve.total_bytes, note)
    if not shape.rest.plateaus:
        return write.missing(name, ENDS_WITH_IT)
    second = shape.rest.plateaus[0]
    return write.value(name, second.speed, second.start, second.end, about(second))


def _folding(curve: Curve, shape: Shape, write: Writer, target: Target) -> list[Finding]:
    """Where borrowed cells have to be given back, and the speed from there on: the first plateau
    that stays below the second. Where it begins too early for that, it ends a second tier."""
    later = shape.slower
    if later is None or not notes.folds(shape, later, target):
        reason = notes.why_no_fold(shape, later)
        lacking = [write.missing(name, reason) for name in ("fold_begin", "speed_folding")]
        if later is None:
            return lacking
        place, tail = _from_there(curve, shape, later)
        second = [write.value("tier_end", *place), write.value("speed_past_tiers", *tail)]
        return lacking + second
    native = later.start + 2 * shape.head.end
    note = (
        f"if the cells hold 3 bits and the cache borrows them, {gb(native)} were there to be "
        "written natively" + (f", of {gb(target.raw)} raw" if target.has_raw else "")
    )
    (begin, start, end, _), pace = _from_there(curve, shape, later)
    return [
        write.value("fold_begin", begin, start, end, note),
        write.value("speed_folding", *pace),
    ]


Stretch = tuple[Estimate, float, float, str | None]


def _from_there(curve: Curve, shape: Shape, later: Plateau) -> tuple[Stretch, Stretch]:
    """Where a later plateau begins and the speed to the end: estimate, bytes it rests on, note."""
    at = shape.rest.plateaus.index(later)
    last, before = shape.rest.plateaus[at:], shape.rest.plateaus[at - 1]
    pace = later.speed if len(last) == 1 else _mean_of(curve, last)
    end = curve.total_bytes
    return (
        (shape.rest.edges[at - 1].place, before.start, end, None),
        (pace, later.start, end, about(later)),
    )


def _mean_of(curve: Curve, plateaus: tuple[Plateau, ...]) -> Estimate:
    """Bytes over time of neighbouring plateaus together, with the error of their speeds."""
    start, end = plateaus[0].start, plateaus[-1].end
    return _with_share(curve.mean_between(start, end), _share(plateaus))


def _share(plateaus: tuple[Plateau, ...]) -> float | None:
    """Half of the interval of the time these plateaus take, as a share of it."""
    parts = [(plateau.end - plateau.start, plateau.speed) for plateau in plateaus]
    time = total_time(parts)
    if time.value <= 0 or time.high is None:
        return None
    # A plateau of one or two samples without an interval of its own hardly matters in the sum.
    unknown = total_time([part for part in parts if part[1].low is None])
    return time.high / time.value - 1 if unknown.value <= SMALL * time.value else None


def _with_share(value: float, share: float | None) -> Estimate:
    if share is None:
        return Estimate(value=value, low=None, high=None)
    return Estimate(value=value, low=value * max(1 - share, 0.0), high=value * (1 + share))


def _mean_past_cache(curve: Curve, shape: Shape, write: Writer, target: Target) -> Finding:
    name = "mean_past_cache"
    if shape.first_plateau.verdict == "swings" or (shape.edge is None and not target.is_whole):
        return write.missing(name, notes.no_end(curve, shape, target))
    if shape.edge is None:
        mean = _with_share(curve.total_bytes / curve.total_s, _share((shape.head,)))
        return write.value(name, mean, 0.0, curve.total_bytes, WHOLE_NOTE)
    if not shape.rest.plateaus:
        return write.missing(name, ENDS_WITH_IT)
    place, end = shape.edge.place, curve.total_bytes
    mean = _with_share(curve.mean_between(place.value, end), _share(shape.rest.plateaus))
    # The end of the cache is itself uncertain: the mean from either end of its interval counts.
    bounds = [at for at in (place.low, place.high) if at is not None and at < end]
    means = [curve.mean_between(at, end) for at in bounds]
    if mean.low is not None and mean.high is not None:
        mean = replace(mean, low=min(mean.low, *means), high=max(mean.high, *means))
    return write.value(name, mean, place.value, end)


def _mean(curve: Curve, shape: Shape, write: Writer) -> Finding:
    mean = _with_share(curve.total_bytes / curve.total_s, _share(shape.plateaus))
    return write.value("mean", mean, 0.0, curve.total_bytes, COUNTED_NOTE)


def _duration(curve: Curve, shape: Shape, write: Writer) -> Finding:
    duration = _with_share(curve.total_s, _share(shape.plateaus))
    return write.value("duration", duration, 0.0, curve.total_bytes, COUNTED_NOTE)


def _one_third(shape: Shape, write: Writer, target: Target) -> Finding:
    if not target.has_raw:
        return write.missing("one_third", "the raw flash behind this target is not known")
    if shape.edge is None:
        return write.missing("one_third", "no fast beginning ends")
    share = shape.edge.place.scaled(1.0 / target.raw)
    return write.value("one_third", share, 0.0, shape.head.end, third_note(share, target))


def _later_pass(
    curve: Curve, shape: Shape, write: Writer, target: Target, least: float
) -> list[Finding]:
    """The full drive after its rest: how much cache came back, and how fast it is."""
    none = f"{notes.no_end(curve, shape, target)}: the usual speed of the whole pass"
    note = none if shape.edge is None else None
    return [
        _cache_size(curve, shape, write, target, least),
        write.value("speed_first", shape.head.speed, 0.0, shape.head.end, note),
        _mean(curve, shape, write),
    ]
