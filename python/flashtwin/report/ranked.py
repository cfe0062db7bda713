"""The drives of a page among the catalogue's twins: bars of speeds, the fastest on top.

What is shown of the twins was measured before and is shipped (`study.ranking`). Invariant: a drive
of the page stands in it with what its own run found, and not with the shipped result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashtwin.charts.numbers import MISSING, significant
from flashtwin.model.text import listed
from flashtwin.report.drives import Drive
from flashtwin.study import ranking


@dataclass(frozen=True, kw_only=True)
class Row:
    """A drive; `drive` is that of the page, none of a twin whose results are shipped. A cell is a
    value, and its share of the column's highest."""

    name: str
    drive: Drive | None
    cells: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The table, and a sentence for each drive of the page."""

    columns: tuple[ranking.Column, ...]
    rows: tuple[Row, ...]
    sentences: tuple[str, ...]
    left_out: int


def ranking_of(drives: Sequence[Drive]) -> Ranking | None:
    """The ranking of a page; none where no drive of it has anything to compare."""
    placed = {
        drive.index: row
        for drive in drives
        if (row := ranking.ranked(drive.name, drive.findings, _hash(drive))) is not None
    }
    if not placed:
        return None
    own = [drive for drive in drives if drive.index in placed]
    hashes = {_hash(drive) for drive in own}
    twins, left_out = ranking.current()
    values: list[tuple[str, Drive | None, dict[str, float]]] = [
        (row.name, None, row.values) for row in twins.values() if row.spec not in hashes
    ]
    values += [(drive.name, drive, _values(drive)) for drive in own]
    order = ranking.order()
    values.sort(key=lambda row: -row[2].get(order, 0.0))
    columns = ranking.telling([of_drive for _, _, of_drive in values])
    tops = [
        max((of_drive.get(column.finding, 0.0) for _, _, of_drive in values), default=0.0)
        for column in columns
    ]
    return Ranking(
        columns=columns,
        rows=tuple(
            Row(
                name=name,
                drive=drive,
                cells=tuple(
                    (significant(value, 4), value / top if top else 0.0)
                    if (value := of_drive.get(column.finding)) is not None
                    else (MISSING, 0.0)
                    for column, top in zip(columns, tops, strict=True)
                ),
            )
            for name, drive, of_drive in values
        ),
        sentences=tuple(_sentence(placed[drive.index]) for drive in own),
        left_out=left_out,
    )


def _hash(drive: Drive) -> str:
    return str(drive.identity.get("hash"))


def _values(drive: Drive) -> dict[str, float]:
    return {finding.id: finding.number for finding in drive.findings if finding.number is not None}


def _sentence(row: ranking.Ranked) -> str:
    """The places of a drive, column by column: is 3rd of 28 in reads of 4 KiB."""
    places = [
        f"{ordinal(placed.place)} of {placed.of} in {placed.column.words}" for placed in row.places
    ]
    return f"{row.drive} is {listed(places)}."


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 11th, 21st."""
    last = 0 if number // 10 % 10 == 1 else number % 10
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"
