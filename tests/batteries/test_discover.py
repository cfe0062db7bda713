"""discover: which tests it chooses, what it concludes, and that results alone decide."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fakes import FakeDrive, Law

from flashtwin.analysis.curve import Curve
from flashtwin.batteries.base import registry
from flashtwin.batteries.discover import ambiguous, latency, levels, reading, steps
from flashtwin.batteries.discover import candidates as small
from flashtwin.batteries.discover import posterior as inference
from flashtwin.batteries.discover import tests as known_tests
from flashtwin.batteries.discover.candidates import Candidate, Facts
from flashtwin.batteries.discover.posterior import Seen
from flashtwin.batteries.discover.words import FILL, NAMES, PASTS
from flashtwin.catalogue.loader import load
from flashtwin.drives.twin import Twin
from flashtwin.model.series import Series
from flashtwin.model.step import Chain, Rest, Result, Run
from flashtwin.model.target import Capabilities
from flashtwin.runner.conclude import conclude
from flashtwin.runner.run import run_batteries
from flashtwin.runs.rundir import Run as RunDirectory

FEW = {"candidates": "4", "host_us": "0", "longest_s": "2"}


def _run(path: Path, tests: int) -> RunDirectory:
    drive = Twin(load("bx500-240", scale="1/176"), seed=1).open()
    return run_batteries(drive, [("discover", {**FEW, "tests": str(tests)})], path / "run")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return _run(tmp_path_factory.mktemp("run"), 0)


def test_findings_are_probabilities_with_an_explanation(run: RunDirectory) -> None:
    for finding in run.findings:
        assert registry.meaning_of(finding) is not None, finding.id
    for part, words in (("structure", NAMES), ("past", PASTS)):
        values = [run.findings[f"discover.{part}.{word}"].number or 0.0 for word in words]
        assert sum(values) == pytest.approx(1, abs=1e-3)


@pytest.mark.full
def test_a_run_concluded_again_says_the_same_and_chooses_the_same(tmp_path: Path) -> None:
    run = _run(tmp_path, 1)
    labels = [step.label for step in run.steps if step.label.endswith("/write")]
    inference.posterior.cache_clear()
    inference.chosen.cache_clear()
    again = {finding.id: finding.value for finding in conclude(run)}
    assert again == {finding.id: finding.value for finding in run.findings}
    fill = next(step for step in run.steps if step.label == FILL)
    result = run.result(fill.step)
    assert isinstance(result, Result)
    facts = reading.facts_of(result)
    assert facts is not None
    assert labels == ["discover/1-past/write"], "where data lies is asked first"


def _file() -> FakeDrive:
    return FakeDrive(kind="file", purge="a file cannot be purged")


def test_what_cannot_be_erased_rests_until_its_cache_is_empty() -> None:
    """Before the fill, and before every write that has to go into an empty cache."""
    drive = _file()
    request = registry.request("discover", {**FEW, "idle_s": "90"})
    steps = request.battery.measure(request.parameters, drive.info)
    step = next(steps)
    while not step.label.endswith("past/write"):
        step = steps.send(drive.do(step, lambda progress: True))
    done = [step for step in drive.done if isinstance(step, Rest | Run | Chain)]
    writes = [(before, step) for before, step in pairwise(done) if isinstance(step, Run)]
    assert [before.seconds for before, _ in writes if isinstance(before, Rest)] == [90.0] * 3
    sizes = [step.jobs[0].size for _, step in writes]
    cache = drive.law.cache_bytes
    assert sizes == pytest.approx([drive.info.capacity_bytes, cache, 1.3 * cache], rel=0.02)


@pytest.mark.full
def test_of_a_file_the_way_past_the_cache_is_told_and_not_the_kind(tmp_path: Path) -> None:
    """What is written over a file takes no free space, so that a borrowed cache of the drive below
    stays as it is, as a static one does."""
    run = run_batteries(_file(), [("discover", {**FEW, "tests": "1"})], tmp_path / "run")
    structure = run.findings["discover.structure"]
    assert structure.value is None and "takes no free space" in (structure.note or "")
    assert not any(finding.name.startswith("structure.") for finding in run.findings)
    assert run.findings["discover.past.direct"].number is not None


def test_a_fill_of_a_few_samples_says_so(tmp_path: Path) -> None:
    law = Law(capacity_bytes=1 << 28, cache_bytes=1 << 26, cache_rate=2e9, direct_rate=1e9)
    drive = FakeDrive(law=law, kind="file", purge="a file cannot be purged")
    run = run_batteries(drive, [("discover", FEW)], tmp_path / "run")
    note = run.findings["discover.structure"].note or ""
    assert "the fill has 12 samples" in note and "larger target" in note


def test_a_burst_of_a_buffer_is_no_cache_of_a_kind(tmp_path: Path) -> None:
    """Of a fast beginning of 0.04 % of a drive it was sure that it is a hybrid cache."""
    law = Law(cache_bytes=300 * 10**6, cache_rate=1.4e8, direct_rate=1e8, fold_rate=1e8)
    drive = FakeDrive(law=law)
    run = run_batteries(drive, [("discover", FEW)], tmp_path / "run")
    structure = run.findings["discover.structure"]
    assert structure.value is None
    assert not any(finding.name.startswith("structure.") for finding in run.findings)


@pytest.mark.parametrize(
    ("seconds", "cells", "is_none"),
    [
        pytest.param(1.4, 0.0, True, marks=pytest.mark.full),
        pytest.param(1.4, 1.0, False, marks=pytest.mark.full),
        pytest.param(14.0, 0.0, False, marks=pytest.mark.full),
    ],
)
def test_a_burst_of_the_host_is_no_cache_of_a_kind(
    seconds: float, cells: float, is_none: bool
) -> None:
    """A second and a half by half as fast as all that follows, on a drive without a cache: it was
    sure that it is a hybrid cache. Where reads differ, or it lasts longer, it is a cache. How sure
    no cache is, from this little, is `calmer`'s to say."""
    share, second = 0.0069, 0.68
    curve = np.full(48, np.log(second))
    curve[0] = np.log(1 / (48 * share + (1 - 48 * share) / second))
    facts = replace(_facts(share, second), fill_s=seconds / share, fill=tuple(curve))
    seen = Seen(test="past", curve=(cells, cells, 0.0))
    likely = inference.posterior(facts, (seen,), 2).by(0)
    assert (likely["none"] > 0.9) if is_none else (likely["none"] < 0.05)


@pytest.mark.parametrize("share", [0.003, 0.007, 0.01, 0.1])
def test_a_candidates_speeds_are_told_over_its_first_plateau_however_short(share: float) -> None:
    """Where that was less than 1 % of the drive they were told over what follows it, so that none
    of the drives that were meant fitted."""
    ((curve, _),) = small.fills(
        _facts(share, 0.4), [_candidate("static", "direct", cache_share=share)]
    )
    assert float(np.median(curve)) == pytest.approx(np.log(0.4), abs=0.06)


def test_the_part_of_its_own_is_less_than_all_of_a_hybrid_cache() -> None:
    facts = _facts(cache_share=0.01, second=0.4)
    rng = np.random.default_rng(1)
    hybrid = small.structures().index(("hybrid", "direct"))
    drawn = [small.drawn(facts, hybrid, rng) for _ in range(20)]
    drawn += [small.moved(facts, candidate, rng, 0.06) for candidate in drawn]
    drawn += levels.proposed(facts, [(0.5, 0.005)], drawn[0])
    assert all(candidate.static_share < candidate.cache_share for candidate in drawn)


def test_single_writes_without_waits_of_theirs_or_of_reads_tell_nothing() -> None:
    """A result without a direction ended the battery with an error."""
    rows = [np.arange(20), np.ones(20), np.full(20, 1), np.ones(20), np.ones(20)]
    columns = dict(zip(("t_ns", "dt_ns", "direction", "ios", "bytes"), rows, strict=True))
    latencies = {name: np.ones(20) for name in ("lat_sum_ns", "lat_min_ns", "lat_max_ns")}
    part = Result(
        label="part",
        start_ns=0,
        duration_ns=20,
        series=Series(**{k: v.astype(np.int64) for k, v in (columns | latencies).items()}),
    )
    counts = np.zeros(2000, dtype=np.int64)
    counts[3] = 20
    for hist in ({}, {"read": counts}, {"write": counts}):
        parts = (replace(part, hist=hist),) * (steps.MIXED + 1)
        assert reading._waits(replace(part, parts=parts)).size == 0


def _facts(cache_share: float, second: float) -> Facts:
    return Facts(
        total_bytes=2e9, cache_share=cache_share, second=second, fill_s=6.1, fill=(0.0,) * 48
    )


def _candidate(name: str, past: str, **values: float) -> Candidate:
    return Candidate(
        structure=small.structures().index((name, past)),
        cell="tlc",
        **{
            "cache_share": 0.1,
            "second": 0.4,
            "reserve_share": 0.08,
            "static_share": 0.02,
            "idle_s": 5.0,
            **values,
        },
    )


def _curve(facts: Facts, candidate: Candidate, test: known_tests.Test) -> np.ndarray:
    (_, first), *_ = small.fills(facts, [candidate])
    return small.simulated(facts, [(candidate, test, first)])[0]


def test_curves_do_not_depend_on_their_neighbours() -> None:
    both = [_candidate("dynamic", "direct"), _candidate("static", "direct", cache_share=0.03)]
    facts, again = _facts(0.1, 0.4), known_tests.named("again")
    together = small.simulated(facts, [(candidate, again, 3e8) for candidate in both])
    alone = small.simulated(facts, [(both[1], again, 3e8)])
    assert np.array_equal(together[1], alone[0])


@pytest.mark.parametrize("seed", range(20))
def test_whatever_a_fill_shows_each_candidate_is_a_drive(seed: int) -> None:
    """A cache of half a percent of the drive to nearly half of it, ends at any places."""
    rng = np.random.default_rng(seed)
    share, second = float(np.exp(rng.uniform(np.log(0.005), np.log(0.45)))), rng.uniform(0.05, 0.95)
    place = min(share + float(rng.uniform(0.05, 0.5)), 0.99)
    stages = ((share, place, second), (place, 1.0, 0.7 * second))
    facts = replace(_facts(share, second), begin_s=5.0, stages=stages[: rng.integers(3)])
    for number in range(len(small.structures())):
        candidate = small.moved(facts, small.drawn(facts, number, rng), rng, 0.2)
        for larger in (False, True):
            spec, _ = small._spec(facts, candidate, larger=larger)
            assert spec.capacity_bytes > 0.9e9


def test_a_fill_of_two_levels_may_be_of_a_cache_that_folds_from_its_end() -> None:
    """A large borrowed cache was no candidate for a fill that becomes slower once, since all of
    them folded later: such drives were told as caches of the whole drive."""
    facts = replace(_facts(0.3, 0.28), stages=((0.3, 1.0, 0.28),))
    rng, number = np.random.default_rng(3), small.structures().index(("dynamic", "direct"))
    pool = [small.drawn(facts, number, rng) for _ in range(16)]
    past = [np.exp(curve[20:40]) for curve, _ in small.fills(facts, pool)]
    alike = [bool((np.abs(rates / facts.second - 1) < 0.1).all()) for rates in past]
    assert sum(alike) >= 3


def test_a_drive_with_more_flash_lends_more() -> None:
    """The flash over the capacity is free beyond the reserve, at whatever level."""
    few, many = (
        _candidate("dynamic", "direct", cache_share=0.2, reserve_share=share)
        for share in (0.005, -0.1)
    )
    assert small.flash(few) == (1.12, 0.005)
    assert small.flash(many) == pytest.approx((1.225, 0.005))
    assert small.level_with(many, 0.02) == small.MOST_LEVEL > small.level_with(few, 0.02)
    facts, full = _facts(0.2, 0.4), known_tests.level(100)
    sizes = [levels.size_seen(facts, tuple(_curve(facts, c, full)), full) for c in (few, many)]
    # What is free beyond the reserve is 0.089 and 0.194 of the capacity. A byte in the cache takes
    # three of that, and what it is written over gives one back.
    assert sizes == pytest.approx([0.089 / 2, 0.194 / 2], abs=0.004)
    for candidate, size in zip((few, many), sizes, strict=True):
        found = levels.proposed(facts, [(1.0, size)], candidate)
        like = [c.reserve_share for c in found if c.cell == "tlc"]
        assert like == pytest.approx([candidate.reserve_share], abs=0.01)


def _size(name: str, percent: float) -> float:
    """How large a cache is at a level; what is free beyond the reserve is 0.974 of the capacity."""
    candidate = _candidate(name, "staged", reserve_share=0.12, static_share=0.02)
    facts, test = _facts(0.1, 0.4), known_tests.level(percent)
    return levels.size_seen(facts, tuple(_curve(facts, candidate, test)), test)


def test_a_borrowed_cache_shrinks_to_nothing_and_a_hybrid_one_down_to_its_own_part() -> None:
    """Both lose a third of what the level grows by; the hybrid one is larger by its own part, and
    gone where nothing is left to borrow, because from there on the host waits for folding."""
    borrowed = {percent: _size("dynamic", percent) for percent in (92.0, 96.0)}
    hybrid = {percent: _size("hybrid", percent) for percent in (92.0, 96.0, 98.5)}
    assert borrowed[92.0] - borrowed[96.0] == pytest.approx(0.04 / 3, abs=0.003)
    assert hybrid[92.0] - borrowed[92.0] == pytest.approx(0.02, abs=0.004)
    assert hybrid[96.0] - borrowed[96.0] == pytest.approx(0.02, abs=0.004)
    assert hybrid[98.5] < 0.006 < 0.02 - (0.985 - 0.974) / 3


def test_proposed_candidates_have_the_sizes_that_were_seen() -> None:
    """S + F/k is what a size at a level says; each candidate splits it otherwise."""
    facts = _facts(0.1, 0.4)
    for name in ("dynamic", "hybrid"):
        found = list(
            levels.proposed(facts, [(0.92, 0.038), (0.5, 0.1)], _candidate(name, "staged"))
        )
        assert {candidate.cell for candidate in found} == {"tlc", "qlc"}
        for candidate in found:
            bits = small.BITS[candidate.cell]
            free = 1.12 - 0.026 - candidate.reserve_share
            part = candidate.static_share if name == "hybrid" else 0.0
            inside = 0.0051 < candidate.reserve_share < 0.38
            assert not inside or part + (free - 0.92) / bits == pytest.approx(0.038, abs=1e-6)
    assert not list(levels.proposed(facts, [(0.92, 0.038)], _candidate("static", "direct")))


@pytest.mark.parametrize(
    ("past", "beyond", "oldest"),
    [("direct", 1.0, 0.0), ("staged", 0.0, 1.0), ("fold-first", 0.0, 1.0)],
)
def test_reads_say_which_data_the_cache_holds(past: str, beyond: float, oldest: float) -> None:
    shown = _curve(_facts(0.1, 0.4), _candidate("dynamic", past), known_tests.PAST)
    assert shown[0] == 1.0
    assert shown[1] == pytest.approx(beyond, abs=0.1) and shown[2] == pytest.approx(oldest, abs=0.1)


def test_a_drive_that_folds_first_lets_single_requests_wait() -> None:
    facts = _facts(0.1, 0.4)
    staged = _curve(facts, _candidate("dynamic", "staged"), known_tests.PAST)
    for step_mib in (2.0, 8.0):
        first = _curve(
            facts, _candidate("dynamic", "fold-first", step_mib=step_mib), known_tests.PAST
        )
        assert first[-1] > staged[-1] + 2 * inference.reads_noise()[-1]


def test_a_step_of_few_programs_is_no_longer_wait_than_staging() -> None:
    """The usual step of 4 MiB on a drive that programs 3 MiB at once, and on one of two dies."""
    facts = replace(_facts(0.1, 0.4), meanwhile=2e6)
    first = _candidate("dynamic", "fold-first", step_mib=4.0)
    staged = _curve(facts, _candidate("dynamic", "staged"), known_tests.PAST)
    noise = inference.reads_noise()[-1]
    many = _curve(replace(facts, meanwhile=0.25e6), first, known_tests.PAST)[-1]
    few = _curve(facts, replace(first, buffer_kib=768), known_tests.PAST)[-1]
    assert few < staged[-1] + noise < many - 2 * noise


def test_single_writes_of_a_small_drive_have_samples_for_each_part() -> None:
    """In samples of half a second a drive of 8 GB had three of them, and how long they wait was
    not told."""
    drive = FakeDrive()
    facts = replace(_facts(0.1, 0.4), fill_s=17.0)
    chain = steps.asked(drive.info, facts, known_tests.PAST, "discover/1-past/write", 0)
    assert isinstance(chain, Chain)
    single = chain.parts[steps.SINGLE]
    assert isinstance(single, Run)
    fastest_s = single.jobs[0].size / drive.info.capacity_bytes * facts.fill_s
    assert fastest_s / single.sample_s >= 2 * latency.PARTS


def test_what_is_written_while_a_program_lasts_says_how_many_programs_a_step_is() -> None:
    first = _candidate("dynamic", "fold-first", step_mib=4.0)
    row = small.superblock_bytes(1, 3)
    assert small.step_bytes(_facts(0.1, 0.4), first) == 4 << 20, "not known: as many bytes"
    steps = [
        small.step_bytes(replace(_facts(0.1, 0.4), meanwhile=count), first) / row
        for count in (1e4, 0.5e6, 1e6)
    ]
    assert steps[0] == small.MOST_PROGRAMS and steps[1] == pytest.approx(2 * steps[2])
    # Past the cache the host has 0.4 of the first speed, and folding 1/(1/0.4 - 1) of it.
    assert steps[2] == pytest.approx((4 << 20) / 1e6 * (1 / 0.4 - 1) * 0.4)


def test_no_test_of_writes_promises_to_tell_folding_first_from_staging() -> None:
    facts = _facts(0.1, 0.4)
    sample = [_candidate("dynamic", past, cache_share=0.1) for past in ("staged", "fold-first")]
    sample.append(_candidate("dynamic", "direct"))
    again, halves = known_tests.AGAIN, np.array([0.5, 0.5])
    for part in (None, 1):
        assert inference._parting(facts, sample[:2], halves, again, part) == 0.0
        assert inference._parting(facts, sample[1:], halves, again, part) > 0.0


def test_a_host_that_was_slow_in_the_fill_makes_no_test_unlike() -> None:
    """A slow start of the fill: all tests look faster, and what tells is where they drop."""
    facts, test = _facts(0.1, 0.4), known_tests.level(95)
    shown = np.where(np.arange(48) < 30, 0.0, np.log(0.4))
    shorter = np.where(np.arange(48) < 24, 0.0, np.log(0.4))
    faster = shown + np.log(1.25)
    assert inference.fit(facts, faster, shown, test) > -5
    assert (
        inference.fit(facts, faster, shorter, test) < inference.fit(facts, faster, shown, test) - 5
    )


def test_a_drive_that_is_slow_at_first_is_not_taken_for_one_before_a_slow_host() -> None:
    """A full drive folds before it takes data as fast again; the fill's analysis reads that as a
    slow start of the host's, and whether it is one the candidates decide."""
    facts, test = _facts(0.1, 0.4), known_tests.AGAIN
    speed = np.where(np.arange(200) < 50, 0.27, 0.4) * facts.first
    seen = reading.seen_of_curve(Curve(dt=np.full(200, 0.01), size=speed * 0.01), test, facts)
    flat = np.full(48, np.log(0.4))
    slow_first = np.array(seen.slower)
    assert slow_first.min() < np.log(0.28) and np.array(seen.curve).min() > np.log(0.38)
    folds, waits = (inference._test_fit(facts, seen, shown) for shown in (slow_first, flat))
    assert folds > waits > inference.fit(facts, slow_first, flat, test)
    alone = inference.Seen(test=test.name, curve=seen.curve)
    assert inference._test_fit(facts, alone, flat) > waits, "a disturbance is not likely"


def test_a_second_tier_that_hardly_differs_is_less_likely_than_none() -> None:
    """Where only a small tier of nearly the first one's speed fits, most of what a tier may be does
    not; where any fits, both kinds are as likely."""
    shares, speeds = np.geomspace(0.05, 0.4, 5), np.geomspace(0.3, 0.9, 5)
    tiers = [
        _candidate("tiers", "direct", tier_share=share, tier_speed=speed)
        for share in shares
        for speed in speeds
    ]
    fits = {_candidate("dynamic", "direct"): (0.0,), **dict.fromkeys(tiers, (0.0,))}
    even = inference._normalized(fits, ()).by(0)
    # Of three ways past a dynamic cache one is there.
    assert even["dynamic"] / even["tiers"] == pytest.approx(1 / 3, rel=0.01)
    near = {tier: (-200.0,) for tier in tiers if tier.tier_share > 0.06 or tier.tier_speed < 0.8}
    likely = inference._normalized({**fits, **near}, ()).by(0)
    assert likely["dynamic"] > 20 / 3 * likely["tiers"]


def test_a_test_that_no_candidate_fits_says_less() -> None:
    near, far = _candidate("dynamic", "direct"), _candidate("static", "direct")
    seen = (inference.Seen(test="again", curve=()),)
    fitted = dict(inference._weighed({near: (0.0, -4.0), far: (0.0, -8.0)}, seen))
    unfitted = dict(inference._weighed({near: (0.0, -40.0), far: (0.0, -44.0)}, seen))
    assert fitted[near] - fitted[far] == pytest.approx(4.0)
    assert unfitted[near] - unfitted[far] == pytest.approx(0.5)
    # What reads say is counted so many times that calming takes nothing from it.
    calmer = inference.calibration()["structure"]["calmer"]
    reads = (inference.Seen(test="past", curve=()),)
    usual = {near: (0.0, -4.0 * calmer), far: (0.0, -12.0 * calmer)}
    weighed = dict(inference._weighed(usual, reads))
    assert weighed[near] - weighed[far] == pytest.approx(8 * calmer)


def test_reads_that_take_alike_weigh_no_more_than_drives_are_that_hide_their_cells() -> None:
    """Where a read takes long for other reasons cells of one bit are hardly sooner, and a staged
    drive shows what one without a cache does: it was called so, with 99 %."""
    facts, staged = _facts(0.1, 0.4), np.array([1.0, 0.0, 1.0])
    calmer = inference.calibration()["structure"]["calmer"]

    def fits(*shown: float) -> float:
        return inference.fit(facts, np.array(shown), staged, known_tests.PAST) / calmer

    assert fits(0.27, 0.0, 0.0) == pytest.approx(np.log(inference.ALIKE))
    assert fits(1.0, 1.0, 0.0) < 3 * np.log(inference.ALIKE)


def test_no_kind_is_given_up_before_reads_tell_how_data_goes_past_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Staged dynamic caches fitted a fill worse than direct ones, and were given up for that;
    then reads ruled all direct ones out, and a hybrid cache was left with 100 %."""
    known = small.structures()

    def fits(_: Facts, seen: tuple[Seen, ...], pool: list[Candidate]) -> inference.Fits:
        names = {candidate: known[candidate.structure] for candidate in pool}
        fill = {c: -60.0 if names[c] == ("dynamic", "staged") else 0.0 for c in pool}
        reads = {c: -400.0 if names[c][1] == "direct" else 0.0 for c in pool}
        return {c: (fill[c], *(reads[c] for _ in seen)) for c in pool}

    monkeypatch.setattr(inference, "_fits_of", fits)
    facts, seen = _facts(0.1, 0.43), Seen(test="past", curve=(1.0, 0.0, 1.0))
    before = inference._by_structure(inference.posterior(facts, (), 2))
    assert before[known.index(("dynamic", "staged"))] < inference.UNLIKELY
    after = inference.posterior(facts, (seen,), 2)
    assert ("dynamic", "staged") in {known[c.structure] for c in after.candidates}


def test_a_kind_with_a_value_of_its_own_is_less_likely_where_only_some_of_its_range_fits() -> None:
    """A hybrid cache of the smallest own part draws the same as a dynamic one."""
    fits = {
        _candidate("dynamic", "staged"): (0.0,),
        **{
            _candidate("hybrid", "staged", static_share=share): (0.0 if share == 0.008 else -200.0,)
            for share in (0.008, 0.012, 0.017, 0.024, 0.035)
        },
    }
    likely = inference._normalized(fits, ()).by(0)
    assert likely["dynamic"] / likely["hybrid"] > 4
    even = inference._normalized(dict.fromkeys(fits, (0.0,)), ()).by(0)
    assert even["dynamic"] == pytest.approx(even["hybrid"])


def test_much_flash_is_less_likely_than_a_usual_amount_where_both_fit() -> None:
    """A hybrid cache and a dynamic one on more flash draw the same line of sizes."""
    fits = {
        _candidate("hybrid", "direct"): (0.0,),
        _candidate("dynamic", "direct", reserve_share=-0.05): (0.0,),
    }
    weighed = dict(inference._weighed(fits, ()))
    apart = [weighed[candidate] for candidate in fits]
    calmer = inference.calibration()["structure"]["calmer"]
    assert apart[1] - apart[0] == pytest.approx(np.log(inference.MUCH_FLASH) * calmer)


def test_of_a_test_that_was_run_twice_the_run_counts_that_fits() -> None:
    near, far = _candidate("dynamic", "direct"), _candidate("static", "direct")
    seen = tuple(inference.Seen(test="again", curve=(n,)) for n in (0.0, 1.0))
    weighed = dict(inference._weighed({near: (0.0, -40.0, -3.0), far: (0.0, -30.0, -9.0)}, seen))
    assert weighed[near] - weighed[far] == pytest.approx(6.0)


def test_a_fill_without_an_end_of_its_first_plateau_is_not_told() -> None:
    curve = Curve(dt=np.full(200, 0.5), size=np.full(200, 1e8))
    assert reading.facts_of_curve(curve) is None


def test_tests_are_named_by_what_they_do() -> None:
    asked = [known_tests.PAST, *known_tests.menu(Capabilities(trim=True), (97.3, 103.0))]
    assert all(known_tests.named(test.name) == test for test in asked)
    assert [test.name for test in asked][-2:] == ["level-97.5", "level-103"]
    trimless = known_tests.menu(Capabilities())
    assert trimless and not any(test.needs_trim for test in trimless)
    # A file takes no free space: it has no level.
    assert not known_tests.menu(Capabilities(whole_drive=False, trim=True))
    # As an earlier version named them.
    assert (
        known_tests.named("half-12.3s").rest_s == 12.3
        and known_tests.named("half-12.3s").level == 0.5
    )
    assert known_tests.named("random").overwrites == 0.02


def test_a_test_of_an_earlier_version_that_shows_nothing_is_passed_over() -> None:
    answer = Result(label="", start_ns=0, duration_ns=1, series=Series.empty())
    labels = ["discover/1-single/write", "discover/2-past/write", "discover/4-again/write"]
    steps = [SimpleNamespace(label=label, cut=False, answer=answer) for label in labels]
    reads = replace(answer, parts=(answer,) * 4)
    steps[1].answer = reads
    answers = reading._answers(SimpleNamespace(steps=steps))  # type: ignore[arg-type]
    assert [(label, test.name) for label, (test, _) in answers.items()] == [(labels[1], "past")]
    # Regions that were not read say nothing either.
    assert reading.seen_of(reads, known_tests.PAST, _facts(0.1, 0.4)).curve == ()


def test_a_test_that_the_buffer_takes_whole_tells_nothing() -> None:
    """Of a cache of half a thousandth of the drive: the battery ended with an error there."""
    facts = _facts(cache_share=0.0005, second=0.4)
    slow, fast = np.full(48, np.log(facts.second)), np.zeros(48)
    assert inference.fit(facts, slow, fast, known_tests.AGAIN) == 0.0
    assert inference.fit(_facts(cache_share=0.1, second=0.4), slow, fast, known_tests.AGAIN) < 0.0


def test_two_kinds_that_no_test_parts_are_said_to_be_one_of_both() -> None:
    words = ambiguous.choices(NAMES)
    assert "dynamic or hybrid" in words and set(NAMES) < set(words)
    assert not any("none" in word for word in words if word != "none")
    likely = {"static": 0.01, "dynamic": 0.6, "hybrid": 0.37, "none": 0.02}
    pair = ambiguous.pair_of(likely, 0.95)
    assert pair == ("dynamic", "hybrid") and ambiguous.SEPARATOR.join(pair) in words
    assert ambiguous.pair_of({**likely, "static": 0.1, "dynamic": 0.51}, 0.95) is None
    assert ambiguous.pair_of({"dynamic": 0.6, "none": 0.4}, 0.95) is None
    assert ambiguous.words_of("dynamic or hybrid") == pair and ambiguous.words_of("tiers") == (
        "tiers",
    )


def test_why_no_test_parts_two_kinds_is_said_with_the_share_that_was_measured() -> None:
    hybrids = [_candidate("hybrid", "direct", static_share=share) for share in (0.008, 0.012)]
    belief = inference.Posterior(
        candidates=(_candidate("dynamic", "direct"), *hybrids), weights=(0.6, 0.2, 0.2)
    )
    assert "0.8 % to 1.2 % of the capacity" in ambiguous.reason(belief, ("dynamic", "hybrid"))
    assert "single writes" in ambiguous.reason(belief, ("staged", "fold-first"))
