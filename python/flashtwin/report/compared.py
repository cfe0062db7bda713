"""The section of a page that sets runs against the first of them: findings, curves, latencies.

The numbers are those of `comparison`; here they become text and small pictures. The pictures are
drawn as paths and not by the scripts, so that they are on paper too: both curves over data on one
scale, the first run's in its colour and the other's in its own. Invariant: what differs
significantly is on the page, whatever else is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flashtwin.report import numbers
from flashtwin.report.findings import Shown
from flashtwin.report.sparkline import HEIGHT, WIDTH
from flashtwin.report.view import Drive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flashtwin.comparison.compare import Comparison, Pair
    from flashtwin.comparison.curves import CurvePair
    from flashtwin.comparison.latencies import LatencyPair
    from flashtwin.comparison.measures import Measure
    from flashtwin.results.finding import Finding

QUIET = ("same", "no value", "not measured")
VERDICTS = {
    "better": "better",
    "worse": "worse",
    "differs": "differs",
    "appeared": "found here only",
    "vanished": "not found here",
}


@dataclass(frozen=True, kw_only=True)
class Change:
    """A finding that is not the same."""

    id: str
    title: str
    pattern: str
    base: str
    other: str
    percent: str
    beyond: str
    verdict: str
    failed: bool


@dataclass(frozen=True, kw_only=True)
class CurveRow:
    """A curve of both runs: the differences as text, and the two lines as paths in one box."""

    name: str
    percent: str
    typical: str
    largest: str
    base: str
    other: str


@dataclass(frozen=True, kw_only=True)
class LatencyRow:
    """Percentiles of both runs in a row each: (name, first run, other run, shift)."""

    name: str
    cells: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """The first drive against another one."""

    base: Drive
    other: Drive
    changes: tuple[Change, ...]
    same: int
    curves: tuple[CurveRow, ...]
    latencies: tuple[LatencyRow, ...]
    failures: int


def sections_of(comparison: Comparison, drives: Sequence[Drive]) -> list[Section]:
    """A section for each pair; the drives are those of the page, in the order of the runs."""
    return [
        _section(pair, drives[0], drive)
        for pair, drive in zip(comparison.pairs, drives[1:], strict=True)
    ]


def _section(pair: Pair, base: Drive, other: Drive) -> Section:
    failed = {one.measure.id for one in pair.failures}
    changes = [one for one in pair.measures if one.verdict not in QUIET]
    return Section(
        base=base,
        other=other,
        changes=tuple(_change(one, one.id in failed) for one in changes),
        same=sum(one.verdict == "same" for one in pair.measures),
        curves=tuple(map(_curve, pair.curves)),
        latencies=tuple(map(_latency, pair.latencies)),
        failures=len(failed),
    )


def _change(one: Measure, failed: bool) -> Change:
    return Change(
        id=one.id,
        title=one.title.partition(" [")[0],
        pattern=one.id.partition("[")[2].rstrip("]"),
        base=_value(one.base),
        other=_value(one.other),
        percent=signed(one.percent),
        beyond=numbers.MISSING if one.beyond is None else f"{numbers.significant(one.beyond, 2)} %",
        verdict=VERDICTS.get(one.verdict, one.verdict),
        failed=failed,
    )


def _value(finding: Finding | None) -> str:
    if finding is None:
        return numbers.MISSING
    shown = Shown.of(finding)
    interval = f" ± {shown.interval}" if shown.interval else ""
    return f"{shown.value}{interval} {shown.unit}".rstrip()


def signed(percent: float | None) -> str:
    """A difference in %, with its sign and no more digits than it deserves."""
    if percent is None:
        return numbers.MISSING
    if abs(percent) < 0.005:
        return "0 %"
    sign = "+" if percent > 0 else ""
    return f"{sign}{numbers.fixed(percent, 1 if abs(percent) >= 1 else 2)} %"


def _curve(one: CurvePair) -> CurveRow:
    top = float(max(one.base.max(), one.other.max()))
    return CurveRow(
        name=one.name,
        percent=signed(one.percent),
        typical=signed(one.typical),
        largest=f"{signed(one.largest)} at {numbers.significant(one.at_gb)} GB",
        base=_path(one.gb, one.base, top),
        other=_path(one.gb, one.other, top),
    )


def _path(gb: NDArray[np.float64], rates: NDArray[np.float64], top: float) -> str:
    x, y = gb / gb[-1] * WIDTH, HEIGHT - 2 - (HEIGHT - 4) * rates / top
    points = [f"{at:.1f} {height:.1f}" for at, height in zip(x, y, strict=True)]
    return "M" + "L".join(points)


def _latency(one: LatencyPair) -> LatencyRow:
    cells = [
        (
            f"p{share:g}",
            f"{numbers.significant(one.base[share] / 1000)} µs",
            f"{numbers.significant(one.other[share] / 1000)} µs",
            signed(one.shift(share)),
        )
        for share in one.base
    ]
    return LatencyRow(name=f"{one.label}, {one.direction}", cells=tuple(cells))
