"""The inside of a twin on the host's axes: rates by cause, cache, free superblocks, WAF so far,
power and temperature.

The twin counts programmed bytes since it was built; a phase takes differences from where the one
before it ended. Drawn are the last samples of buckets, so the areas add up to what was programmed.
WAF so far is counted from the first phase of a group on (its erased drive), the rest between two
passes included. Invariant: nothing here reaches a finding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from flashtwin.charts import curves
from flashtwin.charts.curves import Floats, Phase, step_of_table
from flashtwin.charts.numbers import compact, steps
from flashtwin.report.drives import Contents, Drive
from flashtwin.runs import frames

# Causes that the page shows as one: its column, its name, its parts.
TOGETHER = {
    "upkeep": ("wear levelling, refresh, failed blocks", ("wear", "refresh", "failure")),
    "system": ("journal and recovery", ("journal", "recovery")),
}


def _areas() -> dict[str, tuple[str, str]]:
    """Column and name of each area in the order in which they are stacked: every cause once."""
    areas = {}
    for cause, title in frames.CAUSES.items():
        groups = [name for name, (_, parts) in TOGETHER.items() if cause in parts]
        name = groups[0] if groups else cause
        areas[name] = (f"{name}_bytes", TOGETHER[name][0] if groups else title)
    return areas


CAUSES = _areas()
# Columns that the page shows as one.
SUMS = {
    f"{name}_bytes": tuple(frames.PROGRAMMED[part] for part in parts)
    for name, (_, parts) in TOGETHER.items()
}
COUNTERS = (
    frames.HOST_BYTES,
    *(column for column, _ in CAUSES.values()),
    frames.SAVED_BYTES,
    "slc_erases",
    "native_erases",
    "wear_ppm",
    "energy_uj",
)
# Column of the X-ray, name among the page's data, and what it is divided by there.
GAUGES = {
    "cache_bytes": ("cache", 1e9),
    "cache_valid_bytes": ("valid", 1e9),
    "free_superblocks": ("free", 1.0),
    "temperature_mc": ("heat", 1e3),
}
POINTS = 300
# The column of all that was programmed, which follows from those of the causes.
PROGRAMMED = "programmed_bytes"

Counts = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class Inside:
    """A phase of one drive. Arrays begin at the phase's start, with zeros where they count."""

    drive: Drive
    phase: Phase
    seconds: Floats
    counts: dict[str, Floats]
    gauges: dict[str, Floats] = field(default_factory=dict)
    waf: Floats

    @property
    def host(self) -> Floats:
        return self.counts["host_bytes"]

    @property
    def joules(self) -> float | None:
        """What the drive drew in the phase; none in runs from before that was counted."""
        return self.total("energy_uj") / 1e6 or None

    @property
    def watts(self) -> float | None:
        """The mean of the phase."""
        return self.joules / float(self.seconds[-1]) if self.joules and self.seconds[-1] else None

    @property
    def mb_per_joule(self) -> float | None:
        """MB from the host for each joule; none where it wrote nothing."""
        return self.total("host_bytes") / 1e6 / self.joules if self.joules else None

    def total(self, column: str) -> float:
        """What a counter rose by in the phase."""
        return float(self.counts[column][-1])

    @property
    def saved(self) -> float:
        """What compression kept off the flash, of what the causes say."""
        return self.total(frames.SAVED_BYTES)

    @property
    def programmed(self) -> float:
        return sum(self.total(column) for column, _ in CAUSES.values()) - self.saved


def insides_of(contents: Contents) -> list[Inside]:
    """Every phase of which there is an X-ray."""
    return [
        inside
        for drive in contents.drives
        for inside in _of_drive(drive, contents.phases[drive.index])
    ]


def _of_drive(drive: Drive, phases: Mapping[str, Phase]) -> list[Inside]:
    insides: list[Inside] = []
    last: dict[str, int] = {}
    begin: dict[str, dict[str, int]] = {}
    for step in drive.run.steps:
        columns = _summed(drive.run.xray(step.step))
        if not columns or not len(columns["t_ns"]):
            continue
        phase = phases.get(step.label)
        if phase is not None and len(columns["t_ns"]) > 1:
            before = begin.setdefault(phase.group, last)
            insides.append(_inside(drive, phase, _gone_on(drive, phase, columns), last, before))
        last = {name: int(values[-1]) for name, values in columns.items()}
    return insides


def _gone_on(drive: Drive, phase: Phase, first: Counts) -> Counts:
    """The X-ray of a phase with that of the steps that go on with it, on one axis of time."""
    columns = [first]
    for step in drive.run.steps:
        if step.label in phase.goes_on:
            later = _summed(drive.run.xray(step.step))
            if later and len(later["t_ns"]):
                until = columns[-1]["t_ns"][-1]
                columns.append({**later, "t_ns": later["t_ns"] + until})
    if len(columns) == 1:
        return first
    shared = [name for name in first if all(name in part for part in columns)]
    return {name: np.concatenate([part[name] for part in columns]) for name in shared}


def _summed(columns: Counts) -> Counts:
    """The columns of an X-ray with those that are shown as one; an older run lacks some."""
    there = {
        name: [columns[part] for part in parts if part in columns] for name, parts in SUMS.items()
    }
    sums = {name: np.sum(parts, axis=0) for name, parts in there.items() if parts}
    if columns:
        sums[PROGRAMMED] = frames.programmed_bytes(columns)
    return {**columns, **sums}


def causes_of(insides: Sequence[Inside]) -> dict[str, tuple[str, str]]:
    """The causes that some phase has programmed for."""
    return {
        name: (column, title)
        for name, (column, title) in CAUSES.items()
        if any(inside.total(column) > 0 for inside in insides)
    }


def _inside(
    drive: Drive, phase: Phase, columns: Counts, last: dict[str, int], begin: dict[str, int]
) -> Inside:
    """`last`: the counters where the phase begins; `begin`: where its group began."""
    length = len(columns["t_ns"])
    zeros = np.zeros(length, dtype=np.int64)
    counts = {
        name: np.append(0.0, columns.get(name, zeros).astype(np.float64) - last.get(name, 0))
        for name in COUNTERS
    }
    gauges = {
        name: np.append(float(last.get(name, columns[name][0])), columns[name].astype(np.float64))
        for name in GAUGES
        if name in columns
    }
    programmed = columns[PROGRAMMED] - begin.get(PROGRAMMED, 0)
    host = columns.get("host_bytes", zeros) - begin.get("host_bytes", 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        waf = np.where(host > 0, programmed / host, np.nan)
    return Inside(
        drive=drive,
        phase=phase,
        seconds=np.append(0.0, columns["t_ns"] / 1e9),
        counts=counts,
        gauges=gauges,
        waf=np.append(waf[0], waf),
    )


def payload(insides: Sequence[Inside]) -> list[dict[str, object]]:
    """The phases in columns, for the page."""
    return [
        {name: _short(column) for name, column in _columns(inside).items()} for inside in insides
    ]


def _short(column: object) -> object:
    """One number for a column that is the same all along."""
    if isinstance(column, list) and len(set(column)) == 1 and column[0] is not None:
        return column[0]
    return column


def _columns(inside: Inside) -> dict[str, object]:
    """Rates hold from their place to the next one; gauges and WAF are those at the place."""
    corners = curves.ends(curves.progress(inside.seconds, inside.host), POINTS)
    corners = corners if corners[0] == 0 else np.append(0, corners)
    took = np.diff(inside.seconds[corners])
    columns: dict[str, object] = {
        "drive": inside.drive.index,
        "group": inside.phase.group,
        "phase": inside.phase.name,
        "gb": steps(inside.host[corners] / 1e9),
        "s": steps(inside.seconds[corners]),
        "host": _rates(inside.host[corners], took),
        "waf": compact(inside.waf[corners], 4),
    }
    for name, (column, _) in CAUSES.items():
        columns[name] = _rates(inside.counts[column][corners], took)
    for column, values in inside.gauges.items():
        name, scale = GAUGES[column]
        columns[name] = compact(values[corners] / scale, 4)
    if inside.joules:
        columns["power"] = _watts(inside.counts["energy_uj"][corners], took)
    return columns


def _watts(counted: Floats, took: Floats) -> list[float | int | None]:
    """Mean watts up to each place; the first one is said twice, as it has to begin somewhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        watts = np.where(took > 0, np.diff(counted) / took / 1e6, np.nan)
    return compact(np.append(watts[:1], watts), 4)


def _rates(counted: Floats, took: Floats) -> list[float | int | None]:
    """MB/s; the last one is said twice, as it has to reach the end of the phase."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(took > 0, np.diff(counted) / took, 0.0)
    return compact(np.append(rates, rates[-1:]) / 1e6, 4)


def table(inside: Inside) -> list[dict[str, float | None]]:
    """A few rows over the phase: where it stands, MB/s by cause, and the gauges there."""
    by_bytes = inside.total("host_bytes") > 0
    along = inside.host / 1e9 if by_bytes else inside.seconds
    step = step_of_table(float(along[-1]) * 2)
    places = np.append(np.arange(step, along[-1] * (1 - 1e-9), step), along[-1])
    corners = np.append(0.0, places)
    at = np.interp(corners, along, inside.seconds)
    took = np.diff(at)

    def _along(values: Floats) -> Floats:
        return np.asarray(np.interp(at, inside.seconds, values))

    def _rate(column: str) -> list[float | None]:
        return _per_second(np.diff(_along(inside.counts[column])), took)

    columns: dict[str, list[float | None]] = {"at": places.tolist(), "seconds": at[1:].tolist()}
    for name, (column, _) in {"host": ("host_bytes", ""), **CAUSES}.items():
        columns[name] = _rate(column)
    drawn = _rate("energy_uj")
    columns["watts"] = [
        None if micro is None or not inside.joules else micro / 1e6 for micro in drawn
    ]
    for column, values in inside.gauges.items():
        columns[column] = _along(values)[1:].tolist()
    columns["waf"] = [waf if isfinite(waf) else None for waf in _along(inside.waf)[1:].tolist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _per_second(amounts: Floats, took: Floats) -> list[float | None]:
    """Of stretches that took time."""
    pairs = zip(amounts.tolist(), took.tolist(), strict=True)
    return [amount / seconds if seconds > 0 else None for amount, seconds in pairs]
