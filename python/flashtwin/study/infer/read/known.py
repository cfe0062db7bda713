"""Formats that are recognised and not read: what each is, and what to hand over instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from flashtwin.study.infer.read.choices import Choices
from flashtwin.study.infer.read.source import Source
from flashtwin.study.infer.samples import Samples, UnreadableError

_BW_LOG = "fio's --write_bw_log=NAME --log_avg_msec=500"
_IOSTAT = "iostat -dxmt 1"


@dataclass(frozen=True, kw_only=True)
class Known:
    """A format by what stands in its beginning."""

    name: str
    pattern: re.Pattern[str]
    instead: str

    def recognise(self, source: Source) -> bool:
        """Whether a file is of this format."""
        return bool(self.pattern.search(source.sketch))

    @property
    def read(self) -> Callable[[Source, Choices], Samples]:
        """A reader that says why there is none."""

        def refuse(_: Source, __: Choices) -> Samples:
            raise UnreadableError(
                f"is {self.name}, which infer recognises and does not read",
                f"hand over {self.instead}",
            )

        return refuse


def _begins(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


KNOWN = (
    Known(
        name="the progress line of fio",
        pattern=_begins(r"^Jobs: [0-9]+ \(f=[0-9]+\)"),
        instead=_BW_LOG,
    ),
    Known(
        name="fio's report for people",
        pattern=_begins(r"^\S+: \(g(?:roupid)?=[0-9]+.*\): |^fio-[0-9]+\.[0-9]+$"),
        instead=_BW_LOG,
    ),
    Known(name="fio's terse report", pattern=_begins(r"^[2-5];fio-[0-9]"), instead=_BW_LOG),
    Known(
        name="a log of requests of fio (write_iolog)",
        pattern=re.compile(r"\Afio version [23] iolog"),
        instead=_BW_LOG,
    ),
    Known(
        name="a job file of fio",
        pattern=re.compile(
            r"^\s*\[[^\]\n]+\]\s*$(?s:.*)^\s*(?:rw|readwrite|filename|ioengine)=", re.M
        ),
        instead=f"what it measured, for example {_BW_LOG}",
    ),
    Known(
        name="blkparse's text",
        pattern=_begins(r"^\s*[0-9]+,[0-9]+\s+[0-9]+\s+[0-9]+\s+[0-9.]+\s+[0-9]+\s+[A-Z]+\s"),
        instead=_IOSTAT,
    ),
    Known(
        name="sar's table",
        pattern=_begins(r"^[0-9:]+(?: [AP]M)?\s+DEV\s+tps|\s+bread/s\s+bwrtn/s"),
        instead=_IOSTAT,
    ),
    Known(
        name="vmstat's table",
        pattern=_begins(r"^procs -+memory-+|^ *r +b +swpd +free"),
        instead=_IOSTAT,
    ),
    Known(
        name="the table of zpool iostat",
        pattern=_begins(r"^\s*capacity\s+operations\s+bandwidth"),
        instead=_IOSTAT,
    ),
    Known(name="iotop's table", pattern=_begins(r"Total DISK READ\s*:"), instead=_IOSTAT),
    Known(
        name="what smartctl or nvme prints",
        pattern=_begins(r"^smartctl [0-9]|^Smart Log for NVME device"),
        instead="a series over time",
    ),
    Known(
        name="what AS SSD saves",
        pattern=_begins(r"AS SSD"),
        instead="a series over time, such as fio's or dd's",
    ),
    Known(
        name="ddrescue's map or log",
        pattern=_begins(r"^# (?:Mapfile|Rescue Logfile)"),
        instead="what pv -n -b -t printed meanwhile",
    ),
    Known(
        name="a page of HTML",
        pattern=re.compile(r"\A\s*<(?:!DOCTYPE html|html)", re.I),
        instead="the numbers as CSV",
    ),
)
