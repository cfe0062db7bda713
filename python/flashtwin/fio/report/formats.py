"""The answer in the formats that were asked for, one after another as fio prints several."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.fio.report.counted import Counted, reports
from flashtwin.fio.report.document import document
from flashtwin.fio.report.terse import lines
from flashtwin.fio.report.text import normal

# The version of fio whose formats these are; programs that read them look for it.
PROGRAM = "fio-3.33"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What to print: formats in fio's words, which terse fields, and how often (0: at the end)."""

    formats: tuple[str, ...] = ("normal",)
    terse: int = 3
    status_ns: int = 0


def shown(processes: Sequence[Counted], shape: Shape, begin: str = "") -> str:
    """All of it as text; times on the run's own clock. `begin` stands before the normal output.

    As fio does, whatever the order in which formats were asked for: terse, JSON, normal. json+ is
    JSON with more in it, not a second one.
    """
    jobs = reports(processes)
    ends = [one.begun_ns + one.row["ended_ns"] for one in processes]
    ended_ms = max(ends, default=0) // 1_000_000
    parts = [begin] if "normal" in shape.formats else []
    if "terse" in shape.formats:
        parts.append(lines(jobs, program=PROGRAM, version=shape.terse))
    if {"json", "json+"} & set(shape.formats):
        plus = "json+" in shape.formats
        answer = document(jobs, version=PROGRAM, unix_ms=ended_ms, plus=plus)
        parts.append(json.dumps(answer, indent=2) + "\n")
    if "normal" in shape.formats:
        parts.append(normal(jobs, unix_ms=ended_ms))
    return "".join(parts)
