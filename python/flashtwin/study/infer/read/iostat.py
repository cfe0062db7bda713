"""iostat of sysstat: its text (-x, -m, -k, -t, in versions from 9 to 12) and its JSON (-o JSON).

Its kB and MB are of 1,024 and 1,048,576 bytes, its sectors and blocks of 512. Without -t no report
says when it was; plain iostat tells bytes beside rates, which say how long it was.

Source of the numbers: sysstat's iostat.c, which counts sectors and divides by 2 or 2,048.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from flashtwin.analysis.quantiles import median
from flashtwin.study.infer.read.cells import Numbers, number_of
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.clock import is_time
from flashtwin.study.infer.read.documents import objects
from flashtwin.study.infer.read.reports import Reports
from flashtwin.study.infer.read.source import Source
from flashtwin.study.infer.samples import Samples, UnreadableError

TIMED = "iostat -dxmt 1"
KB, MB, SECTOR = 1024.0, 1024.0**2, 512.0
# Columns of rates, and those of the bytes in a report that belong to them.
WRITES = {
    **{"wkB/s": KB, "wMB/s": MB, "wsec/s": SECTOR},
    **{"kB_wrtn/s": KB, "MB_wrtn/s": MB, "Blk_wrtn/s": SECTOR},
}
READS = {
    **{"rkB/s": KB, "rMB/s": MB, "rsec/s": SECTOR},
    **{"kB_read/s": KB, "MB_read/s": MB, "Blk_read/s": SECTOR},
}
AMOUNTS = {"kB_wrtn/s": "kB_wrtn", "MB_wrtn/s": "MB_wrtn", "Blk_wrtn/s": "Blk_wrtn"}
_TABLE = re.compile(r"^Device:?\s+.*(?:" + "|".join(map(re.escape, WRITES)) + ")", re.MULTILINE)
_HUMAN = re.compile(r"^\s*(?:tps|r/s|w/s)\s.*\sDevice\s*$", re.MULTILINE)
# A rate of two decimals says the length of a report only where it is not small.
_ENOUGH = 10.0


def recognise_text(source: Source) -> bool:
    """Tables of devices one after another."""
    return bool(_TABLE.search(source.sketch) or _HUMAN.search(source.sketch))


def recognise_json(source: Source) -> bool:
    """The document of sysstat."""
    return source.head.lstrip().startswith("{") and '"sysstat"' in source.head[:4096]


def read_text(source: Source, choices: Choices) -> Samples:
    """The writes of one device in the text."""
    if _HUMAN.search(source.sketch):
        raise UnreadableError("is iostat's text for people (-h)", f"measure with {TIMED}")
    reports = Reports("iostat", choices, timed_by=TIMED)
    numbers = Numbers(choices.decimal)
    stamp: tuple[str, int] | None = None
    names: list[str] | None = None
    rates: dict[str, tuple[float, float]] = {}
    lengths: list[float] = []
    unit = ""

    def close() -> None:
        if rates:
            length = median(np.array(lengths)) if lengths else None
            reports.add(stamp, dict(rates), length)
        rates.clear()
        lengths.clear()

    for number, line in source.lines():
        text = line.strip()
        cells = text.split()
        when = text.removeprefix("Time:").strip()
        if is_time(when):
            close()
            stamp, names = (when, number), None
        elif cells and cells[0].rstrip(":") == "Device":
            close()
            names = cells
            unit = next((name for name in names if name in WRITES), unit)
        elif not cells or names is None:
            names = None if not cells else names
        elif len(cells) == len(names):
            device, values = _device(names, cells, numbers, number)
            rates[device] = (values["write"], values["read"])
            if values["length"]:
                lengths.append(values["length"])
        elif len(cells) != 1:
            raise UnreadableError(
                f"has a row of {len(cells)} cells in line {number}, where iostat's header has "
                f"{len(names)}",
                "remove the report",
            )
    close()
    return reports.samples(unit)


def _device(
    names: list[str], cells: list[str], numbers: Numbers, line: int
) -> tuple[str, dict[str, float]]:
    """A row: the device, its rates, and the seconds of the report where it says them."""
    row = dict(zip(names, cells, strict=True))
    values = {"write": 0.0, "read": 0.0, "length": 0.0}
    for name, text in row.items():
        for side, factors in (("write", WRITES), ("read", READS)):
            if name not in factors:
                continue
            rate = float(numbers.column([text], [line], name)[0])
            values[side] += rate * factors[name]
            if side == "write" and rate > _ENOUGH and AMOUNTS.get(name) in row:
                amount = numbers.column([row[AMOUNTS[name]]], [line], AMOUNTS[name])
                values["length"] = float(amount[0]) / rate
    return cells[0], values


def read_json(source: Source, choices: Choices) -> Samples:
    """The writes of one device in the JSON."""
    reports = Reports("iostat", choices, timed_by="iostat -dxmt -o JSON 1")
    unit = ""
    for number, report in enumerate(objects(source.pieces(), 5), 1):
        disks = report.get("disk")
        if not isinstance(disks, list):
            continue
        stamp = report.get("timestamp")
        rates: dict[str, tuple[float, float]] = {}
        length = None
        for disk in disks:
            if not isinstance(disk, dict) or not isinstance(disk.get("disk_device"), str):
                raise UnreadableError(f"has a report {number} of no disks", "remove it")
            unit = next((name for name in disk if name in WRITES), unit)
            rates[disk["disk_device"]] = _of_disk(disk, number)
            length = length or _length_of(disk)
        timed = (stamp, number) if isinstance(stamp, str) else None
        reports.add(timed, rates, length)
    return reports.samples(unit)


def _of_disk(disk: dict[str, Any], number: int) -> tuple[float, float]:
    sides = []
    for factors in (WRITES, READS):
        total = 0.0
        for name, factor in factors.items():
            if name in disk:
                value = number_of(str(disk[name]))
                if value is None or value < 0:
                    raise UnreadableError(
                        f"has {str(disk[name])[:40]!r} for {name} in report {number}, which is no "
                        "number from 0 on",
                        "remove the report",
                    )
                total += value * factor
        sides.append(total)
    return sides[0], sides[1]


def _length_of(disk: dict[str, Any]) -> float | None:
    """Seconds that a report covers, where it has bytes beside rates."""
    for name, amount in AMOUNTS.items():
        rate, done = number_of(str(disk.get(name))), number_of(str(disk.get(amount)))
        if rate is not None and done is not None and rate > _ENOUGH:
            return done / rate
    return None
