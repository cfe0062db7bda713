"""The page: everything gathered, one template, styles and scripts inlined.

Invariants: one file that asks nothing of a network (its own content policy forbids it), everything
that comes out of a run is escaped by the template or is JSON that is never taken for markup, and
the same runs give the same bytes: there is no clock here, the only times are those of host.json.
What is shown of a battery comes from its `present`; the page orders it and knows no battery.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from flashtwin import __version__
from flashtwin.charts import cells, curves, figures
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.report import (
    article,
    compared,
    endurance,
    findings,
    latency,
    masthead,
    provenance,
    template,
    truth,
    xray,
)
from flashtwin.report.drives import Contents, Drive
from flashtwin.report.findings import Truths
from flashtwin.report.xray import Inside
from flashtwin.runs.compare.compare import Comparison
from flashtwin.runs.rundir import Run

SCRIPTS = (
    "dom.js",
    "unpack.js",
    "library.js",
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
GAUGES = {
    "cache": "cache in use (GB)",
    "free": "free superblocks",
    "waf": "WAF so far",
    "power": "power (W)",
    "heat": "temperature (°C)",
}


def render(
    runs: Sequence[Run], comparison: Comparison | None = None, *, ranks: bool = False
) -> str:
    """The page as text; with a comparison of the same runs, what differs stands first.

    `ranks`: the drives stand among the catalogue's twins, too.
    """
    if not runs:
        raise FlashtwinError("no run to report on", hint="give a run directory", exit_code=USAGE)
    every = Contents.of(runs)
    # All runs stand in a table; curves, findings and set-ups are for as many as fit.
    contents = every.drawn()
    drives, insides = contents.drives, xray.insides_of(contents)
    spec_drives, sections = provenance.specs_of(drives)
    compared = _compared(every, contents, comparison)
    latencies = latency.rows_of(contents)
    truths = truth.truths_of(contents, insides)
    cards = [findings.card(table, drives, compared["same"], truths) for table in contents.tables]
    return template.page(
        "page.html.j2",
        SCRIPTS,
        _data(contents, insides, comparison, truths, latencies),
        title=masthead.title(every.drives),
        kinds=masthead.kinds(every.drives),
        kinds_differ=len({drive.kind for drive in drives}) > 1,
        verdict=masthead.verdict(every),
        unfinished=masthead.unfinished(drives),
        every=every.drives,
        undrawn=masthead.undrawn(every.drives, drives),
        facts=masthead.facts(contents),
        drives=drives,
        few=len(drives) <= masthead.FEW,
        tiles=masthead.tiles(contents),
        first_tiles=masthead.FIRST_TILES,
        ranking=masthead.ranking(every) if len(every.drives) > masthead.FEW else [],
        outlines=curves.outlines(contents.curves),
        cards=findings.by_title(cards),
        groups={text: name for name, text in _patterns(contents, insides)},
        grids=contents.grids,
        grid_place=cells.place,
        grid_ways=cells.ways_of,
        latencies=latencies,
        shares=latency.SHARES,
        meanings=findings.meanings_of(drives),
        patterns=_patterns(contents, insides),
        phases=_curve_phases(contents),
        shown_phases=_shown_phases(contents, comparison),
        phase_titles=_phase_titles(contents),
        curve_tables=_curve_tables(contents),
        insides=insides,
        inside_phases=list(dict.fromkeys(inside.phase.name for inside in insides)),
        inside_drives=_inside_drives(insides),
        inside_table=xray.table,
        causes=xray.causes_of(insides),
        compressed=any(inside.saved for inside in insides),
        gauges=_gauges(insides),
        endurance=endurance.rows_of(drives),
        spec_drives=spec_drives,
        spec_sections=sections,
        origins=provenance.ORIGINS,
        spec_texts=provenance.spec_texts(drives),
        targets=provenance.targets(drives),
        batteries=provenance.batteries(drives),
        hosts=provenance.hosts(drives),
        commands=provenance.commands(drives),
        **compared,
        **_reviewed(contents, ranks=ranks),
    )


def _reviewed(contents: Contents, *, ranks: bool) -> dict[str, Any]:
    """What the page of a review has besides: a written verdict, and the drives among the twins."""
    if not ranks:
        return {"article": [], "ranked": None}
    # Only a review ranks, and no other page loads the room of studies.
    from flashtwin.report import ranked

    return {"article": article.verdict(contents), "ranked": ranked.ranking_of(contents.drives)}


def _compared(every: Contents, contents: Contents, comparison: Comparison | None) -> dict[str, Any]:
    """What the page has of a comparison; `same` are the findings that are equal in all runs."""
    if comparison is None:
        return {"compared": [], "counted": [], "setups": [], "same_setups": 0, "same": frozenset()}
    return {
        "compared": compared.sections_of(comparison, contents),
        "counted": compared.counted(comparison, every),
        "setups": compared.setups_of(comparison, len(contents.drives)),
        "same_setups": comparison.setups.same,
        "same": compared.same_findings(comparison),
    }


def _data(
    contents: Contents,
    insides: Sequence[Inside],
    comparison: Comparison | None,
    truths: Truths,
    latencies: Sequence[latency.Row],
) -> dict[str, Any]:
    """The data for the scripts."""
    drives, grids = contents.drives, contents.grids
    panels, deltas = _panels(contents, insides), []
    if latencies:
        spec = figures.tails(drives, "Latency below which so many requests stay")
        panels["latency"] = {"kind": "latency", "spec": spec}
    if comparison is not None:
        panels |= compared.panels(comparison, contents, _curve_phases(contents))
        deltas = compared.payload(comparison, contents)
    return {
        "version": __version__,
        "drives": [
            {
                "name": drive.name,
                "origin": masthead.origin(drive),
                "colour": drive.index % figures.COLOURS,
                "shape": figures.SHAPES[drive.index % len(figures.SHAPES)],
            }
            for drive in drives
        ],
        "groups": [{"id": name, "title": title} for name, title in _patterns(contents, insides)],
        "phases": _curve_phases(contents),
        "shown_phases": _shown_phases(contents, comparison),
        "phase_titles": _phase_titles(contents),
        "curves": curves.payload(contents.curves),
        "xray": xray.payload(insides),
        "causes": [
            {"id": name, "title": title} for name, (_, title) in xray.causes_of(insides).items()
        ],
        "gauges": _gauges(insides),
        "latencies": latency.payload(latencies),
        "cells": [row for grid in grids for row in cells.payload(grid)],
        "grids": {grid.id: _grid_words(grid) for grid in grids},
        "findings": findings.payload(drives),
        "meanings": {
            meaning.id: msgspec.to_builtins(meaning.row())
            for meaning in findings.meanings_of(drives)
        },
        "places": [
            {"drive": drive.index, "label": place.label, "text": place.text, "gb": place.gb}
            for drive, place in contents.places()
        ],
        "truths": [
            {"drive": drive, "label": known.label, "gb": known.place_gb}
            for (drive, _), known in truths.items()
            if known.place_gb and known.finding.number
        ],
        "plateaus": [
            {
                "drive": drive.index,
                "label": plateau.label,
                "from": plateau.start_gb,
                "to": plateau.end_gb,
                "speed": plateau.mb_per_s,
            }
            for drive, plateau in contents.plateaus()
        ],
        "deltas": deltas,
        "panels": panels,
    }


def _grid_words(grid: cells.Grid) -> dict[str, Any]:
    metrics = [
        {"id": metric.id, "unit": metric.unit, "column": metric.column} for metric in grid.metrics
    ]
    ways = {
        way: {"title": of_way.name, "shape": figures.SHAPES[of_way.index]}
        for way, of_way in zip(grid.ways, cells.ways_of(grid), strict=True)
    }
    return {"title": grid.title, "metrics": metrics, "ways": ways}


def _panels(contents: Contents, insides: Sequence[Inside]) -> dict[str, Any]:
    """Every chart by the id of its place in the template."""
    panels: dict[str, Any] = {}
    drives = contents.drives
    if contents.curves:
        phases = _curve_phases(contents)
        specs = {axis: figures.throughput(drives, phases, axis) for axis in figures.AXES}
        panels["throughput"] = {"kind": "throughput", "specs": specs}
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
    for grid in contents.grids:
        panels.update(cells.panels(grid, drives))
    return panels


def _areas(drive: Drive, axis: str) -> dict[str, Any]:
    causes = {name: title for name, (_, title) in xray.CAUSES.items()}
    over = figures.AXES[axis]
    description = f"X-ray of {drive.name}: programmed bytes a second by cause over {over}"
    return figures.areas(causes, drive, axis, description)


# --------------------------------------------------------------------------- patterns and phases


def _patterns(contents: Contents, insides: Sequence[Inside]) -> list[tuple[str, str]]:
    """Groups that have something to draw, with their titles; those that most drives have come
    first, so that a comparison opens on one that both have."""
    drawn = [(curve.drive, curve.phase) for curve in contents.curves] or [
        (inside.drive.index, inside.phase) for inside in insides
    ]
    titles = {phase.group: phase.group_title for _, phase in drawn}
    drives = {group: {drive for drive, phase in drawn if phase.group == group} for group in titles}
    return sorted(titles.items(), key=lambda row: -len(drives[row[0]]))


def _curve_phases(contents: Contents) -> list[str]:
    """Names of the phases with a curve, pattern by pattern: pass-1, pass-2. The line on which a
    page opens is the first, which is solid."""
    by_group: dict[str, set[str]] = {}
    for curve in contents.curves:
        by_group.setdefault(curve.phase.group, set()).add(curve.phase.name)
    return list(dict.fromkeys(name for names in by_group.values() for name in sorted(names)))


def _shown_phases(contents: Contents, comparison: Comparison | None) -> list[str]:
    """The phases that are drawn at first: the first of each pattern, so that no chart is empty,
    and all of a comparison."""
    if comparison:
        return _curve_phases(contents)
    first: dict[str, str] = {}
    for curve in contents.curves:
        first.setdefault(curve.phase.group, curve.phase.name)
    return sorted(set(first.values()))


def _phase_titles(contents: Contents) -> dict[str, str]:
    phases = [phase for of_drive in contents.phases.values() for phase in of_drive.values()]
    return {phase.name: phase.title for phase in phases}


def _gauges(insides: Sequence[Inside]) -> dict[str, str]:
    """The measures for which some phase has numbers: older runs have neither power nor
    temperature."""
    there = {"waf"}
    for inside in insides:
        there |= {xray.GAUGES[column][0] for column in inside.gauges}
        there |= {"power"} if inside.joules else set()
    return {name: title for name, title in GAUGES.items() if name in there}


def _inside_drives(insides: Sequence[Inside]) -> list[Drive]:
    return list({inside.drive.index: inside.drive for inside in insides}.values())


@dataclass(frozen=True, kw_only=True)
class CurveTable:
    """The curves of a group as numbers: means of stretches of an axis."""

    axis: str
    group: str
    heads: tuple[tuple[Drive, str], ...]
    rows: Sequence[tuple[float, float, Sequence[float | None]]]


def _curve_tables(contents: Contents) -> list[CurveTable]:
    """A table for each group and axis."""
    tables = []
    for axis in figures.AXES:
        for group, _ in _patterns(contents, []):
            of_group = [curve for curve in contents.curves if curve.phase.group == group]
            heads = [
                (
                    contents.drives[curve.drive],
                    curve.phase.title
                    + ("" if curve.direction == "write" else f" {curve.direction}"),
                )
                for curve in of_group
            ]
            rows = curves.table(of_group, axis)
            tables.append(CurveTable(axis=axis, group=group, heads=tuple(heads), rows=rows))
    return tables
