"""Data directories that are damaged, full disks, and memory that clients would take."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import wait_for
from served import FUA, SCALE, WRITE, Client, request, served

from flashtwin.errors import FlashtwinError

MIB = 1 << 20
IO = 5
PROGRAM = (sys.executable, "-m", "flashtwin.cli", "serve", "bx500-240", "--scale", SCALE)


def begun(
    place: Path, *options: str, prepare: Callable[[], None] | None = None
) -> subprocess.Popen[str]:
    """A server in a process of its own, at the socket `s`."""
    process = subprocess.Popen(
        [*PROGRAM, "--no-timing", "--print-uri", "--socket", "s", *options],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("nbd+unix:")
    return process


def cut_in_half(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda home: (home / "bytes").unlink(), "No such file"),
        (lambda home: cut_in_half(home / "bytes"), "is damaged: its file bytes has"),
        (lambda home: cut_in_half(home / "state-1"), "is damaged"),
        (lambda home: (home / "state-1").unlink(), "No such file"),
        (lambda home: (home / "journal-1").unlink(), "No such file"),
        (lambda home: (home / "twin").write_bytes(b"\xff" * 5000), "is damaged"),
        (lambda home: (home / "twin").unlink(), "was not made to the end"),
    ],
)
def test_a_damaged_directory_is_refused(
    tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    home = tmp_path / "drive"
    with served(data=home) as drive, drive.client().go() as client:
        for number in range(64):
            client.write(number * 4096, bytes([number + 1]) * 4096)
        client.flush()
    spoil(home)
    before = sorted((path.name, path.stat().st_size) for path in home.iterdir())
    with pytest.raises(FlashtwinError, match=message), served(data=home):
        pass
    assert sorted((path.name, path.stat().st_size) for path in home.iterdir()) == before


@pytest.mark.parametrize("log", [False, True])
def test_a_full_disk_ends_the_server_and_loses_nothing_told(tmp_path: Path, log: bool) -> None:
    """The size of a file is bounded, as it is on a full disk."""

    def prepare() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (24 * MIB, 24 * MIB))

    options = ("--log", "log", "--log-data") if log else ()
    process = begun(tmp_path, "--data", "drive", *options, prepare=prepare)
    told = 0
    with Client(tmp_path / "s").go() as client:
        for number in range(48):
            error = client.ask(WRITE, number * MIB, MIB, bytes([number + 1]) * MIB, FUA)
            if error:
                assert error == IO
                break
            told = number + 1
    assert 0 < told < 48
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "File too large" in complaint and "Traceback" not in complaint
    with served(data=tmp_path / "drive") as drive, drive.client().go() as client:
        for number in range(told):
            assert client.read(number * MIB, MIB) == bytes([number + 1]) * MIB


def test_clients_that_promise_data_take_bounded_memory(tmp_path: Path) -> None:
    def resident_mib() -> int:
        text = Path(f"/proc/{process.pid}/status").read_text()
        (line,) = (row for row in text.splitlines() if row.startswith("VmHWM:"))
        return int(line.split()[1]) // 1024

    process = begun(tmp_path)
    before = resident_mib()
    try:
        clients = [Client(tmp_path / "s").go() for _ in range(40)]
        for client in clients:
            # One after the other, the data never whole.
            client.link.sendall(request(WRITE, 0, 32 * MIB) + bytes(1000))
        wait_for(lambda: resident_mib() > before + 200, 5)
        assert resident_mib() < before + 400
    finally:
        process.terminate()
        process.communicate(timeout=60)
