"""Charts of a run's tables for notebooks; the tables keep every row.

A line has its means over equal pieces of the axis, as many as a notebook can hold together with the
others; the report is the place for every stall and spike. Invariant: a chart has at most `ROWS`
rows.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flashtwin.charts.chart import Chart
from flashtwin.charts.figures import SCHEMA
from flashtwin.errors import USAGE, FlashtwinError
from flashtwin.runs.tables import Sheet, Words

ROWS = 5000
MOST, FEWEST = 1000, 50
# Intervals from which on a step is a curve, which is shown where none is named.
CURVE_ROWS = 20
_TITLES = {"gb": "data moved (GB)", "s": "time (s)"}
WIDTH, HEIGHT = 640, 300


def speeds(series: Sheet, label: str | None, over: Literal["gb", "s"]) -> Chart:
    """MB/s over data or time, a line for each step and direction."""
    lines = _lines(series, label)
    most = max(min(ROWS // max(len(lines), 1), MOST), FEWEST)
    points = [
        {"x": x, "mb_s": speed, "step": name}
        for name, rows in lines[: ROWS // FEWEST]
        for x, speed in zip(*(axis.tolist() for axis in _pieces(rows, over, most)), strict=True)
    ]
    return _chart(
        points,
        "step-before",
        {
            "x": {"field": "x", "type": "quantitative", "title": _TITLES[over]},
            "y": {"field": "mb_s", "type": "quantitative", "title": "MB/s"},
            "color": {"field": "step", "type": "nominal", "title": None},
        },
    )


def latencies(hist: Sheet, label: str | None) -> Chart:
    """The share of requests that took at most each time, on a logarithmic axis."""
    points = []
    for name, rows in _named(hist, label):
        order = np.argsort(rows["bucket"], kind="stable")
        counts = rows["count"][order]
        shares = np.cumsum(counts) * 100 / counts.sum()
        for to_ns, share in zip(rows["to_ns"][order].tolist(), shares.tolist(), strict=True):
            points.append({"name": name, "us": to_ns / 1000, "percent": share})
    # Where there are more buckets than a chart may have rows, every so many-th stands for those
    # before it; the curve rises, so nothing is lost but detail.
    every = max(-(-len(points) // ROWS), 1)
    scale = {"type": "log"}
    return _chart(
        points[::every],
        "step-after",
        {
            "x": {"field": "us", "type": "quantitative", "title": "latency (us)", "scale": scale},
            "y": {"field": "percent", "type": "quantitative", "title": "requests (%)"},
            "color": {"field": "name", "type": "nominal", "title": None},
        },
    )


def over_points(points: list[tuple[str, float]], title: str) -> Chart:
    """A value at each point of a grid, in its order."""
    rows = [{"point": name, "value": value} for name, value in points[:ROWS]]
    order = [row["point"] for row in rows]
    return _chart(
        rows,
        "linear",
        {
            "x": {"field": "point", "type": "nominal", "sort": order, "title": None},
            "y": {"field": "value", "type": "quantitative", "title": title},
        },
    )


def _chart(rows: list[dict[str, Any]], interpolate: str, encoding: dict[str, Any]) -> Chart:
    """A line for each colour, over rows that lie in the chart; the pointer shows each."""
    tip = [{"field": channel["field"], "type": channel["type"]} for channel in encoding.values()]
    return Chart(
        spec={
            "$schema": SCHEMA,
            "width": WIDTH,
            "height": HEIGHT,
            "data": {"values": rows},
            "mark": {"type": "line", "interpolate": interpolate},
            "encoding": {**encoding, "tooltip": tip},
        }
    )


def outline(series: Sheet) -> str:
    """The curves as one small picture without axes, for the head of a run; "" without a curve."""
    try:
        lines = _lines(series, None)[:4]
    except FlashtwinError:
        return ""
    curves = [_pieces(rows, "gb", 200) for _, rows in lines]
    right = max(float(x.max()) for x, _ in curves)
    top = max(float(speed.max()) for _, speed in curves)
    if not right or not top:
        return ""
    paths = []
    for index, (x, speed) in enumerate(curves):
        places = zip(x / right * 400, 58 - speed / top * 56, strict=True)
        points = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
        paths.append(
            f'<path d="M{points}" fill="none" stroke="{_COLOURS[index]}" stroke-width="1.5"/>'
        )
    label = f"speed over data, up to {top:.4g} MB/s over {right:.4g} GB"
    drawn = "".join(paths)
    return f'<svg width="400" height="60" role="img" aria-label="{label}">{drawn}</svg>'


_COLOURS = ("#0072b2", "#d55e00", "#00805c", "#b0479a")


def _lines(series: Sheet, label: str | None) -> list[tuple[str, Rows]]:
    """Rows of each step and direction with data; without a label those that are curves."""
    lines = [
        (name, rows)
        for name, rows in _named(series, label)
        if rows["bytes"].sum() > 0 and (label is not None or len(rows["bytes"]) >= CURVE_ROWS)
    ]
    if not lines:
        moved = any(size > 0 for size in series.values("bytes"))
        raise FlashtwinError(
            "no step of this run has a curve" if moved else "nothing was moved in this run",
            hint="name a step: run.chart(label)",
            exit_code=USAGE,
        )
    return lines


Rows = dict[str, NDArray[Any]]


def _named(sheet: Sheet, label: str | None) -> list[tuple[str, Rows]]:
    """The rows of each label and direction, in the order of their first appearance."""
    labels, directions = sheet["label"], sheet["direction"]
    assert isinstance(labels, Words) and isinstance(directions, Words)
    if label is not None and label not in labels.words:
        raise FlashtwinError(
            f"no step {label} with requests",
            hint=f"there are {', '.join(labels.words[:8])}",
            exit_code=USAGE,
        )
    numbers = {
        name: column for name, column in sheet.columns.items() if not isinstance(column, Words)
    }
    keys = labels.places * len(directions.words) + directions.places
    values, first = np.unique(keys, return_index=True)
    named = []
    for key in values[np.argsort(first)].tolist():
        place, direction = divmod(key, len(directions.words))
        if label is None or labels.words[place] == label:
            matching = keys == key
            rows = {name: column[matching] for name, column in numbers.items()}
            named.append((f"{labels.words[place]}, {directions.words[direction]}", rows))
    return named


def _pieces(rows: Rows, over: str, most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Bytes over time in at most `most` pieces of whole intervals: the end of each piece, and
    its MB/s."""
    size = rows["bytes"].astype(np.float64)
    ends_s = (rows["t_ns"] + rows["dt_ns"]) / 1e9
    written, spent = np.cumsum(size), np.cumsum(rows["dt_ns"] / 1e9)
    at = np.unique(np.linspace(0, len(size) - 1, min(most, len(size))).round().astype(int))
    moved, took = np.diff(written[at], prepend=0.0), np.diff(spent[at], prepend=0.0)
    x = written[at] / 1e9 if over == "gb" else ends_s[at]
    return x, moved / np.maximum(took, 1e-12) / 1e6
