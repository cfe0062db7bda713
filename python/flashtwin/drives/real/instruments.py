"""What is read beside a step of a real drive: its temperature, and a meter's power.

A thread reads the thermometer, since a drive may take its time to answer: neither fio nor the watch
waits for it. How often depends on the drive: an NVMe drive answers beside its reads and writes, a
SATA drive has to end those that are queued first. Where the kernel has no sensor of an NVMe drive,
its SMART log is asked for, with a program and so rarely. Invariant: nothing is read of a drive
between steps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashtwin.drives.device import tools
from flashtwin.drives.device.facts import sensed, sensor_of
from flashtwin.drives.real.power_log import PowerLog, Reading
from flashtwin.model import smart
from flashtwin.model.lazy import Lazy
from flashtwin.model.step import UNKNOWN_MC, Result, followed, joined
from flashtwin.model.units import percent

if TYPE_CHECKING:
    import numpy as np
else:
    np = Lazy("numpy")

# Seconds between two readings: of the kernel's sensor of an NVMe drive, which has a new value about
# once a second, of its log by a program, and of any other drive.
_SENSOR_S, _ASKED_S, _QUEUED_S = 1.0, 10.0, 10.0
# A step of which a meter's readings cover less has a note.
_COVERED = 0.9
_GRAIN_NS = 1_000_000


class Thermometer:
    """The temperature of a disk, by its folder in /sys/class/block."""

    def __init__(self, disk: Path) -> None:
        is_nvme = disk.name.startswith("nvme")
        self._disk = disk
        has_sensor = sensor_of(disk) is not None
        asks = is_nvme and not has_sensor and tools.path_of("nvme") is not None
        self._asks = f"/dev/{disk.name}" if asks else None
        quick_s = _SENSOR_S if has_sensor else _ASKED_S
        self.every_s = quick_s if is_nvme else _QUEUED_S
        # The sensor that its degrees rest on, as a finding says it; "" where nothing tells any.
        self.source = ""
        if has_sensor or asks:
            sensor = "sensor, as the kernel reads it" if has_sensor else "SMART log"
            self.source = f"the drive's own {sensor}, each {self.every_s:g} s"

    def now(self) -> int | None:
        """Thousandths of a degree Celsius; none where nothing tells."""
        if (celsius := sensed(self._disk)) is not None:
            return round(celsius * 1000)
        if self._asks is not None:
            log = tools.asked(["nvme", "smart-log", self._asks, "--output-format=json"])
            degrees = smart.of_nvme_cli(log)[smart.NVME].get("temperature") if log else None
            if isinstance(degrees, int):
                return degrees * 1000
        return None


class Instruments:
    """The thermometer and the meter of one drive, either of which may not be there."""

    def __init__(self, thermometer: Thermometer | None, power: PowerLog | None) -> None:
        self._thermometer, self._power = thermometer, power
        self._degrees: list[tuple[int, int]] = []

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read the thermometer until the block ends."""
        if self._thermometer is None:
            yield
            return
        over = threading.Event()
        # A reading that hangs keeps its thread and its list, and holds nobody up.
        self._degrees = []
        words = (self._thermometer, self._degrees, over)
        threading.Thread(target=_read_on, args=words, daemon=True).start()
        try:
            yield
        finally:
            over.set()

    def told(self, result: Result, zero_ns: int) -> Result:
        """A result with what was read in its time. `zero_ns`: the monotonic clock when the drive's
        clock began."""
        degrees = [(at - zero_ns, value) for at, value in list(self._degrees)]
        readings, note = self._readings(result, zero_ns)
        if not degrees and not readings:
            return replace(result, note=joined([result.note, note]))

        def meter_of(part: Result) -> dict[str, Any]:
            return _table(readings, degrees, part.start_ns, part.duration_ns)

        parts = tuple(replace(part, meter=meter_of(part)) for part in result.parts)
        offsets = [part.start_ns - result.start_ns for part in parts]
        meters = [part.meter for part in parts]
        meter = followed(meters, offsets) if parts else meter_of(result)
        return replace(result, meter=meter, parts=parts, note=joined([result.note, note]))

    def _readings(self, result: Result, zero_ns: int) -> tuple[list[Reading], str | None]:
        """The meter's readings on the drive's clock, and what is wrong with them."""
        if self._power is None:
            return [], None
        shift_ns = time.time_ns() - time.monotonic_ns() + zero_ns
        begin_ns, end_ns = result.start_ns, result.start_ns + result.duration_ns
        rows, wrong = self._power.within(begin_ns + shift_ns, end_ns + shift_ns)
        readings = [
            Reading(row.begin_ns - shift_ns, row.end_ns - shift_ns, row.watts) for row in rows
        ]
        covered_ns = sum(min(row.end_ns, end_ns) - max(row.begin_ns, begin_ns) for row in readings)
        if wrong:
            return readings, f"{wrong}; nothing from there on is taken"
        if covered_ns < _COVERED * result.duration_ns:
            share = covered_ns / max(result.duration_ns, 1)
            return readings, f"the meter's readings cover {percent(share)} of the step"
        return readings, None


def _read_on(thermometer: Thermometer, rows: list[tuple[int, int]], over: threading.Event) -> None:
    while not over.is_set():
        value = thermometer.now()
        if value is None:
            return
        rows.append((time.monotonic_ns(), value))
        over.wait(thermometer.every_s)


def _table(
    readings: Sequence[Reading],
    degrees: Sequence[tuple[int, int]],
    start_ns: int,
    duration_ns: int,
) -> dict[str, Any]:
    """The meter's columns of a step from `start_ns` on: a row a reading of the power, or of the
    temperature where there is no power."""
    end_ns = start_ns + duration_ns
    rows = [
        (max(row.begin_ns, start_ns), min(row.end_ns, end_ns), round(row.watts * 1e6))
        for row in readings
        if row.end_ns > start_ns and row.begin_ns < end_ns
    ]
    if not readings:
        ends = [at for at, _ in degrees if start_ns < at <= end_ns]
        rows = [(before, at, 0) for before, at in zip([start_ns, *ends], ends, strict=False)]
    rows = [row for row in rows if row[1] > row[0]]
    if not rows:
        return {}
    begins, stops, power = np.array(rows, dtype=np.int64).T
    warm = np.full(len(rows), UNKNOWN_MC, dtype=np.int64)
    if degrees:
        at, value = np.array(degrees, dtype=np.int64).T
        warm = np.rint(np.interp(stops, at, value)).astype(np.int64)
    return {
        "t_ns": stops - start_ns,
        "dt_ns": stops - begins,
        "power_uw": power,
        "temperature_mc": warm,
    }
