"""Tables of figures over block sizes or tests, which are no series over time.

CrystalDiskMark, KDiskMark, ATTO, HD Tune and DiskSpd's text: their figures are shown, and said that
a cache cannot be told from them: each is the mean of some seconds, and none says when.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from flashtwin.study.infer.read.cells import number_of
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.source import SKETCHED, Source
from flashtwin.study.infer.samples import Figure, Summary, UnreadableError

MOST_FIGURES = 200
TEST = (
    "fill the drive in one go and log it: fio --rw=write --bs=1m --direct=1 --write_bw_log=fill "
    "--log_avg_msec=500, or dd bs=1M oflag=direct status=progress"
)
_WHY = "one figure for each {}, and none over time: the mean hides where a cache ends"
_MARKS = re.compile(
    r"^\s*(?P<name>[^:\n]{3,60}?)\s*:\s*(?P<value>[0-9][0-9.,]*)\s*(?P<unit>[KMG]i?B/s(?:ec)?)",
)
_SECTION = re.compile(r"^\s*\[(Read|Write|Mix[^\]]{0,20}|Lesen|Schreiben)\]\s*$", re.IGNORECASE)
_HD_TUNE = re.compile(
    r"^\s*(?P<name>[A-Za-z][A-Za-z0-9 /]{2,40}?)\s*:\s*(?P<value>[0-9][0-9.,]*)\s*"
    r"(?P<unit>[KMG]B/s(?:ec)?|ms|%|IOPS)"
)
_ATTO = re.compile(
    r"^\s*(?P<size>[0-9]+(?:\.[0-9]+)?)\s*(?P<of>B|Bytes|K|KB|KiB|M|MB|MiB)?[\s,;|:]+"
    r"(?P<write>[0-9][0-9.,]*)\s*(?:[KMG]i?B/s)?[\s,;|]+(?P<read>[0-9][0-9.,]*)\s*(?:[KMG]i?B/s)?",
    re.IGNORECASE,
)
_DISKSPD = re.compile(
    r"^\s*(?P<name>total:|[0-9]+)\s*\|?\s*[0-9]+\s*\|\s*[0-9]+\s*\|\s*(?P<value>[0-9.]+)\s*\|"
)
_DISKSPD_SECTION = re.compile(r"^\s*(Total|Read|Write) IO\s*$")


def is_crystal(source: Source) -> bool:
    """CrystalDiskMark, also the text of AmorphousDiskMark."""
    return bool(re.search(r"(?:Crystal|Amorphous)DiskMark", source.sketch[:4096]))


def is_kdiskmark(source: Source) -> bool:
    """KDiskMark."""
    return "KDiskMark" in source.sketch[:4096]


def is_hd_tune(source: Source) -> bool:
    """HD Tune, also Pro."""
    return bool(re.search(r"HD ?Tune", source.sketch[:4096]))


def is_atto(source: Source) -> bool:
    """ATTO Disk Benchmark."""
    return bool(re.search(r"ATTO\b", source.sketch[:4096]))


def is_diskspd(source: Source) -> bool:
    """DiskSpd's text."""
    head = source.sketch
    return (bool(re.search(r"diskspd", head[:2048], re.IGNORECASE)) and "IO" in head) or (
        "Total IO" in head and "I/O per s" in head
    )


def reader(
    program: str, kind: str, figures: Callable[[Source], Iterator[Figure]], test: str = TEST
) -> Callable[[Source, Choices], Summary]:
    """A reader of a program's figures."""

    def read(source: Source, _: Choices) -> Summary:
        rows: list[Figure] = []
        for figure in figures(source):
            rows.append(figure)
            if len(rows) == MOST_FIGURES:
                break
        if not rows:
            raise UnreadableError(
                f"is of {program}, and infer knows none of its lines", f"for a cache: {test}"
            )
        return Summary(program=program, figures=tuple(rows), why=_WHY.format(kind), test=test)

    return read


def marks(source: Source) -> Iterator[Figure]:
    """The lines of CrystalDiskMark and KDiskMark."""
    section = ""
    for _, text in source.lines():
        line = text[:SKETCHED]
        begins = _SECTION.match(line)
        if begins:
            section = begins[1].lower()
            continue
        match = _MARKS.match(line)
        value = None if match is None else _value(match["value"])
        if match is not None and value is not None and "=" not in match["value"]:
            name = " ".join(match["name"].split())
            yield Figure(name=f"{section} {name}".strip(), value=value, unit=_unit(match["unit"]))


def hd_tune(source: Source) -> Iterator[Figure]:
    """The lines of HD Tune."""
    for _, text in source.lines():
        line = text[:SKETCHED]
        match = _HD_TUNE.match(line)
        value = None if match is None else _value(match["value"])
        if match is not None and value is not None:
            yield Figure(name=match["name"], value=value, unit=_unit(match["unit"]))


def atto(source: Source) -> Iterator[Figure]:
    """The rows of ATTO: a block size, writes, reads."""
    unit = re.search(r"([KMG]i?B)/s", source.sketch)
    reads_first = bool(re.search(r"\bread\b.*\bwrite\b", source.sketch, re.IGNORECASE)) and not (
        re.search(r"\bwrite\b.*\bread\b", source.sketch, re.IGNORECASE)
    )
    sides = ("read", "write") if reads_first else ("write", "read")
    for _, text in source.lines():
        line = text[:SKETCHED]
        match = _ATTO.match(line)
        if match is None:
            continue
        for side, cell in zip(sides, (match["write"], match["read"]), strict=True):
            value = _value(cell)
            if value is not None:
                size = f"{match['size']} {match['of'] or 'KB'}"
                yield Figure(
                    name=f"{side} {size}", value=value, unit=unit[0] if unit else "as ATTO shows"
                )


def diskspd(source: Source) -> Iterator[Figure]:
    """The totals of DiskSpd's text."""
    section = "total"
    for _, text in source.lines():
        line = text[:SKETCHED]
        begins = _DISKSPD_SECTION.match(line)
        if begins:
            section = begins[1].lower()
            continue
        match = _DISKSPD.match(line)
        value = None if match is None else _value(match["value"])
        if match is not None and value is not None and match["name"] == "total:":
            yield Figure(name=section, value=value, unit="MiB/s")


def _unit(unit: str) -> str:
    return unit.replace("/sec", "/s")


def _value(text: str) -> float | None:
    """A figure with a point or a comma; groups of thousands as programs write them."""
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+", text):
        text = text.replace(",", "")
    return number_of(text.replace(",", "."))
