"""What every battery's findings have in common, and records of runs that are not whole."""

from __future__ import annotations

import pytest
from fakes import FakeDrive, answered, played

from flashtwin.batteries.base import registry
from flashtwin.batteries.base.record import LEFT_OUT, Record, completed
from flashtwin.model.finding import Evidence, Finding, Interval
from flashtwin.model.step import NotPossible, Purge, Rest, Result, Run, Step


def record(*steps: tuple[Step, Result | NotPossible]) -> Record:
    made = [answered(step, answer) for step, answer in steps]
    return Record(parameters=None, info=FakeDrive().info, steps=made)


def result(step: Step, **changes: object) -> Result:
    from flashtwin.model.series import Series

    plain = {"label": step.label, "start_ns": 0, "duration_ns": 1_500_000_000}
    return Result(series=Series.empty(), **{**plain, **changes})  # type: ignore[arg-type]


def on(label: str) -> Finding:
    where = Evidence(battery="x", label=label, axis="seconds", start=0.0, end=1.0)
    interval = Interval(low=1 / 7, high=None, means="bound")
    return Finding(
        battery="x", name=label, title="", value=1 / 3, interval=interval, evidence=where
    )


def test_numbers_have_six_digits() -> None:
    (one,) = completed(record(), [on("a")])
    assert (one.value, one.low, one.high) == (0.333333, 0.142857, None)


def test_a_step_that_a_budget_ended_says_so_with_what_rests_on_it() -> None:
    run = Run(label="a", jobs=())
    whole = record((run, result(run, cut=True)))
    one, other = completed(whole, [on("a"), on("b")])
    assert one.note == "the budget ended the step after 1.5 s" and other.note is None


def test_the_first_work_after_an_erase_that_was_not_possible_says_so() -> None:
    purge, rest = Purge(label="p"), Rest(label="r")
    first, second = Run(label="a", jobs=()), Run(label="b", jobs=())
    gone = NotPossible(reason="a file")
    steps = ((rest, result(rest)), (first, result(first)), (second, result(second)))
    one, other = completed(record((purge, gone), *steps), [on("a"), on("b")])
    assert one.note == "the target was not erased before" and other.note is None
    done, _ = completed(record((purge, result(purge)), *steps), [on("a"), on("b")])
    assert done.note is None


def test_a_step_that_is_not_there_was_left_out() -> None:
    assert record().answer("a") == NotPossible(reason=LEFT_OUT) and record().result("a") is None


def test_the_inside_of_a_drive_stays_inside() -> None:
    run = Run(label="a", jobs=())
    there = record((run, result(run, xray={"t_ns": [1]}))).result("a")
    assert there is not None and there.xray == {}


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        pytest.param("fill", {}, marks=pytest.mark.full),
        ("crystaldiskmark", {"profile": "real"}),
        ("dispersion", {"kinds": "read+write", "seconds": "20s"}),
        ("servers", {"seconds": "20s"}),
        ("states", {}),
    ],
)
def test_what_is_there_is_concluded_however_far_a_run_came(
    name: str, asked: dict[str, str]
) -> None:
    """The findings of a run that ends earlier are among those of one that goes on."""
    request = registry.request(name, asked)
    steps, whole = played(request, FakeDrive())
    ids = [one.id for one in whole]
    before = -1
    for count in range(0, len(steps) + 1, 3):
        _, found = played(request, FakeDrive(), upto=count)
        assert [one.id for one in found] == ids[: len(found)] and found == whole[: len(found)]
        assert len(found) >= before
        before = len(found)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        pytest.param("recovery", {"rests": "0s+60s", "trim_rests": "0s"}, marks=pytest.mark.full),
        ("cache_by_fill", {"fills": "0+50"}),
        ("iometer", {"depths": "1+4", "seconds": "10s"}),
        ("atto", {"blocks": "4k+64k"}),
    ],
)
def test_what_sums_up_waits_for_what_it_sums_up(name: str, asked: dict[str, str]) -> None:
    """Such findings come between others, but none changes once it is there."""
    request = registry.request(name, asked)
    steps, whole = played(request, FakeDrive())
    last = {finding.id: finding for finding in whole}
    assert len(last) == len(whole) > 2
    for count in range(0, len(steps) + 1, 3):
        _, partial = played(request, FakeDrive(), upto=count)
        assert all(last[finding.id] == finding for finding in partial)
