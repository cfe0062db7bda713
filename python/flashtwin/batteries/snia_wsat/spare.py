"""What the saturation says of the drive's spare flash: where it is used up, and how much that is.

Both findings need random writes over the whole drive from an erased one on. `exhausted` is the
place, `spare` the over-provisioning that follows from it; `spare.steady` is the one that the fresh
and the steady rate say, whose bounds rest on what is assumed of collection (`analysis.spare`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashtwin.model.finding import Evidence, Finding, Interval, Means

if TYPE_CHECKING:
    from flashtwin.analysis.curve import Curve
    from flashtwin.analysis.estimate import Estimate
    from flashtwin.analysis.spare import Exhausted
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.saturation import Saturation

TITLES = {
    "exhausted": ("Written until the erased flash was used up", "GB"),
    "spare": ("Effective over-provisioning", "fraction"),
    "spare.steady": ("Effective over-provisioning, by the steady rate", "fraction"),
}
# A rate that falls by more over the last rounds is not yet that of a steady drive.
FALLING = 0.02
ASSUMED = (
    "if victims are those with the least valid data, or the oldest, and a copied unit costs 1 to "
    "1.3 programs"
)


def findings(battery: str, saturation: Saturation, record: Record) -> list[Finding]:
    """The three of them; without a value, and why, where the drive does not tell."""
    reason = _why_not(saturation, record)
    if reason is not None:
        return [_missing(battery, saturation, name, reason) for name in TITLES]
    from flashtwin.analysis import spare

    user = saturation.span(record.info)
    seen = spare.exhausted(_written(saturation, record), user)
    if seen is None:
        reason = (
            "cannot tell: the rate does not fall where the flash must be used up, so something "
            "else limits it; ask with more threads and a larger depth"
        )
        return [_missing(battery, saturation, name, reason) for name in TITLES]
    share = spare.by_place(seen.place, user)
    place = _finding(battery, saturation, "exhausted", seen.place.scaled(1e-9), seen)
    return [
        place,
        replace(_finding(battery, saturation, "spare", share, seen), beside="exhausted"),
        _steady(battery, saturation, record, seen),
    ]


def _why_not(saturation: Saturation, record: Record) -> str | None:
    if saturation.range_percent < 100 or not record.info.can.whole_drive:
        return "cannot tell: only writes over a whole drive use all of its flash up"
    if saturation.curve(record) is None or not saturation.values(record):
        return "cannot tell: the drive was not written for long enough"
    return None


def _written(saturation: Saturation, record: Record) -> Curve:
    """Bytes over time from the purge to the end."""
    import numpy as np

    from flashtwin.analysis.curve import Curve

    curves = saturation.curves(record).values()
    size = np.concatenate([curve.size for curve in curves]) * saturation.load.block_bytes
    return Curve(dt=np.concatenate([curve.dt for curve in curves]), size=size)


def _steady(battery: str, saturation: Saturation, record: Record, seen: Exhausted) -> Finding:
    """What the two rates say, once the drive is steady."""
    from flashtwin.analysis import spare

    window = saturation.window(record)
    if window is None or not window.steady:
        reason = "cannot tell: the drive was not steady in the end; write for longer"
        return _missing(battery, saturation, "spare.steady", reason)
    steady = window.mean * saturation.load.block_bytes
    falls = window.trend < -FALLING
    has_low = not seen.earlier and not falls
    share = spare.by_rates(seen.fresh.value, steady, has_low=has_low)
    if share is None:
        reason = "cannot tell: the steady drive is as fast as the fresh one"
        return _missing(battery, saturation, "spare.steady", reason)
    ratio = f"fresh it is {seen.fresh.value / steady:.3g} times as fast as steady"
    note = f"{ratio}; {ASSUMED}"
    if falls:
        note = f"at most: {ratio}, and still falling; {ASSUMED}"
    elif seen.earlier:
        note = f"at most: {ratio}, and fresh flash alone may be faster than that; {ASSUMED}"
    return _finding(battery, saturation, "spare.steady", share, seen, note=note)


def _finding(
    battery: str,
    saturation: Saturation,
    name: str,
    estimate: Estimate,
    seen: Exhausted,
    *,
    note: str | None = None,
) -> Finding:
    means: Means = "bound" if name == "spare.steady" else "estimate"
    return replace(
        _missing(battery, saturation, name, note),
        value=estimate.value,
        interval=Interval.of(estimate.low, estimate.high, means),
        evidence=Evidence(
            battery=battery,
            label=saturation.first,
            axis="bytes",
            start=0.0,
            end=float(round(seen.place.value)),
        ),
    )


def _missing(battery: str, saturation: Saturation, name: str, note: str | None) -> Finding:
    title, unit = TITLES[name]
    return Finding(
        battery=battery,
        name=name,
        title=f"{saturation.load.access} writes, {title[:1].lower()}{title[1:]}",
        value=None,
        unit=unit,
        better="higher",
        evidence=Evidence(
            battery=battery, label=saturation.first, axis="seconds", start=0.0, end=0.0
        ),
        note=note,
    )
