"""A grid of cells: what a benchmark tells of each cell (a block size, a depth) by way and metric.

A way is how a cell is used (read, write, both mixed), a metric what is told of it. Values of a
metric are bars for each kind of cell, which share a scale, or dots on one logarithmic scale, where
bars would have no foot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from flashtwin.charts import figures
from flashtwin.charts.figures import Drawn
from flashtwin.model.finding import Finding

Key = tuple[int, str, str, str]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number of a cell: `drawn` as bars or dots, as bars of all ways beside each other for each
    drive, in a table of numbers, as lines over the depth or the size of cells, as a map of kinds
    over depths, or not at all. `column` is its name in CSV."""

    id: str
    title: str
    unit: str
    column: str
    drawn: Literal["tile", "bars", "ways", "dots", "depth", "size", "heat"] | None = None


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A row of the grid; cells of a `kind` share a scale. `depth`: requests outstanding in it;
    `size_bytes`: how much it goes over."""

    id: str
    title: str
    kind: str = ""
    depth: int | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The cells of all drives of a page. `ways` has titles by id.

    `values` is by the drive's number on the page, cell, way and metric. Findings in it stand in the
    grid's own table and in no other. `knees` has by drive the size in bytes from which on its
    values grow, and a text beside that.
    """

    id: str
    title: str
    cells: tuple[Cell, ...]
    ways: Mapping[str, str]
    metrics: tuple[Metric, ...]
    values: Mapping[Key, Finding]
    knees: Mapping[int, tuple[float, str]] = field(default_factory=dict)

    def kinds(self) -> list[str]:
        """The kinds of cells, in order."""
        return list(dict.fromkeys(cell.kind for cell in self.cells))

    @property
    def deep(self) -> str:
        """The kind of cells that were tested at the most depths; "" where none was at several."""
        depths: dict[str, set[int]] = {}
        for cell in self.cells:
            if cell.depth is not None:
                depths.setdefault(cell.kind, set()).add(cell.depth)
        kind = max(depths, key=lambda kind: len(depths[kind]), default="")
        return kind if len(depths.get(kind, ())) > 1 else ""

    def has(self, metric: Metric) -> bool:
        """Whether some cell has a value of it."""
        return any(name == metric.id for _, _, _, name in self.values)

    def places(self) -> list[tuple[Cell, str]]:
        """The cells by way that some drive has, all cells of a way after one another."""
        there = {(cell, way) for _, cell, way, _ in self.values}
        return [(cell, way) for way in self.ways for cell in self.cells if (cell.id, way) in there]


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way of using cells, with a colour and a shape as a drive has them elsewhere."""

    index: int
    name: str


# Colours of ways begin behind those of the two drives that a page usually has.
WAY_COLOURS = 2


def payload(grid: Grid) -> list[dict[str, object]]:
    """A row a drive, cell and way, for the page."""
    rows: dict[tuple[int, str, str], dict[str, object]] = {}
    cells = {cell.id: cell for cell in grid.cells}
    for (drive, name, way, metric), finding in grid.values.items():
        cell = cells[name]
        row: dict[str, object] = {"grid": grid.id, "drive": drive, "cell": cell.title}
        row |= {"kind": cell.kind, "way": way, "depth": cell.depth}
        row["size"] = cell.size_bytes
        row = rows.setdefault((drive, name, way), row)
        row[metric] = finding.number
        row[f"{metric}_low"], row[f"{metric}_high"] = finding.low, finding.high
    return list(rows.values())


def panels(grid: Grid, drives: Sequence[Drawn]) -> dict[str, Any]:
    """The charts by the ids of their places: metric, then kind for bars, then way."""
    panels_by_place: dict[str, Any] = {}
    for metric in grid.metrics:
        if metric.drawn == "ways":
            panels_by_place |= _of_ways(grid, metric, drives)
            continue
        for way in grid.ways:
            where = {"grid": grid.id, "way": way, "metric": metric.id, "unit": metric.unit}
            about = f"{grid.title}, {metric.title.lower()}, {grid.ways[way].lower()}"
            if metric.drawn == "bars":
                for kind in grid.kinds():
                    titles = [cell.title for cell in grid.cells if cell.kind == kind]
                    about_kind = f"{about}, of {', '.join(titles)}"
                    spec = figures.bars(drives, titles, metric.unit, about_kind)
                    panel = {"kind": "bars", **where, "cells": kind, "spec": spec}
                    panels_by_place[place(grid, metric, way, kind)] = panel
            elif metric.drawn == "depth" and grid.deep:
                spec = figures.over_depth(drives, f"{about} over requests outstanding")
                panel = {"kind": "depth", **where, "cells": grid.deep, "spec": spec}
                panels_by_place[place(grid, metric, way)] = panel
            elif metric.drawn == "size":
                spec = figures.over_size(drives, metric.unit, f"{about} over size")
                knees = [{"drive": n, "x": x, "text": text} for n, (x, text) in grid.knees.items()]
                sized: dict[str, Any] = {"kind": "size", **where, "knees": knees, "spec": spec}
                panels_by_place[place(grid, metric, way)] = sized
            elif metric.drawn == "heat":
                spec = figures.heat(drives, grid.kinds(), f"{about}, kinds of cells over depth")
                panels_by_place[place(grid, metric, way)] = {"kind": "heat", **where, "spec": spec}
            elif metric.drawn == "dots":
                titles = [cell.title for cell in grid.cells]
                spec = figures.dots(drives, titles, metric.unit, f"{about}, logarithmic")
                panels_by_place[place(grid, metric, way)] = {"kind": "dots", **where, "spec": spec}
    return panels_by_place


def ways_of(grid: Grid) -> list[Way]:
    """The ways as what is told apart in a chart."""
    return [Way(index=WAY_COLOURS + n, name=title) for n, title in enumerate(grid.ways.values())]


def _of_ways(grid: Grid, metric: Metric, drives: Sequence[Drawn]) -> dict[str, Any]:
    """A chart for each drive and kind: the ways side by side at each cell."""
    charts: dict[str, Any] = {}
    for drive in drives:
        for kind in grid.kinds():
            titles = [cell.title for cell in grid.cells if cell.kind == kind]
            about = f"{grid.title} of {drive.name}, {kind}: {metric.title.lower()} by size"
            spec = figures.bars(ways_of(grid), titles, metric.unit, about)
            where = {"grid": grid.id, "metric": metric.id, "unit": metric.unit, "cells": kind}
            panel = {"kind": "bars", **where, "drive": drive.index, "spec": spec}
            charts[place(grid, metric, str(drive.index), kind)] = panel
    return charts


def place(grid: Grid, metric: Metric, way: str, kind: str = "") -> str:
    """The id of a chart."""
    return "-".join(part for part in (grid.id, metric.id, kind, way) if part)
