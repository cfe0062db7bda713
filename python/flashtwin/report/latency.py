"""Latencies from the stored histograms: four percentiles of every step, and their distribution.

Shown are the steps that have a curve and those that a finding rests on; steps that repeat the same
measurement count together. A percentile is that of fio's buckets, which are 1/64 wide; one that
lies beyond the last request is not told: 99.99 % of 2,000 requests is none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashtwin.charts.numbers import MISSING, compact
from flashtwin.model.histogram import bins_of, percentiles_of
from flashtwin.model.series import Counts
from flashtwin.model.text import quantity
from flashtwin.report.drives import Contents, Drive
from flashtwin.runs.compare.latencies import counts_of, measured

SHARES = (50.0, 99.0, 99.9, 99.99)
# The distribution is drawn up to 99.99 %, that many points for each nine.
NINES, POINTS = 4, 10


@dataclass(frozen=True, kw_only=True)
class Tail:
    """Latencies of one drive, in ns by share in %."""

    drive: int
    texts: tuple[str, ...]
    nines: tuple[float, ...]
    us: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What was measured, and its tail in each drive that measured it."""

    id: str
    title: str
    tails: Mapping[int, Tail]


def rows_of(contents: Contents) -> list[Row]:
    """Everything that some drive measured, in the order of the runs."""
    rows: dict[str, Row] = {}
    for drive in contents.drives:
        titles = _titles(contents, drive)
        counts = _counts_of(contents, drive)
        directions: dict[str, int] = {}
        for _, label, _ in counts:
            directions[label] = directions.get(label, 0) + 1
        for (_, label, direction), counted in counts.items():
            if label not in titles:
                continue
            name = f"{label}/{direction}"
            title = titles[label] + (f", {direction}s" if directions[label] > 1 else "")
            row = rows.setdefault(name, Row(id=name, title=title, tails={}))
            tails = {**row.tails, drive.index: _tail(drive.index, bins_of(counted))}
            rows[name] = Row(id=name, title=row.title, tails=tails)
    return list(rows.values())


def payload(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The distributions in columns, for the page."""
    return [
        {
            "drive": tail.drive,
            "step": row.id,
            "nines": compact(tail.nines, 4),
            "us": compact(tail.us, 4),
        }
        for row in rows
        for tail in row.tails.values()
    ]


def _counts_of(contents: Contents, drive: Drive) -> dict[tuple[str, str, str], Counts]:
    """The counts of what each step measured. Steps that continue a phase count as part of it."""
    labels = {
        label: phase.label
        for phase in contents.phases[drive.index].values()
        for label in phase.goes_on
    }
    names = {measured(step): labels.get(step.label, measured(step)) for step in drive.run.steps}
    sums: dict[tuple[str, str, str], Counts] = {}
    for (battery, label, direction), counted in counts_of(drive.run).items():
        key = (battery, names.get(label, label), direction)
        sums[key] = sums[key] + counted if key in sums else counted
    return sums


def _titles(contents: Contents, drive: Drive) -> dict[str, str]:
    """What is shown, by the labels of what steps measure: steps with a curve, and cells."""
    titles = {
        label: f"{phase.group_title}, {phase.title}"
        for label, phase in contents.phases[drive.index].items()
    }
    steps = {step.label: measured(step) for step in drive.run.steps}
    for finding in drive.findings:
        if finding.is_cell and finding.evidence is not None:
            titles.setdefault(steps.get(finding.evidence.label, ""), finding.title)
    return titles


def _tail(drive: int, bins: Mapping[int, int]) -> Tail:
    total = sum(bins.values())
    known = percentiles_of(bins, [share for share in SHARES if _there(share, total)])
    nines = [step / POINTS for step in range(NINES * POINTS + 1)]
    shares = {nine: 100 * (1 - 10**-nine) for nine in nines}
    drawn = percentiles_of(bins, [share for share in shares.values() if _there(share, total)])
    there = [nine for nine in nines if shares[nine] in drawn]
    return Tail(
        drive=drive,
        texts=tuple(
            quantity(known[share] / 1000, "us", 3) if share in known else MISSING
            for share in SHARES
        ),
        nines=tuple(there),
        us=tuple(drawn[shares[nine]] / 1000 for nine in there),
    )


def _there(share: float, total: int) -> bool:
    """Whether at least one request lies beyond the percentile."""
    return total * (100 - share) / 100 >= 1
