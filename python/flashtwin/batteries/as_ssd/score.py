"""The rows of the AS-SSD-like test, and what becomes of them: its scores.

Read score = 0.1 x Seq + 4K + 4K-64, write score likewise (trust P). The total is 1.5 x reads +
writes, which is what most published results add up to (M).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.loads import Load, Teller
from flashtwin.model.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WAYS = ("write", "read")
WEIGHTS = {"SEQ": 0.1, "4K": 1.0, "4K-64": 1.0}
READ_WEIGHT = 1.5


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of the tool's window; `threads` ask for one request each."""

    name: str
    random: bool
    block_bytes: int
    threads: int = 1

    def load(self, way: str) -> Load:
        """What one of its threads does."""
        percent = 100 if way == "read" else 0
        return Load(random=self.random, block_bytes=self.block_bytes, read_percent=percent, depth=1)


def cells_of(rows: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    """All cells in their order: each row is written, then read, so that there is what is read."""
    return ((row, way) for row in rows for way in WAYS)


def scores(battery: str, cells: Sequence[Finding], size: str) -> list[Finding]:
    """The scores of one size of file, where all of its rows are there."""
    speeds = {(cell.name, cell.variant): cell for cell in cells}
    by_way: dict[str, Finding] = {}
    for way in reversed(WAYS):
        rows = [speeds.get((way, f"{row}-{size}")) for row in WEIGHTS]
        there = [row for row in rows if row is not None and row.number is not None]
        if len(there) < len(WEIGHTS):
            continue
        points = sum(
            weight * (row.number or 0.0)
            for weight, row in zip(WEIGHTS.values(), there, strict=True)
        )
        by_way[way] = _score(battery, f"score.{way}", f"Score, {way}", points, there[-1], size)
    if len(by_way) < len(WAYS):
        return list(by_way.values())
    total = READ_WEIGHT * (by_way["read"].number or 0.0) + (by_way["write"].number or 0.0)
    last = speeds["write", f"4K-64-{size}"]
    return [*by_way.values(), _score(battery, "score", "Score", total, last, size)]


def _score(battery: str, name: str, title: str, points: float, row: Finding, size: str) -> Finding:
    assert row.evidence is not None, "a row rests on its step"
    teller = Teller(
        battery=battery, label=row.evidence.label, title=f"{title}, {size}", variant=size
    )
    is_total, note = name == "score", "like AS SSD's"
    return teller.tell(name, "", "points", points, better="higher", headline=is_total, note=note)
