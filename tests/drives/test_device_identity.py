"""A device is known again by a hash of its names, whatever the kernel calls it by then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from machines import MIB, Machine

from flashtwin.drives.device import identity


def machine(place: Path, name: str, serial: str, size: int = 20 * MIB) -> Machine:
    made = Machine(place, name=name, number="8:32", size=size)
    made.put(made.disk / "device/model", "A DISK 1TB")
    if serial:
        made.put(made.disk / "device/serial", serial)
    return made


def beside(made: Machine, name: str, number: str, serial: str) -> None:
    """Another drive of the same model in that machine."""
    place = made.device(name, number, made.size)
    made.put(place / "device/model", "A DISK 1TB")
    if serial:
        made.put(place / "device/serial", serial)


def test_after_a_reboot_under_another_name(tmp_path: Path) -> None:
    stored = identity.of(machine(tmp_path / "before", "sda", "S4X1").facts())
    after = machine(tmp_path / "after", "sdc", "S4X1")
    beside(after, "sda", "8:0", "S4X2")
    assert identity.known_again(stored, after.roots) == [after.roots.dev / "sdc"]
    assert "S4X1" not in json.dumps(stored)


@pytest.mark.parametrize(("serial", "size"), [("S4X2", 20 * MIB), ("S4X1", 21 * MIB)])
def test_another_device_is_not_taken_for_it(serial: str, size: int, tmp_path: Path) -> None:
    stored = identity.of(machine(tmp_path / "before", "sda", "S4X1").facts())
    after = machine(tmp_path / "after", "sda", serial, size)
    assert identity.known_again(stored, after.roots) == []


def test_of_drives_without_a_serial_number_none_is_chosen(tmp_path: Path) -> None:
    """Two virtual disks of one size: nobody knows which of them it was."""
    stored = identity.of(machine(tmp_path / "before", "vda", "").facts())
    after = machine(tmp_path / "after", "vda", "")
    beside(after, "vdb", "8:16", "")
    paths = [after.roots.dev / name for name in ("vda", "vdb")]
    assert identity.known_again(stored, after.roots) == paths


def test_no_two_runs_store_the_same_hash(tmp_path: Path) -> None:
    facts = machine(tmp_path / "m", "sda", "S4X1").facts()
    assert identity.of(facts) != identity.of(facts)
