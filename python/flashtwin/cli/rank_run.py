"""`flashtwin rank` at work: bars on a terminal, as JSON, as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from flashtwin import outputs
from flashtwin.cli import terminal
from flashtwin.errors import DONE, MISS, USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.shares import blocks
from flashtwin.report.answer import Answer, Table
from flashtwin.report.answer import write as write_page
from flashtwin.runs.listing import named
from flashtwin.runs.rundir import Run
from flashtwin.study import units
from flashtwin.study.units import Judged, Spread

# By how much a finding may be worse than the golden run's, where nobody says it.
ALLOWED = ("5%",)


class Ranking(Document, frozen=True):
    """flashtwin rank --json"""

    findings: list[Spread]
    golden: list[Judged]
    page: str | None


def run(
    runs: tuple[str, ...],
    golden: str | None,
    limits: tuple[str, ...],
    every: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    if limits and golden is None:
        raise click.UsageError("--fail-on needs --golden RUN, which the others are held against")
    stored = named(runs, once=True)
    reference = None if golden is None else _golden(golden)
    others = [run for run in stored if reference is None or _place(run) != _place(reference)]
    # One unit alone stands beside the one that it is held against.
    drawn = [reference, *others] if reference is not None and len(others) == 1 else stored
    spreads = units.spreads(drawn, every=every)
    if not spreads:
        raise FlashtwinError(
            f"no finding has a number in two of these runs ({len(drawn)})",
            hint="give runs of the same battery; flashtwin runs lists them",
            exit_code=USAGE,
        )
    if out is not None:
        outputs.check(out)
    judged: list[Judged] = []
    if reference is not None:
        judged = units.judged(reference, others, limits or ALLOWED)
    if out is not None:
        write_page(_page(spreads, judged), out)
    if as_json:
        page = None if out is None else str(out)
        terminal.print_json(Ranking(findings=spreads, golden=judged, page=page))
    else:
        for line in _lines(spreads, judged):
            terminal.say(line)
        if out is not None:
            terminal.say(f"Page: {out}")
    return MISS if any(not row.passed for row in judged) else DONE


def _place(run: Run) -> Path:
    return run.path.resolve()


def _golden(word: str) -> Run:
    """The one run that a word means."""
    runs = named([word])
    if len(runs) != 1:
        raise FlashtwinError(
            f"--golden {word} is {len(runs)} runs", hint="name one of them", exit_code=USAGE
        )
    return runs[0]


def _lines(spreads: Sequence[Spread], judged: Sequence[Judged]) -> Iterator[str]:
    """A block a finding: a bar a drive, and how far they spread."""
    widest = max(len(unit.name) for spread in spreads for unit in spread.units)
    for spread in spreads:
        yield f"{spread.title}{_spread(spread)}"
        top = max(abs(unit.value) for unit in spread.units)
        for unit in spread.units:
            bar = blocks(abs(unit.value) / top) if top else ""
            yield f"  {unit.name:{widest}}  {bar} {unit.shown}"
    for row in judged:
        verdict = "pass" if row.passed else f"FAIL, {'; '.join(row.misses)}"
        yield f"{row.name}: {verdict}"


def _spread(spread: Spread) -> str:
    return "" if spread.spread_percent is None else f" (spread {spread.spread_percent:.3g} %)"


def _page(spreads: Sequence[Spread], judged: Sequence[Judged]) -> Answer:
    rankings = []
    for spread in spreads:
        top = max(abs(unit.value) for unit in spread.units) or 1.0
        rows = [(unit.name, unit.shown, abs(unit.value) / top) for unit in spread.units]
        rankings.append((f"{spread.title}{_spread(spread)}", rows))
    count = len({unit.name for spread in spreads for unit in spread.units})
    failed = [row.name for row in judged if not row.passed]
    verdict = f"{len(judged) - len(failed)} of {len(judged)} pass against the golden run."
    return Answer(
        kind="Ranking",
        title=f"{count} drives by their own runs",
        sentences=[verdict] if judged else [f"{len(spreads)} findings, the best drive on top."],
        figures=(),
        tables=[
            Table(
                title="Against the golden run",
                head=("drive", "verdict", "what is worse"),
                rows=[
                    (row.name, "pass" if row.passed else "fail", "; ".join(row.misses))
                    for row in judged
                ],
            )
        ]
        if judged
        else [],
        rankings=rankings,
    )
