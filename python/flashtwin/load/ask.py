"""Questions about years of a load, wanted of several drives or of one drive in several ways.

Every answer is a `lifetime.Lifetime`; several of them are ranked by how long they last, with the
probability that the first outlives the others, as the drawn drives of both have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, correlation, stdev
from typing import Any

from msgspec import Struct

from flashtwin import system
from flashtwin.catalogue import counters
from flashtwin.charts import figures
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError
from flashtwin.load import lifetime
from flashtwin.load.life import MOST_YEARS
from flashtwin.load.lifetime import Question
from flashtwin.load.loads import Load
from flashtwin.load.words import Aged, Interval, Lifetime
from flashtwin.model import smart
from flashtwin.model.target import Interrupted
from flashtwin.model.units import (
    parse_number,
    parse_size,
    readable_number,
    readable_period,
    readable_size,
    readable_years,
    unit_of_years,
)
from flashtwin.report.answer import Answer, Figure, Table
from flashtwin.runner.cluster import Cluster
from flashtwin.runner.pool import Ended, Pool, Work
from flashtwin.runner.stop import listening
from flashtwin.runner.target import Variant
from flashtwin.study.health import explained

NORMAL = NormalDist()
# No two ways are known to go together more closely.
MOST_ALIKE = 0.9999
# Told how many copies' worth of work is done, and of what the last one was.
OnEnd = Callable[[float, str], None]
# How answers fared where somebody had measured: docs/guides/will-it-last.md has the cases.
HELD = (
    "not drawn: capacitors, a cache, a host that is not as the load says; of six drives whose write"
    " amplification was measured, three lie inside such an interval"
)
# The modes of cells as words, as `Lifetime.wear` and `Aged.cycles` have them.
MODES = {"native": "native mode", "slc": "SLC mode", "tier": "the second tier of the cache"}
# Parts of a question that can be varied beside keys of a spec, and their values in words.
SWITCHES: Mapping[str, Mapping[str, str]] = {
    "trim": {"on": "with TRIM", "off": "without TRIM"},
    "handles": {"on": "with handles", "off": "without handles"},
}
# Ways that have better words than their key: those of some values, and of all others.
PHRASES: Mapping[str, Mapping[str, str]] = {
    "full": {"": "{} full"},
    "op": {"": "with {} over-provisioning"},
    "slc_cache.mode": {"none": "without a cache", "as is": "with its cache", "": "with a {} cache"},
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
    drives: Sequence[Variant],
    load: Load,
    full: str,
    years: float,
    varied: Mapping[str, Sequence[str]],
) -> list[Way]:
    """Every drive in every way; `varied` has a key of a spec, or one of `SWITCHES` or `full`, with
    its values."""
    varied_ways = [
        Way(
            name=variant.drive,
            question=_filled(Question(variant=variant, load=load, years=years), full),
        )
        for variant in drives
    ]
    for key, values in varied.items():
        varied_ways = [_changed(way, key, value) for way in varied_ways for value in values]
    return varied_ways


def _changed(way: Way, key: str, value: str) -> Way:
    question = way.question
    if key in SWITCHES and value not in SWITCHES[key]:
        words = " or ".join(SWITCHES[key])
        raise FlashtwinError(
            f"{key} is {words}, and not {value}",
            hint=f"write {key}={next(iter(SWITCHES[key]))}",
            exit_code=USAGE,
        )
    match key:
        case "full":
            changed = _filled(question, value)
        case "trim":
            changed = replace(question, trims=value == "on")
        case "handles":
            changed = replace(question, handles=value == "on")
        case _ if value == "as is":
            changed = question
        case _:
            sets = (*question.variant.sets, f"{key}={value}")
            changed = replace(question, variant=replace(question.variant, sets=sets))
    return Way(name=f"{way.name}, {_phrase(key, value)}", question=changed)


def _phrase(key: str, value: str) -> str:
    if key in SWITCHES:
        return SWITCHES[key][value]
    phrases = PHRASES.get(key, {})
    phrase = phrases.get(value) or phrases.get("", f"with {key} {{}}")
    return phrase.format(value.replace("%", " %"))


def _filled(question: Question, text: str) -> Question:
    """The question of a drive that is so full: 80%, 0.8 or 800GB."""
    try:
        if text.endswith("%"):
            return replace(question, full=float(parse_number(text[:-1])) / 100, data_bytes=None)
        if text.replace(".", "", 1).isdecimal():
            return replace(question, full=float(text), data_bytes=None)
        return replace(question, data_bytes=parse_size(text))
    except ValueError:
        raise FlashtwinError(
            f"--full {text} is neither a share nor a size",
            hint="write a percentage, such as 80%, or the data that it holds, such as 800GB",
            exit_code=USAGE,
        ) from None


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
    weights = [lifetime.weight_of(copy) for copies in plans for copy in copies]
    values = carried_out(works, names, on_end, at_once, cluster, weights)
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
    weights: Sequence[float] | None = None,
) -> list[Any]:
    """What each simulation gives, in their order: in processes of this machine, or on the workers
    of the Dask cluster whose scheduler has an address. `weights`: how long each takes beside
    others."""
    weights = weights or [1.0] * len(works)
    side_by_side = at_once or system.processors() if cluster is None else 1
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
                    hint="take fewer at once: --jobs 1",
                    exit_code=ENVIRONMENT,
                )
            done[happened.number] = happened.value
            share = share_done(list(done), weights, side_by_side)
            on_end(share * len(works), names[happened.number])
        if stop.asked:
            raise Interrupted("stopped; nothing is kept of an answer that is not whole")
    return [done[number] for number in range(len(works))]


def share_done(ended: Sequence[int], weights: Sequence[float], at_once: int) -> float:
    """How much of all simulations is done when some have `ended`, by their numbers in that order,
    and `at_once` go on side by side. Those begun with the first have gone on for as long as it
    took; of others half is done, as far as anybody knows."""
    begun = range(min(len(ended) + at_once - 1, len(weights)))
    under_way = [weights[number] for number in begun if number not in ended]
    if len(ended) == 1:
        first = weights[ended[0]]
        partly = sum(min(first, weight) for weight in under_way)
    else:
        partly = sum(under_way) / 2
    return (sum(weights[number] for number in ended) + partly) / sum(weights)


def ranked(rows: Sequence[Row]) -> list[Row]:
    """The ways by how long they last, the longest first."""
    return sorted(rows, key=lambda row: -row.lifetime.years.value)


def chance_of_first(rows: Sequence[Row]) -> float | None:
    """How likely it is that the first of the ranked ways outlasts all others, on a grid of the
    quantiles of its years. Intervals are log-normal distributions: independent for two drives, and
    as far as the same drawn drives make them for two ways of one. None for a single way."""
    ordered = [row.lifetime for row in ranked(rows)]
    if len(ordered) < 2 or not all(math.isfinite(of.years.value) for of in ordered):
        return None
    mean, width = _log_normal(ordered[0].years)
    others = [(*_log_normal(of.years), _correlation(ordered[0], of)) for of in ordered[1:]]
    steps = 400
    total = 0.0
    for step in range(steps):
        z = NORMAL.inv_cdf((step + 0.5) / steps)
        total += math.prod(
            NORMAL.cdf(
                (mean + width * z - other_mean - correlation * other_width * z)
                / (other_width * math.sqrt(1 - correlation * correlation))
            )
            for other_mean, other_width, correlation in others
        )
    return total / steps


def _correlation(of: Lifetime, other: Lifetime) -> float:
    """How far the years of two ways go together: the drives that were drawn are the same for all
    ways of one drive, and each way has an error of its own beside them."""
    count = len(of.draws)
    if of.drive != other.drive or count != len(other.draws) or count < 2:
        return 0.0
    if not all(map(math.isfinite, (*of.draws, *other.draws))):
        return 0.0
    logs, other_logs = ([math.log(years) for years in row.draws] for row in (of, other))
    if not stdev(logs) or not stdev(other_logs):
        return 0.0
    # An interval holds the spread of the draws, and beside it what is the way's own.
    part = math.prod(
        min(lifetime.spread_of(row) / (1.645 * _log_normal(years)[1]), 1.0)
        for row, years in ((logs, of.years), (other_logs, other.years))
    )
    return max(min(correlation(logs, other_logs) * part, MOST_ALIKE), -MOST_ALIKE)


def _log_normal(of: Interval) -> tuple[float, float]:
    """Mean and deviation of the logarithm, from an interval of 90 %."""
    return math.log(of.value), max(math.log(of.high / of.low) / (2 * 1.645), 1e-9)


# ------------------------------------------------------------------------------------- in words


def sentences(of: Lifetime, years: float) -> list[str]:
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
            " asks for more than it can write, and years are those of what it takes."
        )
    if of.aged is not None:
        lines += _aged(of.aged, years, ended=of.ended)
    return lines


def _lasts(of: Lifetime, years: float) -> str:
    load = f"{of.title} ({readable_size(of.per_day_bytes, 3)} a day, {100 * of.full:g} % full)"
    doubt = "probably " if of.years.low < years <= of.years.high else ""
    if of.years.value < years:
        text = (
            f"{of.name} {doubt}does not last {years:g} years under {load}: its rated cycles are"
            f" used up after {_span(of.years)}"
        )
    else:
        text = f"{of.name} {doubt}lasts {years:g} years under {load}: "
        if math.isfinite(of.years.value):
            used = readable_number(100 * years / of.years.value, 2)
            text += f"{used} % of its rated cycles are used then, and all of them after "
        else:
            text += "its rated cycles last for "
        text += _span(of.years)
    parts = sorted(of.wear.items(), key=lambda row: -row[1])
    if len(parts) > 1 and parts[1][1] >= 0.01:
        wear = [f"{MODES[mode]} {readable_number(100 * part, 2)} %" for mode, part in parts]
        text += f", by {', '.join(wear)}"
    if of.warranty_years is not None and of.warranty_years < of.years.value:
        warranty = readable_years(of.warranty_years)
        text += f"; what its maker warrants is written after {warranty}"
    return f"{text}."


def _aged(of: Aged, asked_years: float, *, ended: bool) -> list[str]:
    """The drive after the years that were asked about, or as far as it came, as SMART shows it and
    as its cells are."""
    when = f"After {readable_years(of.years)}"
    if of.years < 0.9 * asked_years:
        why = "when it takes no writes any more" if ended else "as far as it was followed"
        when += f", {why},"
    texts = [row.text for row in explained(of.smart) if row.about in ("bytes", "wear", "state")]
    totals = counters.totals(of.smart)
    if totals.host_bytes is None and totals.life_left is None:
        shown = "its SMART data show no wear: the spec names no maker's counters (smart.family)"
    else:
        shown = f"its SMART data say: {'; '.join(texts)}"
    cycles = [
        f"{row.mean:,.0f} in {MODES[mode]} (rated {row.rated:,})"
        for mode, row in sorted(of.cycles.items())
        if row.superblocks
    ]
    state = " and it can only be read" if of.read_only else ""
    return [
        f"{when} {shown}.",
        f"By then {of.spare_percent} % of its spare is left{state}, and the cycles of a block are"
        f" {', '.join(cycles)}.",
    ]


def _writes(of: Lifetime) -> str:
    causes = [
        f"{name} {readable_number(part, 2)}" for name, part in of.by_cause.items() if part >= 0.01
    ]
    spread = f" ({readable_number(of.waf.low, 3)} to {readable_number(of.waf.high, 3)})"
    text = (
        f"Each byte written costs {readable_number(of.waf.value, 3)} bytes of flash{spread}:"
        f" {', '.join(causes[:5])}; {readable_size(of.flash_per_day_bytes, 3)} a day, at"
        f" {readable_number(of.watts, 2)} W."
    )
    worse = [stage for stage in of.stages if stage.waf > 1.2 * of.waf.value]
    if worse:
        refreshed = max(stage.refresh / stage.waf for stage in worse)
        text += (
            f" Later it costs up to {readable_number(max(stage.waf for stage in worse), 3)}, from"
            f" {readable_years(worse[0].years)} on"
        )
        if refreshed > 0.1:
            text += ": worn cells keep data for shorter, and it is written anew before it is lost"
        text += "."
    less = [stage for stage in of.stages if 1.2 * stage.waf < of.waf.value and stage.used <= 1]
    if less and not worse:
        least = readable_number(min(stage.waf for stage in less), 3)
        text += f" Later it costs {least}, from {readable_years(less[0].years)} on."
    return text


def notes(of: Lifetime) -> list[str]:
    """Sources and assumptions of an answer."""
    lines = [*of.sources]
    if of.assumed:
        lines.append(f"drawn, since nobody printed it for this drive: {', '.join(of.assumed)}")
    if not of.steady:
        lines.append(
            "not settled: the write amplification still moved when the work that a copy may take"
            " was done; its interval holds how far it may move on"
        )
    if of.refused is not None:
        lines.append(f"years are what the simulated wear comes to: {of.refused}")
    elif of.repeated:
        lines.append(
            f"sampled: {readable_number(of.repeated, 2)} times as much was repeated as was"
            " simulated; by what neighbouring stages differ, the years may be off by"
            f" {readable_number(100 * of.jump_error, 2)} %"
            + (
                f", and the wait of writes at 99 % by {readable_number(100 * of.drift_p99, 2)} %"
                if of.drift_p99
                else ""
            )
        )
        followed = of.stages[-1].years
        if followed < 0.9 * min(of.years.value, MOST_YEARS):
            lines.append(
                f"followed for {readable_years(followed)}, as far as the work that a copy"
                " may take went; the rest goes by the wear until then, and the interval takes it to"
                " change once more as much as it did last"
            )
    saved = sum(of.by_cause.values()) - of.waf.value
    if saved > 0.01 * of.waf.value:
        lines.append(
            f"the drive compresses: of what is told by cause, {readable_number(saved, 2)} bytes for"
            " a byte written do not reach the flash"
        )
    if of.scale_error > 0.02:
        lines.append(
            "a copy of half the size differs by"
            f" {readable_number(100 * of.scale_error, 2)} %, which the intervals contain"
        )
    lines.append("power is the twin's; no drive of this model was held against hardware for it")
    lines.append(HELD)
    return lines


def all_notes(rows: Sequence[Row]) -> list[str]:
    """The notes of several ways: those of all once, others with the ways that they are of."""
    ways_by_note: dict[str, list[str]] = {}
    short = labels(rows)
    for row in rows:
        for note in notes(row.lifetime):
            ways_by_note.setdefault(note, []).append(short[row.way])
    return [
        note if len(ways) == len(rows) else f"{'; '.join(ways)}: {note}"
        for note, ways in ways_by_note.items()
    ]


def _ns(count: int) -> str:
    return readable_period(float(f"{count / 1e9:.3g}"))


def labels(rows: Sequence[Row]) -> dict[str, str]:
    """A short name for each way: of ways of one drive without the drive."""
    parts = {row.way: row.way.partition(", ") for row in rows}
    if len({drive for drive, _, _ in parts.values()}) > 1 or len(rows) < 2:
        return {way: way for way in parts}
    return {way: words or drive for way, (drive, _, words) in parts.items()}


def _where(rows: Sequence[Row]) -> dict[str, str]:
    """Each way as the end of a sentence."""
    is_one_drive = len({row.way.partition(", ")[0] for row in rows}) == 1
    return {way: label if is_one_drive else f"on {label}" for way, label in labels(rows).items()}


def verdict(rows: Sequence[Row], years: float) -> list[str]:
    """Which of several ways lasts longest, how sure that is, which of them last the years that were
    asked about, and in which a host waits least."""
    if len(rows) < 2:
        return []
    first = ranked(rows)[0].lifetime
    load = first.title
    if len({row.lifetime.per_day_bytes for row in rows}) == 1:
        load += f", {readable_size(first.per_day_bytes, 3)} a day"
    lines = [f"Under {load}, {_longest(rows)}.", _enduring(rows, years)]
    waits = [
        (wait_ns, row.way) for row in rows if (wait_ns := _write_p99(row.lifetime)) is not None
    ]
    if waits:
        (least, quickest), (most, slowest), where = min(waits), max(waits), _where(rows)
        lines.append(
            f"Of 100 writes 99 wait less than {_ns(least)} {where[quickest]},"
            f" and less than {_ns(most)} {where[slowest]}."
            if most > 1.05 * least
            else f"Writes wait alike in all of them: of 100, 99 less than {_ns(most)}."
        )
    return lines


def _longest(rows: Sequence[Row]) -> str:
    ordered, where = ranked(rows), _where(rows)
    first, second, *_ = ordered
    of, is_one_drive = first.lifetime.years, where[first.way] == labels(rows)[first.way]
    beyond = [row for row in ordered if row.lifetime.years.value >= MOST_YEARS]
    if len(beyond) > 1:
        return _beyond(beyond, ordered[-1], where, is_one_drive)
    subject = f"{first.lifetime.name} lasts longest {where[first.way]}"
    text = f"{subject if is_one_drive else f'{first.way} lasts longest'}, {_span(of)}"
    if math.isfinite(of.value):
        times = readable_number(of.value / second.lifetime.years.value, 3)
        other = where[second.way] if is_one_drive else second.way
        text += f", {'' if times == '1' else f'{times} times '}as long as {other}"
    chance = chance_of_first(rows)
    if chance is not None:
        # Nothing that was sampled is sure.
        percent = min(max(100 * chance, 0.1), 99.9)
        text += f"; the probability that it outlasts all others is {readable_number(percent, 3)} %"
    return text


def _beyond(beyond: Sequence[Row], last: Row, where: Mapping[str, str], is_one_drive: bool) -> str:
    """Several ways last longer than anybody plans for: which do, and what the others come to."""
    years = f"for more than {MOST_YEARS:g} years"
    if last in beyond:
        least, *_, most = sorted(beyond, key=lambda row: row.lifetime.waf.value)
        low, high = (readable_number(row.lifetime.waf.value, 3) for row in (least, most))
        text = f"the rated cycles of all of them last {years}; a byte written takes {low}"
        if low == high:
            return f"{text} bytes of flash in each"
        return f"{text} bytes of flash {where[least.way]}, and {high} {where[most.way]}"
    names = [where[row.way] if is_one_drive else row.way for row in beyond]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    subject = f"{last.lifetime.name} lasts {years} {listed}"
    shortest = where[last.way] if is_one_drive else last.way
    text = subject if is_one_drive else f"{listed} last {years}"
    return f"{text}, and shortest {shortest}: {_span(last.lifetime.years)}"


def _enduring(rows: Sequence[Row], years: float) -> str:
    """Which of several ways last for some years."""
    short = labels(rows)
    lasting = [row for row in ranked(rows) if row.lifetime.years.value >= years]
    doubtful = [short[row.way] for row in lasting if row.lifetime.years.low < years]
    if not lasting:
        return f"None of them lasts {years:g} years."
    if len(doubtful) == len(rows):
        return f"All of them probably last {years:g} years."
    if len(lasting) == len(rows):
        doubts = f"; with some doubt: {'; '.join(doubtful)}" if doubtful else ""
        return f"All of them last {years:g} years{doubts}."
    count = "One of them lasts" if len(lasting) == 1 else f"{len(lasting)} of them last"
    names = [
        f"{short[row.way]} (probably)" if short[row.way] in doubtful else short[row.way]
        for row in lasting
    ]
    return f"{count} {years:g} years: {'; '.join(names)}."


def _span(of: Interval) -> str:
    """Years with their interval."""
    if of.value >= MOST_YEARS:
        return f"more than {MOST_YEARS:g} years"
    text = readable_years(of.value)
    if of.high > of.low:
        times, _ = unit_of_years(of.value)
        high = _years(of.high) if times == 1 else readable_number(of.high * times, 2)
        text += f" ({readable_number(of.low * times, 2)} to {high})"
    return text


def _write_p99(of: Lifetime) -> int | None:
    return next((row.p99_ns for row in of.latencies if row.kind == "write"), None)


def head(rows: Sequence[Row]) -> tuple[str, ...]:
    """What the cells of `table` are."""
    return (_named(rows), "years", "90 %", "WAF", "90 %", "write p99")


def _named(rows: Sequence[Row]) -> str:
    """What names a row: a drive, or a way of using one."""
    return "drive" if all(row.way in labels(rows).values() for row in rows) else "way"


def table(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """A row a way, the one that lasts longest first."""
    short = labels(rows)
    return [_row(short[row.way], row.lifetime) for row in ranked(rows)]


def _row(name: str, of: Lifetime) -> tuple[str, ...]:
    wait_ns = _write_p99(of)
    return (
        name,
        _years(of.years.value),
        f"{_years(of.years.low)} to {_years(of.years.high)}",
        readable_number(of.waf.value, 3),
        f"{readable_number(of.waf.low, 3)} to {readable_number(of.waf.high, 3)}",
        "" if wait_ns is None else _ns(wait_ns),
    )


def _years(value: float) -> str:
    return f"> {MOST_YEARS:g}" if value > MOST_YEARS else readable_number(value, 2)


def answer(rows: Sequence[Row], years: float) -> Answer:
    """The page of an answer."""
    first = ranked(rows)[0].lifetime
    texts = verdict(rows, years) or sentences(first, years)
    drawn = [
        Figure(
            title="Years until the rated cycles are used up",
            lines=("years",),
            chart=_bars(rows, lambda of: of.years, "years", MOST_YEARS),
        ),
        Figure(
            title="Flash bytes for a byte written",
            lines=("WAF",),
            chart=_bars(rows, lambda of: of.waf, "bytes of flash", math.inf),
        ),
    ]
    return Answer(
        kind="Will it last",
        title=_title(rows),
        sentences=texts,
        figures=drawn,
        tables=[
            Table(title="Years and write amplification", head=head(rows), rows=table(rows)),
            _by_cause(rows),
            *_over_years(rows),
        ],
        notes=all_notes(rows),
    )


def _by_cause(rows: Sequence[Row]) -> Table:
    causes = list(dict.fromkeys(name for row in rows for name in row.lifetime.by_cause))
    short = labels(rows)
    return Table(
        title="What is programmed for a byte written",
        head=(_named(rows), *causes),
        rows=[
            (
                short[row.way],
                *(_part(row.lifetime.by_cause.get(name, 0.0)) for name in causes),
            )
            for row in ranked(rows)
        ],
    )


def _part(value: float) -> str:
    """A part of a write amplification, to a thousandth."""
    return "< 0.001" if 0 < value < 0.001 else readable_number(round(value, 3), 3)


def _over_years(rows: Sequence[Row]) -> list[Table]:
    """Each drive after years; of a single one its SMART data and the stages of its life too."""
    ordered = ranked(rows)
    short = labels(rows)
    aged = [(short[row.way], row.lifetime.aged) for row in ordered if row.lifetime.aged]
    if not aged:
        return []
    modes = [mode for mode in MODES if any(of.cycles[mode].superblocks for _, of in aged)]
    tables = [
        Table(
            title="The drive after years",
            head=(
                _named(rows),
                "years",
                "rated life used",
                "spare left",
                *(f"cycles in {MODES[mode]}" for mode in modes),
            ),
            rows=[
                (
                    way,
                    readable_number(of.years, 2),
                    f"{readable_number(100 * of.used, 3)} %",
                    f"{of.spare_percent} %",
                    *(_cycles(of, mode) for mode in modes),
                )
                for way, of in aged
            ],
        )
    ]
    if len(ordered) > 1:
        return tables
    smart = smart_rows(aged[0][1])
    if smart:
        tables.append(Table(title="SMART data then", head=("field", "value"), rows=smart))
    stages = Table(
        title="Over the years",
        head=("years", "rated life used", "in a year", "WAF", "refresh in it", "write p99"),
        rows=[
            (
                readable_number(stage.years, 3),
                f"{readable_number(100 * stage.used, 3)} %",
                f"{readable_number(100 * stage.wear, 3)} %",
                readable_number(stage.waf, 3),
                readable_number(stage.refresh, 3),
                "" if stage.write_p99_ns is None else _ns(stage.write_p99_ns),
            )
            for stage in ordered[0].lifetime.stages
        ],
    )
    return [*tables, stages]


def _cycles(of: Aged, mode: str) -> str:
    row = of.cycles[mode]
    return f"{row.mean:,.0f} of {row.rated:,}" if row.superblocks else ""


def smart_rows(of: Aged) -> list[tuple[str, str]]:
    """The fields of NVMe's log, or the attributes of ATA."""
    log = of.smart.get(smart.NVME)
    if log is not None:
        return [(name, f"{value:,}") for name, value in log.items() if isinstance(value, int)]
    attributes = of.smart.get(smart.ATA, {"table": []})["table"]
    return [
        (f"{row['id']} {row['name']}", f"{row['raw']['value']:,} (value {row['value']})")
        for row in attributes
    ]


def _title(rows: Sequence[Row]) -> str:
    title = rows[0].lifetime.title
    title = title[0].upper() + title[1:]
    names = {row.lifetime.name for row in rows}
    if len(names) > 1:
        return f"{title} on {len(rows)} drives"
    ways = f" in {len(rows)} ways" if len(rows) > 1 else ""
    return f"{title} on {rows[0].lifetime.name}{ways}"


def _bars(
    rows: Sequence[Row], of: Callable[[Lifetime], Interval], unit: str, most: float
) -> Mapping[str, object]:
    """A bar a way with its interval, which is cut at the most that is drawn."""
    short = labels(rows)
    bars = []
    for row in ranked(rows):
        interval = of(row.lifetime)
        bars.append(
            {
                "name": short[row.way],
                "value": min(interval.value, most),
                "low": min(interval.low, most),
                "high": min(interval.high, most),
                "shown": readable_number(interval.value, 3),
            }
        )
    is_cut = any(row["high"] == most for row in bars)
    return figures.lying(bars, f"{unit}, cut at {most:g}" if is_cut else unit)
