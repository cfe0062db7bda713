"""The whole shape of a fill: how it begins, its first plateau with its end, and all that follows.

What: puts together `opening` (does the first plateau end for good), `edges` (where exactly) and
`stages` (what comes after). A fill whose first plateau does not end is one plateau.

Invariants: `edge` is there if and only if the verdict is "edge"; the head covers the fill from 0 to
the edge, or all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flashtwin.analysis.changepoints import calm, logs
from flashtwin.analysis.curve import Curve
from flashtwin.analysis.edges import Edge, locate
from flashtwin.analysis.estimate import Estimate, speed
from flashtwin.analysis.opening import Opening, opening
from flashtwin.analysis.stages import Plateau, Stages, stages


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Verdict, first plateau, its end, the rest; `relative_noise` is that of calm samples."""

    opening: Opening
    head: Plateau
    edge: Edge | None
    rest: Stages
    relative_noise: float

    @property
    def plateaus(self) -> tuple[Plateau, ...]:
        """All plateaus in order."""
        return (self.head, *self.rest.plateaus)


def shape_of(of: Curve) -> Shape:
    """The shape of a series that has bytes in it."""
    start, relative_noise = opening(of), calm(logs(of.rate))
    if start.verdict != "edge":
        head = _head(of, start, len(of), of.total_bytes)
        # What stands out within the one plateau, for the notes.
        excursions = tuple(
            excursion
            for plateau in stages(of, 0, relative_noise).plateaus
            for excursion in plateau.excursions
        )
        return Shape(
            opening=start,
            head=replace(head, excursions=excursions),
            edge=None,
            rest=Stages(plateaus=(), edges=()),
            relative_noise=relative_noise,
        )
    edge = _edge(of, start, relative_noise)
    return Shape(
        opening=start,
        head=_head(of, start, edge.before, edge.place.value),
        edge=edge,
        rest=stages(of, edge.after, relative_noise),
        relative_noise=relative_noise,
    )


def _edge(of: Curve, start: Opening, relative_noise: float) -> Edge:
    """The drop; where it goes down in short steps the interval reaches to the last of them."""
    if start.end == start.cut:
        return locate(of, start.first, start.cut, start.last, relative_noise)
    top = locate(of, start.first, start.cut, start.end, relative_noise)
    foot = max(float(of.bytes_at[start.end]), top.place.high or 0.0)
    return Edge(
        place=Estimate(value=top.place.value, low=top.place.low, high=foot),
        before=top.before,
        after=max(top.after, start.end),
        from_rate=top.from_rate,
        to_rate=of.mean(start.end, start.last),
    )


def _head(of: Curve, start: Opening, last: int, end: float) -> Plateau:
    """The first plateau without its dips."""
    pieces, begin = [], 0
    for first, after in start.dips:
        pieces.append((begin, first))
        begin = after
    measured = speed(of, [*pieces, (begin, last)])
    fallback = Estimate(value=of.mean_between(0.0, end), low=None, high=None)
    return Plateau(start=0.0, end=end, speed=measured or fallback)
