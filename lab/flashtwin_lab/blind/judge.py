"""Answers beside truths: errors, wrong answers, coverage; a verdict for each target of the prior.

A rate passes unless its one-sided 95 % binomial bound (Clopper and Pearson 1934) excludes the
target; coverage is tried with the exact binomial test at 1 %. Medians and percentiles of errors are
judged the same way: at most half of the drives may be further off than the median's target.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, inf, lgamma, log, log1p
from typing import Any, Literal

from flashtwin.analysis import fill_classes
from flashtwin.analysis.estimate import Estimate
from flashtwin.model.document import Document
from flashtwin_lab.blind.detect import Answer
from flashtwin_lab.blind.truth import Measured, Truth

BOUND = 0.05
TEST = 0.01
# An answer further than this from the truth is none that an interval could mend.
SAME_PLACE = 0.1
CLAIMS, NEGATIVES = "claims of a cache that are wrong", "negatives claimed"


Verdict = Literal["pass", "miss"]


class RowDocument(Document, frozen=True):
    """A `Row` as it is printed."""

    finding: str
    target: str
    found: str
    n: int
    verdict: Verdict


class CampaignDocument(Document, frozen=True):
    """flashtwin blind --json, whatever the drives are measured with."""

    rows: list[RowDocument]
    missed: int


@dataclass(frozen=True, kw_only=True)
class Row:
    """A target with what was found, in words where there are several figures."""

    finding: str
    target: str
    found: str
    n: int
    passes: bool

    def document(self) -> RowDocument:
        """As `flashtwin blind --json` prints it."""
        verdict: Verdict = "pass" if self.passes else "miss"
        return RowDocument(self.finding, self.target, self.found, self.n, verdict=verdict)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One drive: its errors and right answers by finding, and whether intervals hold. `claims`:
    whether it was right to claim a cache, or not to, as `negatives.TARGETS` has it."""

    name: str
    effects: tuple[str, ...]
    right: Mapping[str, bool]
    errors: Mapping[str, tuple[float, ...]]
    holds: Mapping[str, tuple[tuple[bool, float], ...]]
    claims: Mapping[str, bool] = field(default_factory=dict)

    @property
    def badness(self) -> float:
        """Larger the further off: wrong answers first, then the largest error."""
        wrong = sum(not right for right in self.right.values())
        return wrong + max((e for errors in self.errors.values() for e in errors), default=0.0)


def judged(measured: Measured, answer: Answer) -> Judged:
    """What is right and wrong in one answer; of a negative only whether a cache is claimed."""
    truth = measured.truth
    right: dict[str, bool] = {}
    claims = {CLAIMS: truth.cache_bytes is not None} if _claims(answer) else {}
    if measured.negative:
        claims[f"{NEGATIVES}: {measured.negative}"] = not _claims(answer)
        name = measured.name
        return Judged(name=name, effects=(), right={}, errors={}, holds={}, claims=claims)
    errors: dict[str, tuple[float, ...]] = {}
    holds: dict[str, tuple[tuple[bool, float], ...]] = {}
    if truth.visible is not None:
        right["cache there or not"] = answer.cache is truth.visible
    if truth.visible is False:
        right["cache claimed where there is none"] = answer.cache is not True
    places = {
        "cache size": (truth.cache_bytes if truth.visible else None, answer.cache_bytes),
        "where cells have to come back": (truth.fold_bytes, answer.fold_bytes),
    }
    for name, (place, estimate) in places.items():
        if place is not None and estimate is not None:
            errors[name] = (abs(estimate.value / place - 1),)
            holds[name] = (_holds(estimate, place),)
    if truth.visible is not None and truth.fold_bytes is None:
        right["place claimed where cells need not come back"] = answer.fold_bytes is None
    if truth.visible and truth.fold_bytes is not None:
        place_told = answer.fold_bytes is not None or _tier_ends_there(truth, answer)
        right["place told where cells have to come back"] = place_told
    if truth.visible is not None:
        right["second tier claimed where there is none"] = _is_no_made_up_tier(truth, answer)
        right["number of plateaus"] = _counted(answer) == len(truth.plateaus)
    if truth.visible is not False and answer.cache is False and answer.bound_bytes is not None:
        assert truth.cache_bytes is not None, "what may be visible is a cache"
        right["bound where none was seen"] = truth.cache_bytes <= answer.bound_bytes
    pairs = speeds(truth, answer)
    errors["speeds"] = tuple(abs(estimate.value / speed - 1) for speed, estimate in pairs)
    # A true plateau that the answer does not have has no interval that holds.
    unmatched = 0 if truth.visible is None else max(len(truth.plateaus) - len(pairs), 0)
    matched = tuple(_holds(estimate, speed) for speed, estimate in pairs)
    holds["speeds"] = (*matched, *((False, inf),) * unmatched)
    return Judged(
        name=measured.name,
        effects=measured.effects,
        right=right,
        errors=errors,
        holds=holds,
        claims=claims,
    )


def _is_no_made_up_tier(truth: Truth, answer: Answer) -> bool:
    """True where no second tier is claimed, or at the place where the speed falls once more."""
    return answer.tier_bytes is None or _tier_ends_there(truth, answer)


def _tier_ends_there(truth: Truth, answer: Answer) -> bool:
    """True where a second tier is said to end where cells have to come back: no drive of a
    generator has two tiers, but laws without flash let cells come back at any byte."""
    place, tier = truth.fold_bytes, answer.tier_bytes
    return place is not None and tier is not None and abs(tier.value / place - 1) <= SAME_PLACE


def _claims(answer: Answer) -> bool:
    """True where a cache is claimed: by its probability, where one is told."""
    if answer.cache is not True:
        return False
    return answer.probability is None or answer.probability >= fill_classes.CLAIMED


def _holds(estimate: Estimate, truth: float) -> tuple[bool, float]:
    """Whether the interval holds the truth, and its width as a share of it; none never holds."""
    if estimate.low is None or estimate.high is None:
        return False, 0.0
    return estimate.low <= truth <= estimate.high, (estimate.high - estimate.low) / truth


def _counted(answer: Answer) -> int:
    """Plateaus of 2 % of the fill or more that differ by 15 % from the one before."""
    total = max((end for _, end, _ in answer.plateaus), default=0.0)
    speeds = [speed.value for start, end, speed in answer.plateaus if end - start >= 0.02 * total]
    changes = [max(a, b) / max(min(a, b), 1e-9) for a, b in itertools.pairwise(speeds)]
    return 1 + sum(change >= 1.15 for change in changes)


def speeds(truth: Truth, answer: Answer) -> list[tuple[float, Estimate]]:
    """True plateaus with those of the answer at the same place."""
    pairs = []
    for start, end, speed in truth.plateaus:
        for begin, finish, estimate in answer.plateaus:
            both = min(end, finish) - max(start, begin)
            if both >= (1 - SAME_PLACE) * max(end - start, finish - begin):
                pairs.append((speed, estimate))
    return pairs


def rows(all_judged: Sequence[Judged], targets: Sequence[Mapping[str, Any]]) -> list[Row]:
    """A row a target; errors have one for each of their figures."""
    result: list[Row] = []
    for target in targets:
        name, kind = target["finding"], target["kind"]
        if kind in ("right", "wrong"):
            result.append(_rate(name, all_judged, target))
        elif kind == "each":
            kinds = {key for drive in all_judged for key in drive.claims if key.startswith(name)}
            each = {**target, "kind": "wrong"}
            result += [_rate(key, all_judged, each) for key in sorted(kinds)]
        elif kind == "error":
            errors = [e for drive in all_judged for e in drive.errors.get(name, ())]
            result += _errors(name, sorted(errors), target)
        else:
            result.append(_coverage(name, all_judged, target["says"]))
    return result


def _rate(name: str, all_judged: Sequence[Judged], target: Mapping[str, Any]) -> Row:
    told = [{**drive.right, **drive.claims} for drive in all_judged]
    answers = [right[name] for right in told if name in right]
    wrong = answers.count(False)
    if target["kind"] == "wrong":
        words, share = f"at most {target['at_most']:.0%}", target["at_most"]
        shown = wrong
    else:
        words, share = f"{target['at_least']:.0%} right", 1 - target["at_least"]
        shown = len(answers) - wrong
    return Row(
        finding=name,
        target=words,
        found=f"{shown} of {len(answers)}",
        n=len(answers),
        passes=not excluded(wrong, len(answers), share),
    )


def _errors(name: str, errors: list[float], target: Mapping[str, Any]) -> list[Row]:
    """Rows for the median, the 95th percentile, and those that are far off."""
    limits = [("median", target["median"], 0.5), ("95th percentile", target["q95"], 0.05)]
    if "beyond" in target:
        limits.append(("beyond", target["beyond"], target["beyond_share"]))
    result = []
    for words, limit, share in limits:
        beyond = sum(error > limit for error in errors)
        far = words == "beyond"
        quantile = _quantile(errors, 1 - share)
        result.append(
            Row(
                finding=name,
                target=f"{share:.0%} beyond {limit:.0%}" if far else f"{words} {limit:.1%}",
                found=f"{beyond} of {len(errors)}" if far else f"{quantile:.2%}",
                n=len(errors),
                passes=not excluded(beyond, len(errors), share),
            )
        )
    return result


def _quantile(values: list[float], share: float) -> float:
    return values[min(int(share * len(values)), len(values) - 1)] if values else 0.0


def _coverage(name: str, all_judged: Sequence[Judged], says: float) -> Row:
    pairs = [
        pair
        for drive in all_judged
        for pair in drive.holds.get(name.removeprefix("interval: "), ())
    ]
    held = sum(holds for holds, _ in pairs)
    width = _quantile(sorted(width for _, width in pairs), 0.5)
    return Row(
        finding=name,
        target=f"{says:.0%} hold",
        found=f"{held} of {len(pairs)}, median width {width:.2%}",
        n=len(pairs),
        passes=binomial_test(held, len(pairs), says) >= TEST,
    )


def reaches(right: int, count: int, share: float) -> bool:
    """Whether so many right of `count` leave it possible, at 95 %, that `share` of all are."""
    return not excluded(count - right, count, 1 - share)


def excluded(wrong: int, count: int, share: float) -> bool:
    """Whether so many wrong of `count` say that more than `share` are wrong, at 95 %."""
    return wrong > 0 and sum(_binomial(k, count, share) for k in range(wrong, count + 1)) < BOUND


def at_most(wrong: int, count: int) -> float:
    """The share of wrong ones above which so few of `count` are less likely than one in twenty
    (Clopper and Pearson 1934)."""
    low, high = wrong / count, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        likely = sum(_binomial(k, count, middle) for k in range(wrong + 1))
        low, high = (middle, high) if likely > BOUND else (low, middle)
    return high


def binomial_test(held: int, count: int, share: float) -> float:
    """The exact two-sided test: the weight of all outcomes no more likely than this one."""
    if count == 0:
        return 1.0
    here = _binomial(held, count, share) * (1 + 1e-9)
    weights = (_binomial(k, count, share) for k in range(count + 1))
    return sum(weight for weight in weights if weight <= here)


def _binomial(k: int, count: int, share: float) -> float:
    choose = lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1)
    return exp(choose + k * log(share) + (count - k) * log1p(-share))
