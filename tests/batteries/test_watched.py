"""Readings beside the steps of any battery: energy, degrees, heat."""

from __future__ import annotations

from typing import Any

import numpy as np

from flashtwin.batteries.base import watched
from flashtwin.batteries.base.record import Answered, Record
from flashtwin.model.finding import Finding
from flashtwin.model.series import COLUMNS, Series
from flashtwin.model.step import UNKNOWN_MC, Result
from flashtwin.model.target import Capabilities, DriveInfo

MS = 1_000_000


def step(rates: list[float], degrees: list[float], watts: list[float] | None = None) -> Result:
    """A second a value: MB/s, degrees at its end, watts over it."""
    ends = np.arange(1, len(rates) + 1, dtype=np.int64) * 1000 * MS
    columns: dict[str, Any] = {name: np.zeros(len(rates), dtype=np.int64) for name in COLUMNS}
    columns |= {"t_ns": ends, "dt_ns": np.full(len(rates), 1000 * MS)}
    columns["bytes"] = np.array(rates, dtype=np.int64) * 1_000_000
    meter = {
        "t_ns": ends,
        "dt_ns": columns["dt_ns"],
        "power_uw": np.array(watts or [0.0] * len(rates)) * 1e6,
        "temperature_mc": np.array(degrees) * 1000,
    }
    return Result(
        label="b/run",
        start_ns=0,
        duration_ns=int(ends[-1]),
        series=Series(**columns),
        meter={name: values.astype(np.int64) for name, values in meter.items()},
    )


def found(result: Result, *, virtual: bool = False) -> dict[str, Finding]:
    answered = Answered(
        label=result.label,
        kind="run",
        detail={},
        duration_ns=result.duration_ns,
        read=lambda: result,
    )
    can = Capabilities(virtual_time=virtual)
    info = DriveInfo(
        name="d", kind="device", capacity_bytes=1, can=can, identity={"thermometer": "a sensor"}
    )
    record = Record(parameters=None, info=info, steps=[answered])
    return {finding.name: finding for finding in watched.findings("b", record)}


# Warm at 80 degrees: slow until it is at 72, then fast again.
HOT = [40.0, 50, 60, 70, 80, 76, 72, 76, 80, 76, 72, 76, 80, 76, 72, 74]
THROTTLED = [500.0] * 5 + [200, 200, 500, 500, 200, 200, 500, 500, 200, 200, 500]


def test_a_drive_that_slows_itself_down() -> None:
    row = found(step(THROTTLED, HOT))["slowed_by_heat"]
    assert (row.variant, row.value, row.unit) == ("run", 6.0, "s")
    assert row.note == "3 times, from 80 °C on"
    assert row.evidence is not None and (row.evidence.start, row.evidence.end) == (5.0, 15.0)


def test_slower_stretches_at_other_degrees_are_not_heat() -> None:
    warming = list(np.linspace(40, 70, len(THROTTLED)))
    assert set(found(step(THROTTLED, warming))) == {"warmest"}


def test_a_cache_that_ends_is_not_heat() -> None:
    assert set(found(step([500.0] * 8 + [100] * 8, HOT))) == {"warmest"}


def test_the_most_degrees_and_the_energy() -> None:
    rows = found(step([500.0] * 3, [40, 45, 44], [2.0, 4, 3]))
    assert (rows["warmest"].value, rows["warmest"].unit) == (45.0, "°C")
    assert rows["warmest"].note == "in b/run; by a sensor"
    assert (rows["energy"].value, rows["energy"].note) == (9.0, "3 W in the mean")


def test_watts_without_degrees() -> None:
    unknown = [UNKNOWN_MC / 1000] * 3
    assert set(found(step([500.0] * 3, unknown, [2.0, 4, 3]))) == {"energy"}


def test_simulated_drives_have_batteries_for_it() -> None:
    assert found(step(THROTTLED, HOT), virtual=True) == {}
