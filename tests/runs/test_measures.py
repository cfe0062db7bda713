"""Differences against intervals, by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_runs import finding

from flashtwin.model.finding import Finding, Interval, Means
from flashtwin.model.findings import Findings
from flashtwin.runs.compare.limits import failures, parse
from flashtwin.runs.compare.measures import Measure, better_of, compare, percent_text


def one(base: Finding | None, other: Finding | None) -> Measure:
    (found,) = compare(Findings([base] if base else []), Findings([other] if other else []))
    return found


def pair(base: float | None, other: float | None, *halves: float | None, **more: Any) -> Measure:
    first, second = halves or (None, None)
    name = more.pop("name", "fill.speed_cache[a]")
    return one(finding(name, base, half=first, **more), finding(name, other, half=second, **more))


def test_within_and_beyond_the_intervals() -> None:
    # The halves 3 and 4 allow for 5 together: 4 is within, 6 is 1 beyond.
    near, far = pair(100.0, 104.0, 3.0, 4.0), pair(100.0, 94.0, 3.0, 4.0)
    assert (near.difference, near.percent, near.beyond) == (4.0, 4.0, 0.0)
    assert (near.significant, near.verdict) == (False, "same")
    assert far.beyond == pytest.approx(1.0) and far.percent == -6.0
    assert (far.significant, far.verdict, far.overlap) == (True, "worse", True)
    assert pair(100.0, 108.0, 3.0, 4.0).overlap is False


def spread(value: float, low: float | None, high: float | None, means: Means) -> Finding:
    return replace(finding("a.x", value), interval=Interval(low=low, high=high, means=means))


def test_the_difference_of_two_estimates_has_an_interval_of_its_own() -> None:
    found = pair(100.0, 94.0, 3.0, 4.0).interval
    assert found == Interval(low=-11.0, high=-1.0, means="estimate")
    assert pair(100.0, 94.0).interval is None


def test_lopsided_intervals_count_the_side_between_the_values() -> None:
    base, other = spread(100.0, 50.0, 101.0, "estimate"), spread(110.0, 108.0, 200.0, "estimate")
    assert one(base, other).beyond == pytest.approx(10 - math.hypot(1, 2))
    assert one(base, spread(90.0, 80.0, 200.0, "estimate")).significant is False


def test_a_range_of_runs_takes_nothing_off_a_difference() -> None:
    """Two runs each: nobody can say whether 6 % are the drive's, and 6 % are more than 5 %."""
    found = one(spread(500.0, 440.0, 500.0, "range"), spread(470.0, 420.0, 470.0, "range"))
    assert (found.percent, found.beyond) == (-6.0, 6.0)
    assert (found.significant, found.verdict, found.overlap) == (None, "unclear", True)
    assert [f.limit for f in failures(parse(["5%"]), [found])] == [5.0]
    assert failures(parse(["7%"]), [found]) == []
    better = one(spread(470.0, 420.0, 470.0, "range"), spread(500.0, 440.0, 500.0, "range"))
    assert better.verdict == "unclear" and failures(parse(["0%"]), [better]) == []


def test_ranges_that_lie_apart_are_a_difference() -> None:
    found = one(spread(500.0, 490.0, 500.0, "range"), spread(470.0, 460.0, 470.0, "range"))
    assert (found.significant, found.verdict, found.beyond) == (True, "worse", 6.0)
    assert found.interval == Interval(low=-40.0, high=-20.0, means="range")


def test_bounds_add_up_and_prove_only_what_lies_outside() -> None:
    base = spread(100.0, 90.0, 110.0, "bound")
    assert one(base, spread(115.0, 105.0, 125.0, "bound")).verdict == "unclear"
    far = one(base, spread(130.0, 120.0, 140.0, "bound"))
    assert (far.verdict, far.beyond) == ("better", 10.0)
    # An estimate beside a bound: its half is added to the reach.
    assert one(base, spread(113.0, 109.0, 117.0, "estimate")).beyond == 0.0
    assert failures(parse(["0%"]), [one(base, spread(95.0, 85.0, 105.0, "bound"))]) == []


def test_an_open_side_allows_for_anything() -> None:
    base = spread(100.0, 90.0, None, "bound")
    up, down = finding("a.x", 500.0, half=1.0), finding("a.x", 50.0, half=1.0)
    assert one(base, up).verdict == "unclear" and one(base, up).overlap is True
    assert one(base, down).verdict == "worse"
    json.dumps(msgspec.to_builtins(one(base, up).document()), allow_nan=False)


def test_choices_are_the_same_word_or_another() -> None:
    words = ("none", "static", "dynamic")
    static = replace(finding("a.design", None), value="static", choices=words)
    dynamic = replace(static, value="dynamic")
    assert one(static, static).verdict == "same" and one(static, dynamic).verdict == "differs"
    assert failures(parse(["50%"]), [one(static, dynamic)])
    assert failures(parse(["50%"]), [one(static, static)]) == []
    assert one(static, replace(static, value=None)).verdict == "vanished"


ANY = st.floats(1.0, 1000.0)


@st.composite
def found_values(draw: st.DrawFn) -> Finding:
    value = draw(ANY)
    means: Means = draw(st.sampled_from(["estimate", "range", "bound"]))
    ends = [draw(st.none() | st.floats(0.0, 500.0)) for _ in range(2)]
    low = None if ends[0] is None else value - ends[0]
    high = None if ends[1] is None else value + ends[1]
    interval = Interval.of(low, high, means)
    return replace(finding("a.x", value), interval=interval)


@given(found_values(), found_values())
def test_the_other_way_round_it_is_the_opposite(first: Finding, second: Finding) -> None:
    there, back = one(first, second), one(second, first)
    assert there.difference == -(back.difference or 0.0)
    assert (there.overlap, there.significant) == (back.overlap, back.significant)
    opposite = {"better": "worse", "worse": "better"}
    assert opposite.get(there.verdict, there.verdict) == back.verdict
    if there.interval and back.interval:
        mirrored = [
            None if end is None else -end for end in (back.interval.high, back.interval.low)
        ]
        assert [there.interval.low, there.interval.high] == mirrored
    assert there.beyond is not None and 0 <= there.beyond <= abs(there.percent or 0.0) + 1e-9
    assert one(first, first).verdict == "same"


@given(found_values(), found_values(), st.floats(0.0, 100.0))
def test_wider_bounds_never_prove_more(first: Finding, second: Finding, more: float) -> None:
    bound = Interval(low=(first.number or 0) - more, high=(first.number or 0) + more, means="bound")
    exact, wide = replace(first, interval=None), replace(first, interval=bound)
    assert (one(wide, second).beyond or 0.0) <= (one(exact, second).beyond or 0.0) + 1e-9


def test_without_intervals_values_are_exact() -> None:
    assert pair(100.0, 100.0).verdict == "same" and pair(100.0, 100.0).overlap is True
    differs = pair(100.0, 100.1)
    assert (differs.verdict, differs.overlap, differs.significant) == ("better", False, True)


@pytest.mark.parametrize(
    ("name", "unit", "better"),
    [
        ("fill.mean[a]", "MB/s", 1),
        ("crystaldiskmark.read.iops[X]", "IOPS", 1),
        ("crystaldiskmark.read.latency[X]", "us", -1),
        ("fill.duration[a]", "s", -1),
        ("fill.cache_size[a]", "GB", 1),
        ("fill.second_pass.cache_size[a]", "GB", 1),
        ("power.copy.efficiency", "MB/J", 1),
        ("power.idle", "W", -1),
        ("fill.one_third[a]", "fraction", None),
        ("x.something", "GB", None),
    ],
)
def test_what_is_better(name: str, unit: str, better: int | None) -> None:
    assert better_of(finding(name, 1.0, unit)) == better
    verdict = {1: "better", -1: "worse", None: "differs"}[better]
    assert pair(1.0, 2.0, name=name, unit=unit).verdict == verdict


def test_a_finding_says_what_is_better_before_its_unit_does() -> None:
    assert better_of(replace(finding("waf[25%]", 1.0, "x"), better="lower")) == -1
    assert better_of(replace(finding("x.speed", 1.0, "MB/s"), better="lower")) == -1


def test_what_is_not_there() -> None:
    there, lacking = finding("a.x", 1.0), finding("a.x", None)
    assert one(there, lacking).verdict == "vanished"
    assert one(lacking, there).verdict == "appeared"
    assert one(lacking, lacking).verdict == "no value"
    assert one(there, None).verdict == one(None, there).verdict == "not measured"
    assert one(there, None).document().other is None
    assert one(there, replace(there, unit="us")).verdict == "differs"


def test_from_nothing() -> None:
    found = pair(0.0, 24.0, 0.1, 0.1, name="fill.cache_size[a]", unit="GB")
    assert (found.percent, found.beyond, found.verdict) == (None, None, "better")


def test_order_and_every_finding_once() -> None:
    mine = Findings([finding("a", 1.0), finding("b", 1.0)])
    theirs = Findings([finding("c", 1.0), finding("b", 1.0)])
    assert [found.id for found in compare(mine, theirs)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1022.456, "+1,022 %"), (-6.094, "-6.09 %"), (0.0001, "0 %"), (None, "-")],
)
def test_differences_in_percent_are_written_in_one_way(value: float | None, shown: str) -> None:
    assert percent_text(value) == shown
