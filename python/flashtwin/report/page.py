"""The page: everything gathered, one template, styles and scripts inlined.

Invariants: one file that asks nothing of a network (its own content policy forbids it), everything
that comes out of a run is escaped by the template or is JSON that is never taken for markup, and
the same runs give the same bytes: there is no clock here, the only times are those of host.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flashtwin import __version__
from flashtwin.charts import assets, figures
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.report import (
    about,
    cells,
    compared,
    curves,
    endurance,
    findings,
    numbers,
    sparkline,
    template,
    words,
    xray,
)
from flashtwin.report.cells import Grid
from flashtwin.report.curves import Curve
from flashtwin.report.view import Drive, drives_of, pattern_title, phase_title
from flashtwin.report.xray import Inside
from flashtwin.runs.compare.compare import Comparison
from flashtwin.runs.rundir import Run

SCRIPTS = (
    "dom.js",
    "data.js",
    "theme.js",
    "rows.js",
    "panels.js",
    "cursor.js",
    "zoom.js",
    "controls.js",
    "findings.js",
    "export.js",
    "main.js",
)
# What a finding is called where its place is marked in a chart.
PLACES = {
    "fill.cache_size": "cache ends",
    "fill.fold_begin": "folding begins",
}
GAUGES = {
    "cache": "cache in use (GB)",
    "free": "free superblocks",
    "waf": "WAF so far",
    "power": "power (W)",
    "heat": "temperature (°C)",
}


def render(runs: Sequence[Run], comparison: Comparison | None = None) -> str:
    """The page as text; with a comparison of the same runs, what differs stands first."""
    if not runs:
        raise FlashtwinError("no run to report on", hint="give a run directory", exit_code=USAGE)
    drives = drives_of(runs)
    lines = curves.curves_of(drives)
    insides = xray.insides_of(drives)
    grid = cells.grid_of(drives)
    spec_drives, sections = about.specs_of(drives)
    text: str = template.load("page.html.j2").render(
        version=__version__,
        title=words.title(drives),
        summary=words.summary(drives),
        drives=drives,
        compared=[] if comparison is None else compared.sections_of(comparison, drives),
        setups=[] if comparison is None else compared.setups_of(comparison),
        same_setups=0 if comparison is None else comparison.setups.same,
        sparks=sparkline.sparks(drives, lines),
        shapes=sparkline.SHAPES,
        groups=findings.groups_of(drives),
        grid=grid,
        grid_rows=findings.grid_rows(grid, drives) if grid else [],
        meanings=findings.meanings_of(drives),
        patterns=_patterns(lines, insides),
        phases=_phases(lines),
        curve_tables=_curve_tables(lines),
        insides=insides,
        inside_phases=list(dict.fromkeys(inside.phase.name for inside in insides)),
        inside_drives=_inside_drives(insides),
        inside_table=xray.table,
        causes=xray.causes_of(insides),
        compressed=any(inside.saved for inside in insides),
        gauges=_gauges(insides),
        endurance=endurance.rows_of(drives),
        kinds=cells,
        spec_drives=spec_drives,
        spec_sections=sections,
        origins=about.ORIGINS,
        spec_texts=about.spec_texts(drives),
        targets=about.targets(drives),
        batteries=about.batteries(drives),
        hosts=about.hosts(drives),
        commands=about.commands(drives),
        numbers=numbers,
        phase_title=phase_title,
        style=assets.styles(),
        script=assets.script(SCRIPTS),
        vega=assets.vega(),
        data=assets.json_text(_data(drives, lines, insides, grid, comparison)),
    )
    return text


def _data(
    drives: Sequence[Drive],
    lines: Sequence[Curve],
    insides: Sequence[Inside],
    grid: Grid | None,
    comparison: Comparison | None,
) -> dict[str, Any]:
    """What the scripts work on."""
    panels, deltas = _panels(drives, lines, insides, grid), []
    if comparison is not None:
        panels |= compared.panels(comparison, drives, _phases(lines))
        deltas = compared.payload(comparison, drives)
    return {
        "drives": [
            {"name": drive.name, "colour": drive.index % figures.COLOURS, "shape": _shape(drive)}
            for drive in drives
        ],
        "groups": [{"id": name, "title": title} for name, title in _patterns(lines, insides)],
        "phases": _phases(lines),
        "curves": curves.payload(lines),
        "xray": xray.payload(insides),
        "causes": [
            {"id": name, "title": title} for name, (_, title) in xray.causes_of(insides).items()
        ],
        "gauges": _gauges(insides),
        "cells": cells.payload(grid) if grid else [],
        "findings": findings.payload(drives),
        "meanings": {one.id: one.to_json() for one in findings.meanings_of(drives)},
        "places": _places(drives),
        "deltas": deltas,
        "panels": panels,
    }


def _panels(
    drives: Sequence[Drive], lines: Sequence[Curve], insides: Sequence[Inside], grid: Grid | None
) -> dict[str, Any]:
    """Every chart by the id of its place in the template."""
    panels: dict[str, Any] = {}
    if lines:
        for axis in figures.AXES:
            spec = figures.throughput(drives, _phases(lines), axis)
            panels[f"throughput-{axis}"] = {"kind": "throughput", "axis": axis, "spec": spec}
    inside = _inside_drives(insides)
    for drive in inside:
        specs = {axis: _areas(drive, axis) for axis in figures.AXES}
        panels[f"areas-{drive.index}"] = {"kind": "areas", "drive": drive.index, "specs": specs}
    if inside:
        gauges = _gauges(insides)
        for name, title in gauges.items():
            last = name == list(gauges)[-1]
            specs = {axis: figures.gauge(inside, title, axis, last=last) for axis in figures.AXES}
            panels[f"gauge-{name}"] = {"kind": "gauge", "gauge": name, "specs": specs}
    if grid:
        panels.update(_cell_panels(drives, grid))
    return panels


def _cell_panels(drives: Sequence[Drive], grid: Grid) -> dict[str, Any]:
    """Bars for the cells of a kind, dots for the latency of all of them, by direction."""
    panels: dict[str, Any] = {}
    for direction in grid.directions:
        for kind in grid.kinds():
            alike = grid.of_kind(kind)
            description = f"CrystalDiskMark {direction} speed of {', '.join(alike)}"
            spec = figures.bars(drives, alike, description)
            where = {"cells": kind, "direction": direction, "metric": "speed"}
            panels[f"bars-{kind}-{direction}"] = {"kind": "bars", **where, "spec": spec}
        titles = [cell.title for cell in grid.cells]
        description = f"CrystalDiskMark {direction} latency of every cell, logarithmic"
        spec = figures.latencies(drives, titles, description)
        where = {"direction": direction, "metric": "latency"}
        panels[f"latency-{direction}"] = {"kind": "bars", **where, "spec": spec}
    return panels


def _areas(drive: Drive, axis: str) -> dict[str, Any]:
    causes = {name: title for name, (_, title) in xray.CAUSES.items()}
    over = figures.AXES[axis]
    description = f"X-ray of {drive.name}: programmed bytes a second by cause over {over}"
    return figures.areas(causes, axis, description)


def _shape(drive: Drive) -> str:
    return figures.SHAPES[drive.index % len(figures.SHAPES)]


def _patterns(lines: Sequence[Curve], insides: Sequence[Inside]) -> list[tuple[str, str]]:
    """Groups that have something to draw, with their titles; two batteries may share a title."""
    drawn = [curve.phase.group for curve in lines] or [one.phase.group for one in insides]
    ids = list(dict.fromkeys(drawn))
    titles = [pattern_title(name) for name in ids]
    return [
        (name, title if titles.count(title) == 1 else f"{title} ({name.partition('/')[0]})")
        for name, title in zip(ids, titles, strict=True)
    ]


def _phases(lines: Sequence[Curve]) -> list[str]:
    """Names of the phases with a curve, in order: pass-1, pass-2."""
    return sorted(dict.fromkeys(curve.phase.name for curve in lines))


def _gauges(insides: Sequence[Inside]) -> dict[str, str]:
    """Those that some phase has numbers for: older runs know neither power nor temperature."""
    there = {"waf"}
    for inside in insides:
        there |= {xray.GAUGES[column][0] for column in inside.gauges}
        there |= {"power"} if inside.joules else set()
    return {name: title for name, title in GAUGES.items() if name in there}


def _inside_drives(insides: Sequence[Inside]) -> list[Drive]:
    return list({inside.drive.index: inside.drive for inside in insides}.values())


def _places(drives: Sequence[Drive]) -> list[dict[str, Any]]:
    """Where a finding puts an edge into a curve."""
    found = []
    for drive in drives:
        for finding in drive.findings:
            word = PLACES.get(findings.LATER.sub(".", finding.stem))
            if word and finding.number and finding.unit == "GB" and finding.evidence:
                shown = f"{word} {numbers.significant(finding.number)} GB"
                where = {"drive": drive.index, "label": finding.evidence.label}
                found.append({**where, "text": shown, "gb": finding.number})
    return found


def _curve_tables(lines: Sequence[Curve]) -> list[dict[str, Any]]:
    """A table a group and axis."""
    made = []
    for axis in figures.AXES:
        for group, _ in _patterns(lines, []):
            mine = [curve for curve in lines if curve.phase.group == group]
            rows = curves.table(mine, axis)
            made.append({"axis": axis, "group": group, "curves": mine, "rows": rows})
    return made
