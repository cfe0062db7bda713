"""What the sizes say of the interface: its limit, or a bound below it.

Flash reads and writes at rates of its own. Where blocks of all large sizes are read and written at
one and the same rate, something that carries both is the limit: the link, or the controller behind
it. Where reads and writes differ, the faster of them is a bound: the interface carries that, or
more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashtwin.model.finding import Finding, Interval
from flashtwin.model.units import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The rates of so many of the largest sizes are level, and reads and writes alike, within shares.
LARGEST, LEVEL, ALIKE = 3, 0.02, 0.03
# What of a link's time a large request leaves unused, at most.
UNUSED = 0.02


def interface(speeds: Mapping[str, Sequence[tuple[int, Finding]]], depth: int) -> Finding | None:
    """The finding from speeds by size, of writing and of reading; none of too few sizes."""
    if any(len(cells) <= LARGEST for cells in speeds.values()) or len(speeds) < 2:
        return None
    tops = {
        way: [finding for _, finding in sorted(cells, key=lambda cell: cell[0])[-LARGEST:]]
        for way, cells in speeds.items()
    }
    best = max((finding for cells in tops.values() for finding in cells), key=_rate)
    levels = {way: max(map(_rate, cells)) for way, cells in tops.items()}
    highest, lowest = max(levels.values()), min(levels.values())
    uneven = [
        way for way, cells in tops.items() if min(map(_rate, cells)) < (1 - LEVEL) * levels[way]
    ]
    assert best.evidence is not None, "a cell rests on its step"
    bound = Finding(
        battery=best.battery,
        name="interface",
        title="Limit of the interface",
        value=highest,
        unit="MB/s",
        interval=Interval(low=highest, high=None, means="bound"),
        headline=True,
        evidence=replace(best.evidence, axis="seconds"),
    )
    if uneven:
        which = " and ".join(uneven)
        more = "larger blocks or a larger depth would show it"
        note = f"at least: {which} has no level rate yet; {more}"
        return replace(bound, note=note)
    if lowest < (1 - ALIKE) * highest:
        note = (
            f"at least: reads and writes are {percent(1 - lowest / highest)} apart, so that flash"
            " or firmware limits one of them; a slower port of the host would show whether the"
            " other is the link's"
        )
        return replace(bound, note=note)
    note = (
        f"blocks of the {LARGEST} largest sizes are read and written alike at queue depth {depth}: "
        "what carries both is the limit, the link or the controller"
    )
    most = highest * (1 + UNUSED + (1 - lowest / highest))
    return replace(bound, interval=Interval(low=highest, high=most, means="bound"), note=note)


def _rate(finding: Finding) -> float:
    return finding.number or 0.0
