"""SQLite on ext4 on a served drive: the power goes, and every commit that was told is there.

nbdfuse makes a file of the drive, a loop device a block device of the file. The page cache of both
lies between, so the loop device is taken away at each cut, as the drive would be.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from processes import wait_for
from served import Served, needs, ran, served

from flashtwin.drives.serving import Worse

ROOT = os.geteuid() == 0
HAS_DEVICES = Path("/dev/fuse").exists() and Path("/dev/loop-control").exists()
pytestmark = [
    needs("nbdfuse", "losetup", "mkfs.ext4", "e2fsck", "mount", "umount"),
    pytest.mark.skipif(not ROOT, reason="only root mounts"),
    pytest.mark.skipif(not HAS_DEVICES, reason="no /dev/fuse or no loop devices"),
]
# e2fsck: nothing to mend, or mended.
CLEAN = (0, 1)


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


@contextmanager
def mounted(loop: str, place: Path) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    ran("mount", "-t", "ext4", loop, place)
    try:
        yield place / "table.db"
    finally:
        # After a cut there is nothing to write to.
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)


def commit_until_cut(drive: Served, path: Path, commits: int) -> int:
    """Commit one row after the other, cut the power in their midst; the last one that was told."""
    link = sqlite3.connect(path, isolation_level=None)
    told = 0
    with suppress(sqlite3.Error):
        link.execute("PRAGMA journal_mode=WAL")
        link.execute("PRAGMA synchronous=FULL")
        link.execute("CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, text TEXT)")
        (told,) = link.execute("SELECT coalesce(max(number), 0) FROM rows").fetchone()
        for number in range(told + 1, told + 1 + commits):
            link.execute("INSERT INTO rows VALUES (?, ?)", (number, "x" * 500))
            told = number
    drive.order("cut", off_s=0)
    with suppress(sqlite3.Error):
        link.close()
    return told


def rows_of(loop: str, place: Path) -> int:
    """Rows after the file system and the database have recovered; raises where they do not."""
    checked = subprocess.run(
        ["e2fsck", "-p", loop], capture_output=True, text=True, check=False, timeout=60
    )
    assert checked.returncode in CLEAN, checked.stdout
    with mounted(loop, place) as path:
        link = sqlite3.connect(path)
        try:
            assert link.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            (count, last) = link.execute("SELECT count(*), max(number) FROM rows").fetchone()
        finally:
            link.close()
    assert count == last
    return int(count)


def cut_often(drive: Served, place: Path, cuts: int) -> None:
    with attached(drive, place / "file") as loop:
        ran("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", loop)
    for number in range(cuts):
        with (
            attached(drive, place / "file") as loop,
            mounted(loop, place / "mounted") as path,
        ):
            told = commit_until_cut(drive, path, 5 + number)
        assert told > 0
        with attached(drive, place / "file") as loop:
            assert rows_of(loop, place / "mounted") >= told, f"after cut {number + 1}"


def test_every_commit_survives_ten_cuts(tmp_path: Path) -> None:
    with served() as drive:
        cut_often(drive, tmp_path, 10)


@pytest.mark.full
def test_every_commit_survives_a_hundred_cuts(tmp_path: Path) -> None:
    with served(is_timed=True) as drive:
        cut_often(drive, tmp_path, 100)


def test_a_drive_that_ignores_flushes_fails(tmp_path: Path) -> None:
    """The test above can fail: commits are gone, or the database or the file system is broken."""
    with (
        served(worse=Worse(flush_ignored=True)) as drive,
        pytest.raises((AssertionError, sqlite3.Error)),
    ):
        cut_often(drive, tmp_path, 10)
