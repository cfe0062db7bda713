"""The steps that a battery is made of: the only words in which a battery asks a drive for anything.

A step is a frozen value. A drive answers it with a `Result`, or with `NotPossible` when it cannot
do such a thing (a file cannot be purged, say). Sizes are bytes, times are seconds unless the name
says `_ns`; offsets count from the start of the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from flashtwin.model.job import Job as Job
from flashtwin.model.job import ReadWrite as ReadWrite
from flashtwin.model.lazy import Lazy
from flashtwin.model.series import COLUMNS, Series

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")


@dataclass(frozen=True, kw_only=True)
class Run:
    """Jobs that run side by side; the step ends with the last of them and has one series for
    all. `repeats` names what this step measures once more: steps that repeat the same are
    compared together. It is none where a step is the only one of its kind."""

    label: str
    jobs: tuple[Job, ...]
    sample_s: float = 0.5
    repeats: str | None = None


@dataclass(frozen=True, kw_only=True)
class Rest:
    """Nothing from the host for `seconds`; the drive may use the time."""

    label: str = "rest"
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Trim:
    """Deallocate a range; the whole target where `size` is none."""

    label: str = "trim"
    offset: int = 0
    size: int | None = None


@dataclass(frozen=True, kw_only=True)
class Flush:
    """Everything acknowledged is on flash afterwards."""

    label: str = "flush"


@dataclass(frozen=True, kw_only=True)
class Purge:
    """Back to the never-written state (secure erase, format)."""

    label: str = "purge"


@dataclass(frozen=True, kw_only=True)
class Fill:
    """Write a range once, sequentially, as preparation and not as a measurement."""

    label: str = "prepare"
    offset: int = 0
    size: int | None = None
    block_bytes: int = 1 << 20
    depth: int = 8


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A look at an instrument beside the requests; takes no time.

    `power`, `temperature`: whether a meter between host and drive tells what it draws, and whether
    anything tells how warm it is; the readings then come with every result. `smart`: the drive's
    SMART data as they are now.
    """

    label: str
    of: Literal["power", "temperature", "smart"]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A named place in the journal; costs nothing and does nothing.

    A battery sets one where there is something new to conclude, for whoever watches.
    """

    label: str


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Parts that must follow each other without a gap; the result has each part's own."""

    label: str
    parts: tuple[Run | Rest, ...]


Step = Run | Rest | Trim | Flush | Purge | Fill | Ask | Mark | Chain


@dataclass(frozen=True, kw_only=True)
class NotPossible:
    """The drive cannot do this step here, and why, in a sentence for the reader."""

    reason: str


# A temperature that nobody read: absolute zero.
UNKNOWN_MC = -273_150


@dataclass(frozen=True, kw_only=True)
class JobTotals:
    """What one job did, after its ramp. Latencies are of whole requests, in nanoseconds."""

    name: str
    ios: int
    bytes: int
    duration_ns: int
    latency_mean_ns: float
    latency_min_ns: int
    latency_max_ns: int
    mean_depth: float
    errors: int = 0


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a drive answers: what the host saw, and of twins the X-ray.

    `series` covers the whole step from its first request on; `jobs` has one row a job, in order;
    `hist` maps a direction to latency counts in fio's buckets, and `sync` to those of
    flushes that fio's jobs ask for; `xray` maps a column name to an
    array sampled on the same clock as the series (empty for a real drive); `start_ns` is the
    drive's clock when the step began, `duration_ns` how long it took on that clock; `fio` has what
    fio counts of each job, where the jobs are fio's (`_core.FioRow`), or what fio itself said of
    all; a row's `ended_all` says that nothing behind the step runs (exit_what=all).

    `meter` is what a meter between host and drive read, empty where there is none: `t_ns` the end
    of each sample since the step began, `dt_ns` its length, `power_uw` the mean over it, 0 where
    only the temperature is known, `temperature_mc` the drive's temperature at its end, `UNKNOWN_MC`
    where only the power is known. `smart` is
    the answer to an `Ask` for it, as `smartctl --json` prints it.

    `parts` has the results of a chain's parts, in order; the other fields are of all together.

    `cut`: a budget ended the step before it was over; drives leave it alone, the runner sets it.
    """

    label: str
    start_ns: int
    duration_ns: int
    series: Series
    jobs: tuple[JobTotals, ...] = ()
    hist: Mapping[str, object] = field(default_factory=dict)
    xray: Mapping[str, object] = field(default_factory=dict)
    note: str | None = None
    fio: tuple[Mapping[str, Any], ...] = ()
    meter: Mapping[str, Any] = field(default_factory=dict)
    smart: Mapping[str, Any] = field(default_factory=dict)
    cut: bool = False
    parts: tuple[Result, ...] = ()


def chained(label: str, parts: Sequence[Result]) -> Result:
    """Results that follow one another as one: times count from the first, counts add up.

    Nothing of a part is lost or counted twice, and each can be told from where it begins.
    """
    first = parts[0]
    offsets = [part.start_ns - first.start_ns for part in parts]
    moved = [
        {**_columns(part.series), "t_ns": part.series.t_ns + offset}
        for part, offset in zip(parts, offsets, strict=True)
    ]
    series = Series(
        **{name: np.concatenate([columns[name] for columns in moved]) for name in COLUMNS}
    )
    return Result(
        label=label,
        start_ns=first.start_ns,
        duration_ns=offsets[-1] + parts[-1].duration_ns,
        series=series,
        jobs=tuple(job for part in parts for job in part.jobs),
        hist=_summed([part.hist for part in parts]),
        xray=followed([part.xray for part in parts], offsets),
        fio=tuple(row for part in parts for row in part.fio),
        meter=followed([part.meter for part in parts], offsets),
        note=joined([part.note for part in parts]),
    )


def joined(notes: Iterable[str | None]) -> str | None:
    """Different notes as one."""
    return "; ".join(dict.fromkeys(note for note in notes if note)) or None


def _columns(series: Series) -> dict[str, Any]:
    return {name: getattr(series, name) for name in COLUMNS}


def _summed(hists: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for hist in hists:
        for direction, counts in hist.items():
            total[direction] = total[direction] + counts if direction in total else counts
    return total


def followed(tables: Sequence[Mapping[str, Any]], offsets: Sequence[int]) -> dict[str, Any]:
    """Tables of samples under one another, whose times count from the first; empty ones add
    nothing."""
    there = [(table, offset) for table, offset in zip(tables, offsets, strict=True) if table]
    if not there:
        return {}
    return {
        name: np.concatenate(
            [table[name] + offset if name == "t_ns" else table[name] for table, offset in there]
        )
        for name in there[0][0]
    }
