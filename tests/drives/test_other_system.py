"""Another Unix than Linux, made up: Python's word for the system is macOS's, what only Linux has is
missing, and /proc and /sys are empty."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import lives

from flashtwin.drives.device import drive
from flashtwin.drives.real import launch
from flashtwin.errors import ENVIRONMENT, FlashtwinError
from flashtwin.system import processors

LACKING = (
    *("sched_getaffinity", "setxattr", "getxattr", "listxattr", "removexattr", "posix_fadvise"),
    *("posix_fallocate", "O_DIRECT", "memfd_create", "pidfd_open", "copy_file_range", "eventfd"),
)
SITE = f"""import os, sys
sys.platform = "darwin"
for name in {LACKING!r}:
    delattr(os, name)
"""
EMPTIED = 'mount -t tmpfs t /sys && mount -t tmpfs t /proc && exec "$0" "$@"'


def launched(script: str) -> subprocess.Popen[bytes]:
    """A program of the shell's that the launch watches over, with the pipe that it ends by."""
    words = [sys.executable, "-I", "-S", launch.__file__, "-", "/bin/sh", "-c", script]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, start_new_session=True)


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", -9), ("exit 0", 0)])
def test_the_launch_ends_as_fio_did(script: str, code: int) -> None:
    with launched(script) as process:
        assert process.wait(20) == code


def test_fio_ends_with_the_pipe_of_the_launch() -> None:
    """That is what a parent leaves which is killed, and how it is ended."""
    with launched("trap '' TERM INT HUP; echo $$; exec sleep 600") as process:
        assert process.stdin is not None and process.stdout is not None
        child = int(process.stdout.readline())
        process.stdin.close()
        assert process.wait(20) == -signal.SIGKILL
    assert not lives(child)


def test_processors_are_counted_without_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors() == os.cpu_count()


def test_devices_are_refused_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drive, "SYSTEM", "darwin")
    with pytest.raises(FlashtwinError, match="measured on Linux alone") as caught:
        drive.looked_at(Path("/dev/loop0"), ())
    assert caught.value.exit_code == ENVIRONMENT


@pytest.mark.full
@pytest.mark.skipif(
    os.geteuid() != 0 or not (shutil.which("fio") and shutil.which("unshare")),
    reason="needs root, fio and unshare",
)
def test_files_are_measured_there(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SITE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}

    def there(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["unshare", "-m", "sh", "-c", EMPTIED, sys.executable, "-m", "flashtwin.cli", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            check=False,
        )

    battery = "fill:patterns=1m-q1,passes=1,idle_s=0"
    done = there("test", "d", "--size", "64MiB", "--battery", battery, "--out", "r", "--no-report")
    assert done.returncode == 0, done.stderr
    assert "F_NOCACHE" in done.stderr and "Traceback" not in done.stderr
    assert "keeps no mark on the file" in done.stderr
    identity = json.loads((tmp_path / "r" / "manifest.json").read_text())["target"]["identity"]
    assert identity["engine"] == "posixaio"
    assert not (tmp_path / "d").exists()
    done = there("test", "bx500-240", "bx500-240-nocache", "--scale", "1/64", "--battery", battery)
    assert done.returncode == 0, done.stderr
    assert "2 runs" in there("runs", "--where", "seed=1").stdout
    assert "devices on Linux alone" in there("doctor").stdout


def test_the_signals_of_a_group_reach_fio() -> None:
    with launched("trap 'exit 5' TERM; echo; while :; do sleep 0.05; done") as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait(20) == 5
