"""Directories for the time of some work: they go with it, also after their process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from flashtwin.drives.real.scratch import Scratch, remove_abandoned

HOLDS = """
import sys, time
from flashtwin.drives.real.scratch import Scratch
held = Scratch("fio")
(held.path / "job.fio").touch()
print(held.path, flush=True)
time.sleep(600)
"""


def _aged(path: Path) -> Path:
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago), follow_symlinks=False)
    return path


def test_a_directory_goes_with_the_work() -> None:
    with Scratch("point") as scratch:
        (scratch.path / "run").mkdir()
        assert scratch.path.is_dir()
    assert not scratch.path.exists()
    scratch.close()


def test_what_a_killed_process_left_goes_with_the_next_and_what_is_used_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    holds = subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert holds.stdout is not None
    held = _aged(Path(holds.stdout.readline().strip()))
    with Scratch("fio") as other:
        assert held.is_dir() and other.path.is_dir()
    holds.send_signal(signal.SIGKILL)
    holds.communicate()
    with Scratch("fio"):
        assert not held.exists()


def test_only_old_directories_of_ours_are_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    names = ("flashtwin-fio-abcdefgh", "flashtwin-fio-link_ed0", "flashtwin-fio-young_00")
    old, link, young = (tmp_path / name for name in names)
    old.mkdir()
    (old / "target").symlink_to(elsewhere / "kept")
    link.symlink_to(elsewhere)
    young.mkdir()
    other = tmp_path / "flashtwin-runs"
    other.mkdir()
    for path in (old, link, other, elsewhere):
        _aged(path)
    remove_abandoned(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "elsewhere",
        "flashtwin-fio-link_ed0",
        "flashtwin-fio-young_00",
        "flashtwin-runs",
    ]
    assert (elsewhere / "kept").exists()
