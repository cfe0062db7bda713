"""Differences against intervals, by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from stored_runs import finding

from flashtwin.model.finding import Finding
from flashtwin.model.findings import Findings
from flashtwin.runs.compare.measures import Measure, better_of, compare


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


def test_lopsided_intervals_count_the_side_between_the_values() -> None:
    base = replace(finding("a.x", 100.0), low=50.0, high=101.0)
    other = replace(finding("a.x", 110.0), low=108.0, high=200.0)
    assert one(base, other).beyond == pytest.approx(10 - math.hypot(1, 2))
    assert one(base, replace(other, value=90.0, low=80.0)).significant is False


def test_an_open_side_allows_for_anything() -> None:
    base = replace(finding("a.x", 100.0), low=90.0, high=None)
    up, down = finding("a.x", 500.0, half=1.0), finding("a.x", 50.0, half=1.0)
    assert one(base, up).verdict == "same" and one(base, up).overlap is True
    assert one(base, down).verdict == "worse"
    json.dumps(one(base, up).to_json(), allow_nan=False)


def test_without_intervals_values_are_exact() -> None:
    assert pair(100.0, 100.0).verdict == "same" and pair(100.0, 100.0).overlap is True
    differs = pair(100.0, 100.1)
    assert (differs.verdict, differs.overlap, differs.significant) == ("better", False, True)


@pytest.mark.parametrize(
    ("name", "unit", "better"),
    [
        ("fill.mean[a]", "MB/s", 1),
        ("cdm.X.read.iops", "IOPS", 1),
        ("cdm.X.read.latency", "us", -1),
        ("fill.duration[a]", "s", -1),
        ("fill.cache_size[a]", "GB", 1),
        ("fill.second_pass.cache_size[a]", "GB", 1),
        ("waf[25%]", "x", -1),
        ("waf[12.5%]", "x", -1),
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


def test_what_is_not_there() -> None:
    there, lacking = finding("a.x", 1.0), finding("a.x", None)
    assert one(there, lacking).verdict == "vanished"
    assert one(lacking, there).verdict == "appeared"
    assert one(lacking, lacking).verdict == "no value"
    assert one(there, None).verdict == one(None, there).verdict == "not measured"
    assert one(there, None).to_json()["other"] is None
    assert one(there, replace(there, unit="us")).verdict == "differs"


def test_from_nothing() -> None:
    found = pair(0.0, 24.0, 0.1, 0.1, name="fill.cache_size[a]", unit="GB")
    assert (found.percent, found.beyond, found.verdict) == (None, None, "better")


def test_order_and_every_finding_once() -> None:
    mine = Findings([finding("a", 1.0), finding("b", 1.0)])
    theirs = Findings([finding("c", 1.0), finding("b", 1.0)])
    assert [found.id for found in compare(mine, theirs)] == ["a", "b", "c"]
