"""What a drive says of itself: SMART data and a maker's log.

smartctl's JSON is the form in which it is kept; nvme-cli's log is put into that form where smartctl
is not there, and its OCP log, which counts what was written to flash, is kept beside it. Invariant:
nothing that names the device leaves this module (`identity.without_secrets`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flashtwin.drives.device import identity, tools
from flashtwin.drives.device.facts import Facts
from flashtwin.model import smart

# The log counts these of heat, by the names of smartctl and nvme-cli: transitions to less power,
# and minutes beyond the temperature of which the maker warns.
_HEAT = {
    "slowed itself down {} times for heat": (
        *("thermal_temp1_trans_count", "thermal_temp2_trans_count"),
        *("thm_temp1_trans_count", "thm_temp2_trans_count"),
    ),
    "was {} min warmer than its maker warns of": ("warning_temp_time",),
}


def of(facts: Facts) -> dict[str, Any]:
    """SMART data now, as smartctl prints them; empty where nobody may ask or nothing answers."""
    path = str(facts.path)
    data = tools.asked(["smartctl", "--json", "--all", path])
    if not smart.has_counters(data) and facts.name.startswith("nvme"):
        log = tools.asked(["nvme", "smart-log", path, "--output-format=json"])
        data = smart.of_nvme_cli(log, facts.model, facts.firmware) if log else {}
    if not smart.has_counters(data):
        return {}
    if facts.name.startswith("nvme"):
        ocp = tools.asked(["nvme", "ocp", "smart-add-log", path, "--output-format=json"])
        data = {**data, **({smart.OCP: ocp} if ocp else {})}
    plain: dict[str, Any] = identity.without_secrets(data, facts.secrets)
    return plain


def slowed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """What an NVMe drive counted of its own heat between two readings; none where it counted
    nothing."""
    first, second = before.get(smart.NVME), after.get(smart.NVME)
    if not isinstance(first, dict) or not isinstance(second, dict):
        return None
    counted = []
    for words, keys in _HEAT.items():
        rose = sum(_count(second, key) - _count(first, key) for key in keys)
        if rose > 0:
            counted.append(words.format(rose))
    return f"by its own counters the drive {', and '.join(counted)}" if counted else None


def _count(log: Mapping[str, Any], key: str) -> int:
    value = smart.plain(log.get(key, 0))
    return value if isinstance(value, int) else 0
