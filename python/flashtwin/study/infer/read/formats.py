"""The formats, in the order in which they are looked for: name, how recognised, how read.

The first that recognises a file reads it; a table with a header is the last, which recognises any
text and says why it is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from flashtwin.study.infer.read import (
    diskspd,
    dstat,
    fio_log,
    fio_reports,
    iostat,
    progress,
    summaries,
    table,
)
from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.known import KNOWN
from flashtwin.study.infer.read.source import Source
from flashtwin.study.infer.samples import Samples, Summary


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format; `recognise` looks at the beginning of a file and at its name alone."""

    name: str
    recognise: Callable[[Source], bool]
    read: Callable[[Source, Choices], Samples | Summary]


def _is_json(source: Source) -> bool:
    return (
        re.match(r"\s*(?:\{|\[\s*[{\]])", source.head[:256]) is not None
        or '"fio version"' in source.head[:8192]
    )


def _any(_: Source) -> bool:
    return True


def _marks(program: str, kind: str = "test") -> Callable[[Source, Choices], Summary]:
    return summaries.reader(program, kind, summaries.marks)


_ROWS: tuple[
    tuple[str, Callable[[Source], bool], Callable[[Source, Choices], Samples | Summary]], ...
] = (
    ("iostat's JSON (-o JSON)", iostat.recognise_json, iostat.read_json),
    ("fio's JSON with --status-interval", _is_json, fio_reports.read),
    ("DiskSpd's XML (-D -Rxml)", diskspd.recognise, diskspd.read),
    ("dstat's CSV (--output)", dstat.recognise_csv, dstat.read_csv),
    ("CrystalDiskMark's text", summaries.is_crystal, _marks("CrystalDiskMark")),
    ("KDiskMark's text", summaries.is_kdiskmark, _marks("KDiskMark")),
    (
        "HD Tune's text",
        summaries.is_hd_tune,
        summaries.reader("HD Tune", "test", summaries.hd_tune),
    ),
    ("ATTO's text", summaries.is_atto, summaries.reader("ATTO", "block size", summaries.atto)),
    ("iostat's text", iostat.recognise_text, iostat.read_text),
    ("dstat's table", dstat.recognise_text, dstat.read_text),
    ("dd status=progress", progress.recognise_dd, progress.read_dd),
    *((known.name, known.recognise, known.read) for known in KNOWN),
    (
        "DiskSpd's text",
        summaries.is_diskspd,
        summaries.reader("DiskSpd", "run", summaries.diskspd, diskspd.MEASURE),
    ),
    ("fio's log", fio_log.recognise, fio_log.read),
    ("pv's progress", progress.recognise_pv, progress.read_pv),
    ("pv -n", progress.recognise_numbers, progress.read_numbers),
    ("a table with a header", _any, table.read),
)
FORMATS = tuple(
    Format(name=name, recognise=recognise, read=read) for name, recognise, read in _ROWS
)


def format_of(source: Source) -> Format:
    """The format of a file."""
    return next(kind for kind in FORMATS if kind.recognise(source))
