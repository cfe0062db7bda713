"""Results as tables and back: the columns of the Parquet files of a run.

Invariants: all columns are integers, so nothing is rounded on the way; the X-ray's columns are what
the twin sends, always int64, with `step` and `t_ns` among them; a histogram keeps the buckets that
counted something. Buckets are fio's (see `model.histogram`).

`per_gb` is a series over data instead of over time: how long each GB took, as AnandTech's plots
have it. Within a sample the rate is taken as even, which is all that a sample says. Invariant: a
stall counts for the grain that waited for it, and all the time of the series is in the rows.

Of what a drive programs, the X-ray and the SMART data of a twin tell the causes apart; from that
one list follow write amplification and the words for its parts. Invariants: each programmed byte
has exactly one cause; the second pass of a wordline is the same byte again and is none; what
compression kept off the flash is counted with its cause and as saved, and is taken off the sum. The
names are those of `Counters::by_cause` in crates/ftl, checked by the tests of `Twin`.

A chain's tables are those of all its parts together. `parts` says where each part begins, and how
many jobs and rows of the other tables are its own, in order; `part_hist` has its latency counts.
Neither is there in a run without a chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtwin.model.histogram import BUCKETS
from flashtwin.model.lazy import Lazy
from flashtwin.model.series import COLUMNS as SERIES_COLUMNS
from flashtwin.model.series import Series
from flashtwin.model.step import Result
from flashtwin.runs.schema import MOST
from flashtwin.runs.storage import damaged, read_parquet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Lazy("numpy")

# The columns of a table by name, equally long; whole numbers, so that nothing is rounded.
Table = dict[str, "NDArray[np.int64]"]

DIRECTIONS = ("read", "write", "trim")
# Latencies are counted of requests by direction, and of flushes.
COUNTED = (*DIRECTIONS, "sync")
# What a file of each kind has at least; the X-ray has whatever else the twin sends.
SCHEMAS = {
    "series": ("step", *SERIES_COLUMNS),
    "hist": ("step", "direction", "bucket", "count"),
    "xray": ("step", "t_ns"),
    "meter": ("step", "t_ns", "dt_ns", "power_uw", "temperature_mc"),
    "per_gb": ("step", "direction", "end_bytes", "bytes", "dt_ns"),
    "parts": ("step", "start_ns", "duration_ns", "jobs", "series", "xray", "meter"),
    "part_hist": ("step", "part", "direction", "bucket", "count"),
}
# What a column can hold, where that is not any number from zero on.
RANGES = {
    "direction": (0, len(COUNTED) - 1),
    "bucket": (0, BUCKETS - 1),
    "temperature_mc": (-MOST, MOST),
}
# Tables that only some runs have, those with a chain.
OPTIONAL = ("parts", "part_hist")
GB = 10**9
# Name of a cause, what it is called on a page.
CAUSES: Mapping[str, str] = {
    "slc": "host data to SLC",
    "tier": "host data to the second cache tier",
    "direct": "host data direct to native cells",
    "fold": "folding",
    "gc": "garbage collection",
    "wear": "wear levelling",
    "refresh": "refresh",
    "failure": "failed blocks",
    "map": "the map",
    "pad": "padding",
    "parity": "parity",
    "journal": "journal",
    "recovery": "recovery after a power cut",
}
# Columns of the X-ray, cumulative bytes.
HOST_BYTES, SAVED_BYTES = "host_bytes", "saved_bytes"
PROGRAMMED: Mapping[str, str] = {cause: f"{cause}_bytes" for cause in CAUSES}


def read(path: Path, name: str, digest: str) -> Table:
    """The table in a Parquet file; see `storage.read_parquet`."""
    return checked(path, name, read_parquet(path, digest))


def checked(path: Path, name: str, table: Table) -> Table:
    """The table that a file holds, if it is what such a table can be."""
    for column in SCHEMAS[name]:
        if column not in table:
            raise damaged(path, f"column {column} is missing")
        least, most = RANGES.get(column, (0, MOST))
        values = table[column]
        if len(values) and not least <= values.min() <= values.max() <= most:
            raise damaged(path, f"column {column} holds numbers that no run can have")
    if (np.diff(table["step"]) < 0).any():
        raise damaged(path, "its rows are not in the order of the steps")
    return table


def of_result(step: int, result: Result) -> dict[str, Table]:
    """A step's tables; hist, xray and meter only where there is something in them."""
    tables = {"series": _table(step, {c: getattr(result.series, c) for c in SERIES_COLUMNS})}
    if result.hist:
        tables["hist"] = _table(step, _counts(result.hist))
    if result.xray:
        tables["xray"] = _table(step, result.xray)
    if result.meter and len(result.meter["t_ns"]):
        tables["meter"] = _table(step, result.meter)
    tables["per_gb"] = _table(step, _per_gb(result))
    if result.parts:
        tables["parts"] = _table(step, _parts(result.parts))
        tables["part_hist"] = _table(step, _part_counts(result.parts))
    return tables


def rows(table: Table) -> int:
    """The number of rows of a table."""
    return len(table["step"])


def empty(name: str) -> Table:
    """A table of a kind without a row."""
    return {column: np.zeros(0, dtype=np.int64) for column in SCHEMAS[name]}


def join(name: str, tables: Sequence[Table]) -> Table:
    """Tables one below the other, with the columns of the first that has rows."""
    filled = [table for table in tables if rows(table)]
    if not filled:
        return empty(name)
    return {column: np.concatenate([table[column] for table in filled]) for column in filled[0]}


def rows_of(table: Table, step: int) -> Table:
    """The columns of one step, without `step`; rows are in the order of the steps."""
    first, end = np.searchsorted(table["step"], (step, step + 1))
    return {name: values[first:end] for name, values in table.items() if name != "step"}


def series_of(table: Table, step: int) -> Series:
    """What the host saw in a step; empty where it asked for nothing."""
    columns = rows_of(table, step)
    return Series(**{name: columns[name] for name in SERIES_COLUMNS})


def columns_of(table: Table, step: int) -> Table:
    """The X-ray of a step, or what a meter read in it; empty where there was none."""
    columns = rows_of(table, step)
    return columns if len(columns["t_ns"]) else {}


def histograms(table: Table, step: int) -> dict[str, NDArray[np.uint64]]:
    """Counts by direction, with every bucket."""
    return _histograms(rows_of(table, step))


def _histograms(rows: Table) -> dict[str, NDArray[np.uint64]]:
    histograms = {}
    for number, name in enumerate(COUNTED):
        in_direction = rows["direction"] == number
        if in_direction.any():
            counts = np.zeros(BUCKETS, dtype=np.uint64)
            counts[rows["bucket"][in_direction]] = rows["count"][in_direction].astype(np.uint64)
            histograms[name] = counts
    return histograms


def parts_of(chain: Result, labels: Sequence[str], tables: Mapping[str, Table]) -> list[Result]:
    """The parts of a chain, cut out of its result and its tables; raises `ValueError` where the
    tables are not this chain's."""
    part_rows, counts = tables["parts"], tables["part_hist"]
    owned = {
        "jobs": len(chain.jobs),
        "series": len(chain.series.t_ns),
        "xray": _height(chain.xray),
        "meter": _height(chain.meter),
    }
    sums = {name: int(part_rows[name].sum()) for name in owned}
    if len(labels) != len(part_rows["start_ns"]) or sums != owned:
        raise ValueError("its parts do not add up to the step")
    first = dict.fromkeys(owned, 0)
    results = []
    for number, label in enumerate(labels):
        row = {name: int(column[number]) for name, column in part_rows.items()}
        slices = {name: slice(first[name], first[name] + row[name]) for name in owned}
        offset_ns = row["start_ns"] - chain.start_ns
        series = {name: getattr(chain.series, name)[slices["series"]] for name in SERIES_COLUMNS}
        in_part = counts["part"] == number
        results.append(
            replace(
                chain,
                label=label,
                start_ns=row["start_ns"],
                duration_ns=row["duration_ns"],
                series=Series(**_earlier(series, offset_ns)),
                jobs=chain.jobs[slices["jobs"]],
                hist=_histograms({name: values[in_part] for name, values in counts.items()}),
                xray=_earlier(_cut(chain.xray, slices["xray"]), offset_ns),
                meter=_earlier(_cut(chain.meter, slices["meter"]), offset_ns),
                smart={},
                note=None,
                cut=False,
            )
        )
        first = {name: slices[name].stop for name in owned}
    return results


def _height(columns: Mapping[str, Any]) -> int:
    return len(columns["t_ns"]) if columns else 0


def _cut(columns: Mapping[str, Any], own: slice) -> dict[str, Any]:
    there = own.stop > own.start
    return {name: values[own] for name, values in columns.items()} if there else {}


def _earlier(columns: dict[str, Any], offset_ns: int) -> dict[str, Any]:
    """The columns with times that count from the beginning of a part, instead of that of the
    step."""
    return {**columns, "t_ns": columns["t_ns"] - offset_ns} if columns else {}


def _parts(parts: Sequence[Result]) -> dict[str, list[int]]:
    return {
        "start_ns": [part.start_ns for part in parts],
        "duration_ns": [part.duration_ns for part in parts],
        "jobs": [len(part.jobs) for part in parts],
        "series": [len(part.series.t_ns) for part in parts],
        "xray": [_height(part.xray) for part in parts],
        "meter": [_height(part.meter) for part in parts],
    }


def _part_counts(parts: Sequence[Result]) -> dict[str, NDArray[np.int64]]:
    counts = [_counts(part.hist) for part in parts]
    lengths = [len(columns["bucket"]) for columns in counts]
    joined = {name: np.concatenate([columns[name] for columns in counts]) for name in counts[0]}
    return {"part": np.repeat(np.arange(len(parts), dtype=np.int64), lengths), **joined}


def _table(step: int, columns: Mapping[str, Any]) -> Table:
    arrays = {
        name: np.ascontiguousarray(column, dtype=np.int64) for name, column in columns.items()
    }
    height = {len(array) for array in arrays.values()}
    assert len(height) == 1, f"columns of different lengths in step {step}: {sorted(height)}"
    return {"step": np.full(height.pop(), step, dtype=np.int64), **arrays}


def _per_gb(result: Result) -> dict[str, NDArray[np.int64]]:
    """The series divided at every GB, of each direction in which at least one was moved."""
    parts: dict[str, list[NDArray[np.int64]]] = {
        name: [np.zeros(0, dtype=np.int64)] for name in SCHEMAS["per_gb"][1:]
    }
    for number in range(len(DIRECTIONS)):
        rows = result.series.only(number)
        if int(rows.bytes.sum()) < GB:
            continue
        grains = by_bytes(rows.t_ns, rows.dt_ns, rows.bytes)
        parts["direction"].append(np.full(len(grains.bytes), number, dtype=np.int64))
        parts["end_bytes"].append(grains.end_bytes)
        parts["bytes"].append(grains.bytes)
        parts["dt_ns"].append(np.rint(grains.seconds * 1e9).astype(np.int64))
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def _counts(hist: Mapping[str, Any]) -> dict[str, NDArray[np.int64]]:
    rows: list[NDArray[np.int64]] = []
    for number, name in enumerate(COUNTED):
        if name in hist:
            counts = np.asarray(hist[name], dtype=np.uint64)
            bucket = np.flatnonzero(counts).astype(np.int64)
            rows.append(np.stack([np.full_like(bucket, number), bucket, counts[bucket]]))
    table = np.concatenate(rows, axis=1) if rows else np.zeros((3, 0))
    return dict(zip(("direction", "bucket", "count"), table.astype(np.int64), strict=True))


@dataclass(frozen=True, kw_only=True)
class Grains:
    """One row for each `grain_bytes` of data: where it ends, its size (the last may be smaller),
    and its time."""

    end_bytes: NDArray[np.int64]
    bytes: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @property
    def mb_s(self) -> NDArray[np.float64]:
        """10^6 bytes a second."""
        return self.bytes / self.seconds / 1e6


def by_bytes(
    t_ns: NDArray[np.int64],
    dt_ns: NDArray[np.int64],
    bytes_: NDArray[np.int64],
    grain_bytes: int = GB,
) -> Grains:
    """The samples of one direction cut anew, at every `grain_bytes` of data."""
    moved = bytes_ > 0
    amount = bytes_[moved]
    after = np.cumsum(amount)
    total = int(after[-1]) if len(after) else 0
    ends = np.append(np.arange(grain_bytes, total, grain_bytes, dtype=np.int64), total)
    if not total:
        return Grains(end_bytes=ends[:0], bytes=ends[:0], seconds=np.zeros(0))
    row = np.searchsorted(after, ends, side="left")
    share = 1.0 - (after[row] - ends) / amount[row]
    reached_ns = t_ns[moved][row] + share * dt_ns[moved][row]
    # Time after the last byte, in which the drive answers nothing, belongs to the last grain.
    reached_ns[-1] = max(float(reached_ns[-1]), float(t_ns[-1] + dt_ns[-1]))
    return Grains(
        end_bytes=ends,
        bytes=np.diff(ends, prepend=0),
        seconds=np.diff(reached_ns, prepend=float(t_ns[0])) / 1e9,
    )


def programmed_bytes(columns: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """The bytes programmed up to each row; a column that a run does not have counts as 0."""
    total = np.zeros(len(columns["t_ns"]), dtype=np.int64)
    for column in PROGRAMMED.values():
        total += columns.get(column, 0)
    return total - columns.get(SAVED_BYTES, 0)
