"""A run as tables to work with: names instead of numbers of steps, speeds beside the counts.

The Parquet files of a run directory hold integers and step numbers, nothing twice. Whoever takes
the numbers elsewhere (a notebook, a spreadsheet) wants to see which step a row belongs to and how
fast it was; that is added here. Invariant: no row is left out, and the columns of the files keep
their names and values.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from flashtwin.model.histogram import edges
from flashtwin.runs.frames import DIRECTIONS
from flashtwin.runs.rundir import Run

if TYPE_CHECKING:
    import polars as pl

NAMES = ("findings", "steps", "jobs", "series", "hist", "per_gb", "meter", "xray")


def table(run: Run, name: str) -> pl.DataFrame:
    """One of `NAMES`."""
    return {
        "findings": findings,
        "steps": steps,
        "jobs": jobs,
        "series": series,
        "hist": hist,
        "per_gb": per_gb,
        "meter": meter,
        "xray": xray,
    }[name](run)


def findings(run: Run) -> pl.DataFrame:
    """A row a finding; it rests on `on_label`, from `on_start` to `on_end` of `on_axis`."""
    import polars as pl

    rows = []
    for one in run.findings:
        row = one.to_json()
        evidence = row["evidence"] or {}
        told = {
            **{key: row[key] for key in (*_FINDING, *_INTERVAL)},
            **{f"on_{key}": evidence.get(key) for key in _EVIDENCE},
        }
        rows.append({**told, "value": one.number, "choice": row["value"] if one.choices else None})
    shape = dict.fromkeys(_FINDING, pl.String())
    numbers = {
        "value": pl.Float64(),
        "choice": pl.String(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "means": pl.String(),
    }
    where = {"on_label": pl.String(), "on_axis": pl.String()}
    ends = {"on_start": pl.Float64(), "on_end": pl.Float64()}
    return pl.DataFrame(rows, schema={**shape, **numbers, **where, **ends})


_FINDING = ("id", "battery", "name", "variant", "title", "unit", "note")
_INTERVAL = ("low", "high", "means")
_EVIDENCE = ("label", "axis", "start", "end")


def steps(run: Run) -> pl.DataFrame:
    """A row a step, with what its jobs moved together."""
    import polars as pl

    rows = [
        {
            **step.heading(),
            "start_ns": step.start_ns,
            "duration_ns": step.duration_ns,
            "ios": sum(job.ios for job in step.jobs),
            "bytes": sum(job.bytes for job in step.jobs),
            "mb_s": _rate(sum(job.bytes for job in step.jobs), step.duration_ns),
            "note": step.note,
            "not_possible": step.not_possible,
        }
        for step in run.steps
    ]
    whole = dict.fromkeys(("start_ns", "duration_ns", "ios", "bytes"), pl.Int64())
    names = dict.fromkeys(("battery", "label", "kind"), pl.String())
    said = {"mb_s": pl.Float64(), "note": pl.String(), "not_possible": pl.String()}
    return pl.DataFrame(rows, schema={"step": pl.Int64(), **names, **whole, **said})


def jobs(run: Run) -> pl.DataFrame:
    """A row a job of each step, as the drive's totals have it."""
    import polars as pl

    rows = [
        {"step": step.step, "battery": step.battery, "label": step.label, **asdict(job)}
        for step in run.steps
        for job in step.jobs
    ]
    whole = ("ios", "bytes", "duration_ns")
    shape: dict[str, pl.DataType] = {"step": pl.Int64(), "battery": pl.String()}
    shape |= {"label": pl.String(), "name": pl.String()} | dict.fromkeys(whole, pl.Int64())
    shape |= {"latency_mean_ns": pl.Float64(), "latency_min_ns": pl.Int64()}
    shape |= {"latency_max_ns": pl.Int64(), "mean_depth": pl.Float64(), "errors": pl.Int64()}
    return pl.DataFrame(rows, schema=shape)


def series(run: Run) -> pl.DataFrame:
    """What the host saw, a row an interval and direction, with MB/s and the mean latency."""
    import polars as pl

    frame = _directed(run, run.series_frame())
    return frame.with_columns(
        (pl.col("bytes") * 1000 / pl.col("dt_ns")).alias("mb_s"),
        (pl.col("lat_sum_ns") / pl.col("ios") / 1000).fill_nan(None).alias("lat_mean_us"),
    )


def hist(run: Run) -> pl.DataFrame:
    """Latency counts in fio's buckets, with the first and last nanosecond of each."""
    import polars as pl

    frame = _directed(run, run.hist_frame())
    ends = edges()
    bounds = pl.DataFrame(
        {
            "bucket": range(len(ends)),
            "from_ns": [first for first, _ in ends],
            "to_ns": [last for _, last in ends],
        }
    )
    joined = frame.join(bounds, on="bucket", how="left", maintain_order="left")
    return joined.select(*[name for name in joined.columns if name != "count"], "count")


def per_gb(run: Run) -> pl.DataFrame:
    """How long each GB took, with its speed."""
    import polars as pl

    frame = _directed(run, run.per_gb_frame())
    return frame.with_columns((pl.col("bytes") * 1000 / pl.col("dt_ns")).alias("mb_s"))


def meter(run: Run) -> pl.DataFrame:
    """What a meter read, a row a sample, with watts and degrees; no row where there was none."""
    import polars as pl

    frame = _labelled(run, run.meter_frame())
    return frame.with_columns(
        (pl.col("power_uw") / 1e6).round(6).alias("watts"),
        (pl.col("temperature_mc") / 1e3).round(3).alias("celsius"),
    )


def xray(run: Run) -> pl.DataFrame:
    """The inside of a twin; no row for a real drive."""
    return _labelled(run, run.xray_frame())


def _labelled(run: Run, frame: pl.DataFrame) -> pl.DataFrame:
    """`battery` and `label` behind the number of the step."""
    import polars as pl

    names = pl.DataFrame(
        [(step.step, step.battery, step.label) for step in run.steps],
        schema={"step": pl.Int64(), "battery": pl.String(), "label": pl.String()},
        orient="row",
    )
    joined = frame.join(names, on="step", how="left", maintain_order="left")
    rest = [name for name in frame.columns if name != "step"]
    return joined.select("step", "battery", "label", *rest)


def _directed(run: Run, frame: pl.DataFrame) -> pl.DataFrame:
    """Directions as words."""
    import polars as pl

    words = pl.Enum(DIRECTIONS)
    named = pl.col("direction").replace_strict(
        range(len(DIRECTIONS)), DIRECTIONS, return_dtype=words
    )
    return _labelled(run, frame).with_columns(named)


def _rate(moved: int, ns: int) -> float | None:
    return moved * 1000 / ns if moved and ns else None
