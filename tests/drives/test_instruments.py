"""Readings beside a step: degrees by a thread, a meter's watts, and both within a chain."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from flashtwin.drives.device import health
from flashtwin.drives.real import instruments, power_log
from flashtwin.drives.real.answers import quiet
from flashtwin.drives.real.instruments import Instruments, Thermometer
from flashtwin.drives.real.power_log import PowerLog
from flashtwin.model import smart
from flashtwin.model.step import UNKNOWN_MC, Result, chained

NS = 10**9


def disk(place: Path, name: str, *, sensor: bool = True) -> Path:
    folder = place / name
    (folder / "device" / "hwmon3").mkdir(parents=True)
    if sensor:
        (folder / "device" / "hwmon3" / "temp1_input").write_text("41850\n")
    return folder


def test_how_often_follows_from_the_drive(tmp_path: Path) -> None:
    """A SATA drive empties its queue to answer, and is asked rarely."""
    assert Thermometer(disk(tmp_path, "nvme0n1")).now() == 41850
    assert (
        Thermometer(disk(tmp_path, "nvme1n1")).every_s < Thermometer(disk(tmp_path, "sda")).every_s
    )


def test_a_sata_drive_without_a_sensor_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(instruments.tools, "path_of", lambda name: f"/usr/sbin/{name}")
    monkeypatch.setattr(instruments.tools, "asked", lambda words: asked.append(words) or {})
    assert Thermometer(disk(tmp_path, "sda", sensor=False)).now() is None
    assert Thermometer(disk(tmp_path, "nvme0n1", sensor=False)).now() is None
    assert asked == [["nvme", "smart-log", "/dev/nvme0n1", "--output-format=json"]]


def test_a_sensor_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    thermometer, hangs = Thermometer(disk(tmp_path, "nvme0n1")), threading.Event()

    def now() -> int | None:
        hangs.wait()
        return None

    thermometer.now = now  # type: ignore[method-assign]
    beside = Instruments(thermometer, None)
    with beside.reading():
        answer = beside.told(quiet("rest", 0, NS), time.monotonic_ns())
    hangs.set()
    assert answer.meter == {}


def metered(place: Path, watts: list[float], parts: tuple[float, ...] = ()) -> Result:
    """A step of as many seconds as there are watts, or a chain of `parts`, under a meter."""
    zero_ns = time.monotonic_ns() - len(watts) * NS
    began = time.time() - len(watts)
    path = place / "meter.csv"
    path.write_text(f"time,w\n{began:.6f},9\n")
    log = PowerLog(path)
    log.opened()
    with path.open("a") as file:
        file.writelines(f"{began + at:.6f},{watt}\n" for at, watt in enumerate(watts, 1))
    if not parts:
        return Instruments(None, log).told(quiet("step", 0, len(watts) * NS), zero_ns)
    starts = np.cumsum([0.0, *parts[:-1]])
    results = [
        quiet(f"part {at}", round(start * NS), round(length * NS))
        for at, (start, length) in enumerate(zip(starts, parts, strict=True))
    ]
    whole = chained("chain", results)
    chain = Result(**{**vars(whole), "parts": tuple(results)})
    return Instruments(None, log).told(chain, zero_ns)


def joules(result: Result) -> float:
    return float((result.meter["power_uw"] * result.meter["dt_ns"]).sum()) / 1e15


def test_the_energy_of_a_step_is_the_meter_s(tmp_path: Path) -> None:
    answer = metered(tmp_path, [1, 2, 3, 4])
    assert joules(answer) == pytest.approx(10.0, rel=0.01)
    assert set(answer.meter["temperature_mc"].tolist()) == {UNKNOWN_MC}
    assert answer.note is None


def test_the_parts_of_a_chain_share_the_energy(tmp_path: Path) -> None:
    answer = metered(tmp_path, [1, 2, 3, 4], (1.5, 2.5))
    assert joules(answer) == pytest.approx(10.0, rel=0.01)
    assert [round(joules(part), 1) for part in answer.parts] == [2.0, 8.0]


def test_readings_that_are_missing_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(power_log, "PATIENCE_S", 0.0)
    path = tmp_path / "meter.csv"
    path.write_text("time,w\n")
    log = PowerLog(path)
    log.opened()
    answer = Instruments(None, log).told(quiet("step", 0, NS), time.monotonic_ns() - NS)
    assert answer.meter == {} and answer.note == "the meter's readings cover 0 % of the step"


@pytest.mark.parametrize("key", ["thermal_temp1_trans_count", "thm_temp1_trans_count"])
def test_what_a_drive_counts_of_its_heat(key: str) -> None:
    before, after = ({smart.NVME: {key: count}} for count in (3, "5"))
    assert health.slowed(before, after) == (
        "by its own counters the drive slowed itself down 2 times for heat"
    )
    assert health.slowed(before, before) is None and health.slowed({}, after) is None
