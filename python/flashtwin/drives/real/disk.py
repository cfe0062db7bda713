"""What a file stands on: the disk under it, its link and scheduler, how full the file system is.

Read from /sys, and from smartctl where it is there and may ask. Nothing here is needed to measure:
what cannot be read is left out. All of it goes into host.json, and the SMART data into the run.

Invariants: nothing is written, and no disk is woken for a fact or waited for longer than
`SMARTCTL_S`; serial numbers are never stored.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from flashtwin import system
from flashtwin.drives.device import health
from flashtwin.drives.device.facts import Facts, line, link_of, sensed
from flashtwin.inputs import parse_json

SYS = Path("/sys")
SMARTCTL_S = 5.0
# smartctl's names of the facts that we keep.
_SMARTCTL = {"device_model": "model_name", "device_firmware": "firmware_version"}


def facts_of(path: Path, *, sys_root: Path = SYS) -> dict[str, Any]:
    """What is known of the disk and the file system under a file, by the keys of host.json."""
    facts: dict[str, Any] = {"file_system_full": _fill(path)}
    if disk := under(path, sys_root=sys_root):
        facts |= {"device": disk.name, **_from_sys(disk), **_from_smartctl(disk.name)}
    return {key: value for key, value in facts.items() if value not in (None, "")}


def smart_of(path: Path, *, sys_root: Path = SYS) -> dict[str, Any]:
    """SMART data of the disk under a file, as smartctl prints them; empty where nobody may ask or
    nothing answers. They count what everybody does with the disk."""
    disk = under(path, sys_root=sys_root)
    if disk is None:
        return {}
    serials = (line(disk / "device" / "serial"), line(disk / "serial"))
    wwns = (line(disk / "wwid"), line(disk / "device" / "wwid"))
    about = Facts(
        path=Path("/dev") / disk.name,
        name=disk.name,
        number="",
        size_bytes=0,
        model=line(disk / "device" / "model"),
        serial=next(filter(None, serials), ""),
        wwn=next(filter(None, wwns), ""),
    )
    return health.of(about)


def _fill(path: Path) -> str | None:
    """The used share of the file system's space, as df shows it."""
    room = shutil.disk_usage(path if path.is_dir() else path.parent)
    there = room.used + room.free
    return f"{100 * room.used / there:.0f} %" if there else None


def under(path: Path, *, sys_root: Path = SYS) -> Path | None:
    """The disk under a file, by its folder in /sys: that of a partition, and the one under a
    mapped device."""
    try:
        number = system.number_of(os.stat(path).st_dev)
    except OSError:
        return None
    at = sys_root / "dev" / "block" / number
    if not number or not at.exists():
        return None
    at = at.resolve()
    for _ in range(8):
        if (at / "partition").exists():
            at = at.parent
        under = sorted((at / "slaves").iterdir()) if (at / "slaves").is_dir() else []
        if len(under) != 1:
            return at
        at = under[0].resolve()
    return at


def _from_sys(disk: Path) -> dict[str, Any]:
    scheduler = re.search(r"\[(.+?)\]", line(disk / "queue" / "scheduler"))
    firmware = line(disk / "device" / "firmware_rev") or line(disk / "device" / "rev")
    return {
        "device_model": line(disk / "device" / "model"),
        "device_firmware": firmware,
        "device_link": link_of(disk),
        "device_scheduler": scheduler[1] if scheduler else line(disk / "queue" / "scheduler"),
        "device_temperature_c": sensed(disk),
    }


def _from_smartctl(name: str) -> dict[str, Any]:
    """What smartctl says of a disk, where it is installed, has permission, and need not wake the
    disk."""
    program = shutil.which("smartctl")
    if program is None:
        return {}
    command = [program, "--json", "--info", "--attributes", "--nocheck=standby", f"/dev/{name}"]
    try:
        answer = subprocess.run(
            command, capture_output=True, timeout=SMARTCTL_S, stdin=subprocess.DEVNULL, check=False
        )
        data = parse_json(answer.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return {}
    facts: dict[str, Any] = {key: data[of] for key, of in _SMARTCTL.items() if data.get(of)}
    with contextlib.suppress(KeyError, TypeError):
        facts["device_temperature_c"] = float(data["temperature"]["current"])
    with contextlib.suppress(KeyError, TypeError):
        facts["device_link"] = f"SATA {data['interface_speed']['current']['string']}"
    return facts
