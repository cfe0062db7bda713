"""Who has written on a block device before: file systems, sets of drives, tables of partitions.

Read from the bytes themselves, as the kernel and udev may not have looked. The places and the magic
bytes are those of the formats' own descriptions and of libblkid. A *member* belongs to a set of
several drives or to a layer that reads it by itself: it may be in use without being mounted, or
be needed by the others. Invariant: only what `read` gives is looked at, nothing is written.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["member", "file system", "encrypted", "swap", "table"]
# Bytes of a range, fewer at the end of the device.
Read = Callable[[int, int], bytes]

_KIB, _MIB = 1 << 10, 1 << 20
_SECTORS = (512, 4096)
_PAGES = (4096, 8192, 16384, 65536)
# A damaged or hostile table of partitions is not followed further.
_MOST_PARTITIONS = 256
_ZFS_LABEL, _ZFS_UBERBLOCKS = 256 * _KIB, 128 * _KIB
_ZFS_MAGIC = (struct.pack("<Q", 0x00BAB10C), struct.pack(">Q", 0x00BAB10C))
_MD_MAGIC = (bytes.fromhex("fc4e2ba9"), bytes.fromhex("a92b4efc"))


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What lies on a device or on a part of it, and what somebody called it."""

    name: str
    kind: Kind
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """A partition as a table on the device has it, whether the kernel knows it or not."""

    number: int
    start_bytes: int
    size_bytes: int
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A format by bytes at a fixed place. `label`: offset, length and encoding of its name."""

    name: str
    kind: Kind
    at: int
    magic: bytes
    label: tuple[int, int, str] | None = None


_ROWS = (
    _Row(name="ext4", kind="file system", at=0x438, magic=b"\x53\xef", label=(0x478, 16, "utf-8")),
    _Row(name="XFS", kind="file system", at=0, magic=b"XFSB", label=(108, 12, "utf-8")),
    _Row(name="btrfs", kind="member", at=0x10040, magic=b"_BHRfS_M", label=(0x1012B, 256, "utf-8")),
    _Row(
        name="F2FS",
        kind="file system",
        at=0x400,
        magic=bytes.fromhex("1020f5f2"),
        label=(0x47C, 128, "utf-16-le"),
    ),
    _Row(name="NTFS", kind="file system", at=3, magic=b"NTFS    "),
    _Row(name="exFAT", kind="file system", at=3, magic=b"EXFAT   "),
    _Row(name="FAT", kind="file system", at=82, magic=b"FAT32   ", label=(71, 11, "ascii")),
    _Row(name="FAT", kind="file system", at=54, magic=b"FAT16   ", label=(43, 11, "ascii")),
    _Row(name="FAT", kind="file system", at=54, magic=b"FAT12   ", label=(43, 11, "ascii")),
    _Row(
        name="ISO 9660", kind="file system", at=0x8001, magic=b"CD001", label=(0x8028, 32, "ascii")
    ),
    _Row(name="HFS+", kind="file system", at=0x400, magic=b"H+"),
    _Row(name="HFSX", kind="file system", at=0x400, magic=b"HX"),
    _Row(name="APFS", kind="member", at=32, magic=b"NXSB"),
    _Row(name="VMFS", kind="member", at=_MIB, magic=bytes.fromhex("0dd001c0")),
    _Row(name="LUKS", kind="encrypted", at=0, magic=b"LUKS\xba\xbe", label=(24, 48, "utf-8")),
    _Row(name="BitLocker", kind="encrypted", at=3, magic=b"-FVE-FS-"),
    _Row(
        name="bcache",
        kind="member",
        at=0x1018,
        magic=bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81"),
    ),
    _Row(
        name="bcachefs",
        kind="member",
        at=0x1018,
        magic=bytes.fromhex("c68573f666ce90a9d96a60cf803df7ef"),
    ),
    _Row(name="Ceph BlueStore", kind="member", at=0, magic=b"bluestore block device"),
    _Row(name="Stratis", kind="member", at=516, magic=b"!Stra0tis\x86\xff\x02^\x41rh"),
    _Row(name="ReFS", kind="file system", at=3, magic=b"ReFS\0"),
)


def signatures(read: Read, size_bytes: int) -> list[Signature]:
    """All that is known to lie on a device or a part of this size, each kind once."""
    rows = [
        Signature(name=row.name, kind=row.kind, label=_label(row, read))
        for row in _ROWS
        if read(row.at, len(row.magic)) == row.magic
    ]
    for find in (lvm, linux_raid, zfs, journal, swap, controller_raid, drbd):
        rows += find(read, size_bytes)
    return list(dict.fromkeys(rows))


def _label(row: _Row, read: Read) -> str:
    if row.label is None:
        return ""
    at, length, encoding = row.label
    # LUKS 1 has no label, and its cipher's name in that place.
    if row.name == "LUKS" and read(6, 2) != b"\0\2":
        return ""
    text = read(at, length).decode(encoding, errors="replace").partition("\0")[0].strip()
    return "" if text == "NO NAME" else text


def lvm(read: Read, size: int) -> Iterator[Signature]:
    """A label of LVM in one of the first four sectors."""
    for sector in range(4):
        head = read(sector * 512, 32)
        if head[:8] == b"LABELONE" and head[24:32].startswith(b"LVM2"):
            yield Signature(name="LVM", kind="member")


def linux_raid(read: Read, size: int) -> Iterator[Signature]:
    """A superblock of Linux RAID: version 0.90 and 1.0 at the end, 1.1 and 1.2 at the front."""
    places = (0, 4096, size // 65536 * 65536 - 65536, (size - 8192) // 4096 * 4096)
    if any(place >= 0 and read(place, 4) in _MD_MAGIC for place in places):
        yield Signature(name="Linux RAID", kind="member")


def zfs(read: Read, size: int) -> Iterator[Signature]:
    """One of four labels, two at each end, with an uberblock in one of its slots."""
    end = size // _ZFS_LABEL * _ZFS_LABEL
    for label in (0, _ZFS_LABEL, end - 2 * _ZFS_LABEL, end - _ZFS_LABEL):
        ring = read(label + _ZFS_UBERBLOCKS, _ZFS_LABEL - _ZFS_UBERBLOCKS) if label >= 0 else b""
        if any(ring[at : at + 8] in _ZFS_MAGIC for at in range(0, len(ring), _KIB)):
            yield Signature(name="ZFS", kind="member")


def journal(read: Read, size: int) -> Iterator[Signature]:
    """The journal of an ext3 or ext4 that lies elsewhere: a superblock that says it is one."""
    if read(0x438, 2) == b"\x53\xef" and read(0x460, 1) and read(0x460, 1)[0] & 8:
        yield Signature(name="ext4, as the journal of another device", kind="member")


def swap(read: Read, size: int) -> Iterator[Signature]:
    """The end of the first page, whatever the size of a page is; of a system that sleeps, its
    memory is there."""
    for page in _PAGES:
        magic = read(page - 10, 10)
        if magic[:9] in (b"S1SUSPEND", b"S2SUSPEND", b"ULSUSPEND") or magic == b"LINHIB0001":
            yield Signature(name="a system that hibernates", kind="member")
        if magic in (b"SWAPSPACE2", b"SWAP-SPACE"):
            label = read(1052, 16).decode(errors="replace").partition("\0")[0].strip()
            yield Signature(name="swap", kind="swap", label=label)


def controller_raid(read: Read, size: int) -> Iterator[Signature]:
    """Sets of a board's or a controller's firmware."""
    if size >= 1024 and read(size - 1024, 22) == b"Intel Raid ISM Cfg Sig":
        yield Signature(name="Intel RAID", kind="member")
    if size >= 512 and read(size - 512, 4) in (b"\xde\x11\xde\x11", b"\x11\xde\x11\xde"):
        yield Signature(name="RAID of a controller (DDF)", kind="member")


def drbd(read: Read, size: int) -> Iterator[Signature]:
    """DRBD's own record, in the last 4 KiB, behind 60 bytes of counts."""
    if size >= 4096 and read(size // 4096 * 4096 - 4096 + 60, 4) in (
        bytes.fromhex("83740267"),
        bytes.fromhex("8374026b"),
        bytes.fromhex("8374026d"),
    ):
        yield Signature(name="DRBD", kind="member")


def table(read: Read, size_bytes: int) -> tuple[str, list[Extent]]:
    """The kind of table of partitions on a device, and its partitions; "" without a table."""
    for sector in _SECTORS:
        for at in (sector, size_bytes - sector):
            if at > 0 and read(at, 8) == b"EFI PART":
                return "GPT", _gpt(read, at, sector)
    if read(510, 2) == b"\x55\xaa" and (extents := _mbr(read, size_bytes)):
        return "MBR", extents
    return "", []


def _gpt(read: Read, at: int, sector: int) -> list[Extent]:
    head = read(at, 92)
    if len(head) < 92:
        return []
    entries, count, length = struct.unpack_from("<QII", head, 72)
    if length < 128 or length > 4096:
        return []
    extents = []
    for number in range(min(count, _MOST_PARTITIONS)):
        entry = read(entries * sector + number * length, 128)
        if len(entry) < 128 or not any(entry[:16]):
            continue
        first, last = struct.unpack_from("<QQ", entry, 32)
        label = entry[56:128].decode("utf-16-le", errors="replace").partition("\0")[0]
        extents.append(
            Extent(
                number=number + 1,
                start_bytes=first * sector,
                size_bytes=max(last - first + 1, 0) * sector,
                label=label,
            )
        )
    return extents


def _mbr(read: Read, size: int) -> list[Extent]:
    """The four entries of a boot sector; none where they make no sense, as in a FAT's."""
    extents = []
    for number in range(4):
        entry = read(446 + 16 * number, 16)
        if entry[0] not in (0, 0x80):
            return []
        first, count = struct.unpack_from("<II", entry, 8)
        if entry[4] and count:
            start = first * 512
            extents.append(Extent(number=number + 1, start_bytes=start, size_bytes=count * 512))
    return extents if all(extent.start_bytes < size for extent in extents) else []
