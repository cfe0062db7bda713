"""The figures as Vega-Lite: what is drawn, but neither data nor colours.

A figure is a JSON value, so a page that needs one imports no charting library; the tests hold each
against Vega-Lite's own schema. Data come by name from the page ("curves", "band", …) and a colour
is a variable of its style sheet ("var(--drive-0)", which SVG understands), so light, dark and paper
share one drawing. Zoom is two parameters, `x0` and `x1`, that the page keeps equal in all figures
over the same axis; `y1` is the top of the scale, `y0` the foot of a gauge's. Every drive has a
colour and a shape, every phase a dash: nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"

# A mark of an axis in µs, in the unit that people would say it in.
_MICROSECONDS = (
    "datum.value >= 1e6 ? datum.value / 1e6 + ' s' : "
    "datum.value >= 1000 ? datum.value / 1000 + ' ms' : datum.value + ' µs'"
)
AXES = {"gb": "data written (GB)", "s": "time (min:s)"}
# What lies between two marks of an axis of time, in seconds.
TIME_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
TICKS = "max(3, min(12, width / 80))"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (5, 3), (2, 2), (8, 3, 2, 3))
COLOURS = 8
# Left axes of figures that stand under one another take the same width, so that places line up.
AXIS_WIDTH = 44
INK: Spec = {"value": "var(--ink)"}
STEPS: Spec = {"interpolate": "step-after"}

# Bytes as Vega writes them.
_BINARY_SIZES = (
    "datum.value >= 1099511627776 ? datum.value / 1099511627776 + ' TiB'"
    " : datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB'"
    " : datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : datum.value / 1024 + ' KiB'"
)


class Drawn(Protocol):
    """A drive with a colour and a shape of its own on a page: its number there, and its name."""

    @property
    def index(self) -> int: ...

    @property
    def name(self) -> str: ...


def throughput(drives: Sequence[Drawn], phases: Sequence[str], axis: str) -> Spec:
    """Means of all drives and phases as lines in the range of their samples, places and plateaus
    of findings, and the band of a chosen finding."""
    x, y, colour = _x(axis), _y("y"), _colour(drives)
    band = _layer(
        "band",
        {"type": "rect", "opacity": 0.2, "clip": True},
        {"x": x, "x2": {"field": "x2"}, "color": colour},
    )
    ranges = _layer(
        "ranges",
        {"type": "area", "opacity": 0.24, "clip": True, "line": False},
        {"x": x, "y": _y("low"), "y2": {"field": "high"}, "color": colour, "detail": _name("line")},
    )
    lines = _curves(x, y, drives, phases)
    words = {"type": "text", "fontSize": 12, "fontWeight": 600, "baseline": "bottom", "dy": -6}
    spot = {"x": x, "y": y, "text": _name("text")}
    # A rim of the ground's colour keeps the words apart from the lines behind them.
    rim = {**words, "stroke": "var(--card)", "strokeWidth": 4, "color": "var(--card)"}
    speeds = [_layer("plateaus", rim, spot), _layer("plateaus", words, {**spot, "color": colour})]
    edges = [*_places(x, colour), _truths(x, colour)]
    layers = [band, ranges, *edges, lines, _dots(x, y, drives, 46), *speeds]
    return _figure(layers, 300, axis=axis)


def deltas(drives: Sequence[Drawn], phases: Sequence[str], description: str) -> Spec:
    """How much faster a drive is than another at each place, in %, over data, with a rule at 0."""
    y = _y("y", title="%", low="y0")
    even = _layer("even", {"type": "rule", "clip": True, "color": "var(--quiet)"}, {"y": y})
    lines = _curves(_x("gb"), y, drives, phases)
    return _figure([even, lines], 140, description, feet=True)


def areas(causes: Mapping[str, str], drive: Drawn, axis: str, description: str) -> Spec:
    """Bytes a second by cause, stacked; the line is what the host wrote. Places of findings are
    marked as in the throughput.

    `causes` has the title of each cause by its id, which is also its colour's, from the foot up.
    """
    x = _x(axis)
    range_ = [f"var(--cause-{name})" for name in causes]
    colour = {**_name("cause"), "legend": None, "scale": _scale(list(causes.values()), range_)}
    stacked = _layer(
        "areas",
        {"type": "area", "clip": True, "line": False, "opacity": 0.92, **STEPS},
        {"x": x, "y": {**_y("y"), "stack": "zero"}, "color": colour, "order": _number("rank")},
    )
    host = _layer(
        "host",
        {
            "type": "line",
            "clip": True,
            "strokeWidth": 1.2,
            "strokeDash": [4, 2],
            "color": "var(--ink)",
            **STEPS,
        },
        {"x": x, "y": _y("y"), "order": _number("n")},
    )
    # Causes have the scale of colours for themselves.
    own = {"value": f"var(--drive-{drive.index % COLOURS})"}
    return _figure([stacked, host, *_places(x, own), _truths(x, INK)], 170, description, axis=axis)


def gauge(drives: Sequence[Drawn], title: str, axis: str, *, last: bool) -> Spec:
    """A value of all drives over the phase; only the last of a column names its x axis."""
    x, y = _x(axis, titled=last), _y("y", title=None, ticks=3, low="y0")
    encoding = {"x": x, "y": y, "color": _colour(drives), "detail": _name("line")}
    lines = _layer(
        "curves",
        {"type": "line", "clip": True, "strokeWidth": 1.6},
        {**encoding, "order": _number("n")},
    )
    # Temperatures of a drive lie far from 0, so the axis need not begin there.
    marks = _dots(x, y, drives, 36)
    return _figure([lines, marks], 96, f"{title} over {AXES[axis]}", feet=True, axis=axis)


def bars(drives: Sequence[Drawn], cells: Sequence[str], unit: str, description: str) -> Spec:
    """Values of cells that share a scale, drives side by side, the number at the bar's end."""
    rows = _rows(cells, drives)
    x = {
        **_number("value"),
        "title": unit,
        "scale": {"domain": _ends(0, "x1"), "nice": False},
        "axis": {"tickCount": 4},
    }
    colour = _colour(drives)
    bar = _layer(
        "cells",
        {"type": "bar", "cornerRadiusEnd": 2},
        {"x": x, **rows, "color": colour, "tooltip": _tip()},
    )
    glyph = {"type": "text", "baseline": "middle", "align": "center", "dx": 10, "fontSize": 9}
    glyphs = _layer("cells", glyph, {"x": x, **rows, "text": _name("glyph"), "color": colour})
    words = _layer("cells", _beside(18), {"x": x, **rows, "text": _name("text")})
    return _figure([bar, glyphs, words], _height(cells, drives), description, zoom=False)


def dots(drives: Sequence[Drawn], cells: Sequence[str], unit: str, description: str) -> Spec:
    """Values of cells as dots on a logarithmic scale, on which bars would have no beginning."""
    rows = _rows(cells, drives)
    x = {
        **_number("value"),
        "title": "logarithmic" if unit == "us" else f"{unit}, logarithmic",
        "scale": {"type": "log", "domain": _ends("x0", "x1"), "nice": False},
        "axis": {
            "values": [10.0**power for power in range(-1, 9)],
            **({"labelExpr": _MICROSECONDS} if unit == "us" else {"format": "~s"}),
            "labelFlush": False,
        },
    }
    colour = _colour(drives)
    spans = _layer(
        "cells",
        {"type": "rule", "strokeWidth": 2, "opacity": 0.5},
        {"x": x, "x2": {"field": "high"}, **rows, "color": colour},
    )
    points = _layer(
        "cells",
        {"type": "point", "filled": True, "size": 56, "opacity": 1},
        {"x": x, **rows, "color": colour, "shape": _shape(drives), "tooltip": _tip()},
    )
    # A number stands behind the span of its dot, which would strike it through.
    words = _layer(
        "cells", _beside(8), {"x": {**x, "field": "high"}, **rows, "text": _name("text")}
    )
    return _figure([spans, points, words], _height(cells, drives), description)


def over_depth(drives: Sequence[Drawn], description: str) -> Spec:
    """Values of all drives over how many requests are outstanding, which doubles from mark to
    mark."""
    scale = {"type": "log", "base": 2, "domain": _ends(0.92, "x1"), "nice": False}
    marks = {"values": [2**power for power in range(12)], "format": "d", "labelFlush": False}
    x = {**_number("x"), "title": "requests outstanding", "scale": scale, "axis": marks}
    y, colour = _y("y", title="IOPS"), _colour(drives)
    y["axis"]["labelExpr"] = "datum.value ? format(datum.value, '~s') : '0'"
    mark = {"type": "line", "strokeWidth": 1.7, "strokeJoin": "round"}
    line = _layer("curves", mark, {"x": x, "y": y, "color": colour, "detail": _name("drive")})
    return _figure([line, _dots(x, y, drives, 50)], 150, description, zoom=False)


def over_size(drives: Sequence[Drawn], unit: str, description: str) -> Spec:
    """Values of all drives over sizes that double, with a rule where each begins to grow."""
    x = {
        **_number("x"),
        "title": "size",
        "scale": {"type": "log", "base": 2, "domain": _ends("x0", "x1"), "nice": False},
        "axis": {
            "values": [2**power for power in range(14, 46, 3)],
            "labelExpr": _BINARY_SIZES,
            "labelFlush": False,
        },
    }
    y, colour = _y("y", title="µs" if unit == "us" else unit), _colour(drives)
    mark = {"type": "line", "strokeWidth": 1.7, "strokeJoin": "round"}
    line = _layer("curves", mark, {"x": x, "y": y, "color": colour, "detail": _name("drive")})
    return _figure([line, _dots(x, y, drives, 50), *_places(x, colour)], 190, description)


def heat(drives: Sequence[Drawn], kinds: Sequence[str], description: str) -> Spec:
    """Values of cells as a map, kinds of cells over requests outstanding, a map a drive.

    The more a field holds of the largest value, logarithmically, the fuller is its drive's colour;
    the number stands in it, so that nothing is told by the shade alone.
    """
    lines = [f"{drive.name} {kind}" for drive in drives for kind in kinds]
    x = {
        "field": "depth",
        "type": "ordinal",
        "title": "requests outstanding",
        "sort": "ascending",
        "scale": {"paddingInner": 0.04},
        "axis": {"labelAngle": 0, "ticks": False, "domain": False, "grid": False},
    }
    # A drive's name stands in the keys above: an axis has the kind alone.
    kind = {"labelExpr": "split(datum.label, ' ')[length(split(datum.label, ' ')) - 1]"}
    y = {
        **_name("line"),
        "title": None,
        "sort": lines,
        "scale": {"domain": lines, "paddingInner": 0.06},
        "axis": {**kind, "ticks": False, "domain": False, "grid": False},
    }
    shade = {
        **_number("value"),
        "legend": None,
        "scale": {"type": "log", "domain": _ends("x0", "x1"), "range": [0.06, 0.6]},
    }
    field = _layer(
        "cells",
        {"type": "rect", "cornerRadius": 2},
        {"x": x, "y": y, "color": _colour(drives), "opacity": shade, "tooltip": _tip()},
    )
    words = {"type": "text", "fontSize": 11, "color": "var(--ink)"}
    text = _layer("cells", words, {"x": x, "y": y, "text": _name("text")})
    return _figure([field, text], 24 * len(lines) + 6, description)


def tails(drives: Sequence[Drawn], description: str) -> Spec:
    """The latency below which so many requests stay, each nine more a step to the right."""
    names = {0.30103: "50 %", 1: "90 %", 2: "99 %", 3: "99.9 %", 4: "99.99 %"}
    chosen = "''"
    for place, text in reversed(names.items()):
        chosen = f"abs(datum.value - {place}) < 0.01 ? '{text}' : {chosen}"
    x = {
        **_number("x"),
        "title": "share of requests that are faster",
        "scale": {"domain": _ends(0, "x1"), "nice": False},
        "axis": {"values": list(names), "labelExpr": chosen, "grid": True},
    }
    y = _y("y", title=None, low="y0")
    y["scale"] = {"type": "log", "domain": _ends("y0", "y1"), "nice": False}
    y["axis"] |= {
        "values": [10.0**power * step for power in range(-1, 9) for step in (1, 3)],
        "labelExpr": _MICROSECONDS,
    }
    colour = _colour(drives)
    mark = {"type": "line", "clip": True, "strokeWidth": 1.7, "strokeJoin": "round"}
    encoding = {"x": x, "y": y, "color": colour, "detail": _name("line"), "order": _number("n")}
    lines = _layer("curves", mark, encoding)
    marks = _dots(x, y, drives, 50)
    return _figure([lines, marks], 230, description, zoom=False, feet=True)


def grid(rows: Sequence[Spec], x: Spec, y_title: str | None, lines: Sequence[str]) -> Spec:
    """Points of a grid with their intervals, joined along `x`; the rows lie in the figure itself.

    A row has x, y, low, high, line, point and shown; `x` is a channel of `words_axis` or
    `numbers_axis`.
    """
    y = {**_number("y"), "title": y_title, "scale": {"zero": False, "nice": True}}
    range_ = [f"var(--drive-{number % COLOURS})" for number in range(len(lines))]
    colour = {**_name("line"), "legend": None, "scale": _scale(list(lines), range_)}
    shapes = [SHAPES[number % len(SHAPES)] for number in range(len(lines))]
    shape = {**_name("line"), "legend": None, "scale": _scale(list(lines), shapes)}
    line = {
        "mark": {"type": "line", "strokeWidth": 1.6},
        "encoding": {"x": x, "y": y, "color": colour, "detail": _name("line")},
    }
    interval = {
        "mark": {"type": "rule", "strokeWidth": 1.4},
        "encoding": {"x": x, "y": _number("low"), "y2": {"field": "high"}, "color": colour},
    }
    point = {
        "mark": {"type": "point", "filled": True, "size": 52, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "color": colour,
            "shape": shape,
            "tooltip": [_name("point"), {**_name("shown"), "title": y_title or "value"}],
        },
    }
    figure = _layered([line, interval, point], 220)
    return {"data": {"values": list(rows)}, **figure}


def overlaid(
    rows: Sequence[Spec], lines: Sequence[str], x_title: str, y_title: str = "MB/s"
) -> Spec:
    """Curves of several drives in one figure, level from each point to the next.

    A row has x, y, line and n, its number in the line; the rows lie in the figure itself.
    """
    range_ = [f"var(--drive-{number % COLOURS})" for number in range(len(lines))]
    dashes = [list(DASHES[number // COLOURS % len(DASHES)]) for number in range(len(lines))]
    x = {**_number("x"), "title": x_title, "axis": {"grid": False}, "scale": {"nice": False}}
    curve = {
        "mark": {"type": "line", "strokeWidth": 1.7, "strokeJoin": "round", **STEPS},
        "encoding": {
            "x": x,
            "y": {**_number("y"), "title": y_title},
            "color": {**_name("line"), "legend": None, "scale": _scale(list(lines), range_)},
            "strokeDash": {**_name("line"), "legend": None, "scale": _scale(list(lines), dashes)},
            "order": _number("n"),
        },
    }
    return {"data": {"values": list(rows)}, **_layered([curve], 340)}


def side_by_side(rows: Sequence[Spec], lines: Sequence[str], x: Spec, y_title: str) -> Spec:
    """Bars over words, those of several lines beside one another.

    A row has x, y, line and shown; with `low` and `high` a bar bears its interval; `x` is a channel
    of `words_axis`; the rows lie in the figure itself.
    """
    range_ = [f"var(--drive-{number % COLOURS})" for number in range(len(lines))]
    colour = {**_name("line"), "legend": None, "scale": _scale(list(lines), range_)}
    across: Spec = {"x": x, "xOffset": {**_name("line"), "sort": list(lines)}}
    bar = {
        "mark": {"type": "bar"},
        "encoding": {
            **across,
            "y": {**_number("y"), "title": y_title},
            "color": colour,
            "tooltip": [_name("x"), _name("line"), {**_name("shown"), "title": y_title}],
        },
    }
    interval = {
        "mark": {"type": "rule", "strokeWidth": 1.4},
        "encoding": {**across, "y": _number("low"), "y2": {"field": "high"}, "color": INK},
    }
    has_intervals = any("low" in row for row in rows)
    layers = [bar, interval] if has_intervals else [bar]
    return {"data": {"values": list(rows)}, **_layered(layers, 260)}


def lying(rows: Sequence[Spec], title: str) -> Spec:
    """Bars that lie beneath one another, each behind its name and with its interval.

    A row has name, value, low, high and shown; the rows lie in the figure itself.
    """
    # A long name has a line for each of its parts.
    axis = {"labelExpr": "split(datum.label, ', ')", "labelLimit": 160, "ticks": False}
    names = [row["name"] for row in rows]
    across = {"y": {**_name("name"), "sort": names, "title": None, "axis": axis}}
    apart = {"tickCount": 6, "labelOverlap": "greedy", "labelSeparation": 6}
    x = {**_number("value"), "title": title, "axis": apart}
    shown = {**_name("shown"), "title": title}
    bar = {
        "mark": {"type": "bar", "height": 18, "color": "var(--drive-0)"},
        "encoding": {**across, "x": x, "tooltip": [_name("name"), shown]},
    }
    interval = {
        "mark": {"type": "rule", "strokeWidth": 1.4},
        "encoding": {**across, "x": _number("low"), "x2": {"field": "high"}, "color": INK},
    }
    return {"data": {"values": list(rows)}, **_layered([bar, interval], 36 * len(rows) + 40)}


def words_axis(title: str, words: Sequence[str]) -> Spec:
    """The bottom of a `grid` whose values are words, in their order."""
    return {**_name("x"), "title": title, "sort": list(words), "axis": {"labelAngle": 0}}


def numbers_axis(title: str) -> Spec:
    """The bottom of a `grid` whose values are numbers."""
    return {**_number("x"), "title": title, "scale": {"zero": False, "padding": 12}}


# ------------------------------------------------------------------------------------- layers


def _curves(x: Spec, y: Spec, drives: Sequence[Drawn], phases: Sequence[str]) -> Spec:
    """A line a drive and phase, level from each point to the next."""
    mark = {"type": "line", "clip": True, "strokeWidth": 1.7, "strokeJoin": "round", **STEPS}
    dashes = [list(DASHES[number % len(DASHES)]) for number in range(len(phases))]
    dash = {**_name("phase"), "legend": None, "scale": _scale(list(phases), dashes)}
    encoding = {"x": x, "y": y, "color": _colour(drives), "strokeDash": dash}
    return _layer("curves", mark, {**encoding, "detail": _name("line"), "order": _number("n")})


def _places(x: Spec, colour: Spec) -> list[Spec]:
    """Rules where a finding puts an edge, each with its name above the plot."""
    rule = {"type": "rule", "strokeDash": [2, 3], "strokeWidth": 1.2, "clip": True}
    words = {
        "type": "text",
        "fontSize": 11,
        "baseline": "bottom",
        "align": {"expr": "datum.left ? 'right' : 'left'"},
        "dx": {"expr": "datum.left ? 2 : -2"},
        "dy": {"expr": "-5 - 14 * datum.row"},
    }
    text = {"x": x, "y": {"value": 0}, "text": _name("text"), "color": colour}
    return [_layer("places", rule, {"x": x, "color": colour}), _layer("places", words, text)]


def _truths(x: Spec, colour: Spec) -> Spec:
    """An open triangle on the axis where a twin's inside has what a finding tells the place of."""
    mark = {
        "type": "point",
        "shape": "triangle-up",
        "filled": False,
        "size": 90,
        "strokeWidth": 1.8,
        "opacity": 1,
        "clip": True,
        "yOffset": -7,
    }
    encoding = {"x": x, "y": {"value": "height"}, "color": colour}
    return _layer("truths", mark, encoding)


def _dots(x: Spec, y: Spec, drives: Sequence[Drawn], size: int) -> Spec:
    mark = {"type": "point", "filled": True, "size": size, "opacity": 1, "clip": True}
    encoding = {"x": x, "y": y, "color": _colour(drives), "shape": _shape(drives)}
    return _layer("dots", mark, encoding)


def _beside(distance: int) -> Spec:
    """The mark of a number at the end of its bar or dot."""
    text = {"type": "text", "baseline": "middle", "align": "left", "dx": distance}
    return {**text, "fontSize": 11, "color": "var(--ink)"}


def _layer(data: str, mark: Spec, encoding: Spec) -> Spec:
    return {"data": {"name": data}, "mark": mark, "encoding": encoding}


def _figure(
    layers: list[Spec],
    height: int,
    description: str = "",
    *,
    zoom: bool = True,
    feet: bool = False,
    axis: str = "gb",
) -> Spec:
    """A whole figure; the page adds width, data, domain and colours. `axis`: what it is over;
    `zoom`: its left end can move; `feet`: the scale begins at this value instead of 0."""
    starts = {"x1": 1.0, "y1": 1.0} | ({"x0": 0.0} if zoom else {}) | ({"y0": 0.0} if feet else {})
    spec = _layered(layers, height)
    spec["params"] = [{"name": name, "value": value} for name, value in starts.items()]
    if axis == "s":
        spec["params"].append({"name": "step", "expr": _time_step()})
    return {**spec, "description": description} if description else spec


def _layered(layers: list[Spec], height: int) -> Spec:
    """Layers over one another, the first at the bottom."""
    spec: Spec = {"$schema": SCHEMA, "width": "container", "height": height, "layer": layers}
    data = layers[0].get("data")
    if data and all(layer.get("data") == data for layer in layers):
        shared = [{key: part for key, part in layer.items() if key != "data"} for layer in layers]
        return {**spec, "data": data, "layer": shared}
    return spec


# ----------------------------------------------------------------------------------- channels


def _name(field: str) -> Spec:
    return {"field": field, "type": "nominal"}


def _number(field: str) -> Spec:
    return {"field": field, "type": "quantitative"}


def _scale(domain: Sequence[str], range_: Sequence[Any]) -> Spec:
    return {"domain": list(domain), "range": list(range_)}


def _ends(*ends: float | str) -> list[Any]:
    """The two ends of a scale, numbers or parameters; given whole, so that no data set them."""
    return [{"expr": end} if isinstance(end, str) else end for end in ends]


def _x(axis: str, *, titled: bool = True) -> Spec:
    marks: Spec = {"tickCount": {"expr": TICKS}}
    if axis == "s":
        marks = {
            "values": {"expr": "sequence(ceil(x0 / step) * step, x1 + step / 1e3, step)"},
            "labelExpr": "floor(datum.value / 60 + 1e-6) + ':' + format("
            "datum.value - 60 * floor(datum.value / 60 + 1e-6), step < 1 ? '04.1f' : '02.0f')",
        }
    return {
        **_number("x"),
        "title": AXES[axis] if titled else None,
        "scale": {"domain": _ends("x0", "x1"), "nice": False, "zero": False},
        "axis": {
            **marks,
            "labelFlush": True,
            "labels": titled,
        },
    }


def _time_step() -> str:
    """The least step that leaves no more marks than there is room for, as Vega computes it."""
    chosen = str(86400)
    for step in reversed(TIME_STEPS):
        chosen = f"((x1 - x0) / {TICKS} <= {step} ? {step} : {chosen})"
    return chosen


def _y(field: str, *, title: str | None = "MB/s", ticks: int = 5, low: float | str = 0) -> Spec:
    """The vertical axis. Its unit stands above it, so that plots below each other begin at the
    same place."""
    axis = {
        "tickCount": ticks,
        "minExtent": AXIS_WIDTH,
        "maxExtent": AXIS_WIDTH,
        "titleAngle": 0,
        "titleAlign": "right",
        "titleBaseline": "bottom",
        "titleX": -5,
        "titleY": -9,
    }
    scale = {"domain": _ends(low, "y1"), "nice": False, "zero": False}
    # Vega-Lite stacks areas and bars by default: only a figure that asks for it is stacked.
    return {**_number(field), "title": title, "scale": scale, "axis": axis, "stack": None}


def _rows(cells: Sequence[str], drives: Sequence[Drawn]) -> Spec:
    """A row for each cell, divided into one for each drive."""
    names = [drive.name for drive in drives]
    return {
        "y": {
            **_name("cell"),
            "title": None,
            "sort": list(cells),
            "scale": {"domain": list(cells), "paddingInner": 0.28, "paddingOuter": 0.12},
            "axis": {
                "grid": False,
                "ticks": False,
                "domain": False,
                "labelPadding": 6,
                "minExtent": 84,
            },
        },
        "yOffset": {
            **_name("drive"),
            "sort": names,
            "scale": {"domain": names, "paddingInner": 0.14},
        },
    }


def _height(cells: Sequence[str], drives: Sequence[Drawn]) -> int:
    return len(cells) * (17 * len(drives) + 9) + 6


def _tip() -> list[Spec]:
    return [_name(field) for field in ("drive", "cell", "shown", "beside")]


def _colour(drives: Sequence[Drawn]) -> Spec:
    colours = [f"var(--drive-{drive.index % COLOURS})" for drive in drives]
    names = [drive.name for drive in drives]
    return {**_name("drive"), "legend": None, "scale": _scale(names, colours)}


def _shape(drives: Sequence[Drawn]) -> Spec:
    shapes = [SHAPES[drive.index % len(SHAPES)] for drive in drives]
    names = [drive.name for drive in drives]
    return {**_name("drive"), "legend": None, "scale": _scale(names, shapes)}
