"""The charts as Vega-Lite, made with Altair: what is drawn, but neither data nor colours.

Data come by name from the page ("curves", "band", …) and a colour is a variable of its style sheet
("var(--drive-0)", which SVG understands), so light, dark and paper share one drawing. Zoom is two
parameters, `x0` and `x1`, that the page keeps equal in all charts over the same axis; `y1` is the
top of the scale, `y0` the foot of a gauge's. Every drive has a colour and a shape, every phase a
dash: nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt

from flashtwin.report.cells import Grid
from flashtwin.report.view import Drive
from flashtwin.report.xray import CAUSES

AXES = {"gb": "data written (GB)", "s": "time (s)"}
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (5, 3), (2, 2), (8, 3, 2, 3))
COLOURS = 8
# Left axes of charts that stand under one another take the same width, so that places line up.
AXIS_WIDTH = 44


def throughput(drives: Sequence[Drive], phases: Sequence[str], axis: str) -> dict[str, Any]:
    """Means of all drives and phases as lines in the range of their samples, places of findings,
    and the band of a chosen finding."""
    x = _x(axis)
    y = _y("y:Q")
    band = (
        alt.Chart(alt.NamedData(name="band"))
        .mark_rect(opacity=0.2, clip=True)
        .encode(x=x, x2="x2:Q", color=_colour(drives))
    )
    ranges = (
        alt.Chart(alt.NamedData(name="ranges"))
        .mark_area(opacity=0.24, clip=True, line=False)
        .encode(x=x, y=_y("low:Q"), y2="high:Q", color=_colour(drives), detail="line:N")
    )
    lines = _curves(x, y, drives, phases)
    marks = (
        alt.Chart(alt.NamedData(name="dots"))
        .mark_point(filled=True, size=46, opacity=1, clip=True)
        .encode(x=x, y=y, color=_colour(drives), shape=_shape(drives))
    )
    return _top(_layer(band, ranges, *_places(drives, x), lines, marks), 300)


def _curves(x: alt.X, y: alt.Y, drives: Sequence[Drive], phases: Sequence[str]) -> alt.Chart:
    """A line a drive and phase, level from each point to the next."""
    lines: alt.Chart = (
        alt.Chart(alt.NamedData(name="curves"))
        .mark_line(clip=True, strokeWidth=1.7, strokeJoin="round", interpolate="step-after")
        .encode(
            x=x,
            y=y,
            color=_colour(drives),
            strokeDash=_dash(phases),
            detail="line:N",
            order=alt.Order("n:Q"),
        )
    )
    return lines


def deltas(drives: Sequence[Drive], phases: Sequence[str], said: str) -> dict[str, Any]:
    """How much faster a drive is than another at each place, in %, over data; 0 is a rule."""
    x = _x("gb")
    y = _y("y:Q", title="%", low="y0")
    even = alt.Chart(alt.NamedData(name="even")).mark_rule(color="var(--quiet)", clip=True)
    lines = _curves(x, y, drives, phases)
    spec = _top(_layer(even.encode(y=y), lines), 140, said)
    spec["params"].append({"name": "y0", "value": 0.0})
    return spec


def _places(drives: Sequence[Drive], x: alt.X) -> list[alt.Chart]:
    """Rules where a finding puts an edge, each with its name above the plot."""
    data = alt.NamedData(name="places")
    rules = (
        alt.Chart(data)
        .mark_rule(strokeDash=[2, 3], strokeWidth=1.2, clip=True)
        .encode(x=x, color=_colour(drives))
    )
    words = (
        alt.Chart(data)
        .mark_text(
            fontSize=11,
            baseline="bottom",
            align=alt.ExprRef("datum.left ? 'right' : 'left'"),
            dx=alt.ExprRef("datum.left ? 2 : -2"),
            dy=alt.ExprRef("-5 - 14 * datum.row"),
        )
        .encode(x=x, y=alt.value(0), text="text:N", color=_colour(drives))
    )
    return [rules, words]


def areas(drive: Drive, axis: str) -> dict[str, Any]:
    """Programmed bytes a second by cause, stacked; the line is what the host wrote."""
    x = _x(axis)
    stacked = (
        alt.Chart(alt.NamedData(name="areas"))
        .mark_area(interpolate="step-after", clip=True, line=False, opacity=0.92)
        .encode(
            x=x,
            y=_y("y:Q", stack="zero"),
            color=alt.Color(
                "cause:N",
                scale=alt.Scale(
                    domain=[title for _, title in CAUSES.values()],
                    range=[f"var(--cause-{name})" for name in CAUSES],
                ),
                legend=None,
            ),
            order=alt.Order("rank:Q"),
        )
    )
    host = (
        alt.Chart(alt.NamedData(name="host"))
        .mark_line(
            interpolate="step-after",
            clip=True,
            strokeWidth=1.2,
            strokeDash=[4, 2],
            color="var(--ink)",
        )
        .encode(x=x, y=_y("y:Q"), order=alt.Order("n:Q"))
    )
    said = f"X-ray of {drive.name}: programmed bytes a second by cause over {AXES[axis]}"
    return _top(_layer(stacked, host), 170, said)


def gauge(drives: Sequence[Drive], title: str, axis: str, *, last: bool) -> dict[str, Any]:
    """A value of all drives over the phase; only the last of a column names its x axis."""
    x = _x(axis, titled=last)
    y = _y("y:Q", title=None, ticks=3, low="y0")
    data = alt.NamedData(name="curves")
    lines = (
        alt.Chart(data)
        .mark_line(clip=True, strokeWidth=1.6)
        .encode(x=x, y=y, color=_colour(drives), detail="line:N", order=alt.Order("n:Q"))
    )
    marks = (
        alt.Chart(alt.NamedData(name="dots"))
        .mark_point(filled=True, size=36, opacity=1, clip=True)
        .encode(x=x, y=y, color=_colour(drives), shape=_shape(drives))
    )
    spec = _top(_layer(lines, marks), 96, f"{title} over {AXES[axis]}")
    # Degrees have no zero that a drive comes near.
    spec["params"].append({"name": "y0", "value": 0.0})
    return spec


def bars(drives: Sequence[Drive], grid: Grid, kind: str, direction: str) -> dict[str, Any]:
    """Speeds of the cells that share a scale, drives side by side, the number at the bar's end."""
    cells = grid.of_kind(kind)
    y, offset = _rows(cells, drives)
    x = alt.X(
        "value:Q",
        title="MB/s",
        scale=alt.Scale(domain=_ends(0, "x1"), nice=False),
        axis=alt.Axis(tickCount=4),
    )
    data = alt.NamedData(name="cells")
    shown = alt.Chart(data).mark_bar(cornerRadiusEnd=2)
    shown = shown.encode(x=x, y=y, yOffset=offset, color=_colour(drives), tooltip=_tip())
    glyphs = (
        alt.Chart(data)
        .mark_text(baseline="middle", align="center", dx=10, fontSize=9)
        .encode(x=x, y=y, yOffset=offset, text="glyph:N", color=_colour(drives))
    )
    words = (
        alt.Chart(data)
        .mark_text(baseline="middle", align="left", dx=18, fontSize=11, color="var(--ink)")
        .encode(x=x, y=y, yOffset=offset, text="text:N")
    )
    said = f"CrystalDiskMark {direction} speed of {', '.join(cells)}"
    return _top(_layer(shown, glyphs, words), _height(cells, drives), said, zoom=False)


def latencies(drives: Sequence[Drive], grid: Grid, direction: str) -> dict[str, Any]:
    """Latencies of all cells as dots on a logarithmic scale, where bars would have no foot."""
    cells = [cell.title for cell in grid.cells]
    y, offset = _rows(cells, drives)
    x = alt.X(
        "value:Q",
        title="µs, logarithmic",
        scale=alt.Scale(type="log", domain=_ends("x0", "x1"), nice=False),
        axis=alt.Axis(
            values=[10.0**power for power in range(-1, 9)], format="~s", labelFlush=False
        ),
    )
    data = alt.NamedData(name="cells")
    spans = alt.Chart(data).mark_rule(strokeWidth=2, opacity=0.5)
    spans = spans.encode(x=x, x2="high:Q", y=y, yOffset=offset, color=_colour(drives))
    dots = alt.Chart(data).mark_point(filled=True, size=56, opacity=1)
    dots = dots.encode(
        x=x, y=y, yOffset=offset, color=_colour(drives), shape=_shape(drives), tooltip=_tip()
    )
    words = (
        alt.Chart(data)
        .mark_text(baseline="middle", align="left", dx=8, fontSize=11, color="var(--ink)")
        .encode(x=x, y=y, yOffset=offset, text="text:N")
    )
    said = f"CrystalDiskMark {direction} latency of every cell, logarithmic"
    return _top(_layer(spans, dots, words), _height(cells, drives), said)


def _rows(cells: Sequence[str], drives: Sequence[Drive]) -> tuple[alt.Y, alt.YOffset]:
    y = alt.Y(
        "cell:N",
        title=None,
        sort=list(cells),
        scale=alt.Scale(domain=list(cells), paddingInner=0.28, paddingOuter=0.12),
        axis=alt.Axis(grid=False, ticks=False, domain=False, labelPadding=6, minExtent=84),
    )
    names = [drive.name for drive in drives]
    return y, alt.YOffset("drive:N", sort=names, scale=alt.Scale(domain=names, paddingInner=0.14))


def _height(cells: Sequence[str], drives: Sequence[Drive]) -> int:
    return len(cells) * (17 * len(drives) + 9) + 6


def _tip() -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:N") for name in ("drive", "cell", "shown", "beside")]


def _x(axis: str, *, titled: bool = True) -> alt.X:
    return alt.X(
        "x:Q",
        title=AXES[axis] if titled else None,
        scale=alt.Scale(domain=_ends("x0", "x1"), nice=False, zero=False),
        axis=alt.Axis(
            tickCount=alt.ExprRef("max(3, min(12, width / 80))"), labelFlush=True, labels=titled
        ),
    )


def _ends(*ends: float | str) -> list[Any]:
    """The two ends of a scale, numbers or parameters; given whole, so that no data set them."""
    return [alt.ExprRef(end) if isinstance(end, str) else end for end in ends]


def _y(
    field: str,
    *,
    title: str | None = "MB/s",
    ticks: int = 5,
    stack: Literal["zero"] | None = None,
    low: float | str = 0,
) -> alt.Y:
    """Its unit stands above the axis, so that plots under one another begin at the same place."""
    axis = alt.Axis(
        tickCount=ticks,
        minExtent=AXIS_WIDTH,
        maxExtent=AXIS_WIDTH,
        titleAngle=0,
        titleAlign="right",
        titleBaseline="bottom",
        titleX=-5,
        titleY=-9,
    )
    scale = alt.Scale(domain=_ends(low, "y1"), nice=False, zero=False)
    return alt.Y(field, title=title, scale=scale, axis=axis, stack=stack)


def _names(drives: Sequence[Drive]) -> list[str]:
    return [drive.name for drive in drives]


def _colour(drives: Sequence[Drive]) -> alt.Color:
    colours = [f"var(--drive-{drive.index % COLOURS})" for drive in drives]
    scale = alt.Scale(domain=_names(drives), range=colours)
    return alt.Color("drive:N", scale=scale, legend=None)


def _shape(drives: Sequence[Drive]) -> alt.Shape:
    shapes = [SHAPES[drive.index % len(SHAPES)] for drive in drives]
    return alt.Shape("drive:N", scale=alt.Scale(domain=_names(drives), range=shapes), legend=None)


def _dash(phases: Sequence[str]) -> alt.StrokeDash:
    dashes = [list(DASHES[index % len(DASHES)]) for index in range(len(phases))]
    scale = alt.Scale(domain=list(phases), range=dashes)
    return alt.StrokeDash("phase:N", scale=scale, legend=None)


def _layer(*parts: alt.Chart) -> alt.LayerChart:
    """Over one another, the first at the bottom."""
    return alt.LayerChart(layer=list(parts))


def _top(
    chart: alt.LayerChart, height: int, said: str = "", *, zoom: bool = True
) -> dict[str, Any]:
    """The whole specification; the page gives it its width, data, domain and colours."""
    params = [alt.param(name=name, value=1.0) for name in ("x1", "y1")]
    if zoom:
        params.append(alt.param(name="x0", value=0.0))
    whole = chart.properties(width="container", height=height).add_params(*params)
    # The schema is checked in the tests, not on every page: it takes longer than the rest.
    spec: dict[str, Any] = whole.to_dict(validate=False)
    if said:
        spec["description"] = said
    spec.pop("config", None)
    return spec
