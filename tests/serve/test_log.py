"""What a served drive was asked, asked again: the bytes after each power cut."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from served import FLUSH, FUA, READ, SCALE, TRIM, WRITE, ZEROES, Client, Served, served
from thinning import thinned

from flashtwin.drives import served_log
from flashtwin.drives.serving import Worse
from flashtwin.errors import FlashtwinError, RefusedError

MIB = 1 << 20
# The part of the drive that is written to.
AREA = 8 * MIB
PROGRAM = (sys.executable, "-m", "flashtwin.cli")


def ask_until_cut(drive: Served, seed: int) -> bytes:
    """Requests of all kinds, many at once, the power in their midst, and what is there then."""
    chance = random.Random(seed)
    with drive.client().go() as client:
        for number in range(120):
            length = 512 * chance.randint(1, 64)
            offset = 512 * chance.randrange((AREA - length) // 512)
            kind = chance.choice((WRITE, WRITE, WRITE, TRIM, ZEROES, READ))
            data = bytes([number + 1]) * length if kind == WRITE else b""
            flags = FUA if kind == WRITE and chance.random() < 0.1 else 0
            if number % 40 == 39:
                kind, offset, length, data, flags = FLUSH, 0, 0, b"", 0
            if kind == READ:
                kind, data = TRIM, b""
            client.send(kind, offset, length, data, flags)
            if number < 90:
                assert client.error() == 0
        drive.order("cut", off_s=0.25)
    with drive.client().go() as client:
        return client.read(0, AREA)


def image_after(log: Path, cut: int | None, image: Path) -> bytes:
    served_log.replay(log, cut, image, lambda seconds: True)
    with image.open("rb") as file:
        there = file.read(AREA)
        assert not any(file.read(MIB))
    return there


@pytest.mark.parametrize(
    ("worse", "is_timed"),
    thinned(
        [(Worse(flush_ignored=True, shorn=2), True), (Worse(), True), (Worse(), False)], every=3
    ),
)
def test_a_replay_gives_the_image_after_each_cut(
    tmp_path: Path, worse: Worse, is_timed: bool
) -> None:
    log = tmp_path / "log"
    with served(worse=worse, is_timed=is_timed, state="half-full", log_to=log) as drive:
        images = [ask_until_cut(drive, seed) for seed in (1, 2)]
        drive.order("fault", fault="slow-die", die=0, factor=2)
        images.append(ask_until_cut(drive, 3))
    assert images[0] != images[1]
    for number, there in enumerate(images, 1):
        assert image_after(log, number, tmp_path / "image") == there
    # Served to its end without another cut, what it held is the same.
    assert image_after(log, None, tmp_path / "image") == images[2]
    with pytest.raises(FlashtwinError, match="tells of 3 power cuts"):
        image_after(log, 4, tmp_path / "image")


def test_a_killed_servers_log_ends_with_a_cut(tmp_path: Path) -> None:
    command = [*PROGRAM, "serve", "bx500-240", "--scale", SCALE, "--no-timing", "--print-uri"]
    command += ["--socket", str(tmp_path / "s"), "--log", str(tmp_path / "log"), "--log-data"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("nbd+unix:")
    with Client(tmp_path / "s").go() as client:
        client.write(0, bytes([1]) * 4096, FUA)
        client.write(4096, bytes([2]) * 4096)
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    words = ("replay", str(tmp_path / "log"), "--image", str(tmp_path / "image"), "--json")
    done = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert (told["cuts"], told["writes"], told["answered"]) == (1, 2, 2)
    # The second write was in the buffer.
    with (tmp_path / "image").open("rb") as image:
        assert image.read(8192) == bytes([1]) * 4096 + bytes(4096)


def test_a_log_says_what_was_asked(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served(log_to=log, log_bytes=False) as drive, drive.client().go() as client:
        client.write(4096, b"x" * 512, FUA)
        client.flush()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    first, flush = [line for line in lines if "ask" in line]
    assert (first["ask"], first["offset"], first["length"]) == ("write", 4096, 512)
    assert first["fua"] and len(first["sha256"]) == 32 and first["at_ns"] <= flush["at_ns"]
    assert flush["ask"] == "flush" and "sha256" not in flush
    with pytest.raises(FlashtwinError, match="no bytes to be written again"):
        image_after(log, None, tmp_path / "image")
    with pytest.raises(RefusedError, match="exists"), served(log_to=log):
        pass


@pytest.mark.parametrize("text", ["", "x\n", "[]\n", '{"flashtwin_log": 1}\n', '{"a":' * 2000])
def test_what_is_no_log_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(FlashtwinError, match="no log of a served drive"):
        image_after(tmp_path / "log", None, tmp_path / "image")


def test_a_drive_that_is_there_already_is_not_logged(tmp_path: Path) -> None:
    with served(data=tmp_path / "drive"):
        pass
    logged = served(data=tmp_path / "drive", log_to=tmp_path / "log")
    with pytest.raises(FlashtwinError, match="made anew"), logged:
        pass
    assert not (tmp_path / "log").exists()


def test_a_log_of_another_state_model_or_spec_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served(log_to=log):
        pass
    header, _, rest = log.read_text().partition("\n")
    (tmp_path / "state").write_bytes(b"another state")
    for change, message in (
        ({"state": str(tmp_path / "state"), "state_sha256": None}, "of another drive now"),
        ({"state": str(tmp_path / "none")}, "no such file"),
        ({"spec_hash": "0"}, "of another drive now"),
        ({"model": 1}, "is of model 1"),
        ({"worse": {"better": True}}, "no log of a served drive"),
        ({"seed": -1}, "no log of a served drive"),
    ):
        values = {**json.loads(header), **change}
        values = {name: value for name, value in values.items() if value is not None}
        log.write_text(f"{json.dumps(values)}\n{rest}")
        with pytest.raises(FlashtwinError, match=message):
            image_after(log, None, tmp_path / "image")
        assert not (tmp_path / "image").exists()
