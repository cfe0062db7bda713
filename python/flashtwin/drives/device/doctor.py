"""What this machine and this user may do with drives, and the exact command that gives the rest.

Invariant: nothing is installed, changed or written; a device is opened for reading alone.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from flashtwin import system
from flashtwin.drives.device import health, tools
from flashtwin.drives.device.drive import looked_at
from flashtwin.drives.device.facts import Facts, Roots, line
from flashtwin.drives.device.refusals import refusals
from flashtwin.drives.real import engines, real_fio
from flashtwin.drives.real.instruments import Thermometer
from flashtwin.errors import FlashtwinError
from flashtwin.model.document import Document

# Programs beside fio: for what, their package, and whether they serve where files alone are
# measured.
PROGRAMS = (
    ("smartctl", "SMART data", "smartmontools", True),
    ("nvme", "NVMe sanitize, format and makers' logs", "nvme-cli", False),
    ("hdparm", "ATA secure erase", "hdparm", False),
)
# How a package is installed, by Python's name of the system.
_INSTALL = {"linux": "apt install", "darwin": "brew install", "win32": "choco install"}
# Systems on which only the workflow of releases runs flashtwin.
_NEVER_RUN = {"darwin": "macOS", "win32": "Windows"}
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_GOVERNORS = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"


class Check(Document, frozen=True):
    """Something that may be done or not, why, and the command that changes that."""

    name: str
    fine: bool
    text: str
    command: str | None = None


def of_machine() -> Iterator[Check]:
    """What measuring needs of any machine."""
    if name := _NEVER_RUN.get(engines.SYSTEM):
        text = (
            f"nobody of flashtwin ever ran it on {name}: the release's workflow measures a file"
            " there, and makes no release where that fails"
        )
        yield Check(name="system", fine=True, text=text)
    try:
        fio = real_fio.find()
        yield Check(name="fio", fine=True, text=f"{fio.version} at {fio.program}")
        yield _engines(fio)
    except FlashtwinError as error:
        yield Check(name="fio", fine=False, text=error.message, command=_installing("fio"))
    takes_devices = engines.SYSTEM == "linux"
    for program, purpose, package, for_files in PROGRAMS:
        if for_files or takes_devices:
            place = tools.path_of(program)
            text = f"{place}" if place else f"not installed: no {purpose}"
            command = None if place else _installing(package)
            yield Check(name=program, fine=place is not None, text=text, command=command)
    if takes_devices:
        text = "not root: devices need a right, see below"
        if system.user() == 0:
            text = "root: devices may be opened"
        yield Check(name="user", fine=True, text=text)
    else:
        text = "files are measured here, devices on Linux alone"
        yield Check(name="devices", fine=True, text=text)
    if governor := line(_GOVERNOR):
        is_fine = governor == "performance"
        command = None if is_fine else f"echo performance | sudo tee {_GOVERNORS}"
        yield Check(name="governor", fine=is_fine, text=governor, command=command)


def _installing(package: str) -> str | None:
    how = _INSTALL.get(engines.SYSTEM)
    return f"{how} {package}" if how else None


def _engines(fio: real_fio.Fio) -> Check:
    """By which of its engines fio can reach a file here, and what the best of them leaves out."""
    listed = tools.ran([fio.program, "--enghelp"])[1].decode(errors="replace").split()
    there = [engine for engine in engines.preferred() if engine.name in listed]
    names = ", ".join(dict.fromkeys(engine.name for engine in there if engine.direct))
    notes = engines.caveats(there[0]) if there else []
    text = "; ".join([f"direct I/O by {names}" if names else "no engine for direct I/O", *notes])
    command = None if names else _installing("fio")
    if names and engines.SYSTEM == "darwin":
        command = "sudo sysctl -w kern.aiomax=1024 kern.aioprocmax=1024 kern.aiothreads=64"
    return Check(name="engines", fine=bool(names), text=text, command=command)


def of_device(path: Path, roots: Roots | None = None) -> Iterator[Check]:
    """What may be done with one device."""
    roots = roots or Roots()
    user = os.environ.get("USER") or str(system.user())
    try:
        facts = looked_at(path, [("the running system", Path("/"))], roots)
    except FlashtwinError as error:
        command = f"sudo setfacl -m u:{shlex.quote(user)}:rw {shlex.quote(str(path))}"
        yield Check(name="read", fine=False, text=error.message, command=command)
        return
    yield Check(name="read", fine=True, text=f"{path} may be read")
    writable = os.access(path, os.W_OK)
    command = f"sudo setfacl -m u:{shlex.quote(user)}:rw {shlex.quote(str(path))}"
    text = "this user may open it for writing" if writable else "this user may not open it"
    yield Check(name="write", fine=writable, text=text, command=None if writable else command)
    for refusal in refusals(facts):
        yield Check(name="in use", fine=False, text=refusal.reason, command=refusal.hint)
    yield _smart(facts)
    disk = roots.sys / "class" / "block" / facts.name
    yield _temperature(facts, disk, roots)
    yield _scheduler(facts, disk)
    yield Check(
        name="TRIM",
        fine=facts.discards,
        text="the device takes TRIM" if facts.discards else "the device takes no TRIM",
    )
    for remark in facts.remarks:
        yield Check(name="note", fine=True, text=remark)


def _smart(facts: Facts) -> Check:
    if health.of(facts):
        return Check(name="SMART", fine=True, text="SMART data are told")
    why = tools.ran(["smartctl", "--json", "--info", str(facts.path)])[2]
    command = f"sudo smartctl --all {facts.path}" if system.user() else None
    return Check(name="SMART", fine=False, text=f"no SMART data: {why or 'none'}", command=command)


def _temperature(facts: Facts, disk: Path, roots: Roots) -> Check:
    """The sensor of a drive's degrees beside a test, or the module that brings a SATA drive's."""
    source = Thermometer(disk).source
    if source:
        return Check(name="degrees", fine=True, text=f"by {source}")
    command = None
    if facts.name.startswith("nvme"):
        command = _installing("nvme-cli")
    elif facts.link.startswith("SATA") and not (roots.sys / "module" / "drivetemp").exists():
        command = "sudo modprobe drivetemp"
    text = "no sensor that the kernel reads: no degrees beside a test"
    return Check(name="degrees", fine=command is None, text=text, command=command)


def _scheduler(facts: Facts, disk: Path) -> Check:
    words = line(disk / "queue" / "scheduler")
    is_fine = "[none]" in words or words in ("", "none")
    command = f"echo none | sudo tee /sys/block/{facts.name}/queue/scheduler"
    return Check(
        name="scheduler",
        fine=is_fine,
        text=words or "none",
        command=None if is_fine else command,
    )
