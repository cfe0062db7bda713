"""Devices of this machine: loop devices that are mounted, hold swap or stand on each other; not
one byte of theirs changes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from machines import MIB, lacking, looped, unchanged

from flashtwin.drives.device.facts import Roots, facts_from, facts_of
from flashtwin.drives.device.held import Held
from flashtwin.drives.device.refusals import refusals
from flashtwin.errors import REFUSED, USAGE, FlashtwinError

PROGRAMS = ("mkfs.ext4", "mkswap", "swapon", "swapoff", "mount", "umount", "partx")
pytestmark = pytest.mark.skipif(
    bool(lacking(*PROGRAMS)), reason=f"this machine lacks {', '.join(lacking(*PROGRAMS))}"
)


def ran(*command: object) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[Path]:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    with looped(image) as device:
        yield device


def refusal(loop: Path, *of_interest: tuple[str, Path]) -> str:
    """The message of the refusal, after which each byte is as before."""
    backing = Path(Path(f"/sys/block/{loop.name}/loop/backing_file").read_text().strip())
    os.sync()
    with unchanged(backing):
        return refused(loop, *of_interest)


def refused(loop: Path, *of_interest: tuple[str, Path]) -> str:
    """The message with which a device is not taken for writing."""
    with pytest.raises(FlashtwinError) as caught:
        Held(loop, writes=True, of_interest=of_interest)
    assert caught.value.exit_code == REFUSED
    return caught.value.message


@contextmanager
def mounted(device: Path, place: Path) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    ran("mount", "-o", "noatime", device, place)
    try:
        yield place
    finally:
        ran("umount", place)


def test_a_loop_device_of_nobody_is_held(loop: Path) -> None:
    held = Held(loop, writes=True)
    assert held.facts.backing_file
    assert held.facts.words == (loop.name, held.facts.backing_file)
    # Nobody else gets it meanwhile.
    with pytest.raises(OSError, match="busy"):
        os.open(loop, os.O_RDONLY | os.O_EXCL)
    held.close()
    held.close()


def test_a_file_system_that_is_mounted(loop: Path, tmp_path: Path) -> None:
    ran("mkfs.ext4", "-q", "-L", "holiday", loop)
    with mounted(loop, tmp_path / "at") as place:
        assert f"is mounted at {place}" in refusal(loop)
        assert facts_of(loop).labels == ["holiday"]
    Held(loop, writes=True).close()


@pytest.mark.full
@pytest.mark.skipif(bool(lacking("mkfs.xfs")), reason="this machine lacks mkfs.xfs")
def test_an_xfs_that_is_mounted(tmp_path: Path) -> None:
    """The least that it takes is 300 MB."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(320 * MIB)
    with looped(image) as loop:
        ran("mkfs.xfs", "-q", "-L", "archive", loop)
        with mounted(loop, tmp_path / "at") as place:
            assert f"is mounted at {place}" in refusal(loop)
            assert facts_of(loop).labels == ["archive"]
            message = refusal(loop, ("the working directory", place))
        assert f"the working directory lies on {loop.name}" in message
        Held(loop, writes=True).close()


def test_a_run_directory_on_it(loop: Path, tmp_path: Path) -> None:
    ran("mkfs.ext4", "-q", loop)
    with mounted(loop, tmp_path / "at") as place:
        message = refusal(loop, ("the run directory", place / "runs" / "new"))
    assert f"the run directory lies on {loop.name}" in message


def test_a_file_system_on_a_file_on_it(loop: Path, tmp_path: Path) -> None:
    """A loop device whose backing file lies on a file system on the drive."""
    ran("mkfs.ext4", "-q", loop)
    with mounted(loop, tmp_path / "at") as place:
        inner = place / "inner"
        with inner.open("wb") as file:
            file.truncate(8 * MIB)
        with looped(inner) as upper:
            assert f"{upper.name} ({inner}) stands on {loop.name}" in refusal(loop)
            message = refusal(loop, ("the running system", inner))
    assert "the running system lies on" in message


def test_another_loop_device_on_its_file(loop: Path, tmp_path: Path) -> None:
    with looped(tmp_path / "image") as other:
        ran("mkfs.ext4", "-q", other)
        with mounted(other, tmp_path / "at"):
            os.close(os.open(loop, os.O_RDWR | os.O_EXCL))
            assert f"{other.name} ({loop.name} by another path) is mounted" in refusal(loop)


def test_a_loop_device_on_it(loop: Path) -> None:
    """An exclusive open does not see it."""
    with looped(loop) as upper:
        os.close(os.open(loop, os.O_RDWR | os.O_EXCL))
        assert f"the loop device {upper.name}" in refusal(loop)
        # Written through it, the bytes would be the lower device's.
        with pytest.raises(FlashtwinError, match=f"{upper.name} is made of {loop.name}") as caught:
            Held(upper, writes=True)
        assert caught.value.exit_code == REFUSED


def test_swap_that_is_in_use(loop: Path) -> None:
    ran("mkswap", "-L", "swap0", loop)
    ran("swapon", loop)
    header = loop.read_bytes()[:4096]
    try:
        # A kernel short of memory writes pages behind the header while this is read.
        assert "holds swap that is in use" in refused(loop)
        assert loop.read_bytes()[:4096] == header
    finally:
        ran("swapoff", loop)
    assert facts_of(loop).labels == ["swap0"]


def test_a_process_that_has_it_or_its_file_open(loop: Path, tmp_path: Path) -> None:
    with subprocess.Popen(
        ["sh", "-c", f"exec 3<{loop} 4<{tmp_path}/image; echo open; read word"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        message = refusal(loop)
        assert f" {loop.name} is open in sh ({process.pid})" in message
        assert f"the file under {loop.name} is open in sh ({process.pid})" in message
        process.communicate(b"\n")


def test_somebody_who_holds_it_exclusively(loop: Path) -> None:
    handle = os.open(loop, os.O_RDONLY | os.O_EXCL)
    try:
        assert "the kernel says that it is in use" in refusal(loop)
    finally:
        os.close(handle)


def test_a_partition_of_it_that_is_mounted(loop: Path, tmp_path: Path) -> None:
    backing = Path(f"/sys/block/{loop.name}/loop/backing_file").read_text().strip()
    entry = bytearray(16)
    entry[4] = 0x83
    entry[8:16] = (2048).to_bytes(4, "little") + (65536).to_bytes(4, "little")
    with open(backing, "r+b") as file:
        file.seek(446)
        file.write(bytes(entry))
        file.seek(510)
        file.write(b"\x55\xaa")
    for _ in range(5):
        if subprocess.run(["partx", "-a", str(loop)], capture_output=True).returncode == 0:
            break
    part = Path(f"{loop}p1")
    try:
        ran("mkfs.ext4", "-q", part)
        with mounted(part, tmp_path / "at") as place:
            assert f"{part.name} is mounted at {place}" in refusal(loop)
        with looped(part) as upper:
            assert f"{upper.name} ({part}) stands on {part.name}" in refusal(loop)
        assert f"{part.name} is a partition of {loop.name}" in refusal_of_part(part)
        facts = facts_of(loop)
        assert [each.name for each in facts.parts] == [loop.name, part.name]
        assert refusals(facts) == []
    finally:
        subprocess.run(["partx", "-d", str(loop)], capture_output=True, check=False)


def refusal_of_part(part: Path) -> str:
    with pytest.raises(FlashtwinError) as caught:
        Held(part, writes=True)
    assert caught.value.exit_code == REFUSED
    return caught.value.message


def test_the_drive_of_the_running_system() -> None:
    """By what the kernel says of it alone: the device itself is not opened here."""
    about = os.stat("/").st_dev
    number = f"{os.major(about)}:{os.minor(about)}"
    if not Path("/sys/dev/block", number).exists():
        pytest.skip("the root of this machine lies on no device that is seen here")
    interest = [("the running system", Path("/"))]
    facts = facts_from(Path("/dev/root"), number, lambda at, count: b"", interest, Roots())
    reasons = [reason.reason for reason in refusals(facts)]
    assert any("is mounted at /" in reason for reason in reasons)
    assert any("the running system lies on" in reason for reason in reasons)


def test_no_block_device(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", Path("/dev/null")):
        with pytest.raises(FlashtwinError) as caught:
            Held(path, writes=True)
        assert caught.value.exit_code == USAGE
    assert (tmp_path / "file").read_text() == "mine"
