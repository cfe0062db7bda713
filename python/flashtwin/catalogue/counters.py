"""What makers count in SMART data: bytes of the host and of the flash, and the wear.

`counters.toml` has the attributes by maker, each with its source. A maker is known by what smartctl
says of the model; of another one, attributes of the same numbers are not read. NVMe counts what the
host wrote in every drive's log, and what the flash took in OCP's log alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from flashtwin.inputs import read_toml
from flashtwin.model import smart

# NVMe's unit of data: a thousand sectors.
NVME_UNIT = 512_000
_MEDIA_WRITTEN = "Physical media units written"


class Counters(NamedTuple):
    """A maker's attributes that count bytes programmed and bytes of the host, each with its unit.

    Where both are of one unit that is not known, such as a page, it is 1: the ratio is the same;
    `written` has the bytes then. `life`: the attribute whose value is what is left in percent,
    `erases`: the average erases of a block.
    """

    maker: str
    models: re.Pattern[str]
    programmed: Mapping[int, int]
    host: Mapping[int, int]
    written: Mapping[int, int]
    life: int | None
    erases: int | None


@cache
def known() -> tuple[Counters, ...]:
    """All rows, in the order of the file."""
    rows = read_toml(Path(__file__).with_name("counters.toml"))["maker"]

    def units_of(row: Mapping[str, int]) -> dict[int, int]:
        return {int(attribute): unit for attribute, unit in row.items()}

    return tuple(
        Counters(
            maker=row["name"],
            models=re.compile(row["models"], re.IGNORECASE | re.MULTILINE),
            programmed=units_of(row["programmed"]),
            host=units_of(row["host"]),
            written=units_of(row.get("written", row["host"])),
            life=row.get("life"),
            erases=row.get("erases"),
        )
        for row in rows
    )


def of_maker(data: Mapping[str, Any]) -> list[Counters]:
    """The rows of the maker that SMART data name."""
    return [row for row in known() if row.models.search(smart.names(data))]


def sum_of(values: Mapping[int, int], units: Mapping[int, int]) -> int | None:
    """Bytes that attributes count; none where one of them is not there."""
    return sum(values[key] * unit for key, unit in units.items()) if {*units} <= {*values} else None


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Bytes in a drive's life: from the host, and programmed with the ratio of both and its
    grain; none where the drive does not count them."""

    host_bytes: int | None
    waf: float | None = None
    life_left: int | None = None
    erases: int | None = None
    maker: str = ""


def totals(data: Mapping[str, Any]) -> Totals:
    """What SMART data count of a drive's whole life."""
    log = data.get(smart.NVME)
    if isinstance(log, dict):
        return _of_nvme(data, log)
    values = smart.raw_values(data)
    for row in of_maker(data):
        host, programmed = sum_of(values, row.host), sum_of(values, row.programmed)
        if host is None or programmed is None:
            continue
        return Totals(
            host_bytes=sum_of(values, row.written),
            waf=programmed / host if host else None,
            life_left=None if row.life is None else smart.normalized(data).get(row.life),
            erases=None if row.erases is None else values.get(row.erases),
            maker=row.maker,
        )
    first = next(iter(of_maker(data)), None)
    if first is None:
        return Totals(host_bytes=None)
    return Totals(
        host_bytes=sum_of(values, first.written),
        life_left=None if first.life is None else smart.normalized(data).get(first.life),
        erases=None if first.erases is None else values.get(first.erases),
        maker=first.maker,
    )


def _of_nvme(data: Mapping[str, Any], log: Mapping[str, Any]) -> Totals:
    units, used = smart.plain(log.get("data_units_written")), log.get("percentage_used")
    host = units * NVME_UNIT if isinstance(units, int) else None
    ocp = of_ocp(data)
    return Totals(
        host_bytes=host,
        waf=ocp[1] / ocp[0] if ocp is not None and ocp[0] else None,
        life_left=100 - used if isinstance(used, int) else None,
        maker="NVMe",
    )


def of_ocp(data: Mapping[str, Any]) -> tuple[int, int] | None:
    """Bytes of the host and bytes programmed of an NVMe drive; none without OCP's log."""
    log, ocp = data.get(smart.NVME), data.get(smart.OCP)
    if not isinstance(log, dict) or not isinstance(ocp, dict):
        return None
    units, media = smart.plain(log.get("data_units_written")), ocp.get(_MEDIA_WRITTEN)
    if isinstance(media, dict):
        high, low = (smart.plain(media.get(half, 0)) for half in ("hi", "lo"))
        media = (high << 64) + low if isinstance(high, int) and isinstance(low, int) else None
    media = smart.plain(media)
    if not isinstance(units, int) or not isinstance(media, int):
        return None
    return units * NVME_UNIT, media
