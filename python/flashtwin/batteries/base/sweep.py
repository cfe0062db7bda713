"""A sweep: one kind of request at several queue depths; the highest rate, and the depth it needs.

Invariant: what is told of a sweep follows from the findings of its cells, one rate a depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flashtwin.batteries.base.loads import Load
from flashtwin.model.finding import Finding

# A depth that brings so much of the highest rate brings all of it.
FULL = 0.97


def highest(cells: Sequence[tuple[Load, Finding]], way: str) -> list[Finding]:
    """The highest rate of a sweep, and the least depth that brings nearly as much.

    `cells` has the rate of each depth, the least depth first; `way` is what its findings are called
    (read, write, mix67). A sweep of one depth tells nothing.
    """
    if len(cells) < 2:
        return []
    _, best = max(cells, key=lambda cell: cell[1].number or 0.0)
    most = best.number or 0.0
    load, enough = next(cell for cell in cells if (cell[1].number or 0.0) >= FULL * most)

    def finding(name: str, title: str, unit: str, value: float, cell: Finding) -> Finding:
        assert cell.evidence is not None, "a cell rests on its step"
        return Finding(
            battery=cell.battery,
            name=f"{name}.{load.access}-{way}",
            title=f"{load.access} {way}, {title}",
            value=value,
            unit=unit,
            interval=cell.interval if name == "highest" else None,
            headline=name == "highest",
            evidence=replace(cell.evidence, axis="seconds"),
        )

    return [
        finding("highest", "highest of all depths", best.unit, most, best),
        finding("depth", f"least depth with {100 * FULL:.0f} % of it", "", load.depth, enough),
    ]
