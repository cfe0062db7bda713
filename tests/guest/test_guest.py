"""A served drive as the NVMe of a guest: its file systems, its flags, and each of its flushes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
import pytest
from block_devices import check_ext4, checked, lacking
from machine import Disk
from served import FLUSH, FUA, TRIM, WRITE, Served, ran, served
from write_log import DISCARD, MARK, Entry, entries
from write_log import FLUSH as FLUSHED
from write_log import FUA as FORCED

pytestmark = pytest.mark.full
LOG_BYTES = 1 << 30
PIECE = 16 << 20


@dataclass(frozen=True, kw_only=True)
class Guest:
    """What its console said, what the drive counted, and the logs of its file systems."""

    console: str
    state: dict[str, Any]
    logs: tuple[Path, Path]


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    place = machine.place_for(tmp_path_factory)
    logs = (place / "log0", place / "log1")
    disks = [Disk.of_file(log, log.name.upper(), LOG_BYTES) for log in logs]
    with served() as drive:
        disks.insert(0, Disk.of_export(drive.addresses.socket, "TWIN"))
        console = machine.booted("served", disks)
        yield Guest(console=console, state=drive.state(), logs=logs)
    shutil.rmtree(place, ignore_errors=True)


@pytest.mark.parametrize("check", ["queue", "fua", "ext4", "log_ext4", "log_xfs"])
def test_guest_finds_a_drive_that_works(guest: Guest, check: str) -> None:
    assert f"check {check}: ok" in guest.console, machine.told(guest.console, check)


def test_trim_flush_and_fua_arrive(guest: Guest) -> None:
    for name in ("trims", "flushes", "fua_writes"):
        assert guest.state[name] > 0, name


def check_xfs(image: str) -> None:
    """Have the kernel replay the journal; after it a check has to find nothing."""
    place = Path(f"{image}.mounted")
    place.mkdir(exist_ok=True)
    ran("mount", "-t", "xfs", "-o", "loop,nouuid", image, place)
    ran("umount", place)
    repaired = checked("xfs_repair", "-n", "-f", image)
    assert repaired.returncode == 0, repaired.stderr


def replay(drive: Served, log: Path, each_flush: Callable[[], None]) -> int:
    """Write what a log holds, and cut the power at each flush behind the mark."""
    client, begun, flushes = drive.client().go(), False, 0
    for entry in entries(log):
        begun |= entry.data == b"mkfs" and bool(entry.flags & MARK)
        if not entry.flags & MARK:
            apply(client.ask, entry)
        if begun and entry.flags & (FLUSHED | FORCED):
            flushes += 1
            drive.order("cut", off_s=0)
            client = drive.client().go()
            each_flush()
    return flushes


def apply(ask: Callable[..., int], entry: Entry) -> None:
    if entry.flags & FLUSHED:
        assert ask(FLUSH, 0, 0) == 0
    if entry.flags & DISCARD:
        assert ask(TRIM, entry.offset, entry.size) == 0
        return
    flags = FUA if entry.flags & FORCED else 0
    for begin in range(0, entry.size, PIECE):
        data = entry.data[begin : begin + PIECE]
        assert ask(WRITE, entry.offset + begin, len(data), data, flags) == 0


@pytest.mark.parametrize(("which", "check"), [(0, check_ext4), (1, check_xfs)])
def test_file_systems_are_whole_at_each_flush(
    guest: Guest, tmp_path: Path, which: int, check: Callable[[str], None]
) -> None:
    """What the guest wrote is written again, and the power goes at each of its flushes."""
    if names := lacking():
        pytest.skip(f"this machine lacks {', '.join(names)}")
    image = tmp_path / "image"
    with served() as drive:

        def look() -> None:
            image.unlink(missing_ok=True)
            ran("nbdcopy", drive.uri, image)
            check(str(image))

        assert replay(drive, guest.logs[which], look) > 5
