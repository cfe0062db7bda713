"""Write amplification from SMART data before and after, by what each maker counts.

Micron: 247 counts pages programmed for the host and 248 those of the firmware's own, so WAF = 1 +
d248/d247. Intel: 249 counts GiB programmed, 241 the host's 32 MiB. Western Digital: 233 and 234
GiB programmed into native and SLC cells, 241 the host's GiB. The NVMe log, Samsung's and
SandForce's attributes count no programs: from those there is no WAF.

Invariants: reads nothing but what `smartctl --json` prints of such a drive. A counter is a whole
number of its unit, so a difference is known to one unit either way: the interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flashtwin.analysis.estimate import Estimate

GIB, MIB = 1 << 30, 1 << 20


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Which attributes count bytes programmed and bytes of the host, and in what units."""

    programmed: Mapping[int, int]
    host: Mapping[int, int]


# Both of Micron's count programs: those for the host are what the host wrote.
MICRON = Counted(programmed={247: 1, 248: 1}, host={247: 1})
INTEL = Counted(programmed={249: GIB}, host={241: 32 * MIB})
WD = Counted(programmed={233: GIB, 234: GIB}, host={241: GIB})
KNOWN: Sequence[Counted] = (MICRON, INTEL, WD)


def from_smart(before: Mapping[str, Any], after: Mapping[str, Any]) -> Estimate | None:
    """Programmed over written between two readings; none where the drive does not count both, or
    where too little was written for its counters."""
    first, second = _raw(before), _raw(after)
    for one in KNOWN:
        wanted = {*one.programmed, *one.host}
        if wanted <= first.keys() and wanted <= second.keys():
            return _ratio(one, {key: second[key] - first[key] for key in wanted})
    return None


def _ratio(by: Counted, rose: Mapping[int, int]) -> Estimate | None:
    programmed = sum(rose[key] * unit for key, unit in by.programmed.items())
    host = sum(rose[key] * unit for key, unit in by.host.items())
    if host <= 0:
        return None
    either = sum(by.programmed.values()), sum(by.host.values())
    low = (programmed - either[0]) / (host + either[1])
    high = (programmed + either[0]) / (host - either[1]) if host > either[1] else None
    return Estimate(value=programmed / host, low=max(low, 0.0), high=high)


def _raw(smart: Mapping[str, Any]) -> dict[int, int]:
    table = smart.get("ata_smart_attributes", {}).get("table", [])
    return {int(row["id"]): int(row["raw"]["value"]) for row in table}
