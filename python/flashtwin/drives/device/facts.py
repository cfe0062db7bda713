"""What this machine knows of a block device: what it is, who uses it, and what lies on it.

Read from /sys/block, /proc/self/mountinfo, /proc/swaps, the links of all loop devices and what
processes have open; `Roots` says where these lie, so that a machine can be made up. Invariants: the
device is opened for reading alone and never exclusively; what cannot be read is no reason to
believe that nobody uses the device, so it is told in `unknown` and refused by `refusals`.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from flashtwin.drives.device.signatures import Extent, Read, Signature, signatures, table
from flashtwin.errors import ENVIRONMENT, USAGE, FlashtwinError

SECTOR_BYTES = 512
_LINE_BYTES = 4096
# Who reads a device to see what it is has it open for less than this.
_GLANCE_S = 0.3
# Files of configfs that name a device which is exported.
_EXPORTS = (
    "nvmet/subsystems/*/namespaces/*/device_path",
    "target/core/*/*/udev_path",
    "usb_gadget/*/functions/mass_storage.*/lun.*/file",
)
# Layers that stand on each other are not followed further.
_MOST_LAYERS = 8
# How /proc/self/mountinfo writes blanks, tabs, line feeds and backslashes.
_OCTAL = re.compile(r"\\([0-7]{3})")
# Kinds of stacked devices, by the beginning of its dm/uuid.
_DM_KINDS = {"LVM": "LVM", "CRYPT": "dm-crypt", "mpath": "multipath", "DMRAID": "RAID"}
_VIRTUAL = re.compile(r"qemu|virtio|vbox|vmware|virtual disk|msft|xen", re.I)
_RAID = re.compile(r"\b(perc|megaraid|logical volume|smart array|raid|lsi|mr9|avago)\b", re.I)


class Roots(NamedTuple):
    """Where the kernel tells what it knows."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")
    run: Path = Path("/run")


class _Mount(NamedTuple):
    """A row of mountinfo: whose file system lies where; `upper`: what an overlay writes into."""

    number: str
    place: str
    source: str
    upper: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Use:
    """Somebody who uses a part: how, by which name, and the part's name."""

    how: str
    by: str
    part: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """The device itself, a partition that the kernel knows, or one of a table alone."""

    name: str
    number: str
    start_bytes: int
    size_bytes: int
    label: str = ""
    signatures: tuple[Signature, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Facts:
    """A block device as it is now.

    `number` is its major and minor, `sequence` the kernel's count of disks, which no two have.
    `serial`, `wwn` and `eui` are never stored (`identity`). `parts` begins with the device itself.
    `beneath`: what of this machine stands on it, and where. `unknown`: what could not be read.
    `siblings`: other namespaces of its controller, which a sanitize would erase too.
    """

    path: Path
    name: str
    number: str
    size_bytes: int
    sequence: str = ""
    model: str = ""
    serial: str = ""
    wwn: str = ""
    eui: str = ""
    firmware: str = ""
    link: str = ""
    backing_file: str = ""
    partition_of: str = ""
    table: str = ""
    read_only: bool = False
    sector_bytes: int = SECTOR_BYTES
    discards: bool = False
    parts: tuple[Part, ...] = ()
    uses: tuple[Use, ...] = ()
    beneath: tuple[tuple[str, str], ...] = ()
    made_of: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def labels(self) -> list[str]:
        """The names that somebody gave to what lies on it, each once."""
        named = [part.label for part in self.parts]
        named += [mark.label for part in self.parts for mark in part.signatures]
        return list(dict.fromkeys(word for label in named if (word := typeable(label))))

    @property
    def own_name(self) -> tuple[str, str]:
        """The name that tells it from other devices, behind the kind of it: its serial number, or
        what it has instead."""
        if self.serial:
            return "serial", self.serial
        if self.backing_file:
            return "backing file", self.backing_file
        return "size", str(self.size_bytes)

    @property
    def words(self) -> tuple[str, str]:
        """To be typed: the model, or what the kernel calls it, and its own name."""
        return self.model or self.name, self.own_name[1]

    @property
    def secrets(self) -> list[str]:
        """What would name this very device to somebody else, and is never stored."""
        words = (self.serial, self.wwn, self.eui, self.backing_file)
        return sorted({word for word in words if word}, key=len, reverse=True)


def is_device(path: Path) -> bool:
    """Whether a path leads to a block device, over links as in /dev/disk/by-id."""
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def opened(path: Path, flags: int = os.O_RDONLY) -> int:
    """A block device, open; raises a sentence where that is refused."""
    try:
        handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        lacking = isinstance(error, PermissionError)
        raise FlashtwinError(
            f"{path} cannot be opened: {error.strerror}",
            hint=f"flashtwin doctor {path} says how to get the right to" if lacking else None,
            exit_code=ENVIRONMENT,
        ) from error
    if stat.S_ISBLK(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise FlashtwinError(
        f"{path} is no block device",
        hint="lsblk lists the devices; a file is given with --size",
        exit_code=USAGE,
    )


def facts_of(
    path: Path,
    *,
    of_interest: Sequence[tuple[str, Path]] = (),
    roots: Roots | None = None,
    handle: int | None = None,
) -> Facts:
    """All that is known of a block device. `of_interest`: what must not stand on it, and its
    path; `handle`: the device where it is open already."""
    held = opened(path) if handle is None else handle
    try:
        number = _number_of(os.fstat(held).st_rdev)
        return facts_from(path, number, partial(_read, held), of_interest, roots or Roots())
    finally:
        if handle is None:
            os.close(held)


def facts_from(
    path: Path, number: str, read: Read, of_interest: Sequence[tuple[str, Path]], roots: Roots
) -> Facts:
    """All that is known of the device of a number whose bytes `read` gives."""
    disk = roots.sys / "dev" / "block" / number
    if not disk.exists():
        raise FlashtwinError(
            f"the kernel tells nothing of {path} ({number}), so nobody knows what is on it",
            hint="name a device of /sys/block, or mount /sys",
            exit_code=ENVIRONMENT,
        )
    return _Machine(roots).facts(path, disk.resolve(), number, read, of_interest)


class _Machine:
    """What was read of this machine, and what could not be."""

    def __init__(self, roots: Roots) -> None:
        self.roots, self.unknown = roots, list[str]()

    def facts(
        self,
        path: Path,
        disk: Path,
        number: str,
        read_all: Read,
        of_interest: Sequence[tuple[str, Path]],
    ) -> Facts:
        size = _number_in(disk / "size") * SECTOR_BYTES
        read = _within(read_all, 0, size)
        kind, extents = table(read, size)
        parts = self._parts(disk, number, size, read, extents)
        is_partition = (disk / "partition").exists()
        about = disk.parent if is_partition else disk
        others = list(self._same_drive(about))
        uses = tuple(self._uses(disk, parts, others))
        beneath = tuple(self._beneath([about, *others], of_interest))
        return Facts(
            path=path,
            name=disk.name,
            number=number,
            size_bytes=size,
            sequence=line(disk / "diskseq"),
            **self._names(about),
            link=link_of(about) or "",
            backing_file=line(disk / "loop" / "backing_file"),
            partition_of=about.name if is_partition else "",
            table=kind,
            read_only=line(disk / "ro") == "1",
            sector_bytes=_number_in(about / "queue" / "logical_block_size") or SECTOR_BYTES,
            discards=_number_in(about / "queue" / "discard_max_bytes") > 0,
            parts=tuple(parts),
            uses=uses,
            beneath=beneath,
            made_of=tuple(self._layers(disk)),
            siblings=tuple(self._siblings(about)),
            remarks=tuple(self._remarks(about)),
            unknown=tuple(dict.fromkeys(self.unknown)),
        )

    def _names(self, disk: Path) -> dict[str, str]:
        """Model, serial number and the names that a maker gives out only once."""
        udev = self._udev(line(disk / "dev"))
        device = disk / "device"
        return {
            "model": line(device / "model") or line(device / "name") or udev.get("ID_MODEL", ""),
            "serial": line(device / "serial")
            or line(disk / "serial")
            # A SCSI device's, in the kernel's copy of page 80h behind its head of four bytes.
            or line(device / "vpd_pg80", skip_bytes=4)
            or udev.get("ID_SERIAL_SHORT", ""),
            "wwn": line(disk / "wwid") or line(device / "wwid") or udev.get("ID_WWN", ""),
            "eui": line(disk / "eui") or line(disk / "nguid") or line(disk / "uuid"),
            "firmware": line(device / "firmware_rev") or line(device / "rev"),
        }

    def _udev(self, number: str) -> dict[str, str]:
        """What udev noted of a device; nothing where there is no udev, as in a container."""
        try:
            text = (self.roots.run / "udev" / "data" / f"b{number}").read_text(errors="replace")
        except OSError:
            return {}
        rows = (row[2:].partition("=") for row in text.splitlines() if row.startswith("E:"))
        return {key: value for key, _, value in rows}

    def _parts(
        self, disk: Path, number: str, size: int, read: Read, extents: Sequence[Extent]
    ) -> list[Part]:
        """The device, the partitions that the kernel knows, and those of the table alone."""
        marks = tuple(signatures(read, size))
        parts = [
            Part(name=disk.name, number=number, start_bytes=0, size_bytes=size, signatures=marks)
        ]
        spans = {_number_in(entry / "start") * SECTOR_BYTES: entry for entry in _partitions(disk)}
        labels = {extent.start_bytes: extent.label for extent in extents}
        for start, entry in spans.items():
            length = _number_in(entry / "size") * SECTOR_BYTES
            parts.append(
                _part(entry.name, line(entry / "dev"), start, length, read, labels.get(start, ""))
            )
        for extent in extents:
            if extent.start_bytes not in spans:
                name = f"partition {extent.number} of the table on {disk.name}"
                parts.append(
                    _part(name, "", extent.start_bytes, extent.size_bytes, read, extent.label)
                )
        return parts

    def _uses(self, disk: Path, parts: Sequence[Part], others: Sequence[Path]) -> Iterator[Use]:
        by_number = {part.number: part for part in parts if part.number}
        places = {disk.name: disk, **{entry.name: entry for entry in _entries(disk)}}
        for other in others:
            for entry in (other, *_partitions(other)):
                name = f"{entry.name} ({disk.name} by another path)"
                number, size = line(entry / "dev"), _number_in(entry / "size") * SECTOR_BYTES
                by_number[number] = Part(name=name, number=number, start_bytes=0, size_bytes=size)
                places[name] = entry
        for mount in self._mounts:
            part = by_number.get(mount.number) or self._by_source(mount.source, by_number)
            if part is not None:
                yield Use(how="mounted", by=mount.place, part=part.name)
        backing = _backing_file(disk)
        for path in self._swaps():
            if (part := self._by_source(path, by_number)) is not None:
                yield Use(how="swap", by=path, part=part.name)
            elif backing is not None and _inode(Path(path)) == backing:
                yield Use(how="swap", by=path, part=disk.name)
        for part in by_number.values():
            for holder in self._holders(places[part.name]):
                yield Use(how="held", by=self._holder(holder), part=part.name)
        # A btrfs that is mounted names all of its drives.
        for link in sorted((self.roots.sys / "fs" / "btrfs").glob("*/devices/*")):
            if (member := by_number.get(line(link / "dev"))) is not None:
                yield Use(how="mounted", by="a btrfs of several drives", part=member.name)
        yield from self._exports(by_number)
        yield from self._loops(by_number)
        yield from self._open(by_number, disk.name, backing)

    def _layers(self, disk: Path) -> list[str]:
        """The devices that a stacked device is made of; of a loop device the one that its backing
        file is, whatever node leads there."""
        layers = _names_in(disk / "slaves")
        backing = line(disk / "loop" / "backing_file").removesuffix(" (deleted)")
        with contextlib.suppress(OSError, ValueError):
            about = os.stat(self.roots.dev / backing.removeprefix("/dev/"))
            if stat.S_ISREG(about.st_mode):
                return layers
            if stat.S_ISBLK(about.st_mode):
                under = self.roots.sys / "dev" / "block" / _number_of(about.st_rdev)
                return [*layers, under.resolve().name if under.exists() else backing]
        # Its node is gone, or hidden from here.
        return [*layers, backing] if backing.startswith("/dev/") else layers

    def _same_drive(self, disk: Path) -> Iterator[Path]:
        """Other block devices that are the same drive: those over another path to it, and loop
        devices on the same file. An exclusive open of one does not see the others."""
        own, backing = self._own_names(disk), _backing_file(disk)
        for other in _entries(self.roots.sys / "block"):
            other = other.resolve()
            if other == disk or not line(other / "dev"):
                continue
            has_its_file = backing is not None and _backing_file(other) == backing
            if has_its_file or own & self._own_names(other):
                yield other

    def _own_names(self, disk: Path) -> set[tuple[str, ...]]:
        """The names that no other drive has."""
        names, size = self._names(disk), line(disk / "size")
        unique: set[tuple[str, ...]] = {
            (kind, names[kind]) for kind in ("wwn", "eui") if names[kind]
        }
        if names["serial"]:
            unique.add((names["model"], names["serial"], size))
        return unique

    def _by_source(self, source: str, by_number: dict[str, Part]) -> Part | None:
        """The part that a mount names: file systems over several drives have numbers of their
        own there."""
        if not source.startswith("/"):
            return None
        number = self._node(source)
        if number is not None:
            return by_number.get(number)
        # The name tells the part also where the node is gone, as in a chroot.
        name = Path(source).name
        return next((part for part in by_number.values() if part.name.split()[0] == name), None)

    def _node(self, path: str) -> str | None:
        """The number of a device by its path under /dev; none where it is no device's."""
        with contextlib.suppress(OSError, ValueError):
            about = os.stat(self.roots.dev / Path(path).relative_to("/dev"))
            if stat.S_ISBLK(about.st_mode):
                return _number_of(about.st_rdev)
        return None

    @cached_property
    def _mounts(self) -> list[_Mount]:
        """Each mount, as this process, the first one and those in containers see them."""
        rows: dict[tuple[str, str, str], _Mount] = {}
        for process in self._mount_spaces():
            own = process.name in ("self", "1")
            try:
                text = (process / "mountinfo").read_text(errors="replace")
            except OSError:
                if process.name == "self":
                    self.unknown.append(f"what is mounted ({process}/mountinfo)")
                continue
            for mount in filter(None, map(_mount, text.splitlines())):
                if not own:
                    who = f"{line(process / 'comm') or 'process'} ({process.name})"
                    mount = mount._replace(place=f"{mount.place} of {who}")
                rows.setdefault((mount.number, mount.place, mount.source), mount)
        return list(rows.values())

    def _mount_spaces(self) -> Iterator[Path]:
        """A process of each namespace of mounts: our own, the first one's, and any container's."""
        spaces = set[str]()
        others = [entry for entry in _entries(self.roots.proc) if entry.name.isdecimal()]
        for process in (self.roots.proc / "self", self.roots.proc / "1", *others):
            try:
                space = os.readlink(process / "ns" / "mnt")
            except OSError:
                space = "" if process.name in ("self", "1") else "unknown"
            if space != "unknown" and (not space or space not in spaces):
                spaces.add(space)
                yield process

    def _swaps(self) -> Iterator[str]:
        """The paths of what holds swap; a file is on a file system that is mounted."""
        try:
            rows = (self.roots.proc / "swaps").read_text(errors="replace").splitlines()[1:]
        except OSError:
            self.unknown.append(f"where swap is ({self.roots.proc}/swaps)")
            return
        yield from (_plain(row.split()[0]) for row in rows if row.strip())

    def _holder(self, name: str) -> str:
        """A stacked device: its name and what it is."""
        place = self.roots.sys / "class" / "block" / name
        called, uuid = line(place / "dm" / "name"), line(place / "dm" / "uuid")
        kind = next((word for head, word in _DM_KINDS.items() if uuid.startswith(head)), "")
        if (level := line(place / "md" / "level")) or name.startswith("md"):
            kind = f"RAID {level}".strip()
        if name.startswith("bcache"):
            kind = "bcache"
        return " ".join(word for word in (name, called, f"({kind})" if kind else "") if word)

    def _exports(self, by_number: dict[str, Part]) -> Iterator[Use]:
        """What the kernel gives to other machines, which holds nothing exclusively: NVMe over
        fabrics, iSCSI, USB gadgets."""
        for pattern in _EXPORTS:
            for place in sorted((self.roots.sys / "kernel" / "config").glob(pattern)):
                if (part := self._by_source(line(place), by_number)) is not None:
                    by = place.parent.relative_to(self.roots.sys / "kernel" / "config")
                    yield Use(how="exported", by=str(by), part=part.name)

    def _loops(self, by_number: dict[str, Part]) -> Iterator[Use]:
        """Loop devices whose backing file is a part, or lies on a file system on one: an exclusive
        open sees neither."""
        for place in sorted((self.roots.sys / "block").glob("loop*")):
            backing = line(place / "loop" / "backing_file")
            part = self._under_file(backing, by_number) if backing else None
            if part is not None:
                yield Use(how="loop", by=f"{place.name} ({backing})", part=part.name)

    def _under_file(self, backing: str, by_number: dict[str, Part]) -> Part | None:
        """The part that a file is, or that it lies on."""
        path = backing.removesuffix(" (deleted)")
        if path.startswith("/dev/"):
            return self._by_source(path, by_number)
        numbers = self._devices_of(Path(path))
        return next((by_number[number] for number in numbers if number in by_number), None)

    def _open(
        self, by_number: dict[str, Part], name: str, backing: tuple[int, int] | None
    ) -> Iterator[Use]:
        """Processes that keep it open, as a virtual machine does that was given the drive. Who only
        looks at it, as udev and losetup do, is gone at the second look."""
        uses = self._openers(by_number, name, backing)
        if uses:
            time.sleep(_GLANCE_S)
            uses &= self._openers(by_number, name, backing)
        yield from sorted(uses, key=lambda use: (use.by, use.part))

    def _openers(
        self, by_number: dict[str, Part], name: str, backing: tuple[int, int] | None
    ) -> set[Use]:
        """Processes that have it or its backing file open now; our own and those that may not be
        asked are left out."""
        own, uses = str(os.getpid()), set()
        for process in _entries(self.roots.proc):
            if not process.name.isdecimal() or process.name == own:
                continue
            for handle in _entries(process / "fd"):
                with contextlib.suppress(OSError):
                    about = os.stat(handle)
                    part = by_number.get(_number_of(about.st_rdev))
                    if stat.S_ISBLK(about.st_mode) and part is not None:
                        opened_part = part.name
                    elif backing is not None and (about.st_dev, about.st_ino) == backing:
                        opened_part = f"the file under {name}"
                    else:
                        continue
                    by = f"{line(process / 'comm') or 'process'} ({process.name})"
                    uses.add(Use(how="open", by=by, part=opened_part))
        return uses

    def _beneath(
        self, disks: Sequence[Path], paths: Sequence[tuple[str, Path]]
    ) -> Iterator[tuple[str, str]]:
        """What of this machine stands on a disk, by any path to it, through partitions, layers and
        loops."""
        names = {disk.name for disk in disks}
        for standing, path in paths:
            for number in self._devices_of(path):
                if names & self._disks_under(number):
                    yield standing, str(path)
                    break

    def _devices_of(self, path: Path, depth: int = 0) -> list[str]:
        """The numbers of the devices under a path: the file system's, the source of its mount where
        the file system has a number of its own, and what the upper layer of an overlay lies on."""
        number = _file_system_of(path)
        if number is None:
            self.unknown.append(f"where {path} lies")
            return []
        numbers = [number]
        for mount in self._mounts if depth < _MOST_LAYERS else ():
            if mount.number != number:
                continue
            if (source_number := self._node(mount.source)) is not None:
                numbers.append(source_number)
            if mount.upper is not None:
                numbers += self._devices_of(mount.upper, depth + 1)
        return numbers

    def _disks_under(self, number: str, depth: int = 0) -> set[str]:
        """The names of the disks on which a device stands, and its own."""
        place = self.roots.sys / "dev" / "block" / number
        if depth > _MOST_LAYERS or not place.exists():
            return set()
        place = place.resolve()
        if (place / "partition").exists():
            place = place.parent
        names = {place.name}
        for slave in _names_in(place / "slaves"):
            names |= self._disks_under(line(place / "slaves" / slave / "dev"), depth + 1)
        if backing := line(place / "loop" / "backing_file"):
            for under in self._devices_of(Path(backing)):
                names |= self._disks_under(under, depth + 1)
        return names

    def _siblings(self, disk: Path) -> list[str]:
        """Other namespaces of the same NVMe controller."""
        device = disk / "device"
        if not disk.name.startswith("nvme") or not device.exists():
            return []
        pattern = re.compile(r"nvme\d+n\d+")
        names = {entry.name for entry in _entries(device.resolve())}
        return sorted(name for name in names if pattern.fullmatch(name) and name != disk.name)

    def _remarks(self, disk: Path) -> Iterator[str]:
        """What stands between the host and the flash, or makes measurements differ."""
        where, model = str(disk.resolve()), line(disk / "device" / "model")
        vendor = line(disk / "device" / "vendor")
        if "/usb" in where:
            yield "it hangs on a USB bridge, which may drop TRIM and SMART and bounds the rate"
        if "/virtio" in where or _VIRTUAL.search(f"{vendor} {model}"):
            yield "it is a virtual disk: what is measured is the host's storage and its caches"
        elif _RAID.search(f"{vendor} {model}"):
            yield "a RAID controller stands before it, whose cache is measured too"
        if disk.name.startswith("loop"):
            yield "it is a loop device: the file system under it and its cache are measured too"
        elif line(disk / "queue" / "rotational") == "1":
            yield "it says that it has turning platters"
        if "through" in line(disk / "queue" / "write_cache"):
            yield "its write cache is off, or protected against a loss of power"
        scheduler = re.search(r"\[(.+?)\]", line(disk / "queue" / "scheduler"))
        if scheduler and scheduler[1] != "none":
            yield f"the scheduler {scheduler[1]} may reorder requests"
        governor = line(self.roots.sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor")
        if governor and governor != "performance":
            yield f"the processor's governor is {governor}: small requests may look slower"

    def _holders(self, place: Path) -> list[str]:
        """Stacked devices on a part; of a folder that may not be read nobody knows."""
        try:
            return sorted(entry.name for entry in (place / "holders").iterdir())
        except FileNotFoundError:
            pass
        except OSError:
            self.unknown.append(f"who holds {place.name} ({place}/holders)")
        return []


def _number_of(device: int) -> str:
    return f"{os.major(device)}:{os.minor(device)}"


def _number_in(path: Path) -> int:
    text = line(path)
    return int(text) if text.isdecimal() else 0


def _entries(folder: Path) -> list[Path]:
    """What is in a folder of the kernel's; nothing where it may not be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _names_in(folder: Path) -> list[str]:
    return [entry.name for entry in _entries(folder)]


def _partitions(disk: Path) -> list[Path]:
    """The partitions of a disk that the kernel knows."""
    return [entry for entry in _entries(disk) if (entry / "partition").exists()]


def _inode(path: Path) -> tuple[int, int] | None:
    """The device and inode of a regular file; none where it is gone, or none."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return None
    return (about.st_dev, about.st_ino) if stat.S_ISREG(about.st_mode) else None


def _backing_file(disk: Path) -> tuple[int, int] | None:
    """The file under a loop device."""
    backing = line(disk / "loop" / "backing_file")
    return _inode(Path(backing)) if backing else None


def _within(read: Read, start: int, length: int) -> Read:
    """A part of a device as a device of its own: nothing is read from beyond its ends."""

    def within(offset: int, count: int) -> bytes:
        room = min(count, length - offset)
        return read(start + offset, room) if offset >= 0 and room > 0 else b""

    return within


def _part(name: str, number: str, start: int, length: int, read: Read, label: str) -> Part:
    return Part(
        name=name,
        number=number,
        start_bytes=start,
        size_bytes=length,
        label=label,
        signatures=tuple(signatures(_within(read, start, length), length)),
    )


def _read(handle: int, offset: int, count: int) -> bytes:
    try:
        return os.pread(handle, count, offset)
    except OSError:
        # A sector that cannot be read tells nothing; the drive is measured all the same.
        return b""


def _mount(row: str) -> _Mount | None:
    """A row of mountinfo; none where it is none."""
    words, _, after = row.partition(" - ")
    fields, rest = words.split(), after.split()
    if len(fields) < 5 or len(rest) < 2:
        return None
    upper = None
    if rest[0] == "overlay":
        upper = next((word for word in rest[-1].split(",") if word.startswith("upperdir=")), None)
    return _Mount(
        number=fields[2],
        place=_plain(fields[4]),
        source=_plain(rest[1]),
        upper=Path(_plain(upper).removeprefix("upperdir=")) if upper else None,
    )


def typeable(text: str) -> str:
    """A name as somebody can type it: without what does not print, or stands at its ends."""
    return "".join(letter if letter.isprintable() else "?" for letter in text).strip()


def _plain(text: str) -> str:
    return _OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def line(path: Path, skip_bytes: int = 0) -> str:
    """The text of a file of /sys; "" where it cannot be read."""
    try:
        with path.open("rb") as file:
            file.read(skip_bytes)
            return file.read(_LINE_BYTES).decode(errors="replace").strip("\0 \n\t")
    except OSError:
        return ""


def _file_system_of(path: Path) -> str | None:
    """The number of the file system that a path lies on, or is to lie on; none where nobody may
    look. Where its file system is gone, as a FUSE whose program ended, it is that of the folder
    around it."""
    for place in (path, *path.parents):
        try:
            return _number_of(os.stat(place).st_dev)
        except PermissionError:
            return None
        except OSError:
            continue
    return None


def sensor_of(disk: Path) -> Path | None:
    """The thermometer of a disk that the kernel reads."""
    for pattern in ("hwmon*/temp1_input", "hwmon/hwmon*/temp1_input"):
        if sensors := sorted((disk / "device").glob(pattern)):
            return sensors[0]
    return None


def sensed(disk: Path) -> float | None:
    """Degrees Celsius by the kernel's sensor; none where there is none."""
    sensor = sensor_of(disk)
    with contextlib.suppress(ValueError):
        return None if sensor is None else int(line(sensor)) / 1000
    return None


def link_of(disk: Path) -> str | None:
    """Speed and lanes of the nearest PCIe device above the disk, or the speed that a SATA link
    has agreed on."""
    for above in [disk.resolve(), *disk.resolve().parents][:12]:
        speed, lanes = line(above / "current_link_speed"), line(above / "current_link_width")
        if speed and lanes and not speed.lower().startswith("unknown"):
            return f"PCIe {speed.removesuffix(' PCIe')} x{lanes}"
        for link in sorted(above.glob("link*/ata_link/link*/sata_spd")):
            if (speed := line(link)) and speed[:1].isdigit():
                return f"SATA {speed}"
    return None
