"""What was true inside a twin, beside what was found from outside.

A battery names the events that its findings are about; here they are looked up in the X-ray. The
end of the first plateau is where, in a sample, a hundredth of the host's data or more goes past SLC
blocks or is folded. Borrowed cells are given back from the last place on at which the cache in use
stands at its usual level, if it has lost a tenth of that by the end of the pass.

An X-ray has samples, so a truth is known to lie between two of them: it is within an interval where
the two have a value in common. Invariant: nothing here reaches a finding; it is made for the page
and for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flashtwin.batteries.base.present import Counterpart, Event
from flashtwin.charts.numbers import significant
from flashtwin.model.finding import Finding
from flashtwin.model.units import decimals
from flashtwin.report.drives import Contents
from flashtwin.report.xray import Inside

GB, MB = 1e9, 1e6
SHOWN_DIGITS = 4
# Two samples further apart than this share of what lies between them are both shown.
ROUGH, ROUGH_DIGITS = 0.05, 3
# Of the host's data in a sample: less may be the firmware's own housekeeping.
PAST_SLC = 0.01
# Superblocks come and go one by one, so the cache in use wavers a little around its level.
NEAR_TOP, AT_LEVEL = 0.95, 0.98
GIVEN_BACK = 0.9

# From this corner of an X-ray to that one.
Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Between `low` and `high`, in the finding's unit; all none where the event never came. One
    that came within the first sample has the value 0: it may have been there from the start."""

    finding: Finding
    label: str
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """For a table, with its unit."""
        if self.value is None:
            return "does not happen"
        if self.value == 0 and self.finding.unit == "GB":
            return f"< {significant(self.high, 2)} GB" if self.high else "none"
        low, high = self.low, self.high
        if low and high and high - low > ROUGH * self.value:
            ends = f"{significant(low, ROUGH_DIGITS)} to {significant(high, ROUGH_DIGITS)}"
            return f"{ends} {self.finding.unit}"
        return f"{significant(self.value, SHOWN_DIGITS)} {self.finding.unit}"

    @property
    def within(self) -> bool | None:
        """Whether it lies in the finding's interval, to half the last place that a table shows;
        none where there is no interval."""
        low, high = self.finding.low, self.finding.high
        if self.low is None or self.high is None or low is None or high is None:
            return None
        shown = 0.5 * 10.0 ** -decimals(self.finding.number or high, SHOWN_DIGITS)
        return low - shown <= self.high and self.low <= high + shown

    @property
    def verdict(self) -> str | None:
        """One word for a table: "missed" where the event came and nothing was found of it; none
        where there is nothing to hold against the truth."""
        if self.finding.number is None and self.value:
            return "missed"
        if self.finding.number and self.value is None:
            return "outside"
        within = self.within
        return None if within is None else "within" if within else "outside"

    @property
    def place_gb(self) -> float | None:
        """Where it lies on an axis of data; none of a speed."""
        return self.value if self.finding.unit == "GB" and self.value else None


def truths_of(contents: Contents, insides: Sequence[Inside]) -> dict[tuple[int, str], Truth]:
    """By drive and finding, of the steps that have an X-ray."""
    by_label = {(inside.drive.index, inside.phase.label): inside for inside in insides}
    return {
        (drive.index, counterpart.finding.id): truth
        for drive in contents.drives
        for counterpart in contents.counterparts(drive)
        if (inside := by_label.get((drive.index, counterpart.label))) is not None
        and (truth := _truth(inside, counterpart)) is not None
    }


def _truth(inside: Inside, counterpart: Counterpart) -> Truth | None:
    if "cache_bytes" not in inside.gauges or not inside.total("host_bytes"):
        return None
    begin = EVENTS[counterpart.begin](inside)
    if begin is None:
        return Truth(finding=counterpart.finding, label=counterpart.label)
    if counterpart.until is None:
        return _of(counterpart, [float(inside.host[at]) / GB for at in begin])
    last = len(inside.host) - 1
    until = EVENTS[counterpart.until](inside) or (last, last)
    # Once with what lies between two samples left out, once with it.
    spans = ((begin[1], until[0]), (begin[0], until[1]))
    rates = [rate for span in spans if (rate := _rate(inside, *span)) is not None]
    return _of(counterpart, rates) if rates else None


def _of(counterpart: Counterpart, ends: Sequence[float]) -> Truth:
    low, high = min(ends), max(ends)
    value = ends[0] if counterpart.until else (low + high) / 2 if low else 0.0
    return Truth(
        finding=counterpart.finding, label=counterpart.label, value=value, low=low, high=high
    )


def _rate(inside: Inside, begin: int, end: int) -> float | None:
    seconds = float(inside.seconds[end] - inside.seconds[begin]) if end > begin else 0.0
    return float(inside.host[end] - inside.host[begin]) / MB / seconds if seconds > 0 else None


def _past_slc(inside: Inside) -> Span | None:
    counts = inside.counts
    elsewhere = np.diff(counts["direct_bytes"] + counts["tier_bytes"] + counts["fold_bytes"])
    host = np.diff(inside.host)
    there = np.flatnonzero((host > 0) & (elsewhere > PAST_SLC * host))
    # The first sample also counts what the drive did between the step before and this one.
    if len(there) and there[0] == 0 and (len(there) == 1 or there[1] > 1):
        there = there[1:]
    return (int(there[0]), int(there[0]) + 1) if len(there) else None


def _cache_shrinks(inside: Inside) -> Span | None:
    cache = inside.gauges["cache_bytes"]
    top = float(cache.max())
    if top <= 0 or cache[-1] > GIVEN_BACK * top:
        return None
    # The median; NumPy's own imports all of numpy.ma.
    high = np.sort(cache[cache >= NEAR_TOP * top])
    level = float(high[(len(high) - 1) // 2] + high[len(high) // 2]) / 2
    at = int(np.flatnonzero(cache >= level)[-1])
    return at, max(int(np.flatnonzero(cache >= AT_LEVEL * level)[-1]), at + 1)


EVENTS: dict[Event, Callable[[Inside], Span | None]] = {
    "start": lambda inside: (0, 0),
    "past_slc": _past_slc,
    "cache_shrinks": _cache_shrinks,
    "end": lambda inside: (len(inside.host) - 1, len(inside.host) - 1),
}
