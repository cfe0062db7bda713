"""A fleet: many drives of one model, each under a day of its own.

Each drive is one that its model may be, and its host writes more or less than the load says. In a
small fleet each drive lives a life of its own: a brief copy as in `lifetime`. In a large one
`DRAWN` drives are drawn, each of which lives under a few days of the range, and a member has the
life of one of them: the flash bytes and the host bytes of a life change little with what a day
writes, and are interpolated between two of these days. Lives of `CHECKED` members, the least and
the most written ones among them, are simulated besides, and how far they lie from what was
interpolated is the error that is told.

Invariant: a drive follows from the seed and its number alone, so that a fleet is the same on one
machine and on a cluster.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist, fmean, stdev

import numpy as np

from flashtwin.charts import figures
from flashtwin.load import lifetime
from flashtwin.load.drawn import assumed, drawn
from flashtwin.load.life import MOST_YEARS
from flashtwin.load.lifetime import Copy, Question, Simulated, work_of
from flashtwin.load.words import Fleet, Interval, Member
from flashtwin.model.units import readable_number, readable_size, readable_years
from flashtwin.report.answer import Answer, Figure, Table
from flashtwin.runner.pool import Work
from flashtwin.runner.target import Variant

SHARES = (5, 25, 50, 75, 95)
BARS = 6
# Deviations of a normal distribution within which 90 % of it lie.
WITHIN = NormalDist().inv_cdf(0.95)
# The days that a drawn drive lives under, in deviations of their logarithm: one in sixty hosts
# writes less than the least or more than the most of them.
DAYS = (-2.4, -0.8, 0.8, 2.4)
DRAWN, CHECKED = 48, 8


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The drives of a fleet, each by the number of its drawn drive and the factor by which its day
    is larger, and the lives to be simulated, of the same two: those of drawn drives and then
    `checked` ones of members."""

    base: Copy
    spread: float
    variants: tuple[tuple[int, Variant], ...]
    members: tuple[tuple[int, float], ...]
    lives: tuple[tuple[int, float], ...]
    checked: int

    def works(self) -> list[Work]:
        """The simulations of its lives."""
        return [work_of(self._copy(*life)) for life in self.lives]

    def _copy(self, number: int, factor: float) -> Copy:
        seed, variant = self.variants[number]
        load = replace(self.base.load, per_day=self.base.load.per_day * factor)
        return replace(self.base, variant=variant, load=load, seed=seed)


def plan(question: Question, count: int, spread: float) -> Plan:
    """The drives of a fleet of a size, and the lives that they need."""
    base = replace(lifetime.copies(question, 0)[0], brief=True, reads=False)
    # A fleet that is no larger than what would be shared has as many lives as drives.
    shared = count > DRAWN * len(DAYS) + CHECKED
    wanted = DRAWN if shared else count
    exists = partial(lifetime.fits, scale=base.scale)
    variants = tuple(drawn(base.variant, question.seed, wanted, exists))
    # Where all of a drive is known, its copies differ by their seeds and their days.
    variants = variants or tuple((question.seed + at + 1, base.variant) for at in range(wanted))
    deviation = math.log(spread) / WITHIN
    source = random.Random(question.seed)
    members = tuple((at % wanted, math.exp(source.gauss(0, deviation))) for at in range(count))
    lives, checked = members, 0
    if shared:
        days = sorted({math.exp(day * deviation) for day in DAYS})
        ordered = sorted(members, key=lambda member: member[1])
        picked = [ordered[round(at * (count - 1) / (CHECKED - 1))] for at in range(CHECKED)]
        lives = (*((number, day) for number in range(wanted) for day in days), *picked)
        checked = CHECKED
    return Plan(
        base=base,
        spread=spread,
        variants=variants,
        members=members,
        lives=lives,
        checked=checked,
    )


@dataclass(frozen=True, kw_only=True)
class _Lives:
    """The lives of a drawn drive: logarithms of the factors of their days, of their write
    amplification, and of the bytes that the host writes in them."""

    factors: Sequence[float]
    wafs: Sequence[float]
    lasting: Sequence[float]

    def at(self, factor: float) -> tuple[float, float]:
        """Write amplification and bytes of a life under a day with a factor: between two days by
        the logarithms, beyond the last one as under it."""
        waf, lasts = (
            math.exp(np.interp(math.log(factor), self.factors, values))
            for values in (self.wafs, self.lasting)
        )
        return waf, lasts


def fleet(of: Plan, question: Question, simulated: Sequence[Simulated], years: float) -> Fleet:
    """The answer of all drives, from the lives of a plan in their order; `years`: how long the
    drives have to last."""
    spec = question.variant.spec()
    per_day = question.load.bytes_a_day(spec.capacity_bytes)
    lived = [
        _member(factor * per_day, end.waf, lifetime.years_of(end, factor * per_day))
        for (_, factor), end in zip(of.lives, simulated, strict=True)
    ]
    members, error = lived, 0.0
    if of.checked:
        by_number = _lives(of.lives[: -of.checked], lived[: -of.checked])

        def shared(number: int, factor: float) -> Member:
            waf, lasts = by_number[number].at(factor)
            return _member(factor * per_day, waf, lasts / (factor * per_day))

        members = [shared(*member) for member in of.members]
        pairs = zip(of.lives[-of.checked :], lived[-of.checked :], strict=True)
        error = max(_apart(shared(*life), own) for life, own in pairs)
    return Fleet(
        name=spec.name,
        title=question.load.title,
        full=question.full,
        per_day_bytes=per_day,
        spread=of.spread,
        ended=_ended(of, members, years, error),
        lives=len(of.lives),
        error=error if of.checked else None,
        drives=members,
        assumed=assumed(spec),
        sources=lifetime.sources_of(question),
    )


def _member(per_day: float, waf: float, years: float) -> Member:
    return Member(per_day_bytes=per_day, waf=waf, years=years if math.isfinite(years) else None)


def _lives(lives: Sequence[tuple[int, float]], lived: Sequence[Member]) -> dict[int, _Lives]:
    """The lives of each drawn drive, in the order of their days."""
    rows: dict[int, list[tuple[float, float, float]]] = {}
    for (number, factor), member in zip(lives, lived, strict=True):
        lasts = _years_of(member) * member.per_day_bytes
        rows.setdefault(number, []).append((math.log(factor), math.log(member.waf), _log(lasts)))
    columns = {number: list(zip(*of, strict=True)) for number, of in rows.items()}
    return {
        number: _Lives(factors=factors, wafs=wafs, lasting=lasting)
        for number, (factors, wafs, lasting) in columns.items()
    }


def _log(lasts: float) -> float:
    """A life that nothing ends has more bytes than any that is planned for."""
    return math.log(lasts) if math.isfinite(lasts) else math.log(1e30)


def _apart(shared: Member, own: Member) -> float:
    """By which share the years of two differ; nobody plans beyond `MOST_YEARS`."""
    return abs(min(_years_of(shared), MOST_YEARS) / min(_years_of(own), MOST_YEARS) - 1)


def _years_of(member: Member) -> float:
    return math.inf if member.years is None else member.years


def _ended(of: Plan, members: Sequence[Member], years: float, error: float) -> Interval:
    """How many drives have used up their rated cycles, between what it is with all years longer or
    shorter by the error, and by how far the drawn drives differ."""
    count = sum(_years_of(member) < years for member in members)
    fewer, more = (
        sum(_years_of(member) * factor < years for member in members)
        for factor in (1 + error, 1 / (1 + error))
    )
    ended_of: list[list[bool]] = [[] for _ in of.variants]
    for (number, _), member in zip(of.members, members, strict=True):
        ended_of[number].append(_years_of(member) < years)
    shares = [fmean(rows) for rows in ended_of]
    drawing = WITHIN * stdev(shares) / math.sqrt(len(shares)) * len(members)
    return Interval(
        value=count,
        low=max(round(count - math.hypot(count - fewer, drawing)), 0),
        high=min(round(count + math.hypot(more - count, drawing)), len(members)),
    )


def _lasting(of: Fleet) -> list[float]:
    """The years of each drive; for ever where nothing wears."""
    return [_years_of(member) for member in of.drives]


def quantile(values: Sequence[float], percent: float) -> float:
    """The value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(int(percent / 100 * len(ordered)), len(ordered) - 1)]


def sentences(of: Fleet, years: float) -> list[str]:
    """The answer, the most important first."""
    lasting = _lasting(of)
    low, high = of.per_day_bytes / of.spread, of.per_day_bytes * of.spread
    load = (
        f"{len(of.drives):,} {of.name} under {of.title}, {readable_size(of.per_day_bytes, 3)} a day"
        f" (90 % of them {readable_size(low, 3)} to {readable_size(high, 3)}),"
        f" {100 * of.full:g} % full"
    )
    ended = round(of.ended.value)
    worn_out = "all" if ended == len(lasting) else f"{ended:,}" if ended else "none"
    if of.ended.low < of.ended.high:
        worn_out += f" ({of.ended.low:,.0f} to {of.ended.high:,.0f})"
    have = "has" if ended == 1 else "have"
    lines = [f"Of {load}, {worn_out} {have} used up the rated cycles after {years:g} years."]
    middle, least = quantile(lasting, 50), quantile(lasting, 5)
    text = f"Half of them last longer than {readable_years(min(middle, MOST_YEARS))}"
    if least < MOST_YEARS:
        text += f", one in twenty less than {readable_years(least)}"
    lines.append(f"{text}.")
    wafs = [member.waf for member in of.drives]
    lines.append(
        f"A byte written costs {readable_number(quantile(wafs, 50), 3)} bytes of flash in the"
        f" middle, and {readable_number(quantile(wafs, 95), 3)} or more in one of twenty."
    )
    return lines


def notes(of: Fleet) -> list[str]:
    """What the answer rests on."""
    lines = [
        *of.sources,
        f"assumed: hosts differ by a factor of {of.spread:g} (90 % of them)",
        "a life is that of a small copy by jumps, of fewer stages than one that is asked of alone;"
        " jobs that only read are left out",
    ]
    if of.error is not None:
        lines.append(
            f"{of.lives:,} lives were simulated, of {DRAWN} drawn drives under {len(DAYS)} days"
            f" each; a drive of the fleet has the life of one of them, between two days."
            f" {CHECKED} drives lived their own life besides: their years differ by"
            f" {readable_number(100 * of.error, 2)} % at most, which the count's interval holds"
        )
    if of.assumed:
        lines.append(f"drawn, since nobody printed it: {', '.join(of.assumed)}")
    return lines


def answer(of: Fleet, years: float) -> Answer:
    """The page of a fleet."""
    return Answer(
        kind="A fleet",
        title=f"{len(of.drives):,} {of.name}",
        sentences=sentences(of, years),
        figures=[
            Figure(title="When rated cycles are used up", lines=("drives",), chart=_histogram(of))
        ],
        tables=[
            Table(
                title="Drives by share",
                head=("drives below", "written a day", "WAF", "years"),
                rows=[_row(of, percent) for percent in SHARES],
            )
        ],
        notes=notes(of),
    )


def _row(of: Fleet, percent: int) -> tuple[str, ...]:
    at = partial(quantile, percent=percent)
    return (
        f"{percent} %",
        readable_size(at([member.per_day_bytes for member in of.drives]), 3),
        readable_number(at([member.waf for member in of.drives]), 3),
        _years(at(_lasting(of))),
    )


def _histogram(of: Fleet) -> dict[str, object]:
    """Drives by years, in steps of equal factors."""
    values = [min(max(years, 1e-3), MOST_YEARS) for years in _lasting(of)]
    low, high = math.log(min(values)), math.log(max(values))
    step = max((high - low) / BARS, 1e-9)
    counts = [0] * BARS
    for value in values:
        counts[min(int((math.log(value) - low) / step), BARS - 1)] += 1
    words = [_years(math.exp(low + step * place)) for place in range(BARS)]
    bars = [
        {"x": word, "y": count, "line": "drives", "shown": f"{count:,}"}
        for word, count in zip(words, counts, strict=True)
    ]
    axis = figures.words_axis("years, from", words)
    return dict(figures.side_by_side(bars, ("drives",), axis, "drives"))


def _years(value: float) -> str:
    return f"> {MOST_YEARS:g}" if value >= MOST_YEARS else readable_number(value, 2)
