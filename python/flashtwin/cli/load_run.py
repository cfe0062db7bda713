"""`flashtwin trace`, `cost` and `ask` at work: their answers on a terminal, as JSON, as pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from flashtwin import outputs
from flashtwin.cli import progress, terminal
from flashtwin.errors import DONE, MISS
from flashtwin.load import ask as asking
from flashtwin.load import cost as costing
from flashtwin.load import loads, page
from flashtwin.load import profile as profiling
from flashtwin.load.words import Change, Cost, Lifetime, Profile
from flashtwin.model import units
from flashtwin.model.document import Document
from flashtwin.model.job import Reading
from flashtwin.report.answer import write as write_page
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
    if markdown is not None:
        outputs.write(markdown, _markdown(costs, changes, worse))
    if as_json:
        terminal.print_json(Costs(costs, changes, limit=limit, worse=worse))
        return MISS if worse else DONE
    for line in map(costing.sentence, costs):
        terminal.say(line)
    if changes:
        rows = [_cells(change, change in worse) for change in changes]
        terminal.emit(terminal.table(COST_HEAD, rows, right=COST_HEAD[2:]))
        terminal.say(_verdict(changes, worse, limit))
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


def _markdown(costs: Sequence[Cost], changes: Sequence[Change], worse: Sequence[Change]) -> str:
    """A table as GitHub and others draw it."""
    head: Sequence[str] = COST_HEAD
    rows: list[tuple[str, ...]] = [_cells(change, change in worse) for change in changes]
    if not changes:
        head = ("drive", "time", "flash bytes", "bytes written")
        rows = [
            (
                row.drive,
                _shown(row.time_ns, "ns"),
                _shown(row.programmed_bytes, "bytes"),
                _shown(row.host_bytes, "bytes"),
            )
            for row in costs
        ]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def ways_of(
    variants: Sequence[Variant],
    workload: str,
    per_day: str | None,
    full: str,
    varied: Mapping[str, Sequence[str]],
) -> list[asking.Way]:
    """Every drive in every way that `flashtwin ask` is asked about."""
    load = loads.load(workload, per_day)
    return asking.ways(variants, load, asking.share(full), varied)


def ask(
    ways: Sequence[asking.Way],
    *,
    draws: int,
    at_once: int | None,
    years: float | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Answer `flashtwin ask`; `years`: for how long a drive has to last."""
    if out is not None:
        outputs.check(out)
    with progress.counted("ask", asking.count_of(ways, draws), quiet) as on_end:
        rows = asking.ask(ways, draws, on_end, at_once)
    if out is not None:
        write_page(asking.answer(rows, years), out)
    if as_json:
        finite = msgspec.convert(_finite(msgspec.to_builtins(rows)), list[AskedRow])
        chance, page_path = asking.chance_of_first(rows), None if out is None else str(out)
        terminal.print_json(Asked(finite, chance_of_first=chance, page=page_path))
        return
    verdict = asking.verdict(rows)
    if verdict:
        terminal.say(verdict)
    if len(rows) > 1:
        table = asking.table(rows)
        terminal.emit(terminal.table(asking.HEAD, table, right=asking.HEAD[1:]))
    else:
        for line in asking.sentences(rows[0].lifetime, years):
            terminal.say(line)
    terminal.notes(
        dict.fromkeys(note for row in rows for note in asking.notes(row.lifetime)), quiet
    )
    _say_page(out)


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
