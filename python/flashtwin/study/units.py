"""Several drives by what their own runs found: in order, how far they spread, and each against a
golden run.

Invariants: a finding is told of drives only where two of them have its number; a drive passes where
nothing that the golden run found is worse beyond the limit, by the rules of `compare --fail-on`.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from flashtwin.model import text
from flashtwin.model.document import Document
from flashtwin.model.finding import Finding
from flashtwin.model.text import Shown
from flashtwin.runs.compare import limits, measures
from flashtwin.runs.compare.measures import better_of, percent_text
from flashtwin.runs.listing import settings_of, unique_names
from flashtwin.runs.rundir import Run


class Unit(Document, frozen=True):
    """One drive in a row: its name there, its value, and the value as people read it."""

    name: str
    value: float
    shown: str


class Spread(Document, frozen=True):
    """A finding of several drives, the best first; `spread_percent` is how far the highest and the
    lowest are apart, as a share of the middle one."""

    finding: str
    title: str
    unit: str
    units: tuple[Unit, ...]
    spread_percent: float | None


class Judged(Document, frozen=True):
    """A drive against the golden run: whether it passes, and what is worse."""

    name: str
    passed: bool
    misses: tuple[str, ...]


def spreads(runs: Sequence[Run], *, every: bool = False) -> list[Spread]:
    """The findings that two drives or more have a number of: the headlines, or `every` one."""
    names = _names(runs)
    columns: dict[str, dict[str, Finding]] = {}
    for name, run in zip(names, runs, strict=True):
        for finding in run.findings:
            if finding.number is not None:
                columns.setdefault(finding.id, {})[name] = finding
    shared = {id_: column for id_, column in columns.items() if len(column) > 1}
    headlines = {
        id_: column
        for id_, column in shared.items()
        if any(finding.headline for finding in column.values())
    }
    return [_spread(column) for column in (shared if every else headlines or shared).values()]


def _names(runs: Sequence[Run]) -> list[str]:
    """The drives' names; of a smaller copy with its scale, as its cache is smaller too."""
    scales = [settings_of(run, ("--scale",)) for run in runs]
    return [
        ", ".join([name, *(f"scale {scale}" for scale in of_run)])
        for name, of_run in zip(unique_names(runs), scales, strict=True)
    ]


def _spread(column: dict[str, Finding]) -> Spread:
    first = next(iter(column.values()))
    values = {name: finding.number or 0.0 for name, finding in column.items()}
    lower = better_of(first) == -1
    order = sorted(values, key=lambda name: values[name] if lower else -values[name])
    middle = median(values.values())
    width = max(values.values()) - min(values.values())
    return Spread(
        finding=first.id,
        title=first.title,
        unit=first.unit,
        units=tuple(
            Unit(name=name, value=values[name], shown=_shown(column[name])) for name in order
        ),
        spread_percent=round(100 * width / middle, 2) if middle else None,
    )


def _shown(finding: Finding) -> str:
    """A value as people read it: what was not seen is no 0."""
    return text.NOT_SEEN if Shown.of(finding).value == text.NOT_SEEN else text.plain(finding)


def judged(golden: Run, runs: Sequence[Run], texts: Sequence[str]) -> list[Judged]:
    """Each drive against the golden run; `texts` are limits as `compare --fail-on` takes them."""
    allowed = limits.parse(texts)
    held = [measures.compare(golden.findings, run.findings) for run in runs]
    limits.check_names(allowed, [measure for of_run in held for measure in of_run])
    rows = []
    _, *names = _names([golden, *runs])
    for name, run, of_run in zip(names, runs, held, strict=True):
        failed = limits.failures(allowed, of_run, finished=run.finished)
        # A finding is told of the first pattern in which it is worse.
        first = {failure.measure.finding.stem: failure for failure in reversed(failed)}
        misses = tuple(_miss(failure) for failure in failed if failure in first.values())
        rows.append(Judged(name=name, passed=not failed, misses=misses))
    return rows


def _miss(failure: limits.Failure) -> str:
    measure = failure.measure
    percent = "" if measure.percent is None else f" ({percent_text(measure.percent)})"
    base, other = (
        "nothing" if finding is None else text.plain(finding)
        for finding in (measure.base, measure.other)
    )
    return f"{measure.title} {other}, golden {base}{percent}"
