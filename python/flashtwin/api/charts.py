"""Charts of a run's frames for notebooks; the frames keep every row.

A line has its means over equal pieces of the axis, as many as a notebook can hold together with the
others; the report is the place for every stall and spike. Invariant: a chart has at most `ROWS`
rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from flashtwin.errors import USAGE, FlashtwinError

if TYPE_CHECKING:
    import polars as pl

    from flashtwin.charts.chart import Chart

ROWS = 5000
MOST, FEWEST = 1000, 50
# What is shown when no step is named: those with so many intervals are curves.
CURVE_ROWS = 20
_TITLES = {"gb": "data moved (GB)", "s": "time (s)"}
WIDTH, HEIGHT = 640, 300


def speeds(series: pl.DataFrame, label: str | None, over: Literal["gb", "s"]) -> Chart:
    """MB/s over data or time, a line for each step and direction."""
    import polars as pl

    parts = _lines(series, label)
    most = max(min(ROWS // max(len(parts), 1), MOST), FEWEST)
    frames = [
        _pieces(rows, over, most).with_columns(pl.lit(name).alias("step"))
        for name, rows in parts[: ROWS // FEWEST]
    ]
    return _chart(
        pl.concat(frames),
        "step-before",
        {
            "x": {"field": "x", "type": "quantitative", "title": _TITLES[over]},
            "y": {"field": "mb_s", "type": "quantitative", "title": "MB/s"},
            "color": {"field": "step", "type": "nominal", "title": None},
        },
    )


def latencies(hist: pl.DataFrame, label: str | None) -> Chart:
    """The share of requests that took at most so long, on a logarithmic axis."""
    import polars as pl

    chosen = _chosen(hist, label)
    shares = (
        chosen.sort("step", "direction", "bucket")
        .with_columns(_name(), (pl.col("to_ns") / 1000).alias("us"))
        .with_columns(
            (pl.col("count").cum_sum() * 100 / pl.col("count").sum()).over("name").alias("percent")
        )
        .select("name", "us", "percent")
    )
    # Where there are more buckets than a chart may have rows, every so many-th stands for those
    # before it; the curve rises, so nothing is lost but detail.
    every = -(-shares.height // ROWS)
    scale = {"type": "log"}
    return _chart(
        shares.gather_every(every),
        "step-after",
        {
            "x": {"field": "us", "type": "quantitative", "title": "latency (us)", "scale": scale},
            "y": {"field": "percent", "type": "quantitative", "title": "requests (%)"},
            "color": {"field": "name", "type": "nominal", "title": None},
        },
    )


def _chart(rows: pl.DataFrame, interpolate: str, encoding: dict[str, Any]) -> Chart:
    """A line for each colour, over rows that lie in the chart; the pointer shows each."""
    from flashtwin.charts.chart import Chart
    from flashtwin.charts.figures import SCHEMA

    tip = [{"field": one["field"], "type": one["type"]} for one in encoding.values()]
    return Chart(
        spec={
            "$schema": SCHEMA,
            "width": WIDTH,
            "height": HEIGHT,
            "data": {"values": rows.to_dicts()},
            "mark": {"type": "line", "interpolate": interpolate},
            "encoding": {**encoding, "tooltip": tip},
        }
    )


def outline(series: pl.DataFrame) -> str:
    """The curves as one small picture without axes, for the head of a run; "" without a curve."""
    try:
        parts = _lines(series, None)[:4]
    except FlashtwinError:
        return ""
    curves = [_pieces(rows, "gb", 200) for _, rows in parts]
    right = max(float(one["x"].to_numpy().max()) for one in curves)
    top = max(float(one["mb_s"].to_numpy().max()) for one in curves)
    if not right or not top:
        return ""
    paths = []
    for index, one in enumerate(curves):
        x, y = one["x"].to_numpy() / right * 400, 58 - one["mb_s"].to_numpy() / top * 56
        points = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
        paths.append(
            f'<path d="M{points}" fill="none" stroke="{_COLOURS[index]}" stroke-width="1.5"/>'
        )
    said = f"speed over data, up to {top:.4g} MB/s over {right:.4g} GB"
    drawn = "".join(paths)
    return f'<svg width="400" height="60" role="img" aria-label="{said}">{drawn}</svg>'


_COLOURS = ("#0072b2", "#d55e00", "#00805c", "#b0479a")


def _lines(series: pl.DataFrame, label: str | None) -> list[tuple[str, pl.DataFrame]]:
    """Rows of each step and direction with data; without a label those that are curves."""
    import polars as pl

    chosen = _chosen(series, label).with_columns(_name())
    parts = [
        (str(key[0]), rows)
        for key, rows in chosen.group_by("name", maintain_order=True)
        if rows["bytes"].sum() > 0 and (label is not None or rows.height >= CURVE_ROWS)
    ]
    if not parts:
        least = series.filter(pl.col("bytes") > 0).height
        raise FlashtwinError(
            "no step of this run is a curve" if least else "nothing was moved in this run",
            hint="name a step: run.chart(label)",
            exit_code=USAGE,
        )
    return parts


def _chosen(frame: pl.DataFrame, label: str | None) -> pl.DataFrame:
    import polars as pl

    if label is None:
        return frame
    chosen = frame.filter(pl.col("label") == label)
    if not chosen.height:
        there = frame["label"].unique(maintain_order=True).to_list()
        raise FlashtwinError(
            f"no step {label} with requests",
            hint=f"there are {', '.join(map(str, there[:8]))}",
            exit_code=USAGE,
        )
    return chosen


def _name() -> pl.Expr:
    import polars as pl

    return (pl.col("label") + ", " + pl.col("direction").cast(pl.String)).alias("name")


def _pieces(rows: pl.DataFrame, over: str, most: int) -> pl.DataFrame:
    """Bytes over time in at most so many pieces of whole intervals; `x` is where each ends."""
    import polars as pl

    size = rows["bytes"].to_numpy().astype(np.float64)
    ends_s = (rows["t_ns"] + rows["dt_ns"]).to_numpy() / 1e9
    done, spent = np.cumsum(size), np.cumsum(rows["dt_ns"].to_numpy() / 1e9)
    at = np.unique(np.linspace(0, len(size) - 1, min(most, len(size))).round().astype(int))
    moved, took = np.diff(done[at], prepend=0.0), np.diff(spent[at], prepend=0.0)
    x = done[at] / 1e9 if over == "gb" else ends_s[at]
    return pl.DataFrame({"x": x, "mb_s": moved / np.maximum(took, 1e-12) / 1e6})
