"""states: random writes on a drive that is fresh, dirty, rested and trimmed.

What the OCZ Vertex article did (trust P): 4 KiB random writes at queue depth 32 on the fresh drive;
after the drive was filled twice; after 30 minutes idle; and after TRIM of everything; each told in
% of the fresh drive. How long each load ran and over which range the article does not say: a minute
over the whole drive is assumed, and half a minute between TRIM and the load. The host's time a
command is a prior: 5 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import (
    KIB,
    Load,
    Teller,
    check_fits,
    mean_rate,
    over_time,
    prepared,
    rates_of,
)
from flashtwin.batteries.base.registry import with_mark
from flashtwin.model.finding import Interval
from flashtwin.model.step import Fill, Purge, Rest, Result, Trim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashtwin.analysis.estimate import Estimate
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Step
    from flashtwin.model.target import DriveInfo

NAME = "states"
LOAD = Load(random=True, block_bytes=4 * KIB, read_percent=0, depth=32)
FRESH, DIRTY = "fresh", "dirty"
# A smaller loss is within what two minutes of the same load differ by; no share of it is told.
LEAST_LOSS = 0.05
# The states in order, and how a reader is told of each.
TITLES = {
    FRESH: "fresh",
    DIRTY: "after filling it",
    "rested": "after a rest",
    "trimmed": "after TRIM",
}


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Erase, write; fill, write; rest, write; trim, write. A state that cannot be is left out."""
    check_fits(NAME, [LOAD], info)
    for state in TITLES:
        reached = True
        for step in _before(parameters, state):
            answer = yield step
            reached &= isinstance(answer, Result) or isinstance(step, Purge)
        if not reached:
            continue
        percent = round(parameters.compress_percent)
        job = LOAD.job_for(parameters, info, compress_percent=percent)
        yield from with_mark(over_time(_label(state), job))


def _before(parameters: Any, state: str) -> list[Step]:
    """What brings the drive from the state before into this one."""
    stem = f"{NAME}/{state}"
    if state == FRESH:
        return list(prepared(stem, 0))
    if state == DIRTY:
        fills = range(1, parameters.fills + 1)
        return [Fill(label=f"{stem}/fill-{number}") for number in fills]
    if state == "rested":
        return [Rest(label=f"{stem}/rest", seconds=parameters.rest_s)]
    return [
        Trim(label=f"{stem}/trim"),
        Rest(label=f"{stem}/settle", seconds=parameters.settle_s),
    ]


def conclude(record: Record) -> list[Finding]:
    """Each state's rate, its share of the fresh drive's, and what rest and TRIM bring back."""
    findings: list[Finding] = []
    rates: dict[str, Estimate] = {}
    for state, title in TITLES.items():
        curve = rates_of(record, _label(state))
        if curve is None:
            continue
        rates[state] = mean_rate(curve)
        teller = Teller(
            battery=NAME, label=_label(state), title=f"Random writes, {title}", end_s=curve.total_s
        )
        findings.append(teller.tell(state, "", "IOPS", rates[state], headline=state == FRESH))
        findings += _beside_fresh(teller, state, rates)
    return findings


def _beside_fresh(teller: Teller, state: str, rates: Mapping[str, Estimate]) -> list[Finding]:
    """A later state's rate as a share of the fresh drive's. After the dirty state also the share
    that is regained of what filling the drive had cost, where that was noticeable."""
    fresh, rate = rates.get(FRESH), rates[state]
    if fresh is None or state == FRESH:
        return []
    share = teller.tell(
        f"{state}.share",
        "share of the fresh rate",
        "fraction",
        rate.value / fresh.value,
        interval=_quotient(rate, fresh),
        beside=state,
        better="higher",
        headline=state == "trimmed",
    )
    findings = [share]
    dirty = rates.get(DIRTY)
    if dirty is not None and state != DIRTY:
        lost = fresh.value - dirty.value
        if lost > LEAST_LOSS * fresh.value:
            back = (rate.value - dirty.value) / lost
            title = "share regained of the loss by filling"
            findings.append(
                teller.tell(f"{state}.recovered", title, "fraction", back, better="higher")
            )
    return findings


def _quotient(above: Estimate, below: Estimate) -> Interval | None:
    """The interval of a quotient, from the ends of both."""
    if above.low is None or above.high is None or not below.low or not below.high:
        return None
    return Interval(low=above.low / below.high, high=above.high / below.low)


def _label(state: str) -> str:
    return f"{NAME}/{state}/write"


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """How this run departs from the article."""
    departures = []
    if not info.can.purge:
        departures.append(f"{info.name} cannot be erased: the first state is as it is, not fresh")
    if not info.can.trim:
        departures.append(f"{info.name} takes no TRIM: there are three states")
    return departures


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
)
