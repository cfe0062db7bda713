"""Runs held against the first of them: set-ups, findings, curves, latencies, and what fails.

Invariant: the first run is the base of every pair, and a difference counts from it; the same runs
give the same comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.model.document import Document
from flashtwin.model.finding import Finding
from flashtwin.model.text import MISSING, plain
from flashtwin.runs.compare import curves, latencies, limits, measures, setups
from flashtwin.runs.compare.curves import ComparedCurve, CurvePair
from flashtwin.runs.compare.latencies import ComparedLatencies, LatencyPair
from flashtwin.runs.compare.limits import BeyondLimit, Failure, Limits
from flashtwin.runs.compare.measures import ComparedFinding, Measure, percent_text
from flashtwin.runs.compare.setups import Setups
from flashtwin.runs.listing import unique_names
from flashtwin.runs.rundir import Run
from flashtwin.runs.tables import sheet_of

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


class ComparedRun(Document, frozen=True):
    """A `Pair` as it is printed."""

    name: str
    run: str
    verdicts: dict[str, int]
    findings: list[ComparedFinding]
    curves: list[ComparedCurve]
    latencies: list[ComparedLatencies]
    failures: list[BeyondLimit]


class NamedRun(Document, frozen=True):
    """A run and what it is called beside the others."""

    name: str
    run: str


class Compared(Document, frozen=True):
    """flashtwin compare --json"""

    base: NamedRun
    setup: Setups
    pairs: list[ComparedRun]
    failed: bool
    page: str | None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The first run and another."""

    name: str
    run: Run
    measures: tuple[Measure, ...]
    curves: tuple[CurvePair, ...]
    latencies: tuple[LatencyPair, ...]
    failures: tuple[Failure, ...]

    def document(self) -> ComparedRun:
        """What `flashtwin compare --json` prints of it."""
        return ComparedRun(
            name=self.name,
            run=str(self.run.path),
            verdicts=measures.counts(self.measures),
            findings=[row.document() for row in self.measures],
            curves=[row.document() for row in self.curves],
            latencies=[row.document() for row in self.latencies],
            failures=[row.document() for row in self.failures],
        )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All runs, in their order, with unique `names`."""

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    setups: Setups
    pairs: tuple[Pair, ...]

    @property
    def failed(self) -> bool:
        """Whether a finding of some run is beyond its limit."""
        return any(pair.failures for pair in self.pairs)

    def document(self, page: Path | None = None) -> Compared:
        """What `flashtwin compare --json` prints, beside the `page` that it made."""
        return Compared(
            base=NamedRun(self.names[0], run=str(self.runs[0].path)),
            setup=self.setups,
            pairs=[pair.document() for pair in self.pairs],
            failed=self.failed,
            page=None if page is None else str(page),
        )

    def table(self) -> pl.DataFrame:
        """One row for each finding of every pair: both values, the difference, and the verdict."""
        rows = [_row(pair.name, measure) for pair in self.pairs for measure in pair.measures]
        frame = sheet_of(rows, _COLUMNS).polars()
        return frame.with_columns(frame["significant"].cast(bool))

    def __str__(self) -> str:
        """What `print` shows: of each run what differs from the first, and how much is alike."""
        return "\n\n".join(_text(self.names[0], pair) for pair in self.pairs)

    def _repr_html_(self) -> str:
        """What differs, for a notebook."""
        rows = [_row(pair.name, measure) for pair in self.pairs for measure in pair.measures]
        differ = [row for row in rows if row["verdict"] not in _ALIKE]
        names = ", ".join(map(escape, self.names[1:]))
        head = f"<p><b>{names}</b> against <b>{escape(self.names[0])}</b>"
        limit = "; beyond a limit" if self.failed else ""
        summary = f": {len(differ)} of {len(rows)} findings differ{limit}</p>"
        return head + summary + (_html(differ) if differ else "")


_ALIKE = ("same", "no value", "not measured")
_COLUMNS = {
    **dict.fromkeys(("run", "id", "unit"), "text"),
    **dict.fromkeys(("base", "other", "difference", "percent", "beyond_percent"), "number"),
    "significant": "number",
    "verdict": "text",
}


def _text(base: str, pair: Pair) -> str:
    differing = [measure for measure in pair.measures if measure.verdict not in _ALIKE]
    rows = [
        (measure.id, f"{_plain(measure.base)} to {_plain(measure.other)}", *_difference(measure))
        for measure in differing
    ]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{text:<{of}}" for text, of in zip(row, wide, strict=True)) for row in rows]
    beyond = [f"beyond its limit: {failure.measure.id}" for failure in pair.failures]
    alike = f"{len(differing)} of {len(pair.measures)} findings differ"
    return "\n".join([f"{pair.name} against {base}: {alike}", *map(str.rstrip, lines), *beyond])


def _plain(finding: Finding | None) -> str:
    return MISSING if finding is None else plain(finding)


def _difference(measure: Measure) -> tuple[str, str]:
    percent = "" if measure.percent is None else percent_text(measure.percent)
    return percent, measure.verdict


def _html(rows: Sequence[dict[str, Any]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(row[name]))}</td>" for name in _COLUMNS) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def _row(name: str, measure: Measure) -> dict[str, Any]:
    return {
        "run": name,
        "id": measure.id,
        "unit": measure.unit,
        "base": None if measure.base is None else measure.base.number,
        "other": None if measure.other is None else measure.other.number,
        "difference": measure.difference,
        "percent": measure.percent,
        "beyond_percent": measure.beyond,
        "significant": measure.significant,
        "verdict": measure.verdict,
    }


def compare(runs: Sequence[Run], allowed: Limits | None = None) -> Comparison:
    """Compare every run with the first; raises where there is only one."""
    if len(runs) < 2:
        raise FlashtwinError(
            "one run alone cannot be compared",
            hint="give two runs or more; flashtwin runs lists them",
            exit_code=USAGE,
        )
    names = unique_names(runs)
    pairs = [_pair(runs[0], run, name) for run, name in zip(runs[1:], names[1:], strict=True)]
    if allowed is not None:
        limits.check_names(allowed, [measure for pair in pairs for measure in pair.measures])
        pairs = [_tested(names[0], pair, allowed) for pair in pairs]
    return Comparison(
        runs=tuple(runs), names=tuple(names), setups=setups.compare(runs), pairs=tuple(pairs)
    )


def _pair(base: Run, other: Run, name: str) -> Pair:
    return Pair(
        name=name,
        run=other,
        measures=tuple(measures.compare(base.findings, other.findings)),
        curves=tuple(curves.compare(base, other)),
        latencies=tuple(latencies.compare(base, other)),
        failures=(),
    )


def _tested(base: str, pair: Pair, allowed: Limits) -> Pair:
    failed = limits.failures(allowed, pair.measures, finished=pair.run.finished)
    if not failed:
        limits.check_tested(allowed, pair.measures, base, pair.name)
    return replace(pair, failures=tuple(failed))
