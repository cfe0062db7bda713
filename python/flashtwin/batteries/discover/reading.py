"""From a run's results to what `posterior` compares, and from its answer to findings.

Invariants: pure; what a probability is not high enough for is said as "cannot tell", with what is
most likely and the test that would tell more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from flashtwin.analysis import interruptions, returns
from flashtwin.analysis.curve import Curve, curve_of
from flashtwin.analysis.estimate import Estimate
from flashtwin.analysis.shape import shape_of
from flashtwin.batteries.discover import ambiguous, latency, places, rests, steps
from flashtwin.batteries.discover import candidates as small
from flashtwin.batteries.discover import tests as known_tests
from flashtwin.batteries.discover.candidates import Facts
from flashtwin.batteries.discover.posterior import (
    Posterior,
    Seen,
    calibration,
    chosen,
    posterior,
)
from flashtwin.batteries.discover.tests import Test
from flashtwin.batteries.discover.words import (
    FILL,
    NAME,
    NAMES,
    PARTS,
    PASTS,
    RESTS,
)
from flashtwin.hypothesis.structures import NONE, TIERS
from flashtwin.model.finding import Evidence, Finding, Interval, Means
from flashtwin.model.histogram import bins_of
from flashtwin.model.series import COLUMNS, READ, WRITE
from flashtwin.model.step import Result
from flashtwin.model.units import percent, readable_seconds

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.model.series import Counts

FEWEST = 20
NO_CACHE = "cannot tell: no cache was seen to end in the fill, so there is none to test"
TOO_SMALL = (
    "cannot tell: what is faster at first is less than a block of the drives that are simulated,"
    " such as a buffer takes; a cache of that size is not told from one"
)
BURST = "what was faster at first was a burst of a buffer or of the host"
MAYBE_FULL = "; if it was full before, a longer rest before the fill (idle_s) empties it"
A_FILE = (
    "cannot tell: what is written over a file takes no free space from the drive, and how the cache"
    " changes as that fills is what tells its kind; only a whole drive shows it"
)
# Each side of an interval leaves this share out.
TAIL = 0.025


def _curve(result: Result) -> Curve | None:
    written = result.series.only(WRITE)
    if int((written.bytes > 0).sum()) < FEWEST:
        return None
    return curve_of(written.t_ns, written.dt_ns, written.bytes)


def facts_of(result: Result) -> Facts | None:
    """What the fill showed; none where no first plateau ends."""
    curve = _curve(result)
    return None if curve is None else facts_of_curve(curve)


def facts_of_curve(curve: Curve) -> Facts | None:
    """The same of a curve."""
    shape = shape_of(curve)
    if shape.edge is None:
        return None
    total, first = curve.total_bytes, shape.head.speed.value
    edge = shape.edge.place.value
    end = shape.slower.start if shape.slower is not None else total
    second = curve.mean_between(edge, end if end > edge else total)
    return Facts(
        total_bytes=total,
        cache_share=round(edge / total, 6),
        second=round(min(max(second / first, 0.01), 1.0), 6),
        fill_s=round(total / first, 6),
        fill=_rounded(small.binned(_undisturbed(curve)[0], first, None)),
        stages=tuple(
            (round(p.start / total, 6), round(p.end / total, 6), round(p.speed.value / first, 6))
            for p in shape.rest.plateaus
        ),
    )


def _undisturbed(curve: Curve) -> tuple[Curve, Curve | None]:
    """The curve without stalls, lone dips and heat, as the fill's analysis reads it; and the same
    with stretches that were slower for a while, none where there were none."""
    calm = interruptions.calm(curve).curve
    lifted, stretches = returns.lifted(calm)
    return lifted, calm if stretches else None


def seen_of(result: Result, test: Test, facts: Facts) -> Seen:
    """What a test showed."""
    if test.reads:
        reads = [_wait_ns(result, at) for at in (steps.OLDEST, steps.TAKEN, steps.PAST)]
        pattern = places.pattern(*reads)
        # Waits of writes stand behind what reads say, and tell nothing without it.
        curve = np.append(pattern, _waits(result)) if pattern.size else pattern
        return Seen(test=test.name, curve=_rounded(curve))
    written = result.series.only(WRITE)
    return seen_of_curve(curve_of(written.t_ns, written.dt_ns, written.bytes), test, facts)


def rung_of(result: Result) -> rests.Rung:
    """What reads before and after a rest showed."""
    levels = range(steps.LEVELS, len(result.parts))
    _, known, seconds = result.parts[steps.RESTED].label.rpartition(f"/{steps.RESTS_FOR}")
    return rests.Rung(
        stage=rests.stage_of(result.label.rpartition("-")[2]),
        rest_s=result.parts[steps.RESTED].duration_ns / 1e9,
        before_ns=_wait_ns(result, steps.BEFORE),
        after_ns=_wait_ns(result, steps.AFTER),
        levels=tuple(_wait_ns(result, at) for at in levels),
        asked_s=float(seconds) if known else None,
    )


def with_rests(facts: Facts, rungs: Sequence[rests.Rung]) -> Facts:
    """The facts with what rests showed."""
    folding = rests.folding(rungs)
    return replace(
        facts,
        begin_s=None if folding.begin is None else round(folding.begin.value, 6),
        folding_s=None if folding.takes is None else round(folding.takes.value, 6),
    )


def with_programs(facts: Facts, result: Result) -> Facts:
    """The facts with what single writes past the cache hand over while a program lasts."""
    if len(result.parts) <= steps.MIXED:
        return facts
    written, between = _single(result)
    return replace(facts, meanwhile=round(latency.written_meanwhile(written, between), 1))


def _wait_ns(result: Result, part: int) -> float:
    return places.mean_wait(_columns(result.parts[part], READ))


def _waits(result: Result) -> small.Floats:
    """How many programs long single writes wait; empty in a run of an earlier flashtwin, which made
    no reads between writes."""
    if len(result.parts) <= steps.MIXED:
        return np.zeros(0)
    return latency.in_programs(_columns(result.parts[steps.SINGLE], WRITE), *_single(result))


def _single(result: Result) -> tuple[latency.Waits, latency.Waits]:
    """Waits of single writes, and of reads between writes."""
    single, mixed = result.parts[steps.SINGLE], result.parts[steps.MIXED]
    return _latencies(single, "write"), _latencies(mixed, "read")


def _latencies(result: Result, direction: str) -> latency.Waits:
    """Those of a direction; none where a result has nothing of it."""
    counts = cast("Counts | None", result.hist.get(direction))
    return latency.Waits.of_histogram({} if counts is None else bins_of(counts))


def _columns(result: Result, direction: int) -> dict[str, Any]:
    rows = result.series.only(direction)
    return {name: getattr(rows, name) for name in COLUMNS}


def seen_of_curve(curve: Curve, test: Test, facts: Facts) -> Seen:
    """The same of a curve."""
    lifted, slower = _undisturbed(curve)
    return Seen(
        test=test.name,
        curve=_rounded(small.binned(lifted, facts.first, test)),
        slower=() if slower is None else _rounded(small.binned(slower, facts.first, test)),
    )


def _rounded(curve: small.Floats) -> tuple[float, ...]:
    """As they are compared: more digits would be the last bits of sums."""
    return tuple(round(float(value), 6) for value in curve)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a run showed: the fill and the rests, and the tests that were run to their end.

    `last`: the label of the last of these, the fill's where there is none.
    """

    facts: Facts
    rungs: tuple[rests.Rung, ...]
    seen: tuple[Seen, ...]
    last: str = FILL


def measured_in(record: Record) -> Measured | None:
    """What a run showed; none where no cache ended in the fill, or one that is too small."""
    result = record.result(FILL)
    facts = None if result is None else facts_of(result)
    if facts is None or is_too_small(facts):
        return None
    rungs = _rungs(record)
    facts = with_rests(facts, rungs)
    answers = _answers(record)
    for test, answer in answers.values():
        facts = with_programs(facts, answer) if test.reads else facts
    seen = {label: seen_of(answer, test, facts) for label, (test, answer) in answers.items()}
    return Measured(
        facts=facts, rungs=rungs, seen=tuple(seen.values()), last=next(reversed(seen), FILL)
    )


def is_too_small(facts: Facts) -> bool:
    """Whether what is faster at first is less than one block of a simulated cache."""
    return facts.cache_share < small.superblock_share()


def findings(record: Record) -> list[Finding]:
    """The kind of cache, what is past it, the probabilities of all, and the rests."""
    measured = measured_in(record)
    if measured is None:
        note = _without_facts(record)
        return [_choice(name, None, note, FILL) for name in PARTS]
    facts, seen, label = measured.facts, measured.seen, measured.last
    belief = posterior(facts, seen, record.parameters.candidates)
    choice = [_size(facts)] if record.info.can.whole_drive else []
    for part, name in enumerate(PARTS):
        if part == 0 and not record.info.can.whole_drive:
            choice.append(_choice(name, None, A_FILE, label))
        else:
            choice += _told(record, facts, seen, part, belief, label)
    return [*choice, *_rests(facts, measured.rungs, belief)]


def _without_facts(record: Record) -> str:
    """Why a fill says nothing of a cache."""
    fill = record.result(FILL)
    samples = 0 if fill is None else int((fill.series.only(WRITE).bytes > 0).sum())
    if samples < FEWEST:
        return (
            f"cannot tell: the fill has {samples} samples, and a cache shows in {FEWEST} or more;"
            " a larger target lasts longer"
        )
    if fill is not None and facts_of(fill) is not None:
        return TOO_SMALL
    return NO_CACHE if record.info.can.purge else NO_CACHE + MAYBE_FULL


def _rungs(record: Record) -> tuple[rests.Rung, ...]:
    """The rests that were tried to their end, in order."""
    return tuple(
        rung_of(step.answer)
        for step in record.steps
        if step.label.startswith(f"{RESTS}/")
        and step.kind == "chain"
        and not step.cut
        and isinstance(step.answer, Result)
    )


def _answers(record: Record) -> dict[str, tuple[Test, Result]]:
    """The tests that were run to their end, in order, by the label of their step."""
    answers: dict[str, tuple[Test, Result]] = {}
    tests = 0
    for step in record.steps:
        number, dash, name = step.label.removeprefix(f"{NAME}/").partition("-")
        if not dash or not name.endswith("/write") or int(number) != tests + 1 or step.cut:
            continue
        if isinstance(step.answer, Result):
            tests += 1
            if (test := name.removesuffix("/write")) not in known_tests.SHOW_NOTHING:
                answers[step.label] = known_tests.named(test), step.answer
    return answers


def _told(
    record: Record,
    facts: Facts,
    seen: tuple[Seen, ...],
    part: int,
    belief: Posterior,
    label: str,
) -> list[Finding]:
    """The choice, where it is probable enough, and the probability of each word."""
    name, likely = PARTS[part], belief.by(part)
    best = max(likely, key=lambda word: likely[word])
    shown = ", ".join(f"{word} {percent(likely[word])}" for word in likely if likely[word] >= 0.005)
    note = f"{shown}; after {_tests(seen)}"
    value: str | None = None
    if likely[best] >= record.parameters.probability:
        value, also = best, BURST if best == NONE else ambiguous.unseen(best)
        note = f"{note}; {also}" if also else note
    elif more := chosen(facts, seen, record.parameters.candidates, record.info.can, part):
        note = f"cannot tell: {note}; the test {more[0]} would tell more"
    elif pair := ambiguous.pair_of(likely, record.parameters.probability):
        value = ambiguous.SEPARATOR.join(pair)
        note = f"{note}; no test of a host parts {' and '.join(pair)} here: " + ambiguous.reason(
            belief, pair
        )
    else:
        note = f"cannot tell: {note}; no test here would tell more"
    return [
        _choice(name, value, note, label),
        *(
            Finding(
                battery=NAME,
                name=f"{name}.{word}",
                title=f"Probability: {word}",
                value=round(likely[word], 4),
                unit="fraction",
                evidence=_evidence(label),
            )
            for word in likely
        ),
    ]


def _tests(seen: tuple[Seen, ...]) -> str:
    return ", ".join(["the fill", *(item.test for item in seen)])


def _choice(name: str, value: str | None, note: str, label: str) -> Finding:
    titles = {"structure": "Kind of cache", "past": "How data past the cache is written"}
    return Finding(
        battery=NAME,
        name=name,
        title=titles[name],
        value=value,
        choices=ambiguous.choices(NAMES if name == PARTS[0] else PASTS),
        headline=name == PARTS[0],
        evidence=_evidence(label),
        note=note,
    )


def _size(facts: Facts) -> Finding:
    """How much of the fill was fast."""
    end = facts.cache_share * facts.total_bytes
    return Finding(
        battery=NAME,
        name="size",
        title="Size of the cache",
        value=float(f"{end / 1e9:.4g}"),
        unit="GB",
        better="higher",
        evidence=Evidence(battery=NAME, label=FILL, axis="bytes", start=0.0, end=end),
    )


def _rests(facts: Facts, rungs: Sequence[rests.Rung], belief: Posterior) -> list[Finding]:
    """The rest after which folding begins, and after which all of the cache is back."""
    label = f"{RESTS}/{len(rungs)}-{rungs[-1].stage}" if rungs else FILL
    folding = rests.folding(rungs)
    if folding.begin is None:
        note = _unchanged(folding) if rungs else "cannot tell: no rest was tested"
        return [_rest(name, None, label, note) for name in ("rest_begin", "rest_full")]
    least = 1 + calibration()["rest"]["wider"]
    if not folding.begin.low:
        note = f"at most {readable_seconds(folding.begin.value)}: the shortest rest showed it"
        begin = _rest("rest_begin", replace(folding.begin, low=None), label, note, "bound")
    else:
        begin = _rest("rest_begin", _wider(folding.begin, least), label)
    return [
        begin,
        _rest("rest_full", _full(facts, folding, belief), label),
    ]


def _unchanged(folding: rests.Folding) -> str:
    longest = readable_seconds(folding.longest_s)
    note = f"cannot tell: nothing changed in a rest of up to {longest}, the longest one tried"
    if folding.scatter <= rests.BEGUN:
        return note
    return f"{note}; reads on this host scatter up to {folding.scatter:.1f} times, which hides much"


def _wider(ends: Estimate, least: float) -> Estimate:
    """The same with ends at least a factor of the value away."""
    assert ends.low is not None and ends.high is not None, "a reading has two ends"
    low, high = min(ends.low, ends.value / least), max(ends.high, ends.value * least)
    return Estimate(value=ends.value, low=low, high=high)


def _full(facts: Facts, folding: rests.Folding, belief: Posterior) -> Estimate:
    """The rest to full: folding as fast as it was seen to be, or, where no rest showed that, as
    fast as the candidates that fit. They also say how much of a second tier there is to fold."""
    assert folding.begin is not None, "folding was seen to begin"
    belief = belief.without(NONE)
    seen = rests.full(folding)
    values = []
    for item in belief.candidates:
        size = small.cached_share(item) / facts.cache_share
        tiers = small.structures()[item.structure][0] == TIERS
        direct = rests.full(folding, size if tiers else 1.0)
        if direct is None:
            values.append(folding.begin.value + folding_s(facts, item))
        else:
            values.append(direct.value)
    low, middle, high = belief.quantiles(values, (TAIL, 0.5, 1 - TAIL))
    if seen is not None:
        assert seen.low is not None and seen.high is not None, "a reading has two ends"
        low, high = low * seen.low / seen.value, high * seen.high / seen.value
    ends = Estimate(value=middle, low=low, high=high)
    return _wider(ends, 1 + calibration()["rest"]["wider"])


def folding_s(facts: Facts, candidate: small.Candidate) -> float:
    """How long a full cache takes to be folded at the native rate."""
    return facts.fill_s * small.cached_share(candidate) / small.native_ratio(candidate)


def _rest(
    name: str, ends: Estimate | None, label: str, note: str = "", means: Means = "estimate"
) -> Finding:
    titles = {
        "rest_begin": "Rest before the cache recovers",
        "rest_full": "Rest until the cache is back",
    }
    return Finding(
        battery=NAME,
        name=name,
        title=titles[name],
        value=None if ends is None else ends.value,
        unit="s",
        interval=None if ends is None else Interval.of(ends.low, ends.high, means),
        better="lower",
        evidence=_evidence(label),
        note=note or None,
    )


def _evidence(label: str) -> Evidence:
    return Evidence(battery=NAME, label=label, axis="bytes", start=0.0, end=0.0)
