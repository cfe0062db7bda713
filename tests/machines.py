"""Machines that are made up: /sys, /proc and /dev of one drive, and what lies on it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from processes import wait_for

from flashtwin.drives.device.facts import Facts, Roots, facts_from

MIB = 1 << 20
SIZE = 20 * MIB


@dataclass
class Machine:
    """A machine with one drive, by default `sda` (8:0); `image` has its bytes."""

    place: Path
    name: str = "sda"
    number: str = "8:0"
    size: int = SIZE
    of_interest: list[tuple[str, Path]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.place.mkdir(exist_ok=True)
        self.image = self.place / "image"
        with self.image.open("wb") as file:
            file.truncate(self.size)
        for folder in ("sys/block", "sys/dev/block", "sys/class/block", "proc/self", "dev"):
            (self.place / folder).mkdir(parents=True, exist_ok=True)
        self.disk = self.device(self.name, self.number, self.size)
        self.put(self.disk / "queue/logical_block_size", "512")
        self.mounts()
        self.swaps()

    @property
    def roots(self) -> Roots:
        place = self.place
        return Roots(sys=place / "sys", proc=place / "proc", dev=place / "dev", run=place / "run")

    def put(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def device(self, name: str, number: str, size: int, under: Path | None = None) -> Path:
        """A block device, a partition where it is `under` another."""
        place = (under or self.place / "sys/devices") / name
        self.put(place / "size", str(size // 512))
        self.put(place / "dev", number)
        (place / "holders").mkdir()
        (place / "slaves").mkdir()
        links = (f"sys/dev/block/{number}", f"sys/class/block/{name}")
        for link in [*links, *([] if under else [f"sys/block/{name}"])]:
            (self.place / link).symlink_to(place)
        return place

    def partition(self, number: int, start: int, size: int) -> Path:
        letter = "p" if self.name[-1].isdigit() else ""
        major, minor = self.number.split(":")
        name = f"{self.name}{letter}{number}"
        place = self.device(name, f"{major}:{int(minor) + number}", size, self.disk)
        self.put(place / "partition", str(number))
        self.put(place / "start", str(start // 512))
        return place

    def mounts(self, *rows: str) -> None:
        self.put(self.place / "proc/self/mountinfo", "".join(f"{row}\n" for row in rows))

    def mounted(self, number: str, at: str, source: str) -> None:
        self.mounts(f"36 35 {number} / {at} rw,noatime - ext4 {source} rw")

    def swaps(self, *paths: str) -> None:
        rows = [f"{path} partition 100 0 -2" for path in paths]
        self.put(self.place / "proc/swaps", "\n".join(["Filename Type Size Used Priority", *rows]))

    def held(self, place: Path, holder: str, number: str, about: dict[str, str]) -> Path:
        """A stacked device on a part."""
        stacked = self.device(holder, number, MIB)
        (place / "holders" / holder).symlink_to(stacked)
        (stacked / "slaves" / place.name).symlink_to(place)
        for name, text in about.items():
            self.put(stacked / name, text)
        return stacked

    def loop(self, name: str, number: str, backing: str) -> Path:
        place = self.device(name, number, MIB)
        self.put(place / "loop/backing_file", backing)
        return place

    def write(self, at: int, data: bytes) -> None:
        with self.image.open("r+b") as file:
            file.seek(at)
            file.write(data)

    def facts(self) -> Facts:
        with self.image.open("rb") as file:

            def read(at: int, count: int) -> bytes:
                return os.pread(file.fileno(), count, at)

            path = Path("/dev") / self.name
            return facts_from(path, self.number, read, self.of_interest, self.roots)


def number_of(device: Path) -> str:
    """Major and minor number of a device's node."""
    number = device.stat().st_rdev
    return f"{os.major(number)}:{os.minor(number)}"


def lacking(*programs: str) -> list[str]:
    """What this machine lacks for loop devices, by name."""
    names = [name for name in ("losetup", *programs) if shutil.which(name) is None]
    names += [] if os.geteuid() == 0 else ["root"]
    return names + ([] if Path("/dev/loop-control").exists() else ["/dev/loop-control"])


@contextmanager
def looped(image: Path, *options: str) -> Iterator[Path]:
    """A loop device on a file."""
    command = ["losetup", "-f", "--show", *options, str(image)]
    loop = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    try:
        yield Path(loop)
    finally:
        detach(loop)


def detach(loop: str | Path) -> None:
    """Take a loop device away, which the kernel does once nobody has it open."""
    backing = Path("/sys/block") / Path(loop).name / "loop" / "backing_file"
    wait_for(partial(_detached, str(loop), backing), 20)


def _detached(loop: str, backing: Path) -> bool:
    subprocess.run(["losetup", "-d", loop], capture_output=True, check=False)
    return not backing.exists()


@contextmanager
def unchanged(*files: Path) -> Iterator[None]:
    """Not one byte of the files differs afterwards, nor does their length."""
    before = [(file, file.read_bytes()) for file in files]
    yield
    for file, data in before:
        assert file.read_bytes() == data, f"{file} was written to"
