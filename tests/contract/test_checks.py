"""The checks themselves: what keeps the contract passes, and each breach of it is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fakes import FakeDrive

from flashtwin.drives.contract import (
    DriveCheck,
    check_drive,
    check_info,
    check_rest,
    check_run,
    check_stall,
)
from flashtwin.model.histogram import BUCKETS
from flashtwin.model.series import COLUMNS, Series
from flashtwin.model.step import Job, NotPossible, Purge, Rest, Result, Run, Step
from flashtwin.model.target import Capabilities, DriveInfo, Progress

MIB = 1 << 20
JOB = Job(name="write", rw="write", block_bytes=MIB, depth=2, size=1024 * MIB)
RUN = Run(label="write", jobs=(JOB,), sample_s=0.5)


def result() -> Result:
    answer = FakeDrive().do(RUN, lambda progress: True)
    assert isinstance(answer, Result)
    return answer


def with_series(result: Result, change: Callable[[dict[str, Any]], None]) -> Result:
    columns = {name: getattr(result.series, name).copy() for name in COLUMNS}
    change(columns)
    return replace(result, series=Series(**columns))


def with_job(result: Result, **fields: object) -> Result:
    (job,) = result.jobs
    return replace(result, jobs=(replace(job, **fields),))  # type: ignore[arg-type]


def add(name: str, row: int, by: int) -> Callable[[dict[str, Any]], None]:
    def change(columns: dict[str, Any]) -> None:
        columns[name][row] += by

    return change


def more(columns: dict[str, Any], ios: int) -> None:
    """More requests of the same latency in the first interval."""
    columns["ios"][0] += ios
    columns["lat_sum_ns"][0] += ios * columns["lat_max_ns"][0]


def slower(result: Result, factor: float) -> Result:
    """A job whose latencies are longer than those of its requests, and Little's law kept."""
    (job,) = result.jobs
    return with_job(
        result,
        latency_mean_ns=job.latency_mean_ns * factor,
        latency_max_ns=round(job.latency_max_ns * factor) + 1,
        mean_depth=job.mean_depth * factor,
    )


def drop(row: int) -> Callable[[dict[str, Any]], None]:
    def change(columns: dict[str, Any]) -> None:
        for name in COLUMNS:
            columns[name] = np.delete(columns[name], row)

    return change


def test_a_result_that_keeps_it() -> None:
    check_run(RUN, result())


@pytest.mark.parametrize(
    ("breach", "named"),
    [
        (lambda r: with_series(r, drop(1)), "a gap"),
        (lambda r: with_series(r, drop(0)), "begins at 500000000 ns, expected 0"),
        (lambda r: with_series(r, drop(-1)), "the series ends at"),
        (lambda r: with_series(r, add("direction", 0, -1)), "directions {0, 1}, expected {1}"),
        (lambda r: with_series(r, add("dt_ns", -1, 10**9)), "the last interval is too long"),
        (lambda r: with_series(r, add("ios", 3, 1000)), "outside of its least"),
        (lambda r: with_job(r, ios=1025, bytes=1025 * MIB), "a pass has 1073741824"),
        (lambda r: with_series(r, lambda c: more(c, 1)), "1025 requests, the jobs 1024"),
        (lambda r: with_series(r, add("bytes", 0, MIB)), "bytes, the jobs 1073741824"),
        (lambda r: slower(r, 1.01), "add up to"),
        (lambda r: with_series(r, add("lat_min_ns", 0, 10**9)), "outside of its least"),
        (lambda r: with_series(r, add("lat_max_ns", 0, -(10**12))), "negative lat_max_ns"),
        (
            lambda r: with_series(r, lambda c: c.update(ios=c["ios"].astype(np.float64))),
            "column ios is float64",
        ),
        (lambda r: with_series(r, lambda c: c.update(ios=c["ios"][1:])), "several lengths"),
        (lambda r: with_job(r, name="other"), "jobs are ['other']"),
        (lambda r: with_job(r, errors=1), "1 errors"),
        (lambda r: with_job(r, ios=0), "no request completed"),
        (lambda r: with_job(r, ios=1025), "1073741824 bytes in 1025 requests"),
        (lambda r: with_job(r, latency_max_ns=0), "latencies out of order"),
        (lambda r: with_job(r, mean_depth=1.0), "Little's law gives a depth of"),
        (lambda r: replace(r, hist={"write": np.zeros(BUCKETS)}), "0 counted, 1024 requests"),
        (lambda r: replace(r, hist={"write": np.zeros(10)}), "(10,) counts of write"),
        (
            lambda r: replace(r, hist={"write": np.roll(r.hist["write"], 64)}),
            "the histogram's mean is",
        ),
        (lambda r: replace(r, hist={"read": r.hist["write"]}), "histograms of ['read']"),
    ],
)
def test_breaches(breach: Callable[[Result], Result], named: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(named)):
        check_run(RUN, breach(result()))


def test_depth_is_asked_for_where_the_host_can_hold_it() -> None:
    deep = Run(label="write", jobs=(replace(JOB, depth=64),), sample_s=0.5)
    check_run(deep, result(), holds_depth=False)
    with pytest.raises(AssertionError, match=r"a mean depth of .*, expected 64"):
        check_run(deep, result())


def test_a_stall_without_rows_of_zeros() -> None:
    def change(columns: dict[str, Any]) -> None:
        for name in ("ios", "bytes"):
            columns[name][1] = 0

    with pytest.raises(AssertionError, match="without a request"):
        check_run(RUN, with_series(result(), change))


@dataclass
class Answers:
    """A drive that answers everything with what it is given."""

    answer: Callable[[Step], Any]
    virtual: bool = True
    purge: bool = True
    identity: object = None
    closed: int = 0

    @property
    def info(self) -> DriveInfo:
        return DriveInfo(
            name="answers",
            kind="twin",
            capacity_bytes=1 << 30,
            can=Capabilities(virtual_time=self.virtual, purge=self.purge),
            identity={"of": self.identity},
        )

    def open(self) -> Answers:
        return self

    def do(self, step: Step, watch: Callable[[Progress], bool]) -> Any:
        return self.answer(step)

    def close(self) -> None:
        self.closed += 1


def quiet(step: Step, duration_ns: int = 0, start_ns: int = 0, label: str | None = None) -> Result:
    return Result(
        label=label or step.label,
        start_ns=start_ns,
        duration_ns=duration_ns,
        series=Series.empty(),
    )


@pytest.mark.parametrize(
    ("answer", "step", "named"),
    [
        (lambda step: None, Purge(), "answered with None"),
        (lambda step: quiet(step, label="other"), Purge(), "asked purge, answered other"),
        (lambda step: quiet(step, start_ns=-1), Purge(), "the step before ended at 0"),
        (lambda step: NotPossible(reason="It cannot."), Purge(), "reason is 'It cannot.'"),
        (lambda step: NotPossible(reason="no"), Rest(), "any drive can do this"),
    ],
)
def test_answers_that_break_it(answer: Callable[[Step], Any], step: Step, named: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(named)):
        DriveCheck(drive=Answers(answer)).do(step)


def test_what_a_drive_says_that_it_can_is_what_it_does() -> None:
    refuses = Answers(lambda step: NotPossible(reason="no"))
    with pytest.raises(AssertionError, match="says that it can do this, and answered: no"):
        DriveCheck(drive=refuses).do(Purge())
    with pytest.raises(AssertionError, match="says that it cannot do this, and did it"):
        DriveCheck(drive=Answers(quiet, purge=False)).do(Purge())
    assert DriveCheck(drive=replace(refuses, purge=False)).do(Purge()) == NotPossible(reason="no")


@pytest.mark.parametrize("virtual", [True, False])
def test_a_rest_cut_short(virtual: bool) -> None:
    drive = Answers(lambda step: quiet(step, 200_000_000), virtual=virtual)
    with pytest.raises(AssertionError, match="a rest of 250000000 ns took 200000000"):
        check_rest(DriveCheck(drive=drive))


def test_a_drive_without_stalls() -> None:
    # It does not think: all requests at once, in intervals that are full.
    with pytest.raises(AssertionError, match="contract/stall: took"):
        check_stall(DriveCheck(drive=FakeDrive()))


def test_the_identity_must_not_name_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.node", lambda: "workstation7")
    drive = Answers(quiet, identity="measured on workstation7")
    with pytest.raises(AssertionError, match="names the host"):
        check_info(drive)
    check_info(Answers(quiet, identity="workstation77"))


def test_a_drive_is_closed_whatever_it_does() -> None:
    drive = Answers(lambda step: None)
    with pytest.raises(AssertionError):
        check_drive(lambda: drive)
    assert drive.closed == 2


def test_a_watch_that_is_not_heard() -> None:
    from flashtwin.drives.contract import check_interrupted

    drive = SimpleNamespace(info=Answers(quiet).info, do=lambda step, watch: quiet(step))
    with pytest.raises(AssertionError, match="the watch said stop"):
        check_interrupted(DriveCheck(drive=drive))
