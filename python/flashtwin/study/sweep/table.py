"""The table of a sweep: a row a point, the values that were set, and what each point found."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from flashtwin import outputs
from flashtwin.model.finding import Finding
from flashtwin.runs.rundir import Run
from flashtwin.study.sweep.plan import Failure, Plan

State = Literal["finished", "failed"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A point; `run` and `findings` of one that finished, `failure` of one that did not."""

    number: int
    settings: tuple[tuple[str, str], ...]
    run: Run | None
    failure: Failure | None
    findings: Mapping[str, Finding]

    @property
    def state(self) -> State:
        """How it ended."""
        return "finished" if self.run else "failed"


def rows_of(plan: Plan, places: Mapping[int, Path], failures: Mapping[int, Failure]) -> list[Row]:
    """The rows of a plan in the order of its grid."""
    rows = []
    for point in plan.points():
        failure = failures.get(point.number)
        run = None if failure else Run(places[point.number])
        found = {one.id: one for one in run.findings} if run else {}
        rows.append(
            Row(
                number=point.number,
                settings=point.settings,
                run=run,
                failure=failure,
                findings=found,
            )
        )
    return rows


def columns(rows: Sequence[Row]) -> dict[str, Finding]:
    """Every finding that some point has, by id, with the first one that has a value for its title
    and unit."""
    found: dict[str, Finding] = {}
    for row in rows:
        for name, finding in row.findings.items():
            if name not in found or (found[name].value is None and finding.value is not None):
                found[name] = finding
    return found


def named(word: str, found: Mapping[str, Finding]) -> list[str]:
    """The ids that a finding's name means: those of every variant, where it says none."""
    return [word] if word in found else [id_ for id_ in found if word in found[id_].names]


def reasons(failures: Iterable[Failure]) -> dict[tuple[str, str | None], list[int]]:
    """Each reason (message, hint) once, with the points that failed for it."""
    points: dict[tuple[str, str | None], list[int]] = {}
    for failure in failures:
        points.setdefault((failure.message, failure.hint), []).append(failure.number)
    return points


def varying(rows: Sequence[Row]) -> list[str]:
    """The findings that are not the same at every point, those that vary most first.

    Values whose intervals all have a place in common are the same as far as anybody can tell. The
    measure is the range over the mean of what is positive; a finding that some points have and
    others have not varies too, after those that can be measured.
    """
    spread: dict[str, float] = {}
    for name in columns(rows):
        found = [row.findings[name] for row in rows if name in row.findings]
        words = {one.value for one in found if one.choices}
        if words:
            # A choice that differs varies as much as anything can.
            spread.update({name: math.inf} if len(words) > 1 else {})
            continue
        values = [one.number for one in found]
        known = [value for value in values if value is not None]
        if not known:
            continue
        mean = sum(map(abs, known)) / len(known)
        apart = _apart(found)
        if apart or len(known) < len(values):
            spread[name] = (max(known) - min(known)) / mean if apart and mean else 0.0
    return sorted(spread, key=lambda name: -spread[name])


def _apart(findings: Sequence[Finding]) -> bool:
    """Whether no single value lies in the intervals of all; without one, in the value itself."""
    spans = [
        (one.number, one.number) if one.interval is None else (one.low, one.high)
        for one in findings
        if one.number is not None
    ]
    lows = [low for low, _ in spans if low is not None]
    highs = [high for _, high in spans if high is not None]
    return bool(lows and highs) and max(lows) > min(highs)


def csv_bytes(plan: Plan, rows: Sequence[Row]) -> bytes:
    """A row a point: number, state, settings, then value, low and high of each finding."""
    found = columns(rows)
    keys = [axis.key for axis in plan.axes]
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    heads = [f"{name}{end}" for name in found for end in (_unit(found[name]), ".low", ".high")]
    writer.writerow(map(outputs.csv_cell, ["point", "state", *keys, *heads]))
    for row in rows:
        cells = [part for name in found for part in _cells(row.findings.get(name))]
        values = [value for _, value in row.settings]
        texts = [str(row.number), row.state, *values, *cells]
        writer.writerow(map(outputs.csv_cell, texts))
    return outputs.encoded(sink.getvalue())


def _unit(finding: Finding) -> str:
    return f" ({finding.unit})" if finding.unit else ""


def _cells(finding: Finding | None) -> tuple[str, str, str]:
    if finding is None:
        return "", "", ""
    value = finding.value
    numbers = [None if isinstance(value, str) else value, finding.low, finding.high]
    shown = ["" if part is None else repr(part) for part in numbers]
    if isinstance(value, str):
        return value, "", ""
    return shown[0], shown[1], shown[2]
