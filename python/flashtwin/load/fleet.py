"""A fleet: many drives of one model, each under a day of its own.

Each drive is a brief copy as in `lifetime`, drawn over what is not known of the model, and its host
writes more or less than the load says. Invariant: a drive follows from the seed and its number
alone, so that a fleet is the same on one machine and on a cluster.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from flashtwin.charts import figures
from flashtwin.load import lifetime
from flashtwin.load.drawn import assumed, drawn
from flashtwin.load.life import MOST_YEARS
from flashtwin.load.lifetime import Copy, Question, Simulated, work_of
from flashtwin.load.words import Fleet, Member
from flashtwin.model.units import readable_number, readable_size
from flashtwin.report.answer import Answer, Figure, Table
from flashtwin.runner.pool import Work

SHARES = (5, 25, 50, 75, 95)
BARS = 6


def copies(question: Question, count: int, spread: float) -> list[Copy]:
    """The drives of a fleet."""
    base = replace(lifetime.copies(question, 0)[0], brief=True, reads=False)
    exists = partial(lifetime.fits, scale=base.scale)
    others = [*drawn(base.variant, question.seed, count, exists)]
    # Where all of a drive is known, its copies differ by their seeds and their days.
    others = others or [(question.seed + number + 1, base.variant) for number in range(count)]
    fleet = []
    for seed, variant in others:
        factor = math.exp(random.Random(seed).gauss(0, math.log(spread) / 1.645))
        load = replace(base.load, per_day=base.load.per_day * factor)
        fleet.append(replace(base, variant=variant, load=load, seed=seed))
    return fleet


def works(fleet: Sequence[Copy]) -> list[Work]:
    """Their simulations."""
    return [work_of(copy) for copy in fleet]


def fleet(
    question: Question, spread: float, drives: Sequence[Copy], simulated: Sequence[Simulated]
) -> Fleet:
    """The answer of all drives, in their order."""
    spec = question.variant.spec()
    members = []
    for copy, end in zip(drives, simulated, strict=True):
        per_day = copy.load.bytes_a_day(spec.capacity_bytes)
        years = lifetime.years_of(end, per_day)
        lasts = years if math.isfinite(years) else None
        members.append(Member(per_day_bytes=per_day, waf=end.waf, years=lasts))
    return Fleet(
        name=spec.name,
        title=question.load.title,
        full=question.full,
        per_day_bytes=question.load.bytes_a_day(spec.capacity_bytes),
        spread=spread,
        drives=members,
        assumed=assumed(spec),
        sources=lifetime.sources_of(question),
    )


def _lasting(of: Fleet) -> list[float]:
    """The years of each drive; for ever where nothing wears."""
    return [math.inf if member.years is None else member.years for member in of.drives]


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
    ended = sum(value < years for value in lasting)
    worn_out = "all" if ended == len(lasting) else f"{ended:,}" if ended else "none"
    have = "has" if ended == 1 else "have"
    lines = [f"Of {load}, {worn_out} {have} used up the rated cycles after {years:g} years."]
    middle, least = quantile(lasting, 50), quantile(lasting, 5)
    text = f"Half of them last longer than {_most(middle)} years"
    if least < MOST_YEARS:
        text += f", one in twenty less than {_most(least)}"
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
        "each drive is a small copy that lives by jumps, of fewer stages than one that is asked of"
        " alone; jobs that only read are left out",
    ]
    if of.assumed:
        lines.append(f"drawn for each drive, since nobody printed it: {', '.join(of.assumed)}")
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
                head=("share of the drives", "written a day", "WAF", "years"),
                rows=[_row(of, percent) for percent in SHARES],
            )
        ],
        notes=notes(of),
    )


def _row(of: Fleet, percent: int) -> tuple[str, ...]:
    at = partial(quantile, percent=percent)
    return (
        f"{percent} % lie below",
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
    return f"> {MOST_YEARS:g}" if value >= MOST_YEARS else _most(value)


def _most(value: float) -> str:
    return readable_number(min(value, MOST_YEARS), 2)
