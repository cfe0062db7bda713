"""Bring a drive back to where it was never written, and see whether that happened.

In this order: NVMe sanitize, NVMe format, ATA secure erase, TRIM of everything. The first that the
drive has and that did something is enough. Whether it did is not believed: marks are written all
over the drive beforehand, and none may be read afterwards. A sanitize, and a format on many
drives, erase every namespace of the controller, so they are left out where there are others.
Invariant: before each command the device is looked at again (`Held.writable`).
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from flashtwin import system
from flashtwin.drives.device import tools
from flashtwin.drives.device.held import Held
from flashtwin.model.target import Interrupted, Progress, Watch

# From linux/fs.h.
_BLKDISCARD, _BLKFLSBUF = 0x1277, 0x1261
_MARKS, _MARK_BYTES = 64, 4096
_FORMAT_S, _SANITIZE_S, _SECURE_ERASE_S = 4 * 3600.0, 12 * 3600.0, 12 * 3600.0
_POLL_S = 0.5
# The user data erase of NVMe format; sanitize by block erase and by a new key.
_SES, _BLOCK_ERASE, _CRYPTO_ERASE = 1, 2, 4
# Of the optional commands (oacs): format, and the management of namespaces.
_FORMATS, _MANAGES = 2, 8
_PASSWORD = "flashtwin"
_DISCARD_BYTES = 1 << 30


class Purged(NamedTuple):
    """The command that erased the drive, and how that was seen; `tried`: those that did not."""

    by: str
    seen: str
    seconds: float
    tried: tuple[str, ...] = ()

    def __str__(self) -> str:
        before = f"; before it {'; '.join(self.tried)}" if self.tried else ""
        return f"erased by {self.by} in {self.seconds:.1f} s, {self.seen}{before}"


@dataclass(frozen=True, kw_only=True)
class _Method:
    """A way to erase; it answers with nothing, or with why it could not."""

    name: str
    erase: Callable[[], str]


def purge(held: Held, watch: Watch) -> Purged | str:
    """Erase the drive; a sentence where no way did."""
    tried: list[str] = []
    for method in _methods(held, watch):
        marks = _marked(held)
        began_s = time.monotonic()
        held.writable()
        why = method.erase()
        seconds = time.monotonic() - began_s
        if not why:
            left, zeros = _left(held, marks)
            if not left:
                seen = f"none of {len(marks)} marks is left, {zeros} places read as zeros"
                return Purged(by=method.name, seen=seen, seconds=seconds, tried=tuple(tried))
            why = f"said that it is done and left {left} of {len(marks)} marks"
        tried.append(f"{method.name}: {why}")
    return f"nothing erased the drive ({'; '.join(tried) or 'it has no command for it'})"


def can_purge(held: Held) -> bool:
    """Whether the drive has any command for it, as far as can be told without one."""
    return held.writes and next(_methods(held, lambda progress: True), None) is not None


def discard(held: Held, offset: int, size: int, watch: Watch) -> None:
    """TRIM a range, whose parts of a sector at both ends stay; in pieces, so that a signal is
    heard."""
    sector = held.facts.sector_bytes
    at, end = -(-offset // sector) * sector, (offset + size) // sector * sector
    handle = held.writable()
    began_s = time.monotonic()
    while at < end:
        length = min(end - at, _DISCARD_BYTES)
        system.control(handle, _BLKDISCARD, struct.pack("QQ", at, length))
        at += length
        if not watch(Progress(bytes=0, drive_s=time.monotonic() - began_s)):
            raise Interrupted("the TRIM was cut short")


def _methods(held: Held, watch: Watch) -> Iterator[_Method]:
    facts = held.facts
    if facts.name.startswith("nvme"):
        yield from _nvme(held, watch)
    elif facts.link.startswith("SATA"):
        yield from _ata(held)
    if facts.discards:

        def trim() -> str:
            try:
                discard(held, 0, facts.size_bytes, watch)
            except OSError as error:
                return f"failed: {error.strerror}"
            return ""

        yield _Method(name="TRIM of everything", erase=trim)


def _nvme(held: Held, watch: Watch) -> Iterator[_Method]:
    """Sanitize, then format, where no other namespace would be lost with it."""
    path = str(held.path)
    controller = re.sub(r"n\d+$", "", path)
    about = tools.asked(["nvme", "id-ctrl", controller, "--output-format=json"])
    if not about or held.facts.siblings or not _is_alone(controller, about):
        return
    can = _bits(about.get("sanicap"))
    for action, bit, name in ((_BLOCK_ERASE, 2, "block erase"), (_CRYPTO_ERASE, 1, "new key")):
        if can & bit:

            def sanitize(action: int = action) -> str:
                words = ["nvme", "sanitize", controller, f"--sanact={action}"]
                code, _, complaint = tools.ran(words)
                return (complaint or "refused") if code else _sanitized(controller, watch)

            yield _Method(name=f"NVMe sanitize ({name})", erase=sanitize)
            break
    if _bits(about.get("oacs")) & _FORMATS:

        def format_() -> str:
            space = tools.asked(["nvme", "id-ns", path, "--output-format=json"])
            flbas = space.get("flbas")
            if not isinstance(flbas, int):
                return "the size of its sectors, which is to stay, cannot be read"
            form = (flbas & 0xF) | (flbas >> 1 & 0x30)
            words = ["nvme", "format", path, f"--ses={_SES}", f"--lbaf={form}", "--force"]
            code, _, complaint = tools.ran(words, within_s=_FORMAT_S)
            return (complaint or "refused") if code else ""

        yield _Method(name="NVMe format", erase=format_)


def _is_alone(controller: str, about: dict[str, Any]) -> bool:
    """True where no other namespace can be lost: one that is not attached is no device here, and
    only a drive that manages namespaces has such."""
    if about.get("nn") == 1 or not _bits(about.get("oacs")) & _MANAGES:
        return True
    listed = tools.asked(["nvme", "list-ns", controller, "--all", "--output-format=json"])
    rows = _member(listed, "nsid_list")
    return isinstance(rows, list) and len(rows) == 1


def _bits(value: object) -> int:
    """A field of bits; none where a program prints something else."""
    return value if isinstance(value, int) and value >= 0 else 0


def _sanitized(controller: str, watch: Watch) -> str:
    """Wait for the end of a sanitize, which nothing can stop."""
    began_s = time.monotonic()
    while time.monotonic() - began_s < _SANITIZE_S:
        log = tools.asked(["nvme", "sanitize-log", controller, "--output-format=json"])
        progress, status = _member(log, "sprog"), _member(log, "sstat")
        if isinstance(status, dict):
            status = _member(status, "status") or _member(status, "value")
        if isinstance(status, str):
            status = int(status, 0) if re.fullmatch(r"(0x)?[0-9a-fA-F]{1,8}", status) else None
        if progress is None or not isinstance(status, int):
            return "its log cannot be read, and nobody knows whether it goes on"
        if status & 7 in (1, 4):
            return ""
        if status & 7 == 3:
            return "failed, by its log"
        time.sleep(_POLL_S)
        if not watch(Progress(bytes=0, drive_s=time.monotonic() - began_s)):
            raise Interrupted("the drive goes on with its sanitize; wait for it, or it stays busy")
    return f"did not end within {_SANITIZE_S / 3600:g} hours"


def _member(value: Any, key: str) -> Any:
    """A member anywhere in nested objects: nvme-cli puts the device's name around some."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        return next(
            (inner for each in value.values() if (inner := _member(each, key)) is not None), None
        )
    return None


def _ata(held: Held) -> Iterator[_Method]:
    """Secure erase, where the drive has it, nobody has set a password and the board did not
    freeze it."""
    path = str(held.path)
    code, printed, _ = tools.ran(["hdparm", "-I", path])
    security = printed.decode(errors="replace").partition("Security:")[2]
    if code or not re.search(r"^\s+supported\b", security.split("frozen")[0], re.M):
        return

    def erase() -> str:
        for word in ("enabled", "locked", "frozen"):
            if not re.search(rf"^\s*not\s+{word}\b", security, re.M):
                hint = " (a suspend and wake-up of the machine often undoes that)"
                return f"its security is {word}{hint if word == 'frozen' else ''}"
        owner = ["hdparm", "--user-master", "u"]
        code, _, complaint = tools.ran([*owner, "--security-set-pass", _PASSWORD, path])
        if code:
            return complaint or "it took no password"
        code, _, complaint = tools.ran(
            [*owner, "--security-erase", _PASSWORD, path], within_s=_SECURE_ERASE_S
        )
        if code:
            # Without this the drive would stay locked with our password.
            tools.ran([*owner, "--security-disable", _PASSWORD, path])
            return f"{complaint or 'refused'} (the password was taken off again: {_PASSWORD})"
        return ""

    yield _Method(name="ATA secure erase", erase=erase)


def _marked(held: Held) -> dict[int, bytes]:
    """Write marks that are spread evenly, the first block and the last among them; a drive that
    was erased before gets them too."""
    handle = held.writable()
    last = held.facts.size_bytes // _MARK_BYTES - 1
    places = sorted({last * number // (_MARKS - 1) * _MARK_BYTES for number in range(_MARKS)})
    marks = {at: os.urandom(_MARK_BYTES) for at in places}
    for at, mark in marks.items():
        os.pwrite(handle, mark, at)
    os.fsync(handle)
    _forget(handle)
    return marks


def _left(held: Held, marks: dict[int, bytes]) -> tuple[int, int]:
    """How many marks are still there, and how many places read as zeros."""
    _forget(held.handle)
    left = zeros = 0
    for at, mark in marks.items():
        try:
            data = os.pread(held.handle, len(mark), at)
        except OSError:
            # Some drives answer with an error for what was never written.
            continue
        left += data == mark
        zeros += not any(data)
    return left, zeros


def _forget(handle: int) -> None:
    """Have the kernel read from the drive again, and not from what it remembers."""
    with contextlib.suppress(OSError):
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    with contextlib.suppress(OSError):
        system.control(handle, _BLKFLSBUF)
