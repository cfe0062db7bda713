"""What other systems lack: a simulated drive is measured without all that only Unix has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from flashtwin import _core, system
from flashtwin.cli.app import app

# Takes away what Windows does not have, before anything of ours is imported.
WITHOUT = """
import os, signal, sys
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
lacking = {
    os: "O_NOFOLLOW O_NONBLOCK O_NOCTTY O_CLOEXEC O_DIRECTORY geteuid getuid getloadavg killpg fork"
    " sched_getaffinity statvfs fchmod fchown chown setxattr getxattr listxattr sysconf major minor"
    " posix_fadvise",
    signal: "SIGHUP SIGQUIT SIGALRM SIGKILL SIGCHLD setitimer ITIMER_REAL pthread_sigmask SIG_BLOCK"
    " SIG_UNBLOCK SIG_SETMASK",
}
for module, names in lacking.items():
    for name in names.split():
        delattr(module, name)
from flashtwin.cli import main
for words in sys.argv[1:]:
    try:
        main(words.split())
    except SystemExit as ended:
        print("ended", ended.code or 0, flush=True)
"""


def without_unix(cwd: Path, *commands: str) -> subprocess.CompletedProcess[str]:
    """Commands of flashtwin one after another, in one Python that lacks what Windows lacks."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *commands],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_unix_a_simulated_drive_is_measured(tmp_path: Path) -> None:
    fill = "test bx500-240 --scale 1/176 --battery fill:patterns=1m-q1,passes=1 --quiet"
    done = without_unix(tmp_path, f"{fill} --out run", "runs . --json", "drives --json")
    assert done.stdout.count("ended 0") == 3, done.stderr
    assert done.stderr == "" and (tmp_path / "run" / "report.html").exists()
    assert '"state":"finished"' in done.stdout.replace(" ", "").replace("\n", "")
    host = json.loads((tmp_path / "run" / "host.json").read_text())
    assert host["memory_bytes"] is None


def test_without_unix_a_file_is_no_target(tmp_path: Path) -> None:
    words = ("test ./probe --size 64MB", "doctor")
    done = without_unix(tmp_path, *words)
    assert "error: files are measured on Linux and macOS only" in done.stderr
    assert "hint: " in done.stderr and "Traceback" not in done.stderr
    assert "simulated drives alone" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("refuses", "is_ours"), [(None, True), (PermissionError, False)])
def test_a_lock_of_windows_lies_behind_every_byte(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refuses: type[OSError] | None,
    is_ours: bool,
) -> None:
    """There a lock keeps readers from the bytes that it covers."""
    places = []

    def locking(handle: int, how: int, count: int) -> None:
        places.append(os.lseek(handle, 0, os.SEEK_CUR))
        if refuses:
            raise refuses()

    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.setattr(system, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    path = tmp_path / "steps.jsonl"
    path.write_text("{}\n")
    with path.open("r+b") as file:
        file.seek(3)
        assert system.lock(file.fileno()) is is_ours
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 3
    assert places == [1 << 40]


@pytest.mark.parametrize("words", ["serve bx500-240 --scale 1/64 --run true", "replay a.log"])
def test_without_a_server_in_it_nothing_is_served(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(_core, "serve")
    done = CliRunner().invoke(app, words.split())
    assert (done.exit_code, done.stdout) == (3, "")
    assert "error: drives are served" in done.stderr and "on Linux only" in done.stderr
