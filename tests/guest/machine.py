"""A guest with a served drive as its NVMe: kernel, root file system and boot, without KVM.

The kernel is Debian's for clouds, which has NVMe and ext4 built in; the root is busybox and the
programs that the checks call, on a drive of its own. `checks.sh` is the guest's init. Kernel and
root are kept in .tools/guest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from served import ran

KEPT = Path(__file__).resolve().parents[2] / ".tools" / "guest"
INIT = Path(__file__).with_name("checks.sh")
QEMU = "qemu-system-x86_64"
# Called on the host; below, the programs that are copied into the guest.
BUILDERS = (QEMU, "apt-get", "apt-cache", "dpkg-deb", "depmod", "mke2fs", "nbdcopy")
PROGRAMS = ("nvme", "fio", "dmsetup", "mkfs.ext4", "e2fsck", "mkfs.xfs", "busybox")
# Modules of the kernel that are not built in, by folders.
MODULES = ("drivers/md", "fs/xfs", "lib", "crypto", "arch/x86/crypto")
LIBRARY = re.compile(r"/[^ )]+")
ROOT_SIZE = "400M"
ARGUMENTS = (
    "console=ttyS0 quiet panic=-1 mitigations=off nokaslr cryptomgr.notests"
    " root=/dev/nvme0n1 rootfstype=ext4 ro init=/init"
)
# Emulated, on a machine that others use as well.
PATIENCE_S = 900


def lacking() -> list[str]:
    """What this machine lacks for it, by name."""
    return [name for name in (*BUILDERS, *PROGRAMS) if not binaries(name)]


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


def root() -> Path:
    """The guest's root file system, made anew: its init is of this checkout."""
    tree, image = KEPT / "root", KEPT / "root.ext4"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("bin", "dev", "proc", "sys", "tmp", "mnt"):
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
    shutil.copy(INIT, tree / "init")
    (tree / "init").chmod(0o755)
    image.unlink(missing_ok=True)
    ran("mke2fs", "-q", "-t", "ext4", "-d", tree, image, ROOT_SIZE)
    return image


def copied_with_libraries(program: Path, tree: Path) -> None:
    libraries = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    for path in {str(program), *LIBRARY.findall(libraries.stdout)}:
        target = tree / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def booted(socket: Path, logs: Sequence[Path]) -> str:
    """Boot with a served drive and with log devices; the guest's console until it is off."""
    (image,) = (kernel() / "boot").glob("vmlinuz-*")
    command = [QEMU, "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-m", "640"]
    command += ["-smp", "2", "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio"]
    command += ["-kernel", str(image), "-append", ARGUMENTS]
    command += [
        *("-drive", f"file={root()},if=none,id=root,format=raw,read-only=on"),
        *("-device", "nvme,drive=root,serial=ROOT"),
        "-blockdev",
        f"driver=nbd,node-name=twin,server.type=unix,server.path={socket},discard=unmap,"
        "cache.direct=on",
        *(
            "-device",
            "nvme,drive=twin,serial=TWIN,logical_block_size=4096,physical_block_size=4096",
        ),
    ]
    for number, log in enumerate(logs):
        command += ["-drive", f"file={log},if=none,id=log{number},format=raw,discard=unmap"]
        command += ["-device", f"nvme,drive=log{number},serial=LOG{number}"]
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
