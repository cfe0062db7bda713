"""A guest: kernel, root file system and boot, without KVM.

The kernel is Debian's for clouds, which has NVMe and ext4 built in; the root is busybox, the
programs that the checks call, and this Python with flashtwin, on a drive of its own. The guest's
init is a list of checks, `served.sh` or another. Kernel and root are kept in .tools/guest.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from served import ran

import flashtwin

KEPT = Path(__file__).resolve().parents[2] / ".tools" / "guest"
QEMU = "qemu-system-x86_64"
# Called on the host; below, the programs that are copied into the guest.
BUILDERS = (QEMU, "apt-get", "apt-cache", "dpkg-deb", "depmod", "mke2fs", "nbdcopy")
PROGRAMS = (
    *("nvme", "smartctl", "fio", "dmsetup", "lvm", "mdadm", "cryptsetup", "sfdisk", "busybox"),
    *("mkfs.ext4", "e2fsck", "mkfs.xfs"),
)
# Modules of the kernel that are not built in, by folders.
MODULES = ("drivers/md", "fs/xfs", "lib", "crypto", "arch/x86/crypto")
LIBRARY = re.compile(r"/[^ )]+")
ROOT_SIZE = "900M"
ARGUMENTS = (
    "console=ttyS0 quiet panic=-1 mitigations=off nokaslr cryptomgr.notests"
    " root=/dev/nvme0n1 rootfstype=ext4 ro init=/"
)
# Emulated, on a machine that others use as well.
PATIENCE_S = 900


def lacking() -> list[str]:
    """What this machine lacks for it, by name."""
    return [name for name in (*BUILDERS, *PROGRAMS) if not binaries(name)]


def place_for(places: pytest.TempPathFactory) -> Path:
    """A folder for a boot's drives; the test is skipped, by name, where there can be none."""
    if names := lacking():
        pytest.skip(f"the guest is left out: this machine lacks {', '.join(names)}")
    try:
        kernel()
    except (AssertionError, subprocess.SubprocessError, ValueError) as error:
        pytest.skip(f"the guest is left out: the archive has no kernel: {error}")
    return places.mktemp("guest")


def binaries(name: str) -> list[Path]:
    """A program on PATH, without the scripts that may stand before it there."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    paths = (Path(folder, name) for folder in folders)
    return [path for path in paths if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]


def kernel() -> Path:
    """Debian's kernel, unpacked and not installed; raises where the archive does not give it."""
    place = KEPT / "kernel"
    if not list(place.glob("boot/vmlinuz-*")):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        told = ran("apt-cache", "depends", "linux-image-cloud-amd64")
        (package,) = set(re.findall(r"Depends: (linux-image-\S+)", told))
        ran("apt-get", "download", package, cwd=KEPT)
        (archive,) = KEPT.glob(f"{package}_*.deb")
        ran("dpkg-deb", "-x", archive, place)
        archive.unlink()
    return place


@cache
def root() -> Path:
    """The guest's root file system, made anew once: its checks and flashtwin are of this
    checkout."""
    tree, image = KEPT / "root", KEPT / "root.ext4"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("bin", "dev", "proc", "sys", "tmp", "run", "mnt"):
        (tree / name).mkdir(parents=True)
    for name in PROGRAMS:
        copied_with_libraries(binaries(name)[0], tree)
    busybox = str(binaries("busybox")[0])
    for applet in set(ran(busybox, "--list").split()) - {"busybox", *PROGRAMS}:
        (tree / "bin" / applet).symlink_to(busybox)
    (modules,) = (kernel() / "lib" / "modules").iterdir()
    for folder in MODULES:
        source = modules / "kernel" / folder
        if source.exists():
            shutil.copytree(source, tree / "lib" / "modules" / modules.name / "kernel" / folder)
    for index in ("modules.order", "modules.builtin"):
        shutil.copy(modules / index, tree / "lib" / "modules" / modules.name)
    ran("depmod", "-b", tree, modules.name)
    for script in Path(__file__).parent.glob("*.sh"):
        shutil.copy(script, tree)
    with_flashtwin(tree)
    image.unlink(missing_ok=True)
    ran("mke2fs", "-q", "-t", "ext4", "-d", tree, image, ROOT_SIZE)
    return image


def copied_with_libraries(program: Path, tree: Path) -> None:
    target = tree / str(program).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(program, target)
    copy_libraries([program], tree)


def copy_libraries(files: Sequence[Path], tree: Path) -> None:
    """Libraries that programs and extensions load from outside of the tree."""
    words = ["ldd", *map(str, files)]
    told = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    named = {Path(path) for path in LIBRARY.findall(told)} - set(files)
    for path in named:
        target = tree / str(path).lstrip("/")
        if path.is_file() and not path.is_relative_to(tree) and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


def with_flashtwin(tree: Path) -> None:
    """This Python, flashtwin, and the packages that it needs."""
    python, packages = tree / "opt" / "python", tree / "opt" / "packages"
    library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix)
    unneeded = shutil.ignore_patterns(
        "test", "tests", "idlelib", "site-packages", "config-*", "*.a"
    )
    shutil.copytree(base / library, python / library, ignore=unneeded, symlinks=True)
    copied_with_libraries((base / "bin" / "python3").resolve(), tree)
    (python / "bin").mkdir()
    shutil.copy(base / "bin" / "python3", python / "bin" / "python3")
    for name in required("flashtwin") - {"flashtwin"}:
        for file in metadata.files(name) or ():
            source = Path(str(file.locate()))
            if ".." not in file.parts and source.suffix != ".pyc" and source.is_file():
                target = packages / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
    (own,) = flashtwin.__path__
    shutil.copytree(own, packages / "flashtwin", ignore=shutil.ignore_patterns("__pycache__"))
    copy_libraries([base / "bin" / "python3", *python.rglob("*.so"), *packages.rglob("*.so")], tree)
    # The root is read-only there: what is not compiled here would be at each start.
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(packages, quiet=2, invalidation_mode=mode)


def required(name: str) -> set[str]:
    """A package, and those that it needs, without extras."""
    rows = [row for row in metadata.requires(name) or () if "extra ==" not in row]
    names = {re.split(r"[^\w.-]", row)[0] for row in rows if "platform_system" not in row}
    return {name}.union(*(required(each) for each in names))


@dataclass(frozen=True, kw_only=True)
class Disk:
    """An NVMe drive of the guest. `source`: where its data are, as QEMU's blockdev takes it;
    `sector_bytes`: of its blocks."""

    serial: str
    source: str
    sector_bytes: int = 512

    @staticmethod
    def of_file(path: Path, serial: str, size_bytes: int | None = None) -> Disk:
        """A drive whose data are in a file, made anew where a size is given."""
        if size_bytes is not None:
            with path.open("wb") as file:
                file.truncate(size_bytes)
        return Disk(serial=serial, source=f"driver=file,filename={path},discard=unmap")

    @staticmethod
    def of_export(socket: Path, serial: str) -> Disk:
        """A served drive. Without `discard` QEMU drops a TRIM silently."""
        where = f"driver=nbd,server.type=unix,server.path={socket},discard=unmap,cache.direct=on"
        return Disk(serial=serial, source=where, sector_bytes=4096)

    def arguments(self, node: str) -> list[str]:
        """The arguments for QEMU."""
        sizes = f"logical_block_size={self.sector_bytes},physical_block_size={self.sector_bytes}"
        return [
            *("-blockdev", f"node-name={node},{self.source}"),
            *("-device", f"nvme,drive={node},serial={self.serial},{sizes}"),
        ]


def booted(checks: str, disks: Sequence[Disk]) -> str:
    """Boot with these drives beside the root; the guest's console until it is off."""
    (image,) = (kernel() / "boot").glob("vmlinuz-*")
    command = [QEMU, "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-m", "1024"]
    command += ["-smp", "2", "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio"]
    command += ["-kernel", str(image), "-append", f"{ARGUMENTS}{checks}.sh"]
    command += ["-drive", f"file={root()},if=none,id=root,format=raw,read-only=on"]
    command += ["-device", "nvme,drive=root,serial=ROOT"]
    for number, disk in enumerate(disks):
        command += disk.arguments(f"disk{number}")
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE_S,
        check=False,
    )
    return done.stdout + done.stderr


def told(console: str, check: str) -> str:
    """The words of a check that failed; the end of the console where it was not reached."""
    _, begun, text = console.partition(f"check {check}: failed")
    return text.partition("\ncheck ")[0][-6000:] if begun else console[-4000:]
