"""Questions about years of a load, wanted of several drives or of one drive in several ways.

Every answer is a `lifetime.Lifetime`; several of them are ranked by how long they last, with the
probability that the first outlives the others, as the drawn drives of both have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

from msgspec import Struct

from flashtwin.charts import figures
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.load import lifetime
from flashtwin.load.lifetime import Question
from flashtwin.load.loads import Load
from flashtwin.load.words import Interval, Lifetime
from flashtwin.model.target import Interrupted
from flashtwin.model.units import readable_number, readable_period, readable_size
from flashtwin.report.answer import Answer, Figure, Table
from flashtwin.runner.cluster import Cluster
from flashtwin.runner.pool import Ended, Pool, Work
from flashtwin.runner.stop import listening
from flashtwin.runner.target import Variant

NORMAL = NormalDist()
# Told how many copies are done, and of what the last one was.
OnEnd = Callable[[int, str], None]
# Nobody plans further: a drive that lasts longer lasts "more than" that.
MOST_YEARS = 100.0
# Parts of a question that can be varied beside keys of a spec, and names of their values.
SWITCHES: Mapping[str, Mapping[str, str]] = {
    "trim": {"on": "TRIM", "off": "no TRIM"},
    "handles": {"on": "with handles", "off": "no handles"},
}
LATENCY_NAMES = {"read": "reads", "write": "writes", "sync": "syncs"}


@dataclass(frozen=True, kw_only=True)
class Way:
    """One of the ways that are compared: what it is called, and what is asked."""

    name: str
    question: Question


class Row(Struct, frozen=True, kw_only=True):
    """A way with its answer."""

    way: str
    lifetime: Lifetime


def ways(
    drives: Sequence[Variant], load: Load, full: float, varied: Mapping[str, Sequence[str]]
) -> list[Way]:
    """Every drive in every way; `varied` has a key of a spec, or one of `SWITCHES` or `full`, with
    its values."""
    varied_ways = [
        Way(name=variant.drive, question=Question(variant=variant, load=load, full=full))
        for variant in drives
    ]
    for key, values in varied.items():
        varied_ways = [_changed(way, key, value) for way in varied_ways for value in values]
    return varied_ways


def _changed(way: Way, key: str, value: str) -> Way:
    question, name = way.question, f"{way.name}, {key} {value}"
    if key == "full":
        return Way(name=name, question=replace(question, full=share(value)))
    if key in SWITCHES:
        if value not in SWITCHES[key]:
            words = " or ".join(SWITCHES[key])
            raise FlashtwinError(f"{key} is {words}, and not {value}", exit_code=USAGE)
        is_on = value == "on"
        changed = (
            replace(question, trims=is_on) if key == "trim" else replace(question, handles=is_on)
        )
        return Way(name=f"{way.name}, {SWITCHES[key][value]}", question=changed)
    if value == "as is":
        return Way(name=name, question=question)
    variant = replace(question.variant, sets=(*question.variant.sets, f"{key}={value}"))
    return Way(name=name, question=replace(question, variant=variant))


def share(text: str) -> float:
    """80% or 0.8."""
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        raise FlashtwinError(
            f"{text} is no share", hint="write a percentage, such as 80%", exit_code=USAGE
        ) from None
    return number / 100 if text.endswith("%") else number


def ask(
    wanted: Sequence[Way],
    draws: int = lifetime.DRAWS,
    on_end: OnEnd = lambda count, name: None,
    at_once: int | None = None,
    cluster: str | None = None,
) -> list[Row]:
    """Simulate all copies of all questions side by side, and answer in the given order."""
    plans = [lifetime.copies(way.question, draws) for way in wanted]
    works = [lifetime.work_of(copy) for copies in plans for copy in copies]
    names = [way.name for way, copies in zip(wanted, plans, strict=True) for _ in copies]
    values = carried_out(works, names, on_end, at_once, cluster)
    rows = []
    for way, copies in zip(wanted, plans, strict=True):
        own = [values.pop(0) for _ in copies]
        rows.append(Row(way=way.name, lifetime=lifetime.lifetime(way.question, own)))
    return rows


def count_of(wanted: Sequence[Way], draws: int = lifetime.DRAWS) -> int:
    """How many copies are simulated for some questions."""
    return sum(len(lifetime.copies(way.question, draws)) for way in wanted)


def carried_out(
    works: Sequence[Work],
    names: Sequence[str],
    on_end: OnEnd,
    at_once: int | None = None,
    cluster: str | None = None,
) -> list[Any]:
    """What each simulation gives, in their order: in processes of this machine, or on the workers
    of the Dask cluster whose scheduler has an address."""
    pool = Pool(at_once) if cluster is None else Cluster(cluster)
    done: dict[int, Any] = {}
    with listening() as stop:
        for happened in pool.run(works, stop):
            assert isinstance(happened, Ended), "a copy tells nothing on its way"
            if happened.error is not None:
                raise happened.error
            if happened.value is None:
                why = happened.mistake or "its process was killed"
                raise FlashtwinError(
                    f"a copy of {names[happened.number]} could not be simulated: {why}",
                    exit_code=ENVIRONMENT,
                )
            done[happened.number] = happened.value
            on_end(len(done), names[happened.number])
        if stop.asked:
            raise Interrupted("stopped; nothing is kept of an answer that is not whole")
    return [done[number] for number in range(len(works))]


def ranked(rows: Sequence[Row]) -> list[Row]:
    """The ways by how long they last, the longest first."""
    return sorted(rows, key=lambda row: -row.lifetime.years.value)


def chance_of_first(rows: Sequence[Row]) -> float | None:
    """How likely it is that the first of the ranked ways outlasts all others: the intervals as
    independent log-normal distributions, on a grid of quantiles. None for a single way."""
    ordered = ranked(rows)
    if len(ordered) < 2 or not all(math.isfinite(row.lifetime.years.value) for row in ordered):
        return None
    first, *others = [_log_normal(row.lifetime.years) for row in ordered]
    steps = 400
    total = 0.0
    for step in range(steps):
        z = NORMAL.inv_cdf((step + 0.5) / steps)
        value = first[0] + first[1] * z
        total += math.prod(NORMAL.cdf((value - mean) / max(width, 1e-9)) for mean, width in others)
    return total / steps


def _log_normal(of: Interval) -> tuple[float, float]:
    """Mean and deviation of the logarithm, from an interval of 90 %."""
    return math.log(of.value), max(math.log(of.high / of.low) / (2 * 1.645), 1e-9)


# ------------------------------------------------------------------------------------- in words


def sentences(of: Lifetime, years: float | None = None) -> list[str]:
    """The answer in sentences, the most important first; `years`: for how long it has to last."""
    lines = [_lasts(of, years), _writes(of)]
    if of.latencies:
        waits = [
            f"{LATENCY_NAMES[row.kind]} {_ns(row.p50_ns)} ({_ns(row.p99_ns)}, {_ns(row.p999_ns)})"
            for row in of.latencies
        ]
        lines.append(f"Under it a host waits, median (99 %, 99.9 %): {', '.join(waits)}.")
    if of.kept_up < 0.98:
        lines.append(
            f"The drive keeps up with {readable_number(100 * of.kept_up, 2)} % of it only: the load"
            " asks for more than it can write."
        )
    return lines


def _lasts(of: Lifetime, years: float | None) -> str:
    load = f"{of.title}, {readable_size(of.per_day_bytes, 3)} a day, {100 * of.full:g} % full"
    if of.years.value >= MOST_YEARS:
        text = f"{of.name} under {load}: its rated cycles last for more than {MOST_YEARS:g} years"
    else:
        text = (
            f"{of.name} under {load}: its rated cycles are used up after"
            f" {readable_number(of.years.value, 2)} years"
        )
        if of.years.high > of.years.low:
            text += f" ({readable_number(of.years.low, 2)} to {readable_number(of.years.high, 2)})"
    if of.warranty_years is not None and of.warranty_years < of.years.value:
        text += (
            f"; what its maker warrants is written after {readable_number(of.warranty_years, 2)}"
        )
    if years is not None and math.isfinite(of.years.value):
        used = 100 * years / of.years.value
        text += f"; after {years:g} years {readable_number(used, 2)} % are"
    return f"{text}."


def _writes(of: Lifetime) -> str:
    causes = [
        f"{name} {readable_number(part, 2)}" for name, part in of.by_cause.items() if part >= 0.01
    ]
    spread = f" ({readable_number(of.waf.low, 3)} to {readable_number(of.waf.high, 3)})"
    return (
        f"Each byte written costs {readable_number(of.waf.value, 3)} bytes of flash{spread}:"
        f" {', '.join(causes[:5])}; {readable_size(of.flash_per_day_bytes, 3)} a day, at"
        f" {readable_number(of.watts, 2)} W."
    )


def notes(of: Lifetime) -> list[str]:
    """Sources and assumptions of an answer."""
    lines = [*of.sources]
    if of.assumed:
        lines.append(f"drawn, since nobody printed it for this drive: {', '.join(of.assumed)}")
    if not of.steady:
        lines.append(
            "the write amplification was still moving when eight capacities were written: its"
            " interval is that of the last two"
        )
    if of.scale_error > 0.02:
        lines.append(
            "a copy of half the size differs by"
            f" {readable_number(100 * of.scale_error, 2)} %, which the intervals contain"
        )
    lines.append("power is the twin's; no drive of this model was held against hardware for it")
    return lines


def _ns(count: int) -> str:
    return readable_period(float(f"{count / 1e9:.3g}"))


def verdict(rows: Sequence[Row]) -> str | None:
    """Which of several ways lasts longest, and how sure that is."""
    chance = chance_of_first(rows)
    if chance is None:
        return None
    first, second = ranked(rows)[:2]
    longer = first.lifetime.years.value / second.lifetime.years.value
    return (
        f"{first.way} lasts longest, {readable_number(longer, 3)} times as long as {second.way},"
        f" with a probability of {readable_number(100 * min(chance, 0.999), 3)} % of outlasting all"
        " others."
    )


HEAD = ("drive", "years", "90 %", "WAF", "90 %", "write p99")


def table(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """A row a way, the one that lasts longest first."""
    return [_row(row) for row in ranked(rows)]


def _row(row: Row) -> tuple[str, ...]:
    of = row.lifetime
    waits = {latency.kind: latency.p99_ns for latency in of.latencies}
    return (
        row.way,
        _years(of.years.value),
        f"{_years(of.years.low)} to {_years(of.years.high)}",
        readable_number(of.waf.value, 3),
        f"{readable_number(of.waf.low, 3)} to {readable_number(of.waf.high, 3)}",
        _ns(waits["write"]) if "write" in waits else "",
    )


def _years(value: float) -> str:
    return f"> {MOST_YEARS:g}" if value > MOST_YEARS else readable_number(value, 2)


def answer(rows: Sequence[Row], years: float | None = None) -> Answer:
    """The page of an answer."""
    first = ranked(rows)[0].lifetime
    conclusion = verdict(rows)
    texts = [conclusion] if conclusion else sentences(first, years)
    if conclusion:
        texts += [text for row in ranked(rows)[:3] for text in sentences(row.lifetime, years)[:1]]
    drawn = [
        Figure(
            title="Years until the rated cycles are used up",
            lines=("years",),
            chart=_bars(rows, lambda of: of.years),
        ),
        Figure(
            title="Bytes of flash for a byte written",
            lines=("WAF",),
            chart=_bars(rows, lambda of: of.waf),
        ),
    ]
    causes = list(dict.fromkeys(name for row in rows for name in row.lifetime.by_cause))
    return Answer(
        kind="Will it last",
        title=_title(rows),
        sentences=texts,
        figures=drawn,
        tables=[
            Table(title="Drives", head=HEAD, rows=table(rows)),
            Table(
                title="What is programmed for a byte written",
                head=("drive", *causes),
                rows=[
                    (
                        row.way,
                        *(
                            readable_number(row.lifetime.by_cause.get(name, 0.0), 3)
                            for name in causes
                        ),
                    )
                    for row in ranked(rows)
                ],
            ),
        ],
        notes=list(dict.fromkeys(note for row in rows for note in notes(row.lifetime))),
    )


def _title(rows: Sequence[Row]) -> str:
    title = rows[0].lifetime.title
    names = {row.lifetime.name for row in rows}
    if len(names) > 1:
        return f"{title} on {len(rows)} drives"
    ways = f" in {len(rows)} ways" if len(rows) > 1 else ""
    return f"{title} on {rows[0].lifetime.name}{ways}"


def _bars(rows: Sequence[Row], of: Callable[[Lifetime], Interval]) -> Mapping[str, object]:
    """A bar a way with its interval; what lasts beyond all plans is cut there."""
    ordered = ranked(rows)
    bars = []
    for row in ordered:
        interval = of(row.lifetime)
        bars.append(
            {
                "x": row.way,
                "y": min(interval.value, MOST_YEARS),
                "low": min(interval.low, MOST_YEARS),
                "high": min(interval.high, MOST_YEARS),
                "line": "value",
                "shown": readable_number(interval.value, 3),
            }
        )
    axis = figures.words_axis("", [row.way for row in ordered])
    return figures.side_by_side(bars, ("value",), axis, "")
