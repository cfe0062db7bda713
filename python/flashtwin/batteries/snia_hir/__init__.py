"""snia_hir: random writes with pauses on the saturated drive: what idle time gives back.

PTS-2.0-like, with no claim of conformance: taken from public implementations that quote the
standard (trust P), which call it host idle recovery. Write saturation first (`base.saturation`);
then for waits of 5, 10, 15, 25 and 50 s: 360 times 5 s of 4 KiB random writes and the wait, and
after them half an hour without waits, back to the baseline. The host's time a command is a prior:
5 us.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base import pts
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, Load, Teller, check_fits, totals_of
from flashtwin.batteries.base.registry import Forecast, Part, with_mark
from flashtwin.batteries.base.saturation import UNTIL, Saturation
from flashtwin.model.fio_job import Fio, Think
from flashtwin.model.step import Run
from flashtwin.model.units import show_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.step import Job, JobTotals
    from flashtwin.model.target import DriveInfo

NAME = "snia_hir"
# A rate within so much of the baseline is that of the baseline.
STAYS = 0.1


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Saturate; then each wait, and back."""
    saturation = Saturation.of(NAME, parameters, info)
    check_fits(NAME, [_load(parameters)], info)
    yield from saturation.steps(info)
    for step in _waits(parameters, info):
        yield from with_mark(step)


def _load(parameters: Any) -> Load:
    return Load(random=True, block_bytes=4 * KIB, read_percent=0, depth=parameters.depth)


def _waits(parameters: Any, info: DriveInfo) -> Iterator[Run]:
    """The bursts of each wait in one step, then the writes without waits."""
    outstanding = parameters.threads * parameters.depth
    for number, wait in enumerate(parameters.waits, 1):
        period = parameters.burst_s + wait
        bursts = _job(parameters, info, parameters.bursts * period)
        # The streams of the saturation as one: fio's processes would think each by itself.
        think = Think(ns=round(wait * 1e9), blocks=None, iotime_ns=round(parameters.burst_s * 1e9))
        fio = Fio(random_map=False, time_based=True, think=think)
        yield Run(
            label=label_of(wait, "bursts"),
            jobs=(replace(bursts, threads=1, depth=outstanding, fio=fio, seed=2 * number),),
            sample_s=period,
        )
        yield Run(
            label=label_of(wait, "after"),
            jobs=(replace(_job(parameters, info, parameters.return_s), seed=2 * number + 1),),
            sample_s=max(parameters.return_s / 30, 0.01),
        )


def _job(parameters: Any, info: DriveInfo, seconds: float) -> Job:
    return _load(parameters).job_for(parameters, info, seconds=seconds, threads=parameters.threads)


def label_of(wait: float, kind: str) -> str:
    """The step of a wait."""
    return f"{NAME}/wait-{show_seconds(wait)}/{kind}"


def estimate(parameters: Any, info: DriveInfo) -> Forecast:
    """Saturation with its usual rounds, or all, and then each wait."""
    saturation = Saturation.of(NAME, parameters, info)
    return saturation.forecast(info, list(_waits(parameters, info)))


def conclude(record: Record) -> list[Finding]:
    """The baseline; the rate of the bursts of each wait, and the rate without waits after them."""
    saturation = Saturation.of(NAME, record.parameters, record.info)
    values = saturation.values(record)
    window = saturation.window(record)
    if not values or window is None:
        return []
    steady = saturation.steadiness(record, "4 KiB random writes, saturated")
    findings = pts.marked(steady, values, window)
    for wait in record.parameters.waits:
        findings += _of_wait(record, wait, window.mean)
    return findings


def _of_wait(record: Record, wait: float, baseline: float) -> list[Finding]:
    """Requests over the time in which they are asked for, against the baseline."""
    label = label_of(wait, "bursts")
    totals, step = totals_of(record, label), record.step(label)
    if totals is None or step is None:
        return []
    parameters = record.parameters
    words = show_seconds(wait)
    share = parameters.burst_s / (parameters.burst_s + wait)
    rate = totals.ios / (step.duration_ns / 1e9 * share)
    teller = Teller.of(record, NAME, label, f"Bursts with {words} of rest", words)
    after = totals_of(record, label_of(wait, "after"))
    findings = [
        teller.tell("bursts", "", "IOPS", rate, better="higher"),
        teller.tell(
            "gain",
            "times the baseline",
            "",
            rate / baseline,
            beside="bursts",
            better="higher",
            note=_moved(after, baseline),
        ),
    ]
    if after is not None:
        back = replace(teller, label=label_of(wait, "after"), title=f"After {words} of rest each")
        value = pts.rate(after)
        words = "without rests again"
        findings.append(back.tell("after", words, "IOPS", value, beside="bursts"))
    return findings


def _moved(after: JobTotals | None, baseline: float) -> str | None:
    """A baseline that did not stay: without rests the drive is no longer where it was."""
    share = 1.0 if after is None else pts.rate(after) / baseline
    if abs(share - 1) <= STAYS:
        return None
    return f"without rests again {100 * share:.0f} % of the baseline"


def parts(parameters: Any, info: DriveInfo) -> list[Part]:
    """Saturation, then each wait."""
    first, until = Saturation.of(NAME, parameters, info).parts()
    waits = [show_seconds(wait) for wait in parameters.waits]
    return [
        first,
        until,
        *(
            Part(
                title=f"waits of {word}",
                labels=(f"{NAME}/wait-{word}",),
                needs=(first.title, UNTIL),
            )
            for word in waits
        ),
    ]


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=pts.departs,
    parts=parts,
    estimate=estimate,
    present="flashtwin.batteries.snia_hir.present",
)
