"""What a run on a file records of the disk under it: from a made-up /sys and a made-up smartctl."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flashtwin.drives.real.disk import facts_of


def put(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        at = root / name
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(f"{text}\n")


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """/sys with an NVMe disk, whose second partition has the file."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    root = tmp_path / "sys"
    controller = "devices/pci0000:00/0000:01:00.0"
    place = f"{controller}/nvme/nvme0/nvme0n1"
    put(
        root,
        {
            f"{controller}/current_link_speed": "16.0 GT/s PCIe",
            f"{controller}/current_link_width": "4",
            f"{place}/queue/scheduler": "[none] mq-deadline kyber",
            f"{place}/device/model": "A Fast Disk 1TB",
            f"{place}/device/firmware_rev": "2B2QEXM7",
            f"{place}/device/serial": "S4X9SECRET",
            f"{place}/device/hwmon1/temp1_input": "41850",
            f"{place}/nvme0n1p2/partition": "2",
        },
    )
    about = os.stat(tmp_path)
    link = root / "dev" / "block" / f"{os.major(about.st_dev)}:{os.minor(about.st_dev)}"
    link.parent.mkdir(parents=True)
    link.symlink_to(root / place / "nvme0n1p2")
    return root


def test_the_disk_of_a_partition(disk: Path, tmp_path: Path) -> None:
    facts = facts_of(tmp_path, sys_root=disk)
    full = facts.pop("file_system_full")
    assert full.endswith(" %") and 0 <= int(full.removesuffix(" %")) <= 100
    assert facts == {
        "device": "nvme0n1",
        "device_model": "A Fast Disk 1TB",
        "device_firmware": "2B2QEXM7",
        "device_link": "PCIe 16.0 GT/s x4",
        "device_scheduler": "none",
        "device_temperature_c": 41.85,
    }


def test_a_serial_number_is_never_told(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHTWIN_SERIALS", "1")
    assert "S4X9SECRET" not in json.dumps(facts_of(tmp_path, sys_root=disk))


def test_smartctl_knows_better_where_it_may_ask(disk: Path, tmp_path: Path) -> None:
    answer = {
        "model_name": "A Fast Disk 1TB, rev 2",
        "firmware_version": "3B",
        "serial_number": "S4X9SECRET",
        "temperature": {"current": 44},
    }
    program = tmp_path / "bin" / "smartctl"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nprintf '%s' '{json.dumps(answer)}'\n")
    program.chmod(0o755)
    facts = facts_of(tmp_path, sys_root=disk)
    assert (facts["device_model"], facts["device_firmware"]) == ("A Fast Disk 1TB, rev 2", "3B")
    assert facts["device_temperature_c"] == 44.0 and "S4X9SECRET" not in json.dumps(facts)
    program.write_text("#!/bin/sh\necho no JSON; exit 2\n")
    assert facts_of(tmp_path, sys_root=disk)["device_firmware"] == "2B2QEXM7"


def test_of_what_is_no_disk_the_file_system_is_told(tmp_path: Path) -> None:
    assert list(facts_of(tmp_path, sys_root=tmp_path / "nothing")) == ["file_system_full"]
