"""The page of a sweep: the curves of all points in one chart, a chart for each finding whose
intervals part, and one table of all points.

The axis with the most numbers lies along the bottom, every combination of the others is a line.
What varies most stands first; what was set to one value only is told once, and what is the same at
every point is folded away. Invariants: one file that loads nothing; every value of every point is
in the table; a point that failed is on the page with its reason; the same sweep gives the same
bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashtwin import outputs
from flashtwin.charts import figures
from flashtwin.charts.curves import means
from flashtwin.model.finding import Finding
from flashtwin.model.text import Shown, scale
from flashtwin.model.units import parse_size, readable_setting
from flashtwin.report import template
from flashtwin.report.drives import Contents
from flashtwin.study.sweep.grid import Axis
from flashtwin.study.sweep.run import Row, Sweep, charted, columns, varying

SCRIPTS = ("dom.js", "unpack.js", "library.js", "theme.js", "sweep.js")
GB = 10**9
# The figure of all curves, how many of them a reader can tell apart, and the pieces of each.
OVERLAY = "overlay"
MOST_LINES = 12
LINE_POINTS = 240
# Findings beside one another that stay readable on paper.
PAPER_COLUMNS = 4


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a value lies along the bottom: its number in `unit`, or none where it is a word."""

    text: str
    number: float | None
    unit: str


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """The curves of the points in one chart: what is drawn, the line of each point, of how many."""

    title: str
    lines: tuple[str, ...]
    points: int
    figure: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A chart: one finding over the grid."""

    id: str
    title: str
    pattern: str


def build(sweep: Sweep, where: Path) -> Path:
    """Write the page into the sweep's directory; the answer is its path."""
    page = where / "report.html"
    outputs.write(page, render(sweep), within=where)
    return page


def render(sweep: Sweep) -> str:
    """The page as text."""
    findings = columns(sweep.rows)
    varying_names = varying(sweep.rows)
    charted_names = charted(sweep.rows)
    moving = [axis for axis in sweep.plan.axes if len(axis.values) > 1]
    axes = moving or list(sweep.plan.axes)
    keys = [axis.key for axis in axes]
    bottom = _bottom(axes)
    lines = list(dict.fromkeys(_line(row, keys, bottom) for row in sweep.rows if row.run))
    places = _units(axes)[bottom]
    charts = {
        name: _chart(sweep.rows, findings[name], keys, bottom, places, lines)
        for name in charted_names
    }
    overlay = _overlay(sweep.rows, keys)
    drawn = {**charts, **({OVERLAY: overlay.figure} if overlay else {})}
    return template.page(
        "sweep.html.j2",
        SCRIPTS,
        {"panels": drawn},
        overlay=overlay,
        overlay_id=OVERLAY,
        paper_columns=PAPER_COLUMNS,
        plan=sweep.plan,
        axes=axes,
        fixed=[axis for axis in sweep.plan.axes if axis not in axes],
        bottom=bottom,
        lines=lines,
        panels=[_panel(findings[name]) for name in charted_names],
        vary=[_panel(findings[name]) for name in varying_names],
        still=[
            (_panel(finding), Shown.of(finding))
            for name, finding in findings.items()
            if name not in varying_names
        ],
        rows=[_cells(row, keys, varying_names) for row in sweep.rows],
        finished=len(sweep.runs),
        failures=sweep.failures,
    )


def _overlay(rows: Sequence[Row], keys: Sequence[str]) -> Overlay | None:
    """The first curve of each point, a fill as a rule; of many points as many as a reader can tell
    apart, spread over the grid."""
    done = [row for row in rows if row.run is not None]
    if len(done) < 2:
        return None
    every = -(-len(done) // MOST_LINES)
    shown = done[::every]
    contents = Contents.of([row.run for row in shown if row.run is not None])
    first = {curve.drive: curve for curve in reversed(contents.curves)}
    if len(first) < 2:
        return None
    names = [
        ", ".join(f"{key} {readable_setting(value)}" for key, value in row.settings if key in keys)
        for row in shown
    ]
    data = [
        {"x": round(x, 6), "y": round(y, 4), "line": names[number], "n": at}
        for number, curve in sorted(first.items())
        for at, (x, y) in enumerate(zip(*means(curve, LINE_POINTS), strict=True))
    ]
    lines = tuple(names[number] for number in sorted(first))
    phase = first[min(first)].phase
    return Overlay(
        title=f"{phase.group_title}, {phase.title}",
        lines=lines,
        points=len(done),
        figure=figures.overlaid(data, lines, figures.AXES["gb"]),
    )


def _bottom(axes: Sequence[Axis]) -> str:
    """The axis with the most numbers; without any, the one with the most values."""

    def worth(axis: Axis) -> tuple[bool, int]:
        return all(_place(value).number is not None for value in axis.values), len(axis.values)

    return max(axes, key=worth).key


def _units(axes: Sequence[Axis]) -> dict[str, dict[str, Place]]:
    """Each value of each axis; an axis with a word or with two units has words only."""
    by_axis = {}
    for axis in axes:
        places = {value: _place(value) for value in axis.values}
        units = {place.unit for place in places.values()}
        if len(units) > 1 or any(place.number is None for place in places.values()):
            places = {value: Place(text=value, number=None, unit="") for value in axis.values}
        by_axis[axis.key] = places
    return by_axis


def _place(text: str) -> Place:
    """Sizes in GB, shares in %, other numbers as they are."""
    stem = text.removesuffix("%").strip()
    try:
        return Place(text=text, number=float(stem), unit="%" if text.endswith("%") else "")
    except ValueError:
        pass
    try:
        return Place(text=text, number=parse_size(text) / GB, unit="GB")
    except ValueError:
        return Place(text=text, number=None, unit="")


def _line(row: Row, keys: Sequence[str], bottom: str) -> str:
    """What a point's line is called: all that varies but what lies along the bottom."""
    others = [key for key in keys if key != bottom]
    pairs = [(key, readable_setting(value)) for key, value in row.settings if key in others]
    return ", ".join(f"{key} {value}" for key, value in pairs)


def _panel(finding: Finding) -> Panel:
    return Panel(id=finding.id, title=finding.title, pattern=finding.variant)


def _cells(row: Row, keys: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """A row of the table."""
    cells = [Shown.of(row.findings[name]) if name in row.findings else None for name in names]
    return {
        "number": row.number,
        "values": [readable_setting(value) for key, value in row.settings if key in keys],
        "cells": cells,
        "failure": row.failure,
    }


def _chart(
    rows: Sequence[Row],
    finding: Finding,
    keys: Sequence[str],
    bottom: str,
    places: Mapping[str, Place],
    lines: Sequence[str],
) -> dict[str, Any]:
    """Lines with the interval of each point; data inlined, for there are few."""
    data = [_datum(row, finding.id, keys, bottom, places) for row in rows]
    known = [row for row in data if row is not None]
    first = next(iter(places.values()))
    title = f"{bottom} ({first.unit})" if first.unit else bottom
    if first.number is None:
        x = figures.words_axis(title, list(places))
    else:
        x = figures.numbers_axis(title)
    return figures.grid(known, x, scale(finding.unit, 0.0)[1] or None, lines)


def _datum(
    row: Row, name: str, keys: Sequence[str], bottom: str, places: Mapping[str, Place]
) -> dict[str, Any] | None:
    finding = row.findings.get(name)
    if finding is None or finding.number is None:
        return None
    place = places[dict(row.settings)[bottom]]
    value_text = Shown.of(finding)
    # All points of a chart in one unit, a share in %.
    factor = scale(finding.unit, 0.0)[0]
    low = finding.number if finding.low is None else finding.low
    high = finding.number if finding.high is None else finding.high
    return {
        "x": place.text if place.number is None else place.number,
        "y": finding.number * factor,
        "low": low * factor,
        "high": high * factor,
        "line": _line(row, keys, bottom),
        "point": ", ".join(f"{key} {readable_setting(value)}" for key, value in row.settings),
        "shown": f"{value_text.value} {value_text.unit}".strip(),
    }
