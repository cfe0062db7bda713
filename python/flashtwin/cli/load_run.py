"""`flashtwin record`, `trace`, `cost` and `ask` at work: on a terminal, as JSON, as pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flashtwin import outputs
from flashtwin.cli import progress, terminal
from flashtwin.errors import DONE, MISS
from flashtwin.load import ask as asking
from flashtwin.load import cost as costing
from flashtwin.load import fleet as fleets
from flashtwin.load import loads, page, resting
from flashtwin.load import profile as profiling
from flashtwin.load.words import Change, Cost, Fleet, Lifetime, Profile, Rests
from flashtwin.model import units
from flashtwin.model.document import Document
from flashtwin.model.fio_job import Reading
from flashtwin.report.answer import write as write_page
from flashtwin.runner.pool import Work
from flashtwin.runner.target import Variant

TRACE_HEAD = ("kind", "requests", "data", "median", "most frequent", "in order")
COST_HEAD = ("drive", "measure", "before", "after", "change")


class Trace(Profile, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """flashtwin trace --json"""

    page: str | None


class Costs(Document, frozen=True):
    """flashtwin cost --json"""

    costs: list[Cost]
    changes: list[Change]
    limit: float | None
    worse: list[Change]


class Years(Document, frozen=True):
    """An interval of years; null where nothing wears."""

    value: float | None
    low: float | None
    high: float | None


class FiniteLifetime(Lifetime, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lifetime in which what never ends is null."""

    years: Years  # type: ignore[assignment]
    draws: list[float | None]  # type: ignore[assignment]


class AskedRow(Document, frozen=True):
    """A way to use a drive, and how long it lasts."""

    way: str
    lifetime: FiniteLifetime


class Asked(Document, frozen=True):
    """flashtwin ask --json"""

    rows: list[AskedRow]
    chance_of_first: float | None
    rests: Rests | None
    fleet: Fleet | None
    page: str | None


def trace(file: Path, reading: Reading, out: Path | None, as_json: bool, quiet: bool) -> None:
    """Answer `flashtwin trace`."""
    if out is not None:
        outputs.check(out, inputs={file})
    profile = profiling.profile(file, reading)
    if out is not None:
        write_page(page.of_profile(profile, file.name), out)
    if as_json:
        about = msgspec.structs.asdict(profile)
        terminal.print_json(Trace(**about, page=None if out is None else str(out)))
        return
    for line in profiling.sentences(profile, file.name):
        terminal.say(line)
    rows = [
        (row.kind, row.requests, row.bytes, row.median, row.usual, row.in_order)
        for row in profiling.rows(profile)
    ]
    terminal.emit(terminal.table(TRACE_HEAD, rows, right=TRACE_HEAD[1:]))
    terminal.notes(profiling.notes(profile), quiet)
    _say_page(out)


def cost(
    trace: Path,
    *,
    against: Path | None,
    limit: float | None,
    state: str,
    reading: Reading,
    variants: Sequence[Variant],
    markdown: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Answer `flashtwin cost`; `limit`: the share by which a cost may grow."""

    def costs_of(path: Path) -> list[Cost]:
        return [costing.cost(path, variant, state, reading) for variant in variants]

    if markdown is not None:
        outputs.check(markdown, inputs={trace, *([against] if against else [])})
    costs = costs_of(trace)
    changes = costing.changes(costs, costs_of(against)) if against else []
    worse = [change for change in changes if limit is not None and change.is_worse(limit)]
    sentences = [costing.sentence(row) for row in costs]
    rows = [_cells(change, change in worse) for change in changes]
    verdict = _verdict(changes, worse, limit) if changes else None
    if markdown is not None:
        outputs.write(markdown, _markdown(sentences, rows, verdict))
    if as_json:
        terminal.print_json(Costs(costs, changes, limit=limit, worse=worse))
        return MISS if worse else DONE
    for line in sentences:
        terminal.say(line)
    if verdict is not None:
        terminal.emit(terminal.table(COST_HEAD, rows, right=COST_HEAD[2:]))
        terminal.say(verdict)
    terminal.notes(dict.fromkeys(note for row in costs for note in costing.notes(row)), quiet)
    return MISS if worse else DONE


def _cells(change: Change, is_worse: bool) -> tuple[str, ...]:
    mark = " !" if is_worse else ""
    return (
        change.drive,
        change.measure,
        _shown(change.before, change.unit),
        _shown(change.after, change.unit),
        _ratio(change) + mark,
    )


def _shown(value: int, unit: str) -> str:
    if unit == "bytes":
        return units.readable_size(value, 4)
    return f"{value:,}" if unit == "1" else units.readable_seconds(value / 1e9)


def _ratio(change: Change) -> str:
    if change.after == change.before:
        return "the same"
    if change.ratio is None:
        return "new"
    return f"{100 * (change.ratio - 1):+.2f} %"


def _verdict(changes: Sequence[Change], worse: Sequence[Change], limit: float | None) -> str:
    """One sentence on all drives."""
    if worse:
        grown = [f"{change.measure} on {change.drive} {_ratio(change)}" for change in worse]
        return f"More than {_percent(limit)} above the base: {', '.join(grown)}."
    if all(change.after == change.before for change in changes):
        return "It costs exactly what the base costs."
    if limit is not None:
        return f"Nothing grew by more than {_percent(limit)}."
    largest = max(changes, key=lambda change: change.ratio or 0)
    return f"The largest change is that of {largest.measure} on {largest.drive}: {_ratio(largest)}."


def _percent(share: float | None) -> str:
    return f"{units.readable_number(100 * (share or 0), 3)} %"


def _markdown(sentences: Sequence[str], rows: Sequence[Sequence[str]], verdict: str | None) -> str:
    """The verdict, and a table as GitHub and others draw it; what each drive takes where nothing is
    compared."""
    if verdict is None:
        return "\n\n".join(sentences) + "\n"
    lines = [verdict, "", f"| {' | '.join(COST_HEAD)} |", f"|{'---|' * len(COST_HEAD)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def ways_of(
    variants: Sequence[Variant],
    workload: str,
    per_day: str | None,
    full: str,
    years: float,
    varied: Mapping[str, Sequence[str]],
    reading: Reading,
) -> list[asking.Way]:
    """Every drive in every way that `flashtwin ask` is asked about."""
    load = loads.load(workload, per_day, reading)
    return asking.ways(variants, load, full, years, varied)


class Printed(NamedTuple):
    """How an answer is shown."""

    out: Path | None
    as_json: bool
    quiet: bool


def ask(
    ways: Sequence[asking.Way],
    *,
    draws: int,
    where: tuple[int | None, str | None],
    years: float,
    rests: Sequence[float] | None,
    fleet: tuple[int, float] | None,
    shown: Printed,
) -> None:
    """Answer `flashtwin ask`; `years`: for how long a drive has to last. `where`: how many copies
    at a time, or the address of a cluster."""
    if shown.out is not None:
        outputs.check(shown.out)
    if rests is not None:
        _ask_rests(ways[0], rests, draws, where, shown)
    elif fleet is not None:
        _ask_fleet(ways[0], *fleet, years, where, shown)
    else:
        _ask_years(ways, draws, years, where, shown)
    if not shown.as_json:
        _say_page(shown.out)


def _carried_out(
    works: Sequence[Work],
    names: Sequence[str],
    where: tuple[int | None, str | None],
    shown: Printed,
) -> list[Any]:
    with progress.counted("ask", len(works), shown.quiet) as on_end:
        return asking.carried_out(works, names, on_end, *where)


def _ask_rests(
    way: asking.Way,
    rests: Sequence[float],
    draws: int,
    where: tuple[int | None, str | None],
    shown: Printed,
) -> None:
    plan = resting.copies(way.question, draws)
    ladders = _carried_out(resting.works(plan, rests), [way.name] * len(plan), where, shown)
    of = resting.rests_of(way.question, plan, ladders)
    if shown.out is not None:
        write_page(resting.answer(of), shown.out)
    if shown.as_json:
        _print_answer([], None, shown, rests=of)
        return
    for line in resting.sentences(of):
        terminal.say(line)
    terminal.emit(terminal.table(resting.HEAD, resting.table(of), right=resting.HEAD[1:]))
    terminal.notes(resting.notes(of), shown.quiet)


def _ask_fleet(
    way: asking.Way,
    count: int,
    spread: float,
    years: float,
    where: tuple[int | None, str | None],
    shown: Printed,
) -> None:
    plan = fleets.plan(way.question, count, spread)
    works = plan.works()
    simulated = _carried_out(works, [way.name] * len(works), where, shown)
    of = fleets.fleet(plan, way.question, simulated, years)
    if shown.out is not None:
        write_page(fleets.answer(of, years), shown.out)
    if shown.as_json:
        _print_answer([], None, shown, fleet=of)
        return
    for line in fleets.sentences(of, years):
        terminal.say(line)
    terminal.notes(fleets.notes(of), shown.quiet)


def _ask_years(
    ways: Sequence[asking.Way],
    draws: int,
    years: float,
    where: tuple[int | None, str | None],
    shown: Printed,
) -> None:
    with progress.counted("ask", asking.count_of(ways, draws), shown.quiet) as on_end:
        rows = asking.ask(ways, draws, on_end, *where)
    if shown.out is not None:
        write_page(asking.answer(rows, years), shown.out)
    if shown.as_json:
        finite = msgspec.convert(_finite(msgspec.to_builtins(rows)), list[AskedRow])
        _print_answer(finite, asking.chance_of_first(rows), shown)
        return
    for line in asking.verdict(rows, years):
        terminal.say(line)
    if len(rows) > 1:
        head = asking.head(rows)
        terminal.emit(terminal.table(head, asking.table(rows), right=head[1:]))
    else:
        for line in asking.sentences(rows[0].lifetime, years):
            terminal.say(line)
    terminal.notes(asking.all_notes(rows), shown.quiet)


def _print_answer(
    rows: list[AskedRow],
    chance: float | None,
    shown: Printed,
    *,
    rests: Rests | None = None,
    fleet: Fleet | None = None,
) -> None:
    page_path = None if shown.out is None else str(shown.out)
    terminal.print_json(
        Asked(rows, chance_of_first=chance, rests=rests, fleet=fleet, page=page_path)
    )


def _finite(value: Any) -> Any:
    """What never ends is null in JSON."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _say_page(out: Path | None) -> None:
    if out is not None:
        terminal.say(f"page: {out}")
