"""Write amplification from a drive's own SMART counters, read before and after.

Which counters tell it, and in which unit, depends on the maker (`catalogue.counters`); of an NVMe
drive OCP's log tells it. A counter is a whole number of its unit, so a difference is known to one
unit either way: the interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flashtwin.catalogue import counters
from flashtwin.model import smart
from flashtwin.model.finding import Interval
from flashtwin.model.step import NotPossible, Result

if TYPE_CHECKING:
    from flashtwin.batteries.base.registry import Answer

# As a finding has it: the value, its interval, and why there is none.
Ratio = tuple[float | None, Interval | None, str | None]
_NOT_COUNTED = "the drive's SMART data do not count what it programs"


def from_smart(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[float, Interval] | str:
    """Programmed over written between two readings, each as `smartctl --json` prints it.

    A sentence where the drive does not count both, where its maker's counters are not known, or
    where too little was written for them.
    """
    began, ended = counters.of_ocp(before), counters.of_ocp(after)
    if began is not None and ended is not None:
        host, programmed = (last - start for start, last in zip(began, ended, strict=True))
        return _ratio(programmed, host, 1, counters.NVME_UNIT)
    first, second = smart.raw_values(before), smart.raw_values(after)
    if not first or not second:
        return _NOT_COUNTED
    if smart.names(before) != smart.names(after):
        models = f"{smart.names(before)} and {smart.names(after)}"
        return f"the two readings are of different models: {models}"
    rows = counters.of_maker(after)
    if not rows:
        makers = ", ".join(dict.fromkeys(row.maker for row in counters.known()))
        return f"not known for this maker: the counters are known of {makers}"
    for row in rows:
        if {*row.programmed, *row.host} <= first.keys() & second.keys():
            programmed, host = (
                sum((second[key] - first[key]) * unit for key, unit in units.items())
                for units in (row.programmed, row.host)
            )
            grains = (sum(row.programmed.values()), sum(row.host.values()))
            return _ratio(programmed, host, *grains)
    return _NOT_COUNTED


def between(before: Answer, after: Answer) -> Ratio:
    """What two readings of SMART data tell, or the reason why they tell nothing."""
    for answer in (before, after):
        if isinstance(answer, NotPossible):
            return None, None, answer.reason
    assert isinstance(before, Result) and isinstance(after, Result)
    ratio = from_smart(before.smart, after.smart)
    return (None, None, ratio) if isinstance(ratio, str) else (*ratio, None)


def _ratio(programmed: int, host: int, grain: int, host_grain: int) -> tuple[float, Interval] | str:
    if host < 0 or programmed < 0:
        return "the counters went backwards between the two readings"
    if host == 0:
        return "too little was written between the two readings for the drive's counters"
    low = max((programmed - grain) / (host + host_grain), 0.0)
    high = (programmed + grain) / (host - host_grain) if host > host_grain else None
    return programmed / host, Interval(low=low, high=high, means="bound")
