"""What this machine and this user may do with drives, and the exact command that gives the rest.

Invariant: nothing is installed, changed or written; a device is opened for reading alone.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from flashtwin.drives.device import health, tools
from flashtwin.drives.device.drive import looked_at
from flashtwin.drives.device.facts import Facts, line
from flashtwin.drives.device.refusals import refusals
from flashtwin.drives.real import real_fio
from flashtwin.errors import FlashtwinError
from flashtwin.model.document import Document

# Programs beside fio: for what, and Debian's package.
PROGRAMS = (
    ("smartctl", "SMART data", "smartmontools"),
    ("nvme", "NVMe sanitize, format and makers' logs", "nvme-cli"),
    ("hdparm", "ATA secure erase", "hdparm"),
)
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
    try:
        fio = real_fio.find()
        yield Check(name="fio", fine=True, text=f"{fio.version} at {fio.program}")
    except FlashtwinError as error:
        yield Check(name="fio", fine=False, text=error.message, command="apt install fio")
    for program, purpose, package in PROGRAMS:
        place = tools.path_of(program)
        text = f"{place}" if place else f"not installed: no {purpose}"
        command = None if place else f"apt install {package}"
        yield Check(name=program, fine=place is not None, text=text, command=command)
    if sys.platform != "linux":
        yield Check(name="devices", fine=False, text="devices are measured on Linux; files here")
    is_root = os.geteuid() == 0
    text = "root: devices may be opened" if is_root else "not root: devices need a right, see below"
    yield Check(name="user", fine=True, text=text)
    if governor := line(_GOVERNOR):
        is_fine = governor == "performance"
        command = None if is_fine else f"echo performance | sudo tee {_GOVERNORS}"
        yield Check(name="governor", fine=is_fine, text=governor, command=command)


def of_device(path: Path) -> Iterator[Check]:
    """What may be done with one device."""
    user = os.environ.get("USER") or str(os.geteuid())
    try:
        facts = looked_at(path, [("the running system", Path("/"))])
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
    yield _scheduler(facts)
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
    command = f"sudo smartctl --all {facts.path}" if os.geteuid() else None
    return Check(name="SMART", fine=False, text=f"no SMART data: {why or 'none'}", command=command)


def _scheduler(facts: Facts) -> Check:
    words = line(Path("/sys/class/block") / facts.name / "queue" / "scheduler")
    is_fine = "[none]" in words or words in ("", "none")
    command = f"echo none | sudo tee /sys/block/{facts.name}/queue/scheduler"
    return Check(
        name="scheduler",
        fine=is_fine,
        text=words or "none",
        command=None if is_fine else command,
    )
