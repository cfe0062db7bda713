"""Findings of two runs against each other: the difference, and what their intervals say of it.

What an interval means decides what it allows. Two estimates: the difference has a 95 % interval of
its own, the halves that face each other added as errors are (the root of the sum of squares), and
is significant where that interval leaves out 0. Bounds: whatever lies between them is possible, so
their reaches are added as they are, and only what lies outside is a difference; an open end allows
for anything on its side. Ranges of runs say how runs scatter and carry no probability: they take
nothing off a difference, and where they overlap nobody can say whether it is the drive's. A finding
without an interval is exact, to `LEAST_PERCENT`. Choices are the same word or another.

Whether more is better follows from the finding, or from its unit (speeds and rates: more; times:
less). Invariants: where that is not known, no difference is called better or worse; the other way
round the same pair has the opposite difference and verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from flashtwin.model.document import Document
from flashtwin.model.finding import Better, Finding, Interval, Means
from flashtwin.model.findings import Findings

Verdict = Literal[
    "same",
    "better",
    "worse",
    "differs",
    "unclear",
    "no value",
    "appeared",
    "vanished",
    "not measured",
]
HIGHER, LOWER = 1, -1
_WORDS: dict[int, Better] = {HIGHER: "higher", LOWER: "lower"}
# In % of the value: a smaller difference is shown as none.
LEAST_PERCENT = 0.005
# Two bounds of which neither is an estimate are the same up to this.
LEAST_OPEN_PERCENT = 0.1
_BY_UNIT = {
    "MB/s": HIGHER,
    "GB/s": HIGHER,
    "IOPS": HIGHER,
    "MB/J": HIGHER,
    "s": LOWER,
    "ms": LOWER,
    "us": LOWER,
    "ns": LOWER,
    "W": LOWER,
}


class Side(Document, frozen=True):
    """The value of one run."""

    value: float | str | None
    low: float | None
    high: float | None
    means: Means | None


class ComparedFinding(Document, frozen=True):
    """A `Measure` as it is printed."""

    id: str
    title: str
    unit: str
    base: Side | None
    other: Side | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    difference_means: Means | None
    percent: float | None
    beyond_percent: float | None
    overlap: bool | None
    significant: bool | None
    better: Better | None
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One finding of the first run (`base`) and of another.

    `difference` counts from the first value and `interval` is that of the difference; `percent` is
    the difference in % of the first value, `beyond` how much of it the intervals do not allow for;
    none where the first value is 0 or missing. `significant` is none where nobody can say.
    `better`: 1 if more is, -1 if less is. `verdict` "unclear": the values differ, and the intervals
    neither prove it nor tell how likely it is.
    """

    base: Finding | None
    other: Finding | None
    difference: float | None = None
    interval: Interval | None = None
    percent: float | None = None
    beyond: float | None = None
    overlap: bool | None = None
    significant: bool | None = None
    verdict: Verdict

    @property
    def finding(self) -> Finding:
        """The first run's finding, else the other's: what both are called."""
        either = self.base or self.other
        assert either is not None, "a finding of neither run"
        return either

    @property
    def id(self) -> str:
        """The finding's id."""
        return self.finding.id

    @property
    def title(self) -> str:
        """The finding's title."""
        return self.finding.title

    @property
    def unit(self) -> str:
        """The finding's unit."""
        return self.finding.unit

    @property
    def better(self) -> int | None:
        """1 if more of it is better, -1 if less is, none if nobody can say."""
        return better_of(self.finding)

    @property
    def worsens(self) -> bool:
        """Whether the other value lies on the worse side, or on either where none is known."""
        if self.difference is None:
            return self.verdict == "differs"
        return self.difference * (self.better or -self.difference) < 0

    def document(self) -> ComparedFinding:
        """What `flashtwin compare --json` prints of it."""
        of_difference = self.interval
        return ComparedFinding(
            id=self.id,
            title=self.title,
            unit=self.unit,
            base=_side(self.base),
            other=_side(self.other),
            difference=self.difference,
            difference_low=None if of_difference is None else of_difference.low,
            difference_high=None if of_difference is None else of_difference.high,
            difference_means=None if of_difference is None else of_difference.means,
            percent=self.percent,
            beyond_percent=self.beyond,
            overlap=self.overlap,
            significant=self.significant,
            better=None if self.better is None else _WORDS[self.better],
            verdict=self.verdict,
        )


def compare(base: Findings, other: Findings) -> list[Measure]:
    """Every finding that either run has, in the order of the first and then of the second."""
    base_findings, other_findings = dict(base.items()), dict(other.items())
    return [
        _measure(base_findings.get(name), other_findings.get(name))
        for name in dict.fromkeys([*base_findings, *other_findings])
    ]


def better_of(finding: Finding) -> int | None:
    """1 if more of it is better, -1 if less is, none if nobody can say."""
    declared = {"higher": HIGHER, "lower": LOWER, None: None}[finding.better]
    return declared or _BY_UNIT.get(finding.unit)


def _measure(base: Finding | None, other: Finding | None) -> Measure:
    if base is None or other is None:
        return Measure(base=base, other=other, verdict="not measured")
    if base.value is None or other.value is None:
        return Measure(base=base, other=other, verdict=_without(base, other))
    if base.number is None or other.number is None:
        same = base.value == other.value
        verdict: Verdict = "same" if same else "differs"
        return Measure(base=base, other=other, significant=not same, verdict=verdict)
    if base.unit != other.unit:
        return Measure(base=base, other=other, verdict="differs")
    return _numbers(base, base.number, other, other.number)


def _numbers(base: Finding, first: float, other: Finding, second: float) -> Measure:
    difference = second - first
    kinds = [finding.interval.means for finding in (base, other) if finding.interval is not None]
    proven = _interval(base, other, difference, ("estimate", "bound"))
    interval = _interval(base, other, difference, ("estimate", "bound", "range"))
    significant: bool | None = not _holds_zero(interval)
    if not significant and "range" in kinds and difference:
        significant = None
    share = 100 / abs(first) if first else None
    least = LEAST_OPEN_PERCENT if set(kinds) == {"bound"} and not significant else LEAST_PERCENT
    equal = abs(difference) * 100 <= least * max(abs(first), abs(second))
    beyond = max(_low(proven), -_high(proven), 0.0)
    return Measure(
        base=base,
        other=other,
        difference=difference,
        interval=interval if kinds else None,
        percent=None if share is None else difference * share,
        beyond=None if share is None else beyond * share,
        overlap=_overlap(base, first, other, second),
        significant=significant and not equal,
        verdict="same" if equal else _verdict(difference, significant, kinds, better_of(base)),
    )


def _interval(base: Finding, other: Finding, difference: float, means: Sequence[Means]) -> Interval:
    """The interval of the difference, where both intervals have one of these meanings."""
    kinds = {finding.interval.means for finding in (base, other) if finding.interval} & set(means)
    kind = next((kind for kind in ("bound", "range") if kind in kinds), "estimate")
    low = difference - _reach(base, other, means)
    high = difference + _reach(other, base, means)
    return Interval(
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        means=kind,  # type: ignore[arg-type]
    )


def _reach(upwards: Finding, downwards: Finding, means: Sequence[Means]) -> float:
    """How far the two values can approach within their intervals: the lower one upwards, the
    higher one downwards."""
    sides = [(upwards, upwards.high), (downwards, downwards.low)]
    added, squares = 0.0, 0.0
    for finding, end in sides:
        if finding.interval is None or finding.interval.means not in means:
            continue
        assert finding.number is not None, "a reach of a choice"
        reach = math.inf if end is None else abs(end - finding.number)
        if finding.interval.means == "estimate":
            squares += reach**2
        else:
            added += reach
    return added + math.sqrt(squares)


def _without(base: Finding, other: Finding) -> Verdict:
    if base.value is None and other.value is None:
        return "no value"
    return "appeared" if base.value is None else "vanished"


def _verdict(
    difference: float, significant: bool | None, kinds: Sequence[Means], better: int | None
) -> Verdict:
    if significant:
        if better is None:
            return "differs"
        return "better" if difference * better > 0 else "worse"
    return "unclear" if difference and set(kinds) & {"range", "bound"} else "same"


def _low(interval: Interval) -> float:
    return -math.inf if interval.low is None else interval.low


def _high(interval: Interval) -> float:
    return math.inf if interval.high is None else interval.high


def _holds_zero(interval: Interval) -> bool:
    return _low(interval) <= 0 <= _high(interval)


def _overlap(base: Finding, first: float, other: Finding, second: float) -> bool:
    low, high = zip(_bounds(base, first), _bounds(other, second), strict=True)
    return max(low) <= min(high)


def _bounds(finding: Finding, value: float) -> tuple[float, float]:
    if finding.interval is None:
        return value, value
    return _low(finding.interval), _high(finding.interval)


def _side(finding: Finding | None) -> Side | None:
    if finding is None:
        return None
    row = finding.row()
    return Side(value=row.value, low=row.low, high=row.high, means=row.means)


def counts(measures: Sequence[Measure]) -> dict[str, int]:
    """How many of each verdict."""
    return {
        verdict: sum(measure.verdict == verdict for measure in measures)
        for verdict in dict.fromkeys(measure.verdict for measure in measures)
    }


def percent_text(value: float | None) -> str:
    """A difference in %, with its sign and three digits; one too small to be seen is 0."""
    if value is None:
        return "-"
    if abs(value) < LEAST_PERCENT:
        return "0 %"
    places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:+,.{places}f} %"
