"""flashtwin in a guest, on NVMe drives that QEMU emulates: what it says, refuses and erases, and a
run that goes on after a reboot that gave the drives other names."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import machine
import pytest
from machine import Disk
from served import ran

pytestmark = pytest.mark.full
MIB = 1 << 20
CHECKS = (
    *("identify", "smart", "doctor", "running_system", "mounted", "label", "mounted_partition"),
    *("partition", "swap", "lvm_held", "lvm_member", "md_held", "md_member", "crypt_held"),
    *("fill", "killed"),
)


@pytest.fixture(scope="module")
def consoles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    place = machine.place_for(tmp_path_factory)
    spare = Disk.of_file(place / "spare", "S4XSPARE", 48 * MIB)
    filled = Disk.of_file(place / "filled", "S4XFILL", 64 * MIB)
    runs = Disk.of_file(place / "runs", "RUNS", 64 * MIB)
    ran("mke2fs", "-q", "-t", "ext4", place / "runs")
    first = machine.booted("device", [spare, filled, runs])
    yield first, machine.booted("again", [filled, runs, spare])
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize("check", CHECKS)
def test_on_emulated_drives(consoles: tuple[str, str], check: str) -> None:
    assert f"check {check}: ok" in consoles[0], machine.told(consoles[0], check)


def test_a_run_goes_on_after_a_reboot(consoles: tuple[str, str]) -> None:
    assert "check resumed: ok" in consoles[1], machine.told(consoles[1], "resumed")
