"""A served drive as a block device of this machine: nbdfuse, a loop device, ext4.

nbdfuse makes a file of the drive, and the kernel a block device of the file. The page cache lies
between, so the loop device is taken away at each cut, as the drive would be.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import wait_for
from served import Served, ran

PROGRAMS = ("nbdfuse", "losetup", "mkfs.ext4", "e2fsck", "mount", "umount")
# e2fsck: nothing to mend, or mended.
CLEAN = (0, 1)


def lacking() -> list[str]:
    """What this machine lacks for it, by name."""
    names = [name for name in PROGRAMS if shutil.which(name) is None]
    names += [] if os.geteuid() == 0 else ["root"]
    devices = (Path("/dev/fuse"), Path("/dev/loop-control"))
    return names + [str(device) for device in devices if not device.exists()]


@contextmanager
def attached(drive: Served, place: Path) -> Iterator[str]:
    """A loop device on the drive."""
    place.mkdir(exist_ok=True)
    fuse = subprocess.Popen(
        ["nbdfuse", str(place), "--unix", str(drive.addresses.socket)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    loop = ""
    try:
        assert wait_for((place / "nbd").exists, 30)
        loop = ran("losetup", "-f", "--show", place / "nbd").strip()
        yield loop
    finally:
        if loop:
            subprocess.run(["losetup", "-d", loop], check=False, capture_output=True)
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)
        fuse.terminate()
        fuse.wait(30)


def format_ext4(loop: str) -> None:
    ran("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", loop)


def check_ext4(loop: str) -> None:
    """Replay the journal; after it a check of everything has to find nothing."""
    mended = checked("e2fsck", "-p", loop)
    assert mended.returncode in CLEAN, mended.stdout
    whole = checked("e2fsck", "-f", "-n", loop)
    assert whole.returncode == 0, whole.stdout


def checked(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@contextmanager
def mounted(loop: str, place: Path) -> Iterator[Path]:
    """The file system on the device; what is deleted in it is trimmed."""
    place.mkdir(exist_ok=True)
    ran("mount", "-t", "ext4", "-o", "discard", loop, place)
    try:
        yield place
    finally:
        # After a cut there is nothing to write to.
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)
