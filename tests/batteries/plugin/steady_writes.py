"""A battery of another package: the same write again and again, until its speed is steady."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtwin.batteries.base.meaning import Meaning
from flashtwin.batteries.base.parameter import SIZE, integer, parameter
from flashtwin.batteries.base.registry import Battery, Forecast
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.step import Job, Mark, Purge, Result, Run

if TYPE_CHECKING:
    from flashtwin.batteries.base.record import Record
    from flashtwin.batteries.base.registry import Steps
    from flashtwin.model.target import DriveInfo

NAME = "steady"
WITHIN = 1.1


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What can be set."""

    size: int = parameter(64 << 20, SIZE, "what a round writes")
    least: int = parameter(3, integer(2, 9), "rounds that have to be alike")


def measure(parameters: Parameters, info: DriveInfo) -> Steps:
    """Rounds until the last ones are alike; a round that tells nothing is waited for in vain."""
    yield Purge(label=f"{NAME}/purge")
    speeds: list[float] = []
    number = 0
    while not _steady(speeds, parameters.least):
        number += 1
        answer = yield _round(parameters, number)
        if isinstance(answer, Result) and answer.duration_ns:
            speeds.append(_speed(answer))
            yield Mark(label=f"{NAME}/{number}/found")


def conclude(record: Record) -> list[Finding]:
    """How many rounds it took, the speed of the last ones, and what kind of drive writes so."""
    rounds = [step for step in record.steps if step.kind == "run" and step.jobs]
    if not rounds:
        return []
    last = rounds[-record.parameters.least :]
    speeds = [step.jobs[0].bytes * 1000 / step.duration_ns for step in last]
    where = Evidence(battery=NAME, label=rounds[-1].label, axis="seconds", start=0.0, end=1.0)
    return [
        Finding(
            battery=NAME,
            name="speed",
            title="Steady speed",
            value=sum(speeds) / len(speeds),
            unit="MB/s",
            interval=Interval(low=min(speeds), high=max(speeds), means="range"),
            headline=True,
            evidence=where,
        ),
        Finding(
            battery=NAME,
            name="state",
            title="State",
            value="steady" if _steady(speeds, record.parameters.least) else "changing",
            choices=("steady", "changing"),
        ),
    ]


def estimate(parameters: Parameters, info: DriveInfo) -> Forecast:
    """Two rounds more than the least."""
    expected = [_round(parameters, number + 1) for number in range(parameters.least + 2)]
    most = [_round(parameters, number + 1) for number in range(100)]
    return Forecast(expected=[Purge(label=f"{NAME}/purge"), *expected], most=most)


def meanings() -> Sequence[Meaning]:
    """The texts of `flashtwin explain`."""
    return (
        Meaning(
            name="speed",
            title="Steady speed",
            means="What is left of the speed once nothing changes any more.",
            found="The mean of the last rounds, which were alike.",
        ),
    )


def _round(parameters: Parameters, number: int) -> Run:
    job = Job(name="write", rw="write", block_bytes=1 << 20, size=parameters.size)
    return Run(label=f"{NAME}/{number}", jobs=(job,))


def _speed(result: Result) -> float:
    return result.jobs[0].bytes * 1000 / result.duration_ns


def _steady(speeds: Sequence[float], least: int) -> bool:
    last = speeds[-least:]
    return len(last) == least and max(last) <= WITHIN * min(last)


BATTERY = Battery(
    name=NAME,
    title="a write again and again until its speed is steady",
    trust="M",
    parameters=Parameters,
    measure=measure,
    conclude=conclude,
    estimate=estimate,
    meanings=meanings,
)
