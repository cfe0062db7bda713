"""`--fail-on`: how much worse a finding may be before a comparison fails.

`5%` is for every finding, `cache_size=3%` for those of a name (an id, or without battery or
variant); with names alone nothing else is tested. A finding fails when it differs by more than the
limit beyond what its interval allows for (a range of runs allows for nothing: a score counts as it
is), to the worse side where that is known and to either side where it is not; when it is another
choice; and when the first run has a value that the other looked for and did not find. A value that
the other never measured fails where its finding is named, and where the other run is not finished:
what was not tested has not passed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.finding import Finding
from flashtwin.runs.compare.measures import Measure, Verdict

_FORM = "write --fail-on 5% for every finding, or --fail-on cache_size=3% for one"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits in percent, for all findings and for named ones. Without one for all, findings that
    are not named are not tested."""

    every: float | None = None
    named: dict[str, float] = field(default_factory=dict)

    def of(self, finding: Finding) -> float | None:
        """The limit of a finding: of its id, of a shorter name of it, or of every finding."""
        return next((self.named[name] for name in finding.names if name in self.named), self.every)

    def names(self, finding: Finding) -> bool:
        """Whether a finding has a limit of its own."""
        return any(name in self.named for name in finding.names)


class BeyondLimit(Document, frozen=True):
    """A `Failure` as it is printed."""

    id: str
    verdict: Verdict
    percent: float | None
    beyond_percent: float | None
    limit_percent: float


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A finding that is beyond its limit."""

    measure: Measure
    limit: float

    def document(self) -> BeyondLimit:
        """What `flashtwin compare --json` prints of it."""
        of = self.measure
        return BeyondLimit(of.id, of.verdict, of.percent, of.beyond, limit_percent=self.limit)


def parse(texts: Sequence[str]) -> Limits:
    """The limits of the command line."""
    every: float | None = None
    named: dict[str, float] = {}
    for text in texts:
        name, equals, share = text.rpartition("=")
        limit = _percent(text, share)
        if not equals:
            every = limit
        elif name.strip():
            named[name.strip()] = limit
        else:
            raise FlashtwinError(f"--fail-on {text} names no finding", hint=_FORM, exit_code=USAGE)
    return Limits(every=every, named=named)


def failures(
    limits: Limits, measures: Sequence[Measure], *, finished: bool = True
) -> list[Failure]:
    """The findings beyond their limits; `finished`: whether the other run is."""
    failed = []
    for measure in measures:
        limit = limits.of(measure.finding)
        if limit is not None and _fails(
            measure, limit, limits.names(measure.finding) or not finished
        ):
            failed.append(Failure(measure=measure, limit=limit))
    return failed


def check_tested(limits: Limits, measures: Sequence[Measure], base: str, other: str) -> None:
    """Refuse runs that have no finding in common: they would pass every test."""
    if not any(
        measure.verdict != "not measured"
        for measure in measures
        if limits.of(measure.finding) is not None
    ):
        raise FlashtwinError(
            f"--fail-on tests nothing: {base} and {other} have no finding in common",
            hint="compare runs of the same batteries; flashtwin runs show RUN says what one has",
            exit_code=USAGE,
        )


def check_names(limits: Limits, measures: Sequence[Measure]) -> None:
    """Refuse the name of a finding that is not there: its test could not fail."""
    answers = {name for measure in measures for name in measure.finding.names}
    for name in limits.named:
        if name not in answers:
            near = get_close_matches(name, answers, n=3, cutoff=0.4)
            by_id = sorted(measures, key=lambda measure: measure.id)
            shorts = [measure.finding.short for measure in by_id]
            there = ", ".join(near or list(dict.fromkeys(shorts))[:12])
            raise FlashtwinError(
                f"--fail-on {name}: no finding of these runs is called so",
                hint=f"did you mean {there}" if near else f"there are {there}",
                exit_code=USAGE,
            )


def _fails(measure: Measure, limit: float, required: bool) -> bool:
    if measure.verdict == "vanished":
        return True
    if measure.verdict == "not measured":
        return required and measure.base is not None and measure.base.value is not None
    if not measure.worsens:
        return False
    if measure.beyond is None:
        # A change from 0 has no percentage and exceeds any limit; so does another choice.
        return measure.significant is not False
    return measure.beyond > limit


def _percent(text: str, share: str) -> float:
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", share)
    if not match:
        raise FlashtwinError(f"--fail-on {text} is not a limit", hint=_FORM, exit_code=USAGE)
    return float(match[1])
