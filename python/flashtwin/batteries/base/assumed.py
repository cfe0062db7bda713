"""The values of a twin's spec that its label states, and those that nobody published.

A spec says of each value where it comes from; what begins with `assumed`, or is the format's own
default, is a choice. Invariant: a target without a spec has no such values, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from flashtwin.model.cells import BITS

if TYPE_CHECKING:
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

# Sources that a buyer can look up.
STATED = ("datasheet", "published")


def stated(info: DriveInfo) -> dict[str, str]:
    """The values of a spec that a data sheet or a publication states."""
    rows = info.identity.get("values")
    if not isinstance(rows, list):
        return {}
    return {row["key"]: str(row["value"]) for row in rows if row.get("origin") in STATED}


def stated_bits(info: DriveInfo) -> int | None:
    """How many bits a cell holds, where the label says it."""
    return BITS.get(stated(info).get("nand.cell", ""))


def assumed_among(info: DriveInfo, keys: Iterable[str]) -> list[str]:
    """Those of the keys whose values are assumed in the spec of a twin."""
    rows = info.identity.get("values")
    if not isinstance(rows, list):
        return []
    assumed = {
        row["key"]
        for row in rows
        if row.get("unwritten") or str(row.get("source", "")).startswith("assumed")
    }
    return [key for key in keys if key in assumed]


def noted_assumed(
    findings: Sequence[Finding], info: DriveInfo, keys: Iterable[str]
) -> list[Finding]:
    """The findings, each with a note where they rest on assumed values."""
    assumed = assumed_among(info, keys)
    if not assumed:
        return list(findings)
    note = f"assumed in the spec: {', '.join(assumed)}"
    return [finding.noted(note) for finding in findings]
