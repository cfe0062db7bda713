"""What other systems lack: a simulated drive is measured without all that only Unix has."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from flashtwin import _core, system
from flashtwin.cli.app import app

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")

# Takes away what Windows does not have, before anything of ours is imported, and refuses what it
# refuses: links, to remove or rename what is open, descriptors for children, waiting for pipes.
WITHOUT = """
import os, select, shutil, signal, socket, subprocess, sys
from types import SimpleNamespace
room = os.statvfs
def disk_usage(path):
    about = room(path)
    total, free = about.f_blocks * about.f_frsize, about.f_bavail * about.f_frsize
    return SimpleNamespace(total=total, used=total - about.f_bfree * about.f_frsize, free=free)
shutil.disk_usage = disk_usage
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
lacking = {
    os: "O_NOFOLLOW O_NONBLOCK O_NOCTTY O_CLOEXEC O_DIRECTORY geteuid getuid getloadavg killpg fork"
    " sched_getaffinity statvfs fchmod fchown chown setxattr getxattr listxattr sysconf major minor"
    " posix_fadvise set_blocking mkfifo mknod pread pwrite fdatasync",
    signal: "SIGHUP SIGQUIT SIGALRM SIGKILL SIGCHLD setitimer ITIMER_REAL pthread_sigmask SIG_BLOCK"
    " SIG_UNBLOCK SIG_SETMASK",
    socket: "AF_UNIX",
}
for module, names in lacking.items():
    for name in names.split():
        delattr(module, name)
def listed(folder):
    try:  # a thread or a process may end meanwhile
        return os.listdir(folder)
    except OSError:
        return ()
def opened_by(pid):
    for task in listed(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children") as file:
                children = file.read().split()
        except OSError:
            children = ()
        for child in children:
            yield from opened_by(child)
    for name in listed(f"/proc/{pid}/fd"):
        try:
            yield os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            pass
def closed_only(act):
    def acting(path, *more, **options):
        places = {os.path.abspath(place) for place in (path, *more)}
        for place in places & set(opened_by(os.getpid())):
            raise PermissionError(13, "another program has it open", place)
        return act(path, *more, **options)
    return acting
for name in ("unlink", "remove", "rename", "replace"):
    setattr(os, name, closed_only(getattr(os, name)))
def refused(*words, **options):
    raise OSError(22, "not on this system")
os.symlink = select.select = refused
class Popen(subprocess.Popen):
    def __init__(self, *words, pass_fds=(), **options):
        assert not pass_fds and "preexec_fn" not in options, "not on Windows"
        super().__init__(*words, **options)
subprocess.Popen = Popen
from flashtwin.cli import main
from flashtwin.drives.real import engines
engines.SYSTEM = "win32"
for words in sys.argv[1:]:
    try:
        main(words.split())
    except SystemExit as ended:
        print("ended", ended.code or 0, flush=True)
"""
# A fio that takes Windows' engine for one of Linux'.
FIO = """#!/bin/sh
[ -e job.fio ] && sed -i s/=windowsaio/=libaio/ job.fio
exec {fio} "$@"
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
    (tmp_path / "a.fio").write_text("[a]\nrw=write\nbs=$pagesize\nsize=1m\n")
    jobs = "fio a.fio --on bx500-240 --output=answer.txt"
    listed = ("runs . --json", "drives --json")
    done = without_unix(tmp_path, f"{fill} --out run", jobs, *listed)
    assert done.stdout.count("ended 0") == 4, done.stderr
    assert "WRITE: bw=" in (tmp_path / "answer.txt").read_text()
    assert "$pagesize is" in done.stderr and (tmp_path / "run" / "report.html").exists()
    assert '"state":"finished"' in done.stdout.replace(" ", "").replace("\n", "")
    host = json.loads((tmp_path / "run" / "host.json").read_text())
    assert host["memory_bytes"] is None


@pytest.fixture
def on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory for commands, where fio has Windows' engines."""
    program = tmp_path / "bin" / "fio"
    program.parent.mkdir()
    program.write_text(FIO.format(fio=shutil.which("fio")))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(program.parent), os.environ["PATH"]]))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@needs_fio
def test_without_unix_a_file_is_measured(on_windows: Path) -> None:
    battery = "--battery fill:patterns=1m-q1,passes=1,idle_s=0 --no-report --quiet"
    (on_windows / "run.fio").write_text("[a]\nrw=read\nsize=1m\n")
    words = (f"test probe --size 32MiB {battery} --out run", "test nul --size 32MiB", "doctor")
    done = without_unix(
        on_windows, *words, "fio run.fio --on ./probe", "test nbd+unix:///?socket=s"
    )
    assert done.stdout.count("ended 0") == 1, done.stderr
    assert "nul names a device of Windows" in done.stderr and "Traceback" not in done.stderr
    assert "ever ran it on Windows" in done.stdout and "choco install" in done.stdout
    assert "job files run on files of their own on Linux and macOS only" in done.stderr
    assert "served drives are reached on Linux and macOS only" in done.stderr
    assert {path.name for path in on_windows.iterdir()} == {"run", "run.fio"}
    manifest = json.loads((on_windows / "run" / "manifest.json").read_text())
    assert manifest["target"]["identity"]["engine"] == "windowsaio"


def test_a_file_gets_its_length_by_windows_own_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[int] = []

    def end_of_file(file: ctypes.c_void_p) -> int:
        places.append(os.lseek(file.value or 0, 0, os.SEEK_CUR))
        return len(places) < 2

    kernel = SimpleNamespace(kernel32=SimpleNamespace(SetEndOfFile=end_of_file))
    monkeypatch.setattr(ctypes, "windll", kernel, raising=False)
    monkeypatch.setattr(ctypes, "WinError", lambda: OSError("full"), raising=False)
    monkeypatch.setattr(system, "msvcrt", SimpleNamespace(get_osfhandle=lambda handle: handle))
    with (tmp_path / "target").open("wb") as file:
        system.set_length(file.fileno(), 1 << 33)
        with pytest.raises(OSError, match="full"):
            system.set_length(file.fileno(), 1 << 33)
    assert places == [1 << 33] * 2


@pytest.mark.parametrize("tries", [3, 10**9])
def test_what_a_scanner_reads_is_removed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    path, tried = tmp_path / "target", []

    def unlink(path: Path) -> None:
        tried.append(path)
        if len(tried) < tries:
            raise PermissionError(13, "open elsewhere")
        path.rename(tmp_path / "gone")

    monkeypatch.setattr(system, "UNIX", False)
    monkeypatch.setattr(os, "unlink", unlink)
    monkeypatch.setattr(system.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(system.time, "monotonic", lambda: len(tried))
    handle = os.open(path, os.O_CREAT | os.O_RDWR)
    if tries > 3:
        with pytest.raises(PermissionError):
            system.remove_open(path, handle)
    else:
        system.remove_open(path, handle)
    assert path.exists() is (tries > 3)
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(handle)


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
    assert places == [15 << 40]


@pytest.mark.parametrize("words", ["serve bx500-240 --scale 1/64 --run true", "replay a.log"])
def test_without_a_server_in_it_nothing_is_served(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(_core, "serve")
    done = CliRunner().invoke(app, words.split())
    assert (done.exit_code, done.stdout) == (3, "")
    assert "error: drives are served" in done.stderr and "on Linux only" in done.stderr
