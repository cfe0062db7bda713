"""`flashtwin smart`, `identify` and `doctor`: what drives and this machine tell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from machines import MIB, Machine, lacking, looped, number_of, unchanged

from flashtwin.drives.device import doctor
from flashtwin.drives.real import engines, real_fio
from flashtwin.drives.real.real_fio import Fio

Run = Callable[..., Result]
LOG = {
    "model_name": "A FAST DISK 1TB",
    "serial_number": "S4X9SECRET",
    "nvme_smart_health_information_log": {
        "data_units_written": 2_000_000,
        "percentage_used": 4,
        "power_on_hours": 8766,
    },
}
loops = pytest.mark.skipif(bool(lacking()), reason=f"this machine lacks {', '.join(lacking())}")


def test_a_file_of_smartctl_is_explained(run: Run, tmp_path: Path) -> None:
    (tmp_path / "sda.json").write_text(json.dumps(LOG))
    done = run("smart", str(tmp_path / "sda.json"))
    assert done.exit_code == 0, done.stderr
    assert "the host wrote 1.024 TB" in done.stdout
    assert "4 % of the rated life is used" in done.stdout
    assert "S4X9SECRET" not in done.stdout
    done = run("smart", str(tmp_path / "sda.json"), "--json")
    about = [row["about"] for row in json.loads(done.stdout)["sentences"]]
    assert about[:2] == ["drive", "bytes"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"model_name": "x"}', "\0", "NaN"])
def test_what_is_no_smart_data_is_refused(text: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    done = run("smart", str(tmp_path / "x.json"))
    assert (done.exit_code, done.stdout) == (2, ""), done.stderr
    assert "x.json" in done.stderr


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    for path in (tmp_path / "none", Path("/dev/null"), tmp_path):
        done = run("smart", str(path))
        assert (done.exit_code, done.stdout) == (2, ""), done.stderr


def test_identify_and_doctor_want_devices(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for command in ("identify", "doctor"):
        done = run(command, str(tmp_path / "file"))
        assert (done.exit_code, done.stdout) == (2, ""), done.stderr
        assert "is no block device" in done.stderr


def test_doctor_tells_each_thing_with_its_command(run: Run) -> None:
    done = run("doctor", "--json")
    checks = {row["name"]: row for row in json.loads(done.stdout)["checks"]}
    assert {"fio", "smartctl", "nvme", "hdparm", "user"} <= checks.keys()
    lacking_any = not all(row["fine"] for row in checks.values())
    assert done.exit_code == lacking_any
    for row in checks.values():
        assert row["fine"] or row["command"]


@pytest.mark.parametrize(("system", "words"), [("darwin", "F_NOCACHE"), ("win32", "windowsaio")])
def test_doctor_says_what_another_system_can(
    system: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fio = tmp_path / "fio"
    fio.write_text("#!/bin/sh\necho fio-3.36\necho windowsaio posixaio psync\n")
    fio.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(engines, "SYSTEM", system)
    monkeypatch.setattr(real_fio, "find", lambda: Fio(program=str(fio), version="3.36"))
    checks = {row.name: row for row in doctor.of_machine()}
    assert words in checks["engines"].text
    assert "devices on Linux alone" in checks["devices"].text
    assert not {"nvme", "hdparm"} & checks.keys()


@loops
@pytest.mark.parametrize("sensor", [False, True])
def test_doctor_says_how_a_sata_drive_tells_its_degrees(sensor: bool, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(bytes(4 * MIB))
    with looped(image) as loop:
        machine = Machine(tmp_path / "machine", number=number_of(loop), size=4 * MIB)
        machine.put(machine.disk / "link1/ata_link/link1/sata_spd", "6.0 Gbps")
        if sensor:
            machine.put(machine.disk / "device/hwmon/hwmon2/temp1_input", "31000")
        checks = {row.name: row for row in doctor.of_device(loop, machine.roots)}
    assert checks["degrees"].command == (None if sensor else "sudo modprobe drivetemp")
    assert checks["degrees"].fine is sensor
    assert ("own sensor" in checks["degrees"].text) is sensor


@loops
def test_a_loop_device_is_identified_and_left_alone(run: Run, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"precious" * (16 * MIB // 8))
    with looped(image) as loop, unchanged(image):
        done = run("identify", str(loop), "--json")
        assert done.exit_code == 0, done.stderr
        told = json.loads(done.stdout)
        assert (told["device"], told["capacity_bytes"]) == (loop.name, 16 * MIB)
        assert told["catalogue"] is None
        assert told["refusals"] == []
        assert run("identify", str(loop)).exit_code == 0
        assert "TRIM" in run("doctor", str(loop)).stdout
        done = run("smart", str(loop))
        assert (done.exit_code, done.stdout) == (3, ""), done.stderr
        assert "flashtwin doctor" in done.stderr
