"""A run as tables to work with: names instead of numbers of steps, speeds beside the counts.

The Parquet files of a run directory hold integers and step numbers, nothing twice. Whoever takes
the numbers elsewhere (a notebook, a spreadsheet) wants to see which step a row belongs to and how
fast it was; that is added here. Invariant: no row is left out, and the columns of the files keep
their names and values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.model.histogram import edges
from flashtwin.runs.frames import COUNTED, Table
from flashtwin.runs.rundir import Run
from flashtwin.runs.storage import Column
from flashtwin.runs.storage import Words as Words

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]

NAMES = ("findings", "steps", "jobs", "series", "hist", "per_gb", "meter", "xray")


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Columns by name, equally long."""

    columns: Mapping[str, Column]

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))

    def values(self, name: str) -> list[Any]:
        """A column as Python's own values, None for what is lacking."""
        column = self.columns[name]
        if isinstance(column, Words):
            return column.texts()
        values: list[Any] = column.tolist()
        return [None if value != value else value for value in values]

    def polars(self) -> pl.DataFrame:
        """The same as a polars frame, with directions as an enumeration."""
        need_polars()
        import polars as pl

        return pl.DataFrame([_polars_series(*column) for column in self.columns.items()])


def need_polars() -> Any:
    """polars; raises where it is not installed, as it is an extra."""
    if find_spec("polars") is None:
        raise FlashtwinError(
            "this is a polars frame, and polars is not installed",
            hint="pip install 'flashtwin[frames]'",
            exit_code=ENVIRONMENT,
        )
    return import_module("polars")


def of_rows(rows: Sequence[Mapping[str, float | str | None]]) -> pl.DataFrame:
    """Rows by their columns' names as a frame."""
    frame: pl.DataFrame = need_polars().DataFrame(rows)
    return frame


def _polars_series(name: str, column: Column) -> pl.Series:
    import polars as pl

    if isinstance(column, Words):
        words = pl.Series(column.words, dtype=pl.String)
        places = pl.Series(np.where(column.places < 0, len(column.words), column.places))
        texts = pl.concat([words, pl.Series([None], dtype=pl.String)]).gather(places).alias(name)
        return texts.cast(pl.Enum(COUNTED)) if column.words == COUNTED else texts
    return pl.Series(name, column, nan_to_null=True)


def table(run: Run, name: str) -> Sheet:
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


_INTEGER, _NUMBER, _TEXT = "whole", "number", "text"


def sheet_of(rows: Sequence[Mapping[str, Any]], kinds: Mapping[str, str]) -> Sheet:
    """Rows as columns of these kinds."""
    columns: dict[str, Column] = {}
    for name, kind in kinds.items():
        values = [row.get(name) for row in rows]
        if kind == _TEXT:
            columns[name] = Words.of(values)
        elif kind == _INTEGER:
            columns[name] = np.array(values, dtype=np.int64)
        else:
            # None becomes NaN.
            columns[name] = np.array(values, dtype=np.float64)
    return Sheet(columns=columns)


def findings(run: Run) -> Sheet:
    """One row for each finding; it rests on the step `on_label`, from `on_start` to `on_end` of
    `on_axis`."""
    rows = []
    for finding in run.findings:
        row = finding.to_json()
        evidence = row["evidence"] or {}
        choice = row["value"] if finding.choices else None
        of = {f"on_{key}": evidence.get(key) for key in _EVIDENCE}
        rows.append({**row, **of, "value": finding.number, "choice": choice})
    return sheet_of(rows, _FINDING)


_EVIDENCE = ("label", "axis", "start", "end")
_FINDING = {
    **dict.fromkeys(("id", "battery", "name", "variant", "title", "unit", "note"), _TEXT),
    "value": _NUMBER,
    "choice": _TEXT,
    **dict.fromkeys(("low", "high"), _NUMBER),
    **dict.fromkeys(("means", "on_label", "on_axis"), _TEXT),
    **dict.fromkeys(("on_start", "on_end"), _NUMBER),
}


def steps(run: Run) -> Sheet:
    """One row for each step, with what its jobs moved together."""
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
    return sheet_of(rows, _STEP)


_STEP = {
    "step": _INTEGER,
    **dict.fromkeys(("battery", "label", "kind"), _TEXT),
    **dict.fromkeys(("start_ns", "duration_ns", "ios", "bytes"), _INTEGER),
    "mb_s": _NUMBER,
    **dict.fromkeys(("note", "not_possible"), _TEXT),
}


def jobs(run: Run) -> Sheet:
    """One row for each job of each step, with the drive's totals."""
    rows = [
        {"step": step.step, "battery": step.battery, "label": step.label, **asdict(job)}
        for step in run.steps
        for job in step.jobs
    ]
    return sheet_of(rows, _JOB)


_JOB = {
    "step": _INTEGER,
    **dict.fromkeys(("battery", "label", "name"), _TEXT),
    **dict.fromkeys(("ios", "bytes", "duration_ns"), _INTEGER),
    "latency_mean_ns": _NUMBER,
    **dict.fromkeys(("latency_min_ns", "latency_max_ns"), _INTEGER),
    "mean_depth": _NUMBER,
    "errors": _INTEGER,
}


def series(run: Run) -> Sheet:
    """What the host saw, a row an interval and direction, with MB/s and the mean latency."""
    table = run.table("series")
    latency = _ratio(table["lat_sum_ns"], table["ios"]) / 1000
    speed = _ratio(table["bytes"] * 1000.0, table["dt_ns"])
    return _directed(run, table, mb_s=speed, lat_mean_us=latency)


def hist(run: Run) -> Sheet:
    """Latency counts in fio's buckets, with the first and last nanosecond of each."""
    table = run.table("hist")
    ends = np.array(edges(), dtype=np.int64)[table["bucket"]]
    count = table["count"]
    rest = {name: values for name, values in table.items() if name != "count"}
    return _directed(run, rest, from_ns=ends[:, 0], to_ns=ends[:, 1], count=count)


def per_gb(run: Run) -> Sheet:
    """How long each GB took, with its speed."""
    table = run.table("per_gb")
    return _directed(run, table, mb_s=_ratio(table["bytes"] * 1000.0, table["dt_ns"]))


def meter(run: Run) -> Sheet:
    """What a meter read, one row for each sample, with watts and degrees; empty where there was
    no meter, and without watts where a drive told its temperature alone."""
    table = run.table("meter")
    power, celsius = table["power_uw"], table["temperature_mc"] / 1e3
    watts = np.where(power > 0, power / 1e6, np.nan)
    return _labelled(run, table, watts=watts, celsius=celsius)


def xray(run: Run) -> Sheet:
    """The inside of a twin; no row for a real drive."""
    return _labelled(run, run.table("xray"))


def _labelled(run: Run, table: Mapping[str, Column], **more: Column) -> Sheet:
    """The table with the columns `battery` and `label` behind the number of the step."""
    step = table["step"]
    assert not isinstance(step, Words)
    columns: dict[str, Column] = {"step": step}
    for name in ("battery", "label"):
        named = Words.of(getattr(record, name) for record in run.steps)
        # A row of a step that is not in the journal has no name.
        places = np.append(named.places, -1)
        columns[name] = Words(places=places[np.minimum(step, len(named))], words=named.words)
    return Sheet(columns={**columns, **table, **more})


def _directed(run: Run, table: Table, **more: Column) -> Sheet:
    """Directions as words."""
    direction = Words(places=table["direction"], words=COUNTED)
    return _labelled(run, {**table, "direction": direction}, **more)


def _ratio(above: Any, below: Any) -> Floats:
    """NaN where there is nothing to divide."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.asarray(above, dtype=np.float64) / below)


def _rate(moved: int, ns: int) -> float | None:
    return moved * 1000 / ns if moved and ns else None
