"""Drives of every kind of cache: what is true of them, and how what discover says is judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flashtwin import _core
from flashtwin.analysis.estimate import Estimate
from flashtwin.model.job import jobs_json
from flashtwin.model.step import Chain, Job, Rest, Result, Run
from flashtwin_lab.blind import generate, kinds, structure
from flashtwin_lab.blind.kinds import Discovered, Truth

QUICK = {"tests": "0", "candidates": "4", "longest_s": "0"}


def _prior(design: str) -> dict[str, Any]:
    """The prior without effects on drives of 2 GB, with one design."""
    prior = generate.read_prior()
    own = kinds.section(prior)
    designs = [d for d in [*prior["designs"], *own["designs"]] if d["name"] == design]
    return {
        **prior,
        "effects": {name: {**values, "share": 0.0} for name, values in prior["effects"].items()},
        "designs": designs,
        "ranges": {**prior["ranges"], "cache_share": [0.08, 0.1], "reserve_share": [0.02, 0.03]},
        "drive": {**prior["drive"], "slack": 1.3},
        "discover": {**own, "simulated_gb": 2, "designs": []},
    }


@pytest.mark.parametrize(
    ("design", "kind", "past"),
    [
        pytest.param("tiers-direct", "tiers", "direct", marks=pytest.mark.full),
        pytest.param("dynamic-mixed", "dynamic", None, marks=pytest.mark.full),
        pytest.param("whole-drive", "whole-drive", "direct", marks=pytest.mark.full),
    ],
)
def test_the_truth_is_what_the_spec_says(design: str, kind: str, past: str | None) -> None:
    drive = kinds.discovered(_prior(design), 3, 1, QUICK)
    assert (drive.truth.structure, drive.truth.past) == (kind, past)
    assert drive.truth.visible and drive.tests == ()
    assert drive.truth.begin_s is not None and drive.truth.full_s is not None
    assert drive.truth.begin_s < drive.truth.full_s
    for likely in drive.likely.values():
        assert sum(likely.values()) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("number", range(6))
def test_all_kinds_of_cache_come_in_turn_where_that_is_asked(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    prior, seen = generate.read_prior(), []

    def draw(wide: dict[str, Any], _rng: np.random.Generator) -> None:
        seen.extend({design["structure"] for design in wide["designs"]})
        raise InterruptedError

    monkeypatch.setattr(generate, "draw", draw)
    with pytest.raises(InterruptedError):
        kinds.discovered(prior, 3, number, QUICK, each_kind=True)
    every = ["dynamic", "hybrid", "none", "static", "tiers", "whole-drive"]
    assert sorted(kinds.kind_of(prior, each) for each in range(6)) == every
    assert seen == [kinds.kind_of(prior, number)]


def test_a_small_copy_is_as_large_and_as_slow_as_it_says() -> None:
    prior = _prior("dynamic-direct")
    rng = np.random.default_rng(1)
    prior["drive"]["simulated_gb"] = 2
    _, spec, inside = generate.drive(prior, rng)
    drive = kinds.NoisyHost(
        spec, seed=1, capacity_bytes=10**12, slower=50.0, prior=prior, rng=rng, knee=None
    ).open()
    job = Job(name="write", rw="write", block_bytes=128 << 10, depth=32, size=40 * 10**9)
    written = drive.do(Run(label="a", jobs=(job,), sample_s=0.5), kinds.watch)
    rested = drive.do(Rest(label="b", seconds=30), kinds.watch)
    assert isinstance(written, Result) and isinstance(rested, Result)
    assert int(written.series.bytes.sum()) == pytest.approx(40e9, rel=0.01)
    rate = written.series.bytes.sum() / written.duration_ns * 1e9
    assert rate == pytest.approx(inside["first_rate"] * 1e12 / spec.capacity_bytes / 50, rel=0.15)
    assert rested.duration_ns == pytest.approx(30e9) and rested.start_ns == written.duration_ns
    assert not written.xray


@pytest.mark.parametrize("number", range(4))
def test_the_cache_that_a_drive_is_said_to_have_is_what_it_takes(number: int) -> None:
    """Whole superblocks of it: intervals were held against the bytes that the spec asks for, up to
    half a superblock off."""
    rng = np.random.default_rng((47, number))
    _, spec, inside = generate.drive(_prior("static"), rng)
    job = Job(name="fill", rw="write", block_bytes=128 << 10, depth=32, size=spec.capacity_bytes)
    answer = _core.Twin(spec, seed=1).run(jobs_json([job]), 4_000_000, generate.go_on)
    taken = int(answer["xray"]["slc_bytes"][-1])
    assert taken == pytest.approx(inside["cache"] * spec.capacity_bytes, abs=1)


def test_reads_of_a_small_copy_are_as_many_as_asked_for_and_say_where_data_lies() -> None:
    prior = _prior("dynamic-direct")
    rng = np.random.default_rng(1)
    _, spec, _ = generate.drive(prior, rng)
    drive = kinds.NoisyHost(
        spec, seed=1, capacity_bytes=10**12, slower=50.0, prior=prior, rng=rng, knee=None
    ).open()
    # Past the cache, which holds 8 to 10 % of the capacity.
    write = Job(name="write", rw="write", block_bytes=128 << 10, depth=32, size=200 * 10**9)
    drive.do(Run(label="a", jobs=(write,), sample_s=0.5), kinds.watch)
    read = Job(name="read", rw="randread", block_bytes=4096, depth=1, io_bytes=64 * 4096)
    chain = Chain(
        label="b",
        parts=tuple(
            Run(label=f"b-{at}", jobs=(replace(read, offset=at, size=40 * 10**9),), sample_s=0.5)
            for at in (10 * 10**9, 10 * 10**9, 150 * 10**9)
        ),
    )
    answer = drive.do(chain, kinds.watch)
    assert isinstance(answer, Result) and len(answer.parts) == 3
    assert all(int(part.series.ios.sum()) == 64 for part in answer.parts)
    waits = [part.series.lat_sum_ns.sum() / part.series.ios.sum() for part in answer.parts]
    assert waits[2] > 1.2 * waits[1]
    assert answer.start_ns == answer.parts[0].start_ns
    assert answer.duration_ns == sum(part.duration_ns for part in answer.parts)


def _drive(**changes: object) -> Discovered:
    good = Discovered(
        name="made up",
        effects=(),
        truth=Truth(visible=True, structure="dynamic", past="direct", begin_s=10.0, full_s=40.0),
        likely={
            "structure": {"static": 0.03, "dynamic": 0.97},
            "past": {"direct": 0.98, "staged": 0.02},
        },
        said={"structure": "dynamic", "past": "direct"},
        rests={
            "rest_begin": Estimate(value=11, low=9, high=12),
            "rest_full": Estimate(value=45, low=41, high=50),
        },
        tests=("again",),
        cpu_s=1.0,
    )
    return replace(good, **changes)  # type: ignore[arg-type]


def _rows(drives: list[Discovered]) -> dict[str, structure.Row]:
    targets = kinds.section(generate.read_prior())
    return {row.finding: row for row in structure.rows(drives, targets)}


def test_kinds_rests_and_intervals_are_counted() -> None:
    wrong = _drive(
        likely={"structure": {"static": 0.99, "dynamic": 0.01}, "past": {"direct": 1.0}},
        said={"structure": "static", "past": "direct"},
        rests={"rest_begin": None, "rest_full": None},
    )
    rows = _rows([_drive()] * 6 + [wrong] * 4)
    assert rows["kind of cache"].found == "6 of 10 most probable, 0 cannot tell, 0 either of two"
    assert not rows["kind of cache"].passes and rows["way past the cache"].passes
    assert not rows["probability: kind of cache"].passes
    assert rows["rest before recovery begins"].found.startswith("6 of 10, 4 cannot tell")
    assert not rows["rest before recovery begins"].passes
    # The interval of the rest before recovery holds, the other's does not.
    assert rows["interval: rest before recovery begins"].found.startswith("6 of 6")
    assert rows["interval: rest to full"].found.startswith("0 of 6")


def test_a_kind_claimed_of_a_drive_without_a_cache_is_a_miss() -> None:
    truth = Truth(visible=False, structure=None, past=None, begin_s=None, full_s=None)
    rows = _rows([_drive(truth=truth)] * 2)
    assert rows["kind of cache"].n == 0
    assert not rows["kind claimed where there is no cache"].passes


def test_a_hybrid_cache_whose_own_part_no_test_resolves_may_be_called_dynamic() -> None:
    assert kinds.either("hybrid", 0.005) == "dynamic"
    assert kinds.either("hybrid", 0.012) is None and kinds.either("static", 0.005) is None
    hybrid = Truth(
        visible=True, structure="hybrid", past="direct", begin_s=10.0, full_s=40.0, also="dynamic"
    )
    rows = _rows([_drive(truth=hybrid)] * 3)
    assert rows["kind of cache"].found == "3 of 3 most probable, 0 cannot tell, 0 either of two"
    larger = replace(hybrid, also=None)
    assert _rows([_drive(truth=larger)] * 3)["kind of cache"].found.startswith("0 of 3")


def test_confusion_tables_say_what_was_taken_for_what() -> None:
    unsure = _drive(said={"structure": None, "past": "direct"})
    done = structure.Structures(rows=(), drives=(_drive(), unsure))
    assert "kind of cache dynamic: dynamic 1, dynamic (cannot tell) 1" in done.worst_lines()


def test_a_kind_that_is_said_to_be_one_of_two_is_right_where_it_is_one_of_them() -> None:
    pair = _drive(
        likely={"structure": {"dynamic": 0.55, "hybrid": 0.44}, "past": {"direct": 1.0}},
        said={"structure": "dynamic or hybrid", "past": "direct"},
    )
    static = replace(pair.truth, structure="static")
    rows = _rows([pair] * 3 + [replace(pair, truth=static)])
    assert rows["kind of cache"].found == "3 of 4 most probable, 0 cannot tell, 4 either of two"
    assert rows["kind of cache, where it is said"].n == 0
    either = rows["kind of cache, where it is said to be either of two"]
    assert either.found == "3 of 4"
    lines = structure.Structures(rows=(), drives=(pair,)).worst_lines()
    assert "kind of cache dynamic: dynamic (dynamic or hybrid) 1" in lines


def test_a_campaign_of_two_drives() -> None:
    done = structure.campaign(2, 5, settings={"tests": "1", "candidates": "4", "longest_s": "0"})
    assert [len(drive.tests) <= 1 for drive in done.drives] == [True, True]
    assert done.document().rows
