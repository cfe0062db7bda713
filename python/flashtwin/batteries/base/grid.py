"""Findings as a grid of cells: each has its cell as variant, and its way and metric as name.

A finding called `read`, `read.latency` or `read.iops` is the speed, latency or rate of the cell
that is its variant. Findings with other names, or without a value, stand in the battery's tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from flashtwin.batteries.base.present import Subject
from flashtwin.charts.cells import Cell, Grid, Key, Metric
from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings

SPEED = "speed"
METRICS = (
    Metric(id=SPEED, title="Speed", unit="MB/s", column="MB_per_s", drawn="tile"),
    Metric(id="iops", title="Rate", unit="IOPS", column="iops", drawn="depth"),
    Metric(id="latency", title="Latency", unit="us", column="latency_us", drawn="dots"),
)


def place_of(name: str, ways: Mapping[str, str]) -> tuple[str, str] | None:
    """The way and the metric in a finding's name; none where the finding is no cell."""
    way, _, metric = name.partition(".")
    metric = metric or SPEED
    known = any(metric == row.id for row in METRICS)
    return (way, metric) if way in ways and known else None


def grid(
    battery: str,
    title: str,
    subjects: Sequence[Subject],
    ways: Mapping[str, str],
    cell_of: Callable[[str], Cell],
    metrics: tuple[Metric, ...] = METRICS,
) -> Grid | None:
    """The cells of all drives; none where no drive has one. `ways` has their titles, in order."""
    values: dict[Key, Finding] = {}
    for subject in subjects:
        for finding in subject.findings:
            place = place_of(finding.name, ways)
            if place is not None and finding.number is not None:
                values[subject.index, finding.variant, *place] = finding
    if not values:
        return None
    cells = dict.fromkeys(cell for _, cell, _, _ in values)
    used = {way for _, _, way, _ in values}
    return Grid(
        id=battery,
        title=title,
        cells=tuple(cell_of(name) for name in cells),
        ways={way: title for way, title in ways.items() if way in used},
        metrics=metrics,
        values=values,
    )


def others(subject: Subject, ways: Mapping[str, str]) -> Subject:
    """The subject with only the findings that are in no cell of the grid."""
    rest = [
        finding
        for finding in subject.findings
        if place_of(finding.name, ways) is None or finding.number is None
    ]
    return replace(subject, findings=Findings(rest))


def with_mixes(
    ways: Mapping[str, str], order: str, subjects: Sequence[Subject]
) -> Mapping[str, str]:
    """The ways with those of mixes (mix70): by rising share of reads behind the others, or by
    falling share before the last one, between reads alone and writes alone."""
    names = {
        finding.name.partition(".")[0]
        for subject in subjects
        for finding in subject.findings
        if finding.is_cell
    }
    shares = sorted(int(name[3:]) for name in names if re.fullmatch(r"mix\d+", name))
    mixes = [(f"mix{share}", f"{share} % read") for share in shares]
    titles = list(ways.items())
    if order == "rising":
        return dict(titles + mixes)
    return dict(titles[:-1] + mixes[::-1] + titles[-1:])
