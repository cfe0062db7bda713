"""What the name of a column says: a time, a rate, bytes, requests a second, a temperature,
the depth that was asked for.

`write_MB_s`, `Write Rate [MB/s]`, `wkB/s`, `Schreiben (MB/s)` are rates of writes; `written_GB` is
bytes. A capital B is bytes and a small b bits ("Mb/s", "Mbps", "Mbit/s"); all small letters
("mb/s") are open. iostat's names (wMB/s, kB_wrtn/s) count in 1024, as sysstat does.

Invariants: a column is of one kind; a latency is no time since the start, a rate neither, and the
size of a block is not what was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from flashtwin.study.infer.read.clock import UNITS

Kind = Literal["time", "rate", "bytes", "requests", "degrees", "depth", "other"]
Direction = Literal["write", "read", "any"]

_PREFIXES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_PER_SECOND = (
    r"(?:\s?/\s?[sS](?:ec(?:ond)?s?|ek)?|_?ps|PS|_s(?:ec)?|[\s_]?per[\s_]?s(?:ec(?:ond)?)?)"
)
_AMOUNT = (
    r"(?P<prefix>[kKmMgGtT](?P<binary>[iI])?)?"
    r"(?P<unit>[Bb]ytes?|BYTES?|[Bb]its?|BITS?|[Oo]ctets?|[Bb])"
)
_BEFORE, _AFTER = r"(?:^|(?<=[^A-Za-z]))", r"(?![A-Za-z])"
_RATE = re.compile(rf"{_BEFORE}{_AMOUNT}(?:{_PER_SECOND}){_AFTER}")
_IOSTAT = re.compile(
    r"(?P<way>[rwd])(?P<unit>k|M)B/s|(?P<unit2>k|M)B_(?P<way2>read|wrtn|dscd)/s"
    r"|(?P<sectors>[rw])sec/s|Blk_(?P<way3>read|wrtn)/s"
)
_SIZE = re.compile(rf"{_BEFORE}{_AMOUNT}{_AFTER}")
_SECTORS = re.compile(r"(?:^|[^a-z])sectors?(?![a-z])", re.IGNORECASE)
_REQUESTS = re.compile(
    r"iops|^[rw]/s$|(?:requests?|ios?|transfers|writes|reads|ops)[\s_]?(?:/|per[\s_]?)s", re.I
)
_DEGREES = re.compile(r"(?:temp|composite).*(?:[^a-z]c|celsius)(?:[^a-z]|$)", re.IGNORECASE)
# A depth that was asked for; what a system measures as its queue changes by itself.
_DEPTH = re.compile(
    r"(?:^|[^a-z])(?:(?:io|queue)[\s_-]?depth|qd|outstanding(?:[\s_-]?ios?)?)(?:[^a-z]|$)", re.I
)
_TIME_WORDS = {
    *("time", "timestamp", "elapsed", "date", "datetime", "clock", "epoch", "t"),
    *("second", "seconds", "zeit", "uhrzeit", "zeitstempel", "datum", "sekunde", "sekunden"),
    *("temps", "heure", "tiempo", "hora", "fecha", "tempo"),
}
_NOT_TIME = {
    *("lat", "latency", "latencies", "latenz", "clat", "slat", "await", "wait", "svctm"),
    *("service", "response", "delay", "interval", "duration", "dt", "busy", "active", "idle"),
    *("avg", "average", "mean", "min", "max", "p50", "p90", "p95", "p99", "p999", "std"),
    *("stddev", "queue", "timeout", "rest"),
}
_NOT_WRITTEN = re.compile(
    r"block|chunk|(?:^|[^a-z])bs(?:[^a-z]|$)|request|req|free|used|memory|mem(?:[^a-z]|$)|virtual|"
    r"capacity|cache|swap|physical|size|queue|available|buff|page|vram|read|gelesen|avg|average",
    re.IGNORECASE,
)
_WRITES = re.compile(
    r"writ|wrtn|schreib|geschrieben|[ée]crit|escrit|scrit|(?:^|[^a-z])(?:wr|w)(?:[^a-z]|$)", re.I
)
_READS = re.compile(
    r"read|lese|gelesen|lecture|lect|lettur|(?:^|[^a-z])(?:rd|r)(?:[^a-z]|$)", re.IGNORECASE
)
_TOTALS = re.compile(r"total|written|cumul|sum(?:[^a-z]|$)|position|done|offset|geschrieben", re.I)
_OTHER_RATES = re.compile(r"(?:^|[^a-z])(?:dl|ul|net|network|recv|send|pcie|bus|limit|max)", re.I)


@dataclass(frozen=True, kw_only=True)
class Column:
    """`factor` to seconds, bytes, or bytes a second; none where the unit is not said. `open_unit`:
    why the unit can be read two ways."""

    at: int
    name: str
    kind: Kind
    factor: float | None = None
    direction: Direction = "any"
    strong: bool = False
    open_unit: str | None = None


def column_of(at: int, name: str) -> Column:
    """What the name of the column number `at` says."""
    leaf = _leaf(name)
    if _DEGREES.search(leaf):
        return Column(at=at, name=name, kind="degrees")
    if _DEPTH.search(leaf):
        return Column(at=at, name=name, kind="depth")
    iostat = _IOSTAT.fullmatch(leaf)
    if iostat:
        return _of_iostat(at, name, iostat)
    rate = _RATE.search(leaf)
    if rate:
        factor, open_unit = _amount(rate)
        return Column(
            at=at,
            name=name,
            kind="other" if _OTHER_RATES.search(leaf) else "rate",
            factor=factor,
            direction=_direction(leaf),
            open_unit=open_unit,
        )
    if _REQUESTS.search(leaf):
        return Column(at=at, name=name, kind="requests", direction=_direction(leaf))
    return _time_or_bytes(at, name, leaf)


def _leaf(name: str) -> str:
    """Of a counter of Windows, such as PhysicalDisk(0 C:)\\Disk Write Bytes/sec, the last part."""
    return name.rpartition("\\")[2] if name.startswith("\\\\") else name


def _of_iostat(at: int, name: str, match: re.Match[str]) -> Column:
    way = (match["way"] or match["way2"] or match["way3"] or match["sectors"] or "")[0]
    unit = match["unit"] or match["unit2"]
    factor = {"k": 1024.0, "M": 1024.0**2, None: 512.0}[unit]
    kind: Kind = "other" if way == "d" else "rate"
    direction: Direction = "write" if way == "w" else "read"
    return Column(at=at, name=name, kind=kind, factor=factor, direction=direction)


def _direction(name: str) -> Direction:
    if _WRITES.search(name):
        return "write"
    return "read" if _READS.search(name) else "any"


def _amount(match: re.Match[str]) -> tuple[float, str | None]:
    """Bytes in the unit of a name, and why that is open."""
    prefix, unit = match["prefix"] or "", match["unit"]
    power = _PREFIXES[prefix[:1].lower()]
    factor = 1024.0**power if match["binary"] else 1000.0**power
    if match[0].endswith("PS"):
        return factor, f"{match[0]!r} may be bits or bytes"
    spelled = len(unit) > 1
    bits = unit.lower().startswith("bit") or unit == "b"
    if spelled or not bits:
        return factor / 8 if bits else factor, None
    if not prefix or prefix[0].isupper():
        return factor / 8, None
    return factor / 8, f"{match[0]!r} may be bits or bytes"


def unit_of(text: str) -> float | None:
    """Seconds, bytes or bytes a second of a unit that was typed: s, ms, MB/s, Mbit/s, GB."""
    if text in UNITS:
        return UNITS[text]
    match = re.fullmatch(rf"{_AMOUNT}(?:{_PER_SECOND})?", text)
    return None if match is None else _amount(match)[0]


def _time_or_bytes(at: int, name: str, leaf: str) -> Column:
    words = [word for word in re.split(r"[^A-Za-zµ0-9]+", leaf) if word]
    lower = [word.lower() for word in words]
    unit = next((UNITS[word] for word in reversed(lower) if word in UNITS), None)
    if name.startswith("(PDH-"):
        return Column(at=at, name=name, kind="time", strong=True)
    # "min" at the end is minutes, and a minimum elsewhere.
    timed = not _NOT_TIME.intersection(lower[:-1] if lower[-1:] == ["min"] else lower)
    if timed and _TIME_WORDS.intersection(lower):
        return Column(at=at, name=name, kind="time", factor=unit, strong=True)
    if _SECTORS.search(leaf) and not _NOT_WRITTEN.search(leaf):
        return Column(at=at, name=name, kind="bytes", factor=512.0, strong=True)
    size = _SIZE.search(leaf)
    if size and not _NOT_WRITTEN.search(leaf):
        factor, open_unit = _amount(size)
        strong = bool(_WRITES.search(leaf) or _TOTALS.search(leaf))
        return Column(
            at=at, name=name, kind="bytes", factor=factor, strong=strong, open_unit=open_unit
        )
    if timed and unit is not None:
        return Column(at=at, name=name, kind="time", factor=unit)
    return Column(at=at, name=name, kind="other")


def is_total(name: str) -> bool:
    """Whether a name says that bytes are those since the start."""
    return bool(_TOTALS.search(name))
