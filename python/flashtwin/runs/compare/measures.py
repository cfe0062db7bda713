"""Findings of two runs against each other: the difference, and whether the intervals allow for it.

An interval is the 95 % one of its finding. Two values differ significantly when their difference is
beyond the interval of a difference: the halves that face each other, added as errors are (the root
of the sum of squares). That is a sharper question than whether the intervals overlap, which is told
beside it. A side that is open (one bound but not the other) allows for anything; a finding without
any interval is taken as exact, because there is nothing that says otherwise.

Whether more is better follows from the unit (speeds and rates: more; times: less) and, for places
and sizes, from the finding's name. Invariant: where it is not known, no difference is called better
or worse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings, short

Verdict = Literal[
    "same", "better", "worse", "differs", "no value", "appeared", "vanished", "not measured"
]
HIGHER, LOWER = 1, -1
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
# Sizes and places in a fill: how long the drive is quick. The last part of the short name.
_BY_NAME = {"cache_size": HIGHER, "fold_begin": HIGHER, "waf": LOWER}


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One finding of the first run (`base`) and of another.

    `percent` is the difference in % of the first value, `beyond` how much of it lies beyond the
    intervals; none where the first value is 0 or missing. `better`: 1 if more is, -1 if less is.
    """

    id: str
    title: str
    unit: str
    base: Finding | None
    other: Finding | None
    difference: float | None
    percent: float | None
    beyond: float | None
    overlap: bool | None
    significant: bool | None
    better: int | None
    verdict: Verdict

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "unit": self.unit,
            "base": _sides(self.base),
            "other": _sides(self.other),
            "difference": self.difference,
            "percent": self.percent,
            "beyond_percent": self.beyond,
            "overlap": self.overlap,
            "significant": self.significant,
            "better": {HIGHER: "higher", LOWER: "lower", None: None}[self.better],
            "verdict": self.verdict,
        }


def compare(base: Findings, other: Findings) -> list[Measure]:
    """Every finding that either run has, in the order of the first and then of the second."""
    mine, theirs = dict(base.items()), dict(other.items())
    return [_measure(mine.get(name), theirs.get(name)) for name in dict.fromkeys([*mine, *theirs])]


def better_of(finding: Finding) -> int | None:
    """1 if more of it is better, -1 if less is, none if nobody can say."""
    last = short(finding.id).rpartition(".")[2]
    return _BY_NAME.get(last, _BY_UNIT.get(finding.unit))


def _measure(base: Finding | None, other: Finding | None) -> Measure:
    either = base or other
    assert either is not None, "a finding of neither run"
    return Measure(
        id=either.id,
        title=either.title,
        unit=either.unit,
        base=base,
        other=other,
        better=better_of(either),
        **_numbers(base, other, better_of(either)),
    )


def _numbers(base: Finding | None, other: Finding | None, better: int | None) -> dict[str, Any]:
    nothing: dict[str, Any] = dict.fromkeys(
        ("difference", "percent", "beyond", "overlap", "significant")
    )
    if base is None or other is None:
        return {**nothing, "verdict": "not measured"}
    if base.value is None or other.value is None:
        return {**nothing, "verdict": _without(base, other)}
    if base.unit != other.unit:
        return {**nothing, "verdict": "differs"}
    difference = other.value - base.value
    allowed = math.hypot(_towards(base, difference), _towards(other, -difference))
    significant = abs(difference) > allowed
    share = 100 / abs(base.value) if base.value else None
    beyond = max(abs(difference) - allowed, 0.0)
    return {
        "difference": difference,
        "percent": None if share is None else difference * share,
        "beyond": None if share is None else beyond * share,
        "overlap": _overlap(base, other),
        "significant": significant,
        "verdict": _verdict(difference, significant, better),
    }


def _without(base: Finding, other: Finding) -> Verdict:
    if base.value is None and other.value is None:
        return "no value"
    return "appeared" if base.value is None else "vanished"


def _verdict(difference: float, significant: bool, better: int | None) -> Verdict:
    if not significant:
        return "same"
    if better is None:
        return "differs"
    return "better" if difference * better > 0 else "worse"


def _towards(finding: Finding, difference: float) -> float:
    """How far the interval reaches towards where the other value lies."""
    if finding.low is None and finding.high is None:
        return 0.0
    side = finding.high if difference > 0 else finding.low
    assert finding.value is not None
    return math.inf if side is None else abs(side - finding.value)


def _overlap(base: Finding, other: Finding) -> bool:
    low, high = zip(_bounds(base), _bounds(other), strict=True)
    return max(low) <= min(high)


def _bounds(finding: Finding) -> tuple[float, float]:
    assert finding.value is not None
    if finding.low is None and finding.high is None:
        return finding.value, finding.value
    low = -math.inf if finding.low is None else finding.low
    return low, math.inf if finding.high is None else finding.high


def _sides(finding: Finding | None) -> dict[str, float | None] | None:
    if finding is None:
        return None
    row = finding.to_json()
    return {side: row[side] for side in ("value", "low", "high")}


def counts(measures: Sequence[Measure]) -> dict[str, int]:
    """How many of each verdict."""
    return {
        verdict: sum(one.verdict == verdict for one in measures)
        for verdict in dict.fromkeys(one.verdict for one in measures)
    }
