"""A file of one's own, measured by the command on whatever system this runs: Linux here, macOS and
Windows in the workflow of releases, which has no other tests there. So nothing is imported that
these lack, and this file is run without what `conftest` sets up."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WINDOWS = sys.platform == "win32"
SIZE_BYTES = 64 << 20
# Small random writes: the passes take minutes, so that nothing ends before it is stopped.
LONG = ("--battery", "fill:patterns=4k-q1,passes=9,idle_s=0")
SHORT = ("--battery", "fill:patterns=1m-q8,passes=1,idle_s=0")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed"),
]


def words(*more: str) -> list[str]:
    return [sys.executable, "-m", "flashtwin.cli", "test", *more, "--no-report", "--quiet"]


def begun(place: Path) -> subprocess.Popen[str]:
    """A long test of a file in a directory, which has come to its first step."""
    apart = {"creationflags": 0x200} if WINDOWS else {"start_new_session": True}
    process = subprocess.Popen(
        words(str(place / "ssd"), "--size", str(SIZE_BYTES), *LONG, "--out", str(place / "run")),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **apart,  # type: ignore[call-overload]
    )
    journal = place / "run" / "steps.jsonl"
    until = time.monotonic() + 60
    while not (journal.exists() and journal.stat().st_size) and process.poll() is None:
        assert time.monotonic() < until, "no step ended"
        time.sleep(0.1)
    assert process.poll() is None, process.communicate()
    return process


def opens(path: Path) -> bool:
    """Whether nobody has the file open in a way that keeps others from renaming it, or, where no
    system says that, whether no fio writes to it any more."""
    if WINDOWS:
        try:
            path.rename(path)
        except OSError:
            return False
        return True
    before = path.stat().st_mtime_ns
    time.sleep(1)
    return path.stat().st_mtime_ns == before


def test_a_file_is_measured_and_removed(tmp_path: Path) -> None:
    place = tmp_path / "my ssd"
    place.mkdir()
    command = words(str(place), "--size", str(SIZE_BYTES), *SHORT, "--out", str(tmp_path / "run"))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(place.iterdir()) == []
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    engines = {"win32": ("windowsaio",), "darwin": ("posixaio",)}
    linux = ("io_uring", "libaio", "psync")
    assert manifest["target"]["identity"]["engine"] in engines.get(sys.platform, linux)
    rows = json.loads((tmp_path / "run" / "findings.json").read_text(encoding="utf-8"))["findings"]
    speeds = [row["value"] for row in rows if row["name"] == "mean"]
    assert speeds and all(1 < speed < 50_000 for speed in speeds)


def test_a_stop_removes_the_file(tmp_path: Path) -> None:
    process = begun(tmp_path)
    # Ctrl-Break is what a console sends to a group of its own.
    process.send_signal(signal.CTRL_BREAK_EVENT if WINDOWS else signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert not (tmp_path / "ssd").exists()


def test_a_killed_test_leaves_no_fio_and_goes_on(tmp_path: Path) -> None:
    process = begun(tmp_path)
    process.kill()
    process.communicate()
    file, until = tmp_path / "ssd", time.monotonic() + 30
    while not opens(file):
        assert time.monotonic() < until, "fio goes on"
        time.sleep(0.1)
    if not hasattr(os, "setxattr"):
        # Such a system has no mark by which the file is taken over.
        os.remove(file)
    goes_on = subprocess.Popen(words("--resume", str(tmp_path / "run")))
    try:
        assert goes_on.wait(20) == 0
    except subprocess.TimeoutExpired:
        assert file.exists()
    finally:
        goes_on.terminate()
        goes_on.wait(60)
