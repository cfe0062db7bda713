"""Why nothing is written to a device: each reason on a machine that is made up, and what lies on a
drive by its bytes."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from machines import MIB, SIZE, Machine, lacking, looped, number_of, unchanged

from flashtwin.drives.consent import Consent
from flashtwin.drives.device.confirm import confirm
from flashtwin.drives.device.held import Held
from flashtwin.drives.device.refusals import refusals
from flashtwin.drives.device.signatures import signatures, table
from flashtwin.errors import REFUSED, FlashtwinError

Change = Callable[[Machine], object]


def _held(number: str, name: str, **about: str) -> Change:
    rows = {key.replace("__", "/"): text for key, text in about.items()}
    return lambda machine: machine.held(machine.disk, name, number, rows)


def _held_part(machine: Machine) -> object:
    part = machine.partition(2, MIB, MIB)
    return machine.held(part, "dm-0", "253:0", {"dm/uuid": "LVM-abc", "dm/name": "vg-root"})


def _mounted_part(machine: Machine) -> None:
    part = machine.partition(1, MIB, MIB)
    machine.mounted((part / "dev").read_text(), "/data", "/dev/sda1")


def _swap_part(machine: Machine) -> None:
    machine.partition(1, MIB, MIB)
    machine.swaps("/dev/sda1")


def _btrfs_of_several(machine: Machine) -> None:
    """A mount of a btrfs has a number of its own and names one of its drives alone."""
    machine.mounts("36 35 0:42 / /data rw - btrfs /dev/sdb rw")
    (machine.place / "sys/fs/btrfs/uuid/devices").mkdir(parents=True)
    (machine.place / "sys/fs/btrfs/uuid/devices/sda").symlink_to(machine.disk)


def _loop_on_part(machine: Machine) -> None:
    machine.partition(1, MIB, MIB)
    machine.loop("loop0", "7:1000", "/dev/sda1")


def _loop_without_node(machine: Machine) -> None:
    machine.loop("loop3", "7:1003", "/dev/sda (deleted)")


def _partition(machine: Machine) -> None:
    machine.partition(1, MIB, MIB)
    machine.name, machine.number = "sda1", "8:1"


def _stacked(machine: Machine) -> None:
    under = machine.device("sdb", "8:16", MIB)
    (machine.disk / "slaves" / "sdb").symlink_to(under)


def _zram(machine: Machine) -> None:
    machine.disk = machine.device("zram0", "251:0", SIZE)
    machine.number = "251:0"


def _beneath(what: str) -> Change:
    def change(machine: Machine) -> None:
        place = machine.place / "somewhere"
        place.mkdir()
        stacked = machine.device("dm-9", number_of_folder(place), MIB)
        (stacked / "slaves" / "sda").symlink_to(machine.disk)
        machine.of_interest.append((what, place))

    return change


def _in_a_container(machine: Machine) -> None:
    """A process with mounts of its own, and one that shares them."""
    row = f"36 35 {machine.number} / /data rw - ext4 /dev/sda rw\n"
    for number, name in ((4242, "postgres"), (4243, "worker")):
        process = machine.place / "proc" / str(number)
        machine.put(process / "mountinfo", row)
        machine.put(process / "comm", name)
        (process / "ns").mkdir()
        (process / "ns/mnt").symlink_to("mnt:[4026532800]")


def _overlay(machine: Machine) -> None:
    """The run directory is on an overlay whose upper layer is on the drive, here that of /proc."""
    place = machine.place / "merged"
    place.mkdir()
    machine.mounts(f"50 35 {number_of_folder(place)} / {place} rw - overlay o rw,upperdir=/proc")
    upper = machine.device("dm-9", number_of_folder(Path("/proc")), MIB)
    (upper / "slaves" / "sda").symlink_to(machine.disk)
    machine.of_interest.append(("the run directory", place))


def number_of_folder(place: Path) -> str:
    """Major and minor number of the file system of a folder."""
    about = place.stat().st_dev
    return f"{os.major(about)}:{os.minor(about)}"


def _by_another_path(machine: Machine, **names: str) -> Path:
    """One drive over a second port, without a layer that joins both."""
    other = machine.device("sdb", "8:16", SIZE)
    for disk in (machine.disk, other):
        for name, text in names.items():
            machine.put(disk / name.replace("__", "/"), text)
    return other


def _mounted_by_wwn(machine: Machine) -> None:
    _by_another_path(machine, device__wwid="naa.5002538e40a1b2c3")
    machine.mounted("8:16", "/data", "/dev/sdb")


def _held_by_serial(machine: Machine) -> None:
    other = _by_another_path(machine, device__model="A DISK", device__serial="S4X1")
    machine.held(other, "dm-0", "253:0", {"dm/uuid": "LVM-abc", "dm/name": "vg-root"})


def _partition_by_eui(machine: Machine) -> None:
    other = _by_another_path(machine, eui="0025388b11223344")
    part = machine.device("sdb1", "8:17", MIB, other)
    machine.put(part / "partition", "1")
    machine.swaps("/dev/sdb1")


def _running_by_wwn(machine: Machine) -> None:
    other = _by_another_path(machine, device__wwid="naa.5002538e40a1b2c3")
    machine.held(other, "dm-8", number_of_folder(machine.place), {})
    (other / "holders" / "dm-8").unlink()
    machine.of_interest.append(("the running system", machine.place))


def _swap_file(machine: Machine) -> None:
    machine.put(machine.disk / "loop/backing_file", str(machine.image))
    machine.swaps(str(machine.image))


def _two_on_one_file(machine: Machine) -> None:
    machine.put(machine.disk / "loop/backing_file", str(machine.image))
    machine.loop("loop9", "7:9", str(machine.image))
    machine.mounted("7:9", "/data", "/dev/loop9")


def _exported(place: str, source: str) -> Change:
    def change(machine: Machine) -> None:
        machine.partition(1, MIB, MIB)
        machine.put(machine.place / "sys/kernel/config" / place, source)

    return change


def _unreadable(name: str) -> Change:
    return lambda machine: (machine.place / "proc" / name).unlink()


def _hidden_holders(machine: Machine) -> None:
    """Root may read any folder, so that one is made which is none."""
    (machine.disk / "holders").rmdir()
    (machine.disk / "holders").write_text("")


REASONS: dict[str, tuple[Change, str]] = {
    "mounted": (lambda m: m.mounted(m.number, "/mnt", "/dev/sda"), "sda is mounted at /mnt"),
    "mounted_with_a_blank": (
        lambda m: m.mounted(m.number, "/mnt/my\\040disk", "/dev/sda"),
        "sda is mounted at /mnt/my disk",
    ),
    "mounted_partition": (_mounted_part, "sda1 is mounted at /data"),
    "mounted_by_name": (
        lambda m: m.mounted("0:33", "/data", "/dev/sda"),
        "sda is mounted at /data",
    ),
    "mounted_for_the_first_process": (
        lambda m: m.put(
            m.place / "proc/1/mountinfo", f"1 2 {m.number} / /host rw - xfs /dev/sda rw\n"
        ),
        "sda is mounted at /host",
    ),
    "mounted_in_a_container": (
        _in_a_container,
        "sda is mounted at /data of postgres (4242)",
    ),
    "run_directory_on_an_overlay": (_overlay, "the run directory lies on sda"),
    "mounted_by_another_path": (_mounted_by_wwn, "sdb (sda by another path) is mounted at /data"),
    "held_by_another_path": (_held_by_serial, "sdb (sda by another path) is held by dm-0"),
    "swap_by_another_path": (_partition_by_eui, "sdb1 (sda by another path) holds swap"),
    "running_by_another_path": (_running_by_wwn, "the running system lies on sda"),
    "swap_file_under_it": (_swap_file, "sda holds swap that is in use"),
    "two_loops_on_one_file": (_two_on_one_file, "loop9 (sda by another path) is mounted"),
    "loop_of_a_device": (
        lambda m: m.put(m.disk / "loop/backing_file", "/dev/sdq"),
        "sda is made of /dev/sdq and is no drive",
    ),
    "exported_by_nvmet": (
        _exported("nvmet/subsystems/nqn.a/namespaces/1/device_path", "/dev/sda"),
        "sda is exported to other machines by nvmet/subsystems/nqn.a/namespaces/1",
    ),
    "exported_by_iscsi": (
        _exported("target/core/iblock_0/disk/udev_path", "/dev/sda1"),
        "sda1 is exported to other machines by target/core/iblock_0/disk",
    ),
    "exported_by_usb": (
        _exported("usb_gadget/g1/functions/mass_storage.0/lun.0/file", "/dev/sda"),
        "sda is exported",
    ),
    "btrfs_of_several": (_btrfs_of_several, "sda is mounted at a btrfs of several drives"),
    "swap": (lambda m: m.swaps("/dev/sda"), "sda holds swap that is in use"),
    "swap_partition": (_swap_part, "sda1 holds swap that is in use"),
    "lvm": (_held("253:1", "dm-1", dm__uuid="LVM-x", dm__name="vg-a"), "held by dm-1 vg-a (LVM)"),
    "lvm_partition": (_held_part, "sda2 is held by dm-0 vg-root (LVM)"),
    "dm_crypt": (_held("253:2", "dm-2", dm__uuid="CRYPT-LUKS2-x"), "held by dm-2 (dm-crypt)"),
    "multipath": (_held("253:3", "dm-3", dm__uuid="mpath-x"), "held by dm-3 (multipath)"),
    "dm_raid": (_held("253:4", "dm-4", dm__uuid="DMRAID-x"), "held by dm-4 (RAID)"),
    "dm_of_another_kind": (_held("253:5", "dm-5"), "held by dm-5"),
    "md": (_held("9:0", "md0", md__level="raid1"), "held by md0 (RAID raid1)"),
    "bcache": (_held("252:0", "bcache0"), "held by bcache0 (bcache)"),
    "holder_nobody_knows": (_held("240:0", "odd0"), "held by odd0"),
    "loop_on_it": (
        lambda m: m.loop("loop7", "7:1007", "/dev/sda"),
        "loop7 (/dev/sda) stands on sda",
    ),
    "loop_on_partition": (_loop_on_part, "loop0 (/dev/sda1) stands on sda1"),
    "loop_whose_node_is_gone": (_loop_without_node, "stands on sda"),
    "partition": (_partition, "sda1 is a partition of sda"),
    "stacked": (_stacked, "sda is made of sdb and is no drive"),
    "zram": (_zram, "zram0 lies in this machine's memory"),
    "read_only": (lambda m: m.put(m.disk / "ro", "1"), "sda is read-only"),
    "no_medium": (lambda m: m.put(m.disk / "size", "0"), "sda has no medium"),
    "running_system": (_beneath("the running system"), "the running system lies on sda"),
    "run_directory": (_beneath("the run directory"), "the run directory lies on sda"),
    "working_directory": (_beneath("the working directory"), "the working directory lies on sda"),
    "mounts_unreadable": (_unreadable("self/mountinfo"), "what is mounted"),
    "swaps_unreadable": (_unreadable("swaps"), "where swap is"),
    "holders_unreadable": (_hidden_holders, "who holds sda"),
}


@pytest.mark.parametrize("case", REASONS)
def test_each_reason_is_told_with_its_place(case: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    change, words = REASONS[case]
    change(machine)
    with unchanged(machine.image):
        reasons = [refusal.reason for refusal in refusals(machine.facts())]
    assert any(words in reason for reason in reasons), reasons


def test_nothing_speaks_against_a_drive_of_nobody(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.partition(1, MIB, MIB)
    machine.mounted("8:16", "/", "/dev/sdb")
    machine.loop("loop0", "7:1000", "/dev/sdb1")
    for name, disk in (("S4X1", machine.disk), ("S4X2", machine.device("sdb", "8:16", SIZE))):
        machine.put(disk / "device/model", "A DISK")
        machine.put(disk / "device/serial", name)
    assert refusals(machine.facts()) == []


def _gpt(machine: Machine, sector: int = 512, at: int = 0) -> None:
    head = bytearray(92)
    head[:8] = b"EFI PART"
    struct.pack_into("<QII", head, 72, 2, 4, 128)
    entry = bytearray(128)
    entry[:16] = b"\1" * 16
    struct.pack_into("<QQ", entry, 32, 8 * MIB // sector, 16 * MIB // sector - 1)
    entry[56 : 56 + 10] = "photo".encode("utf-16-le")
    machine.write(at or sector, bytes(head))
    machine.write(2 * sector, bytes(entry))


def _mbr(machine: Machine) -> None:
    entry = bytearray(16)
    entry[4] = 0x83
    struct.pack_into("<II", entry, 8, 8 * MIB // 512, 8 * MIB // 512)
    machine.write(446, bytes(entry))
    machine.write(510, b"\x55\xaa")


END = SIZE
PUT: dict[str, list[tuple[int, bytes]]] = {
    "btrfs": [(0x10040, b"_BHRfS_M")],
    "LVM": [(512, b"LABELONE" + bytes(16) + b"LVM2 001")],
    "LVM in the first sector": [(0, b"LABELONE" + bytes(16) + b"LVM2 001")],
    "Linux RAID 0.90": [(END - 65536, bytes.fromhex("fc4e2ba9"))],
    "Linux RAID 0.90 of another byte order": [(END - 65536, bytes.fromhex("a92b4efc"))],
    "Linux RAID 1.0": [(END - 8192, bytes.fromhex("fc4e2ba9"))],
    "Linux RAID 1.1": [(0, bytes.fromhex("fc4e2ba9"))],
    "Linux RAID 1.2": [(4096, bytes.fromhex("fc4e2ba9"))],
    "ZFS": [((128 << 10) + 3072, struct.pack("<Q", 0x00BAB10C))],
    "ZFS of another byte order": [((128 << 10), struct.pack(">Q", 0x00BAB10C))],
    "ZFS at the end": [(END - (256 << 10) + (128 << 10), struct.pack("<Q", 0x00BAB10C))],
    "bcache": [(0x1018, bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81"))],
    "bcachefs": [(0x1018, bytes.fromhex("c68573f666ce90a9d96a60cf803df7ef"))],
    "Ceph BlueStore": [(0, b"bluestore block device\n")],
    "Stratis": [(516, b"!Stra0tis\x86\xff\x02^\x41rh")],
    "APFS": [(32, b"NXSB")],
    "VMFS": [(MIB, bytes.fromhex("0dd001c0"))],
    "Intel RAID": [(END - 1024, b"Intel Raid ISM Cfg Sig. ")],
    "RAID of a controller": [(END - 512, b"\xde\x11\xde\x11")],
    "the journal of an ext4": [(0x438, b"\x53\xef"), (0x460, b"\x0a")],
    "hibernation": [(4086, b"S1SUSPEND\0")],
    "hibernation by pages of 16 KiB": [(16374, b"LINHIB0001")],
    "DRBD": [(END - 4096 + 60, bytes.fromhex("8374026b"))],
}


@pytest.mark.parametrize("mark", PUT)
def test_a_member_is_known_by_its_bytes(mark: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    for at, data in PUT[mark]:
        machine.write(at, data)
    reasons = [refusal.reason for refusal in refusals(machine.facts())]
    assert any("sda is a member of" in reason for reason in reasons), reasons


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("mark", ["btrfs", "LVM", "Linux RAID 1.2", "ZFS"])
@pytest.mark.parametrize("kind", ["GPT", "GPT of 4 KiB", "GPT at the end", "MBR"])
def test_members_within_partitions(mark: str, kind: str, known: bool, tmp_path: Path) -> None:
    """Also of a partition that the kernel does not know."""
    machine = Machine(tmp_path)
    if kind == "MBR":
        _mbr(machine)
    else:
        end = SIZE - 512 if kind.endswith("end") else 0
        _gpt(machine, 4096 if "4 KiB" in kind else 512, end)
    if known:
        machine.partition(1, 8 * MIB, 8 * MIB)
    for at, data in PUT[mark]:
        machine.write(8 * MIB + at, data)
    reasons = [refusal.reason for refusal in refusals(machine.facts())]
    assert any("is a member of" in reason and "1" in reason for reason in reasons), reasons


@pytest.mark.parametrize(
    ("at", "data", "name", "label_at", "label"),
    [
        (0x438, b"\x53\xef", "ext4", 0x478, b"holiday"),
        (0, b"XFSB", "XFS", 108, b"archive"),
        (82, b"FAT32   ", "FAT", 71, b"CAMERA     "),
        (0x400, bytes.fromhex("1020f5f2"), "F2FS", 0x47C, "phone".encode("utf-16-le")),
        (4086, b"SWAPSPACE2", "swap", 1052, b"swap0"),
        (0, b"LUKS\xba\xbe\0\2", "LUKS", 24, b"vault"),
    ],
)
def test_labels_are_read(
    at: int, data: bytes, name: str, label_at: int, label: bytes, tmp_path: Path
) -> None:
    machine = Machine(tmp_path)
    machine.write(at, data)
    machine.write(label_at, label)
    facts = machine.facts()
    words = label.decode("utf-16-le" if name == "F2FS" else "ascii").strip()
    assert facts.labels == [words]
    assert [mark.name for mark in facts.parts[0].signatures] == [name]


@pytest.mark.parametrize(
    ("label", "typed"), [(b"a\x1b[2Jb", "a?[2Jb"), (b"two\nlines", "two?lines"), (b" x ", "x")]
)
def test_any_label_can_be_typed(label: bytes, typed: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(0x438, b"\x53\xef")
    machine.write(0x478, label)
    facts = machine.facts()
    assert facts.labels == [typed]
    confirm(facts, Consent(words=(str(SIZE), "sda", typed)), 0)


def test_a_drive_without_a_serial_number_is_named_twice(tmp_path: Path) -> None:
    """Two virtual disks may have one size: a script says the kernel's name too."""
    facts, shown = Machine(tmp_path).facts(), list[str]()
    with pytest.raises(FlashtwinError, match="its model was not given"):
        confirm(facts, Consent(words=(str(SIZE),), say=shown.append), 0)
    assert shown[0] == f"/dev/sda: sda, no serial number, size {SIZE}"
    confirm(facts, Consent(words=("sda", str(SIZE))), 0)


def test_the_name_of_a_partition_is_a_label(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    _gpt(machine)
    assert machine.facts().labels == ["photo"]
    assert machine.facts().table == "GPT"


def test_a_hostile_table_ends() -> None:
    head = bytearray(92)
    head[:8] = b"EFI PART"
    struct.pack_into("<QII", head, 72, (1 << 64) - 1, (1 << 32) - 1, 128)
    data = bytes(512) + bytes(head) + bytes(4096)

    def read(at: int, count: int) -> bytes:
        return data[at : at + count] if at >= 0 else b""

    assert table(read, len(data)) == ("GPT", [])
    assert signatures(read, len(data)) == []


def test_a_device_of_no_bytes_has_no_signatures() -> None:
    assert signatures(lambda at, count: b"", 0) == []


loops = pytest.mark.skipif(bool(lacking()), reason=f"this machine lacks {', '.join(lacking())}")


@pytest.fixture(scope="module")
def precious(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A loop device on a file of data; no test may change a byte of it."""
    image = tmp_path_factory.mktemp("precious") / "image"
    image.write_bytes(b"precious" * (SIZE // 8))
    with unchanged(image), looped(image) as loop:
        yield loop


@loops
@pytest.mark.parametrize("case", [case for case in REASONS if case not in ("zram", "partition")])
def test_a_refusal_leaves_each_byte(case: str, precious: Path, tmp_path: Path) -> None:
    """A loop device of which a machine tells that it is in use."""
    with unchanged(precious):
        machine = Machine(tmp_path / "machine", number=number_of(precious))
        change, words = REASONS[case]
        change(machine)
        with pytest.raises(FlashtwinError) as caught:
            Held(precious, writes=True, roots=machine.roots, of_interest=machine.of_interest)
    assert caught.value.exit_code == REFUSED, caught.value
    assert words in caught.value.message


@loops
@pytest.mark.parametrize("mark", PUT)
def test_a_member_keeps_each_byte(mark: str, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    for at, data in PUT[mark]:
        machine.write(at, data)
    with (
        unchanged(machine.image),
        looped(machine.image) as loop,
        pytest.raises(FlashtwinError) as caught,
    ):
        Held(loop, writes=True)
    assert caught.value.exit_code == REFUSED
    assert "is a member of" in caught.value.message


@loops
@pytest.mark.parametrize("case", ["mounted", "swap", "md", "loop_on_it", "running_system"])
def test_it_is_looked_at_again_before_each_write(case: str, precious: Path, tmp_path: Path) -> None:
    """Somebody begins to use it after it was opened."""
    with unchanged(precious):
        machine = Machine(tmp_path / "machine", number=number_of(precious))
        held = Held(precious, writes=True, roots=machine.roots)
        try:
            assert held.writable() == held.handle
            change, words = REASONS[case]
            machine.of_interest = []
            change(machine)
            held.of_interest = tuple(machine.of_interest)
            with pytest.raises(FlashtwinError) as caught:
                held.writable()
        finally:
            held.close()
    assert caught.value.exit_code == REFUSED
    assert words in caught.value.message


@loops
@pytest.mark.parametrize("name", ["diskseq", "device/serial", "size"])
def test_another_device_in_its_place_is_not_written_to(
    name: str, precious: Path, tmp_path: Path
) -> None:
    with unchanged(precious):
        machine = Machine(tmp_path / "machine", number=number_of(precious))
        held = Held(precious, writes=True, roots=machine.roots)
        try:
            machine.put(machine.disk / name, "99")
            with pytest.raises(FlashtwinError, match="another device"):
                held.writable()
        finally:
            held.close()


@loops
def test_a_device_that_is_read_is_never_written_to(precious: Path) -> None:
    with unchanged(precious):
        held = Held(precious, writes=False)
        try:
            with pytest.raises(FlashtwinError) as caught:
                held.writable()
            with pytest.raises(OSError):
                os.pwrite(held.handle, b"x", 0)
        finally:
            held.close()
    assert caught.value.exit_code == REFUSED
