"""From a run's results to what `posterior` compares, and from its answer to findings.

Invariants: pure; what a probability is not high enough for is said as "cannot tell", with what is
most likely and the test that would tell more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flashtwin.analysis import interruptions, returns
from flashtwin.analysis.curve import Curve, curve_of
from flashtwin.analysis.shape import shape_of
from flashtwin.batteries.discover import candidates as small
from flashtwin.batteries.discover.candidates import Facts, Test
from flashtwin.batteries.discover.posterior import (
    Posterior,
    Seen,
    calibration,
    chosen,
    posterior,
)
from flashtwin.batteries.discover.words import FILL, NAME, NAMES, NONE, PASTS
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.series import COLUMNS, WRITE
from flashtwin.model.step import Result
from flashtwin.model.units import readable_seconds

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.model.target import DriveInfo

FEWEST = 20
NO_CACHE = "cannot tell: no cache was seen to end in the fill, so there is none to test"
# Each side of an interval leaves this share out.
TAIL = 0.025


def possible(info: DriveInfo) -> tuple[str, ...]:
    """The names of the tests that this target can do."""
    tests = (test for test in small.TESTS if info.can.trim or not (test.trims or test.half))
    return tuple(test.name for test in tests)


def test_of(name: str) -> Test:
    """The test of that name."""
    return small.named(name)


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
        fill=_rounded(small.binned(_undisturbed(curve), first, None)),
        stages=tuple(
            (round(p.start / total, 6), round(p.end / total, 6), round(p.speed.value / first, 6))
            for p in shape.rest.plateaus
        ),
    )


def _undisturbed(curve: Curve) -> Curve:
    """The curve without stalls, lone dips and heat, as the fill's analysis reads it."""
    return returns.lifted(interruptions.calm(curve).curve)[0]


def seen_of(result: Result, test: Test, facts: Facts) -> Seen:
    """What a test showed."""
    written = result.series.only(WRITE)
    if test.single:
        columns = {name: getattr(written, name) for name in COLUMNS}
        return Seen(test=test.name, curve=_rounded(small.waits(columns)))
    return seen_of_curve(curve_of(written.t_ns, written.dt_ns, written.bytes), test, facts)


def seen_of_curve(curve: Curve, test: Test, facts: Facts) -> Seen:
    """The same of a curve."""
    return Seen(
        test=test.name, curve=_rounded(small.binned(_undisturbed(curve), facts.first, test))
    )


def _rounded(curve: small.Floats) -> tuple[float, ...]:
    """As they are compared: more digits would be the last bits of sums."""
    return tuple(round(float(value), 6) for value in curve)


def findings(record: Record) -> list[Finding]:
    """The kind of cache, what is past it, the probabilities of all, and the rests."""
    result = record.result(FILL)
    facts = None if result is None else facts_of(result)
    if facts is None:
        return [
            _choice("structure", None, NO_CACHE, FILL),
            _choice("past", None, NO_CACHE, FILL),
        ]
    seen = _seen(record, facts)
    belief = posterior(facts, seen, record.parameters.candidates)
    label = f"{NAME}/{len(seen)}-{seen[-1].test}/write" if seen else FILL
    choice = [
        finding
        for part, name in enumerate(("structure", "past"))
        for finding in _told(record, facts, seen, name, belief.by(part), label)
    ]
    return [*choice, *_rests(facts, seen, belief, label)]


def _seen(record: Record, facts: Facts) -> tuple[Seen, ...]:
    """The tests that were run to their end, in order."""
    seen: list[Seen] = []
    for step in record.steps:
        number, dash, name = step.label.removeprefix(f"{NAME}/").partition("-")
        if not dash or not name.endswith("/write") or int(number) != len(seen) + 1 or step.cut:
            continue
        if isinstance(step.answer, Result):
            seen.append(seen_of(step.answer, test_of(name.removesuffix("/write")), facts))
    return tuple(seen)


def _told(
    record: Record,
    facts: Facts,
    seen: tuple[Seen, ...],
    name: str,
    likely: Mapping[str, float],
    label: str,
) -> list[Finding]:
    """The choice, where it is probable enough, and the probability of each word."""
    best = max(likely, key=lambda word: likely[word])
    parts = ", ".join(f"{word} {likely[word]:.0%}" for word in likely if likely[word] >= 0.005)
    note = f"{parts}; after {_tests(seen)}"
    sure = likely[best] >= record.parameters.probability
    if not sure:
        more = chosen(facts, seen, record.parameters.candidates, possible(record.info))
        then = f"the test {more[0]} would tell more" if more else "no test here would tell more"
        note = f"cannot tell: {note}; {then}"
    return [
        _choice(name, best if sure else None, note, label),
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
        choices=NAMES if name == "structure" else PASTS,
        headline=name == "structure",
        evidence=_evidence(label),
        note=note,
    )


def _rests(facts: Facts, seen: tuple[Seen, ...], belief: Posterior, label: str) -> list[Finding]:
    """The rest after which folding begins, and after which all of the cache is back."""
    if not any(test_of(item.test).rest_s for item in seen):
        note = "cannot tell: no rest was tested"
        return [_rest(name, None, None, label, note) for name in ("rest_begin", "rest_full")]
    belief = belief.without(NONE).even_in_rests()
    begins = [item.idle_s for item in belief.candidates]
    fulls = [item.idle_s + folding_s(facts, item) for item in belief.candidates]
    findings = []
    for name, values in (("rest_begin", begins), ("rest_full", fulls)):
        low, middle, high = belief.quantiles(values, (TAIL, 0.5, 1 - TAIL))
        least = 1 + calibration()["rest"]["wider"]
        low, high = min(low, middle / least), max(high, middle * least)
        wide = high > 10 * low
        ends = f"{readable_seconds(low)} to {readable_seconds(high)}"
        note = f"cannot tell: {ends}; a rest between would tell" if wide else ""
        findings.append(_rest(name, None if wide else middle, Interval.of(low, high), label, note))
    return findings


def folding_s(facts: Facts, candidate: small.Candidate) -> float:
    """How long a full cache takes to be folded at the native rate."""
    return facts.fill_s * small.cached_share(candidate) / small.native_ratio(candidate)


def _rest(
    name: str, value: float | None, interval: Interval | None, label: str, note: str
) -> Finding:
    titles = {
        "rest_begin": "Rest before the cache recovers",
        "rest_full": "Rest until the cache is back",
    }
    return Finding(
        battery=NAME,
        name=name,
        title=titles[name],
        value=value,
        unit="s",
        interval=None if value is None else interval,
        better="lower",
        evidence=_evidence(label),
        note=note or None,
    )


def _evidence(label: str) -> Evidence:
    return Evidence(battery=NAME, label=label, axis="bytes", start=0.0, end=0.0)
