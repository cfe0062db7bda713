"""Why nothing is written to a block device, whatever somebody says: facts in, sentences out.

A pure function of `Facts`, so that every reason can be tried on a machine that is made up. Each
reason says where: the part, and who uses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flashtwin.drives.device.facts import Facts
from flashtwin.errors import REFUSED, FlashtwinError

_HOW = {
    "mounted": "{part} is mounted at {by}",
    "swap": "{part} holds swap that is in use",
    "held": "{part} is held by {by}",
    "loop": "the loop device {by} stands on {part}",
    "open": "{part} is open in {by}",
    "exported": "{part} is exported to other machines by {by}",
}
_HINTS = {
    "mounted": "umount it first, if nothing of it is needed",
    "swap": "swapoff it first",
    "held": "take that apart first, if nothing of it is needed",
    "loop": "losetup --detach it first",
    "open": "end that process first",
    "exported": "take that export away first",
}


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A reason, with where it lies, and what would take it away."""

    reason: str
    hint: str | None = None


def refusals(facts: Facts) -> list[Refusal]:
    """All reasons not to write to a device; none if it may be written to."""
    used = [
        Refusal(reason=_HOW[use.how].format(part=use.part, by=use.by), hint=_HINTS[use.how])
        for use in dict.fromkeys(facts.uses)
    ]
    return [*_of_kind(facts), *_of_machine(facts), *used, *_of_members(facts)]


def check(facts: Facts) -> None:
    """Raise with all reasons at once, if there is one."""
    reasons = refusals(facts)
    if reasons:
        hints = list(dict.fromkeys(refusal.hint for refusal in reasons if refusal.hint))
        raise FlashtwinError(
            f"nothing is written to {facts.path}: "
            + "; ".join(refusal.reason for refusal in reasons),
            hint="; ".join(hints) or None,
            exit_code=REFUSED,
        )


def _of_kind(facts: Facts) -> Iterator[Refusal]:
    if facts.partition_of:
        yield Refusal(
            reason=f"{facts.name} is a partition of {facts.partition_of}",
            hint=f"name the drive /dev/{facts.partition_of}, or a directory on the partition",
        )
    if facts.made_of:
        yield Refusal(
            reason=f"{facts.name} is made of {', '.join(facts.made_of)} and is no drive",
            hint="name the drive itself",
        )
    if facts.name.startswith("zram"):
        yield Refusal(reason=f"{facts.name} lies in this machine's memory")
    if facts.read_only:
        yield Refusal(
            reason=f"{facts.name} is read-only",
            hint=f"blockdev --setrw {facts.path} if it may be written",
        )
    if not facts.size_bytes:
        yield Refusal(reason=f"{facts.name} has no medium")


def _of_machine(facts: Facts) -> Iterator[Refusal]:
    for standing, where in facts.beneath:
        yield Refusal(
            reason=f"{standing} lies on {facts.name} ({where})",
            hint="start from another drive" if standing != "the running system" else None,
        )
    for lacking in facts.unknown:
        yield Refusal(reason=f"{lacking} cannot be read, so nobody knows who uses {facts.name}")


def _of_members(facts: Facts) -> Iterator[Refusal]:
    for part in facts.parts:
        for mark in part.signatures:
            if mark.kind == "member":
                called = f" ({mark.label})" if mark.label else ""
                yield Refusal(
                    reason=f"{part.name} is a member of {mark.name}{called}",
                    hint=f"if nothing of it is needed: wipefs --all on {part.name}",
                )
