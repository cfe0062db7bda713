"""The power goes, the server is killed, things break: what a client then finds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from served import FUA, READ, WRITE, Client, power_losses, served

from flashtwin.drives.serving import Cuts, Worse
from flashtwin.errors import FlashtwinError

DURABLE, LATE = 0, 1 << 20
NOT_PERMITTED, IO = 1, 5


def block(number: int) -> bytes:
    return bytes([number]) * 4096


def test_a_cut_takes_what_nobody_promised() -> None:
    with served(is_timed=True) as drive:
        with drive.client().go() as client:
            client.write(DURABLE, block(1), FUA)
            client.write(LATE, block(2))
            told = drive.order("cut", off_s=0)
            assert told["start_s"] > 0 and told["comes_back"]
            with pytest.raises(OSError):
                client.read(DURABLE, 4096)
        with drive.client().go() as client:
            assert client.read(DURABLE, 4096) == block(1)
            assert client.read(LATE, 4096) in (block(0), block(2))
        assert drive.state()["cuts"] == 1


def test_a_flush_keeps_everything_before_it() -> None:
    with served() as drive:
        with drive.client().go() as client:
            for number in range(1, 100):
                client.write(number * 8192, block(number))
            client.flush()
            drive.order("cut", off_s=1)
        with drive.client().go() as client:
            for number in range(1, 100):
                assert client.read(number * 8192, 4096) == block(number)


@pytest.mark.parametrize(
    ("worse", "flags"), [(Worse(flush_ignored=True), 0), (Worse(fua_ignored=True), FUA)]
)
def test_a_lying_drive_loses_what_it_promised(worse: Worse, flags: int) -> None:
    with served(worse=worse, is_timed=True) as drive:
        with drive.client().go() as client:
            client.write(DURABLE, block(1), flags)
            if not flags:
                client.flush()
            drive.order("cut", off_s=0)
        with drive.client().go() as client:
            assert client.read(DURABLE, 4096) == block(0)


def test_a_drive_that_never_comes_back(tmp_path: Path) -> None:
    with served(worse=Worse(never_back=True), data=tmp_path / "drive") as drive:
        assert not drive.order("cut", off_s=0)["comes_back"]
        with pytest.raises(OSError):
            drive.client().go()
    with pytest.raises(FlashtwinError, match="did not come back"), served(data=tmp_path / "drive"):
        pass


def test_the_power_goes_with_a_request() -> None:
    with served(cuts=Cuts(at=3)) as drive:
        with drive.client().go() as client:
            client.write(0, block(1))
            client.write(0, block(2))
            with pytest.raises(OSError):
                client.write(0, block(3))
        assert drive.state()["cuts"] == 1


def test_a_killed_server_is_a_power_cut(tmp_path: Path) -> None:
    """What was flushed is there; the drive says that it lost its power."""
    command = [
        *(sys.executable, "-m", "flashtwin.cli", "serve", "bx500-240", "--scale", "1/176"),
        *("--data", "drive", "--no-timing", "--print-uri"),
    ]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("nbd+unix:")
    with Client(tmp_path / "drive" / "nbd.sock").go() as client:
        for number in range(1, 200):
            client.write(number * 4096, block(number))
        client.flush()
        client.write(0, block(200))
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with served(data=tmp_path / "drive") as drive:
        assert drive.addresses.start_s is not None
        assert drive.state()["start_s"] == drive.addresses.start_s > 0
        smart = drive.order("smart")
        with drive.client().go() as client:
            for number in range(1, 200):
                assert client.read(number * 4096, 4096) == block(number)
            assert client.read(0, 4096) in (block(0), block(200))
    assert power_losses(smart) == 1


def test_a_directory_has_one_server_and_one_drive(tmp_path: Path) -> None:
    with served(data=tmp_path / "drive") as drive, drive.client().go() as client:
        client.write(0, block(1))
        with pytest.raises(FlashtwinError, match="in use"), served(data=tmp_path / "drive"):
            pass
        assert drive.state()["writes"] == 1
    other = served(sets=("controller.command_time=7us",), data=tmp_path / "drive")
    with pytest.raises(FlashtwinError, match="another drive"), other:
        pass
    with served(data=tmp_path / "drive") as drive, drive.client().go() as client:
        assert client.read(0, 4096) == block(1)
    (tmp_path / "drive" / "notes").write_text("mine")
    with pytest.raises(FlashtwinError, match="no drive's data"), served(data=tmp_path / "drive"):
        pass


def test_what_breaks_is_seen_by_clients() -> None:
    with served() as drive, drive.client().go() as client:
        client.write(0, block(1), FUA)
        client.write(8192, block(2), FUA)
        drive.order("fault", fault="unreadable", unit=0, units=1)
        assert client.ask(READ, 0, 4096) == IO
        assert client.read(8192, 4096) == block(2)
        client.write(0, block(3), FUA)
        assert client.read(0, 4096) == block(3)
        assert drive.state()["failed"] == 1
        for die in range(drive.state()["dies"]):
            drive.order("fault", fault="dead-die", die=die)
        assert client.ask(READ, 8192, 4096) == IO
        drive.order("fault", fault="hot", celsius=90)
        drive.order("fault", fault="slow-die", die=0, factor=3)
        with pytest.raises(FlashtwinError, match="the last is"):
            drive.order("fault", fault="dead-die", die=1000)
        drive.order("fault", fault="read-only")
        assert client.ask(WRITE, 0, 4096, block(4)) == NOT_PERMITTED
        assert client.read(1 << 20, 4096) == block(0)
        drive.order("fault", fault="vanish", bytes=0)
        with pytest.raises(OSError):
            client.read(0, 4096)


def test_a_stall_holds_answers_back() -> None:
    with served(is_timed=True) as drive, drive.client().go() as client:
        drive.order("fault", fault="stall", seconds=60)
        client.send(READ, 0, 4096)
        client.link.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.error()
