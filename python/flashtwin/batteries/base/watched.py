"""What was read beside the steps of any battery: energy, degrees, and whether heat slowed a step.

A real drive is warm or cool, and draws what it draws, whatever is tested: each battery says so of
its steps. A step was slowed by heat where it was slower again and again, and `analysis.heating`
says of the degrees then that they are those of a drive that slows itself down. Of simulated drives
the batteries `power` and `temperature` tell this. Invariants: a step without readings has no
finding; nothing is said of heat where only the degrees of one slower stretch are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flashtwin.model.finding import Evidence, Finding
from flashtwin.model.lazy import Lazy
from flashtwin.model.step import UNKNOWN_MC, Result, joined
from flashtwin.model.units import percent, readable_number

if TYPE_CHECKING:
    import numpy as np

    from flashtwin.analysis import heating
    from flashtwin.analysis.curve import Floats
    from flashtwin.batteries.base.record import Answered, Record
    from flashtwin.model.target import DriveInfo
else:
    np = Lazy("numpy")
    heating = Lazy("flashtwin.analysis.heating")

ENERGY, WARMEST, SLOWED = "energy", "warmest", "slowed_by_heat"
# A stretch is slower where the rate is below this share of what the step usually reaches.
SLOWER, USUAL_PERCENT = 0.85, 75
# The least seconds a reading stands for: the rate within less is that of single requests.
LEAST_S = 0.5


def degrees_of(result: Result) -> tuple[Floats, Floats] | None:
    """When the degrees of a step were read, in seconds since it began, and the degrees; none where
    nobody read any."""
    if not len(result.meter.get("t_ns", ())):
        return None
    at_ns, thousandths = (
        np.asarray(result.meter[name], dtype=np.float64) for name in ("t_ns", "temperature_mc")
    )
    known = thousandths > UNKNOWN_MC
    return (at_ns[known] / 1e9, thousandths[known] / 1000) if known.any() else None


def told_by(info: DriveInfo) -> str | None:
    """A note on the sensor that told a real drive's degrees; none of a twin."""
    sensor = info.identity.get("thermometer")
    return f"by {sensor}" if sensor else None


def findings(battery: str, record: Record) -> list[Finding]:
    """Energy and heat by step, and the most degrees of all."""
    if record.info.can.virtual_time:
        return []
    rows: list[Finding] = []
    warmest: tuple[float, Answered] | None = None
    for step in record.steps:
        answer = step.answer if step.kind in ("run", "chain", "fill", "rest") else None
        if not isinstance(answer, Result) or not answer.meter:
            continue
        rows += _energy(battery, step, answer)
        if (read := degrees_of(answer)) is None:
            continue
        rows += _heat(battery, step, answer, *read)
        most = float(read[1].max())
        if warmest is None or most > warmest[0]:
            warmest = most, step
    if warmest is not None:
        most, step = warmest
        rows.append(
            Finding(
                battery=battery,
                name=WARMEST,
                title="Most degrees",
                value=most,
                unit="°C",
                better="lower",
                evidence=_whole(battery, step),
                note=joined([f"in {step.label}", told_by(record.info)]),
            )
        )
    return rows


def _variant(battery: str, step: Answered) -> str:
    return step.label.removeprefix(f"{battery}/")


def _whole(battery: str, step: Answered, start_s: float = 0.0, end_s: float = 0.0) -> Evidence:
    return Evidence(
        battery=battery,
        label=step.label,
        axis="seconds",
        start=start_s,
        end=end_s or step.duration_ns / 1e9,
    )


def _energy(battery: str, step: Answered, result: Result) -> Iterator[Finding]:
    power, took = (
        np.asarray(result.meter[name], dtype=np.float64) for name in ("power_uw", "dt_ns")
    )
    if not power.any():
        return
    read_s, joules = float(took.sum()) / 1e9, float((power * took).sum()) / 1e15
    note = f"{readable_number(joules / read_s)} W in the mean"
    share = read_s / (result.duration_ns / 1e9) if result.duration_ns else 1.0
    if share < 0.99:
        note += f"; the meter's readings cover {percent(share)} of the step"
    yield Finding(
        battery=battery,
        name=ENERGY,
        variant=_variant(battery, step),
        title=f"Energy of {_variant(battery, step)}",
        value=joules,
        unit="J",
        better="lower",
        evidence=_whole(battery, step),
        note=note,
    )


def _heat(
    battery: str, step: Answered, result: Result, at_s: Floats, degrees: Floats
) -> Iterator[Finding]:
    """Where heat slowed a step down: how long, and at how many degrees."""
    lows = _slower(result, at_s)
    # One that goes on when the step ends has not let the drive cool down.
    lows = [low for low in lows if low[1] < at_s[-1]]
    if not heating.follows(lows, at_s, degrees):
        return
    begins = np.interp([begin for begin, _ in lows], at_s, degrees)
    seconds = sum(end - begin for begin, end in lows)
    yield Finding(
        battery=battery,
        name=SLOWED,
        variant=_variant(battery, step),
        title=f"Slowed down by heat in {_variant(battery, step)}",
        value=seconds,
        unit="s",
        better="lower",
        evidence=_whole(battery, step, lows[0][0], lows[-1][1]),
        note=f"{len(lows)} times, from {float(np.mean(begins)):.0f} °C on",
    )


def _slower(result: Result, at_s: Floats) -> Sequence[tuple[float, float]]:
    """The stretches in which a step was slower than usual, as far as its readings tell them
    apart."""
    series = result.series
    if not len(series.t_ns):
        return []
    ends, moved = np.asarray(series.t_ns, dtype=np.float64) / 1e9, np.cumsum(series.bytes)
    edges = np.concatenate(([0.0], at_s))
    lengths = np.diff(edges)
    rates = np.diff(np.interp(edges, ends, moved, left=0.0)) / np.maximum(lengths, 1e-9)
    known = (lengths >= LEAST_S) & (edges[1:] <= ends[-1])
    if not known.any():
        return []
    slow = known & (rates < SLOWER * np.percentile(rates[known], USUAL_PERCENT))
    change = np.flatnonzero(np.diff(np.concatenate(([False], slow, [False])).astype(int)))
    return [
        (float(edges[first]), float(edges[last]))
        for first, last in zip(change[::2], change[1::2], strict=True)
    ]
