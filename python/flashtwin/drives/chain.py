"""The results of parts that follow one another, as one result.

Invariants: nothing of a part is lost or counted twice; the parts of a chain follow on the drive's
clock, so each can be told from where it begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from flashtwin.model.series import COLUMNS, Series
from flashtwin.model.step import Result


def chained(label: str, parts: Sequence[Result]) -> Result:
    """Results that follow one another as one: times count from the first, counts add up."""
    first = parts[0]
    offsets = [part.start_ns - first.start_ns for part in parts]
    moved = [
        {**_columns(part.series), "t_ns": part.series.t_ns + offset}
        for part, offset in zip(parts, offsets, strict=True)
    ]
    series = Series(**{name: np.concatenate([one[name] for one in moved]) for name in COLUMNS})
    return Result(
        label=label,
        start_ns=first.start_ns,
        duration_ns=offsets[-1] + parts[-1].duration_ns,
        series=series,
        jobs=tuple(job for part in parts for job in part.jobs),
        hist=_summed([part.hist for part in parts]),
        xray=_followed([part.xray for part in parts], offsets),
        fio=tuple(row for part in parts for row in part.fio),
        meter=_followed([part.meter for part in parts], offsets),
    )


def _columns(series: Series) -> dict[str, Any]:
    return {name: getattr(series, name) for name in COLUMNS}


def _summed(hists: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for hist in hists:
        for direction, counts in hist.items():
            total[direction] = total[direction] + counts if direction in total else counts
    return total


def _followed(xrays: Sequence[Mapping[str, Any]], offsets: Sequence[int]) -> dict[str, Any]:
    """X-rays under one another; the columns but for time count on by themselves."""
    there = [(xray, offset) for xray, offset in zip(xrays, offsets, strict=True) if xray]
    if not there:
        return {}
    return {
        name: np.concatenate(
            [xray[name] + offset if name == "t_ns" else xray[name] for xray, offset in there]
        )
        for name in there[0][0]
    }
