"""temperature: how warm a drive gets under a sustained write, and what that does to its speed.

What reviewers do with a thermometer (trust P): the drive rests until it is as warm as it is without
work, is written in order for half an hour, and rests again; degrees and MB/s are told over time.
The drive is erased and written once before, so that little of a fresh cache is left: what its speed
loses while it warms up is then the heat's and not the cache's. The host's time a command is a
prior: 5 us.

The drive's own sensor is enough: a meter is not needed, and a target that tells no temperature is
refused. The finding of the most degrees says what told them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashtwin.batteries.base.assumed import noted_assumed
from flashtwin.batteries.base.declaration import declared
from flashtwin.batteries.base.loads import KIB, Load, Teller, check_fits, prepared, rates_of
from flashtwin.batteries.base.registry import with_mark
from flashtwin.batteries.base.watched import degrees_of, told_by
from flashtwin.model.step import Ask, NotPossible, Rest, Run

if TYPE_CHECKING:
    from flashtwin.analysis.curve import Curve, Floats
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.finding import Finding
    from flashtwin.model.target import DriveInfo

NAME = "temperature"
METER, IDLE, WRITE, COOL = (f"{NAME}/{step}" for step in ("meter", "idle", "write", "cool"))
LOAD = Load(random=False, block_bytes=128 * KIB, read_percent=0, depth=32)
# Keys of a twin's spec that decide how warm it gets.
RESTS_ON = ("power.active", "thermal.resistance", "thermal.capacity")
# A drive has warmed up when so much of the way is behind it, and is cool before half of it.
WARM, HALF = 0.95, 0.5
# Less than so many degrees are no warming up, of which a time could be told.
FEWEST_DEGREES = 1.0


def measure(parameters: Any, info: DriveInfo) -> Steps:
    """Ask for the sensor; prepare, rest, write, rest."""
    check_fits(NAME, [LOAD], info)
    sensor = yield Ask(label=METER, of="temperature")
    if isinstance(sensor, NotPossible):
        return
    yield from prepared(f"{NAME}/prepare", parameters.fills)
    yield Rest(label=IDLE, seconds=parameters.idle_s)
    job = LOAD.job_for(parameters, info)
    yield from with_mark(Run(label=WRITE, jobs=(job,), sample_s=parameters.sample_s))
    yield from with_mark(Rest(label=COOL, seconds=parameters.cool_s))


def conclude(record: Record) -> list[Finding]:
    """Degrees without work, under the write and after it; the speed of the cool and warm drive."""
    findings: list[Finding] = []
    before = _degrees(record, IDLE)
    idle = None if before is None else before[1]
    if idle is not None:
        findings.append(_teller(record, IDLE).tell("idle", "without work", "°C", float(idle[-1])))
    written, curve = _degrees(record, WRITE), rates_of(record, WRITE)
    if written is not None and curve is not None:
        findings += _of_write(record, None if idle is None else float(idle[-1]), written, curve)
    after = _degrees(record, COOL)
    if after is not None:
        teller = _teller(record, COOL)
        title = "at the end of the rest after the write"
        findings.append(teller.tell("cooled", title, "°C", float(after[1][-1]), better="lower"))
    return noted_assumed(findings, record.info, RESTS_ON)


def _degrees(record: Record, label: str) -> tuple[Floats, Floats] | None:
    """The ends of a step's samples in seconds, and the degrees at them; none without any."""
    result = record.result(label)
    return None if result is None else degrees_of(result)


def _teller(record: Record, label: str) -> Teller:
    return Teller.of(record, NAME, label, "Temperature")


def _of_write(
    record: Record, idle: float | None, written: tuple[Floats, Floats], curve: Curve
) -> list[Finding]:
    """The most degrees, how soon they were there, and the speed at both ends of the way."""
    seconds, degrees = written
    teller = _teller(record, WRITE)
    most = float(degrees.max())
    findings = [
        teller.tell(
            "most",
            "most under the write",
            "°C",
            most,
            better="lower",
            headline=True,
            note=told_by(record.info),
        )
    ]
    start = float(degrees[0]) if idle is None else idle
    if most - start < FEWEST_DEGREES:
        return findings
    warm_at = float(seconds[degrees >= start + WARM * (most - start)][0])
    half_at = float(seconds[degrees >= start + HALF * (most - start)][0])
    title = f"time until {100 * WARM:.0f} % of the way to the most"
    findings.append(teller.tell("rise", title, "s", warm_at, beside="most", better="higher"))
    cool, warm = _mean(curve, 0.0, half_at), _mean(curve, warm_at, float(seconds[-1]))
    if cool and warm:
        findings += [
            teller.tell("speed.cool", "speed of the drive while it is cool", "MB/s", cool),
            teller.tell("speed.warm", "speed of the warm drive", "MB/s", warm),
            teller.tell(
                "kept",
                "speed of the warm drive, of the cool one's",
                "fraction",
                warm / cool,
                better="higher",
            ),
        ]
    return findings


def _mean(curve: Curve, start_s: float, end_s: float) -> float | None:
    """MB/s of the samples that end between two times; `curve` counts requests."""
    import numpy as np

    ends = np.cumsum(curve.dt)
    there = (ends > start_s) & (ends <= end_s)
    if not there.any():
        return None
    rate = float(curve.size[there].sum() / curve.dt[there].sum())
    return rate * LOAD.block_bytes / 1e6


def departs(parameters: Any, info: DriveInfo) -> list[str]:
    """How this run departs from what the reviewers do."""
    return ["the drive is erased and written once before"] if info.can.purge else []


BATTERY = declared(
    __name__,
    measure=measure,
    conclude=conclude,
    departs=departs,
)
