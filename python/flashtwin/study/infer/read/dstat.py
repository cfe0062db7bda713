"""dstat, dool and pcp-dstat: the table of the terminal, and the CSV of --output.

Values of the terminal have B, k, M, G behind them, of 1,024; those of the CSV are bytes a second.
The CSV has the command line, whose number is the interval (one second without one).
"""

from __future__ import annotations

import re
from dataclasses import replace

from flashtwin.study.infer.read.cells import number_of
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.layout import split
from flashtwin.study.infer.read.reports import Reports
from flashtwin.study.infer.read.source import Source
from flashtwin.study.infer.samples import Samples, UnreadableError

TIMED = "dstat -td"
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_VALUE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([BkMGTP]?)")
_FACTORS = {"": 1.0, "B": 1.0, **{sign: 1024.0 ** (i + 1) for i, sign in enumerate("kMGTP")}}
_CSV = re.compile(
    r"(?:dstat|dool)[^\n]* CSV output|\"Cmdline:\",\"(?:pcp[ -])?(?:dstat|dool)", re.I
)
_DISKS = re.compile(r"-dsk/|^ *dsk/|[- ]dsk/", re.MULTILINE)
_TIMES = ("time", "date/time", "epoch")


def recognise_csv(source: Source) -> bool:
    """Lines about the program before the header."""
    return bool(_CSV.search(source.sketch[:8192]))


def recognise_text(source: Source) -> bool:
    """A line of groups, and one of names with bars between."""
    head = source.sketch[:8192]
    return bool(_DISKS.search(head)) and bool(re.search(r"\bread\s+writ\b", head))


def read_csv(source: Source, choices: Choices) -> Samples:
    """The writes of one device in the CSV."""
    interval_s = None
    names: list[str] | None = None
    groups: list[str] = []
    reports = None
    for number, line in source.lines():
        if not line.strip():
            continue
        try:
            cells = split([line], ",")[0]
        except ValueError as error:
            raise UnreadableError(
                f"has a line {number} that is no row: {error}", "remove it"
            ) from None
        if cells[0] == "Cmdline:" and len(cells) > 1:
            interval_s = _interval_of(cells[1])
        elif any(cell.rpartition(":")[2] == "writ" for cell in cells):
            names = cells
        elif names is None:
            groups = cells
        else:
            if reports is None:
                timed = any(name.rpartition(":")[2] in _TIMES for name in names)
                if not timed and choices.interval_s is None:
                    choices = replace(choices, interval_s=interval_s)
                reports = Reports("dstat", choices, timed_by=TIMED)
            _csv_row(reports, names, groups, cells, number)
    if reports is None:
        raise UnreadableError("has no column of writes of a disk", f"measure with {TIMED}")
    return reports.samples("dsk writ")


def _interval_of(command: str) -> float:
    """dstat [options] [delay [count]]: a second without a delay."""
    trailing: list[float] = []
    for word in reversed(command.split()[1:]):
        value = number_of(word)
        if value is None:
            break
        trailing.append(value)
    return (trailing[-1] if trailing else 1.0) or 1.0


def _csv_row(
    reports: Reports, names: list[str], groups: list[str], cells: list[str], number: int
) -> None:
    if len(cells) < len(names) and len(cells) < len(groups):
        raise UnreadableError(
            f"has {len(cells)} cells in line {number}, where the header has {len(names)}",
            "remove the row",
        )
    group, stamp = "", None
    rates: dict[str, tuple[float, float]] = {}
    for at, name in enumerate(names):
        group = groups[at] if at < len(groups) and groups[at] else group
        text = cells[at] if at < len(cells) else ""
        leaf = name.rpartition(":")[2]
        if leaf in _TIMES and stamp is None:
            stamp = (text, number)
        elif group.startswith("dsk/") and leaf in ("read", "writ"):
            value = number_of(text) if text else 0.0
            if value is None or value < 0:
                raise UnreadableError(
                    f"{text[:40]!r} in line {number} ({group} {leaf}) is not a number from 0 on",
                    "remove the row",
                )
            device = group.removeprefix("dsk/")
            write, read = rates.get(device, (0.0, 0.0))
            rates[device] = (value, read) if leaf == "writ" else (write, value)
    reports.add(stamp, rates)


def read_text(source: Source, choices: Choices) -> Samples:
    """The writes of one device in the table of the terminal."""
    reports = Reports("dstat", choices, timed_by=TIMED)
    groups: list[str] = []
    names: list[list[str]] = []
    for number, line in source.lines():
        text = _COLOURS.sub("", line).rstrip()
        if "dsk/" in text:
            groups = [part.strip("-") for part in re.split(r"\s+|(?<=-):(?=-)", text.strip())]
        elif re.search(r"\bread\s+writ\b", text):
            names = [part.split() for part in text.split("|")]
            if len(names) != len(groups):
                raise UnreadableError(
                    f"has {len(groups)} groups over {len(names)} in line {number}",
                    f"measure with {TIMED}, or hand over the CSV of --output",
                )
        elif names and re.search(r"[0-9]", text):
            _text_row(reports, groups, names, text, number)
    return reports.samples("dsk writ")


def _text_row(
    reports: Reports, groups: list[str], names: list[list[str]], text: str, number: int
) -> None:
    row = re.sub(r"\s+missed [0-9]+ ticks?$", "", text)
    parts = row.split("|")
    if len(parts) < len(names):
        return
    stamp = None
    rates: dict[str, tuple[float, float]] = {}
    for group, leaves, part in zip(groups, names, parts, strict=False):
        if leaves and leaves[0] in _TIMES:
            stamp = (part.strip(), number)
        elif group.startswith("dsk/") and "writ" in leaves:
            values = [_value(word, number) for word in part.split()]
            if len(values) != len(leaves):
                raise UnreadableError(
                    f"has {len(values)} values of {group} in line {number}", "remove the row"
                )
            sides = dict(zip(leaves, values, strict=True))
            rates[group.removeprefix("dsk/")] = (sides["writ"], sides.get("read", 0.0))
    reports.add(stamp, rates)


def _value(word: str, number: int) -> float:
    match = _VALUE.fullmatch(word)
    value = None if match is None else number_of(match[1])
    if match is None or value is None:
        raise UnreadableError(
            f"{word[:40]!r} in line {number} is no value of dstat", "remove the row"
        )
    return value * _FACTORS[match[2]]
