"""Every shape that drives are known to show, and what has to be concluded from it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from shapes import GB, Factor, Fill, fill, found, odd, pulses, saw

from flashtwin.batteries.fill.wording import FURTHER_TITLES


def check(series: Fill, capacity_gb: float = 240, **expected: object) -> None:
    """Findings against a number with its tolerance, against none, or against words in the note."""
    findings = found(series, capacity_gb)
    for name, wanted in expected.items():
        finding = findings[name.removesuffix("_note")]
        if name.endswith("_note"):
            assert str(wanted) in (finding.note or ""), finding
        else:
            assert finding.value == wanted, finding


def near(value: float, share: float = 0.02) -> object:
    return pytest.approx(value, rel=share)


def test_three_stages() -> None:
    series = fill((461, 24), (111, 192), (81, 240))
    check(
        series,
        cache_size=near(24, 0.001),
        speed_cache=near(461),
        speed_past_cache=near(111),
        fold_begin=near(192, 0.001),
        speed_folding=near(81),
        mean_past_cache=near(216e3 / (168e3 / 111 + 48e3 / 81)),
        one_third_note="signature absent",
    )


def test_first_plateau_slower_than_the_second() -> None:
    series = fill((4500, 20), (6500, 250), (2000, 1000))
    check(
        series,
        1000,
        cache_size=near(250, 0.002),
        cache_size_note="begins slower",
        speed_past_cache=near(2000),
        fold_begin=None,
    )


def test_saw_tooth_past_the_cache() -> None:
    teeth = saw(0.3, 1.7, 12, from_gb=150)
    check(
        fill((1500, 150), (600, 1000), factor=teeth),
        1000,
        cache_size=near(150, 0.01),
        speed_cache=near(1500),
        speed_past_cache=near(600, 0.05),
        fold_begin=None,
    )


def test_square_saw_tooth_back_to_the_speed_of_the_cache() -> None:
    def teeth(second: float, done: float) -> float:
        # 144 GB are 96 s at full speed: there the first low stretch begins.
        return 1.0 if done < 144 * GB or second % 12 >= 6 else 0.2

    check(
        fill((1500, 1000), factor=teeth),
        1000,
        cache_size=near(144, 0.02),
        speed_cache=near(1500),
        speed_past_cache=near(900, 0.05),
    )


def test_saw_tooth_so_slow_that_it_shows_in_the_bins() -> None:
    teeth = saw(0.7, 1.3, 120, from_gb=100)
    check(
        fill((2000, 100), (500, 1000), factor=teeth),
        1000,
        cache_size=near(100, 0.01),
        speed_past_cache=near(500, 0.05),
        fold_begin=None,
    )


def test_swinging_from_the_start() -> None:
    check(
        fill((900, 1000), factor=pulses(0.3, 10, 12)),
        1000,
        cache_size=None,
        cache_size_note="swings from the start",
        speed_cache=None,
        one_third=None,
    )


def test_second_burst_in_mid_fill() -> None:
    check(
        fill((5000, 108), (2000, 450), (5000, 500), (2000, 1000)),
        1000,
        cache_size=near(108, 0.002),
        cache_size_note="faster (4,6",
        speed_past_cache=near(2000),
        fold_begin=None,
    )


def test_third_plateau_faster_than_the_second() -> None:
    check(
        fill((5300, 79), (890, 96), (1750, 215), sample_s=1),
        1000,
        cache_size=near(79, 0.005),
        speed_past_cache=near(890),
        fold_begin=None,
        fold_begin_note="third plateau is faster",
    )


def test_two_cache_tiers() -> None:
    check(
        fill((3500, 30), (2000, 150), (600, 1000)),
        1000,
        cache_size=near(30, 0.005),
        cache_size_note="second, slower tier seems to end at 150 GB",
        speed_past_cache=near(2000),
        fold_begin=None,
        fold_begin_note="second cache tier",
        speed_folding=None,
        tier_end=near(150, 0.005),
        speed_past_tiers=near(600),
    )


def test_a_fill_without_a_second_tier_tells_of_none() -> None:
    for series in (fill((461, 24), (111, 192), (81, 240)), fill((500, 240))):
        assert not {"tier_end", "speed_past_tiers"} & set(found(series, 240))


@pytest.mark.parametrize(
    "heat",
    [
        pytest.param(pulses(0.3, 15, 100), id="long stretches between"),
        pytest.param(pulses(0.6, 8, 20), id="often and mild"),
        pytest.param(
            lambda second, _: 0.03 if second > 96 and second % 24 > 20 else 1.0,
            id="full speed or almost nothing",
        ),
        pytest.param(pulses(0.3, 15, 60, from_gb=500), id="late"),
    ],
)
def test_heat_is_no_cache(heat: Factor) -> None:
    check(
        fill((3000, 1000), factor=heat),
        1000,
        cache_size=0.0,
        cache_size_note="none seen",
        speed_cache=None,
        fold_begin=None,
        one_third=None,
    )


def test_heat_before_the_end_of_the_cache() -> None:
    check(
        fill((3000, 400), (800, 1000), factor=pulses(0.3, 8, 60)),
        1000,
        cache_size=near(400, 0.002),
        cache_size_note="the speed recovers",
        speed_cache=near(3000),
    )


def test_a_late_fast_stretch_is_no_cache() -> None:
    # As a twin showed it: a full drive overwritten, a stretch of it fast.
    check(
        fill((105, 10), (121, 80), (248, 96), (122, 240), noise=0.05),
        cache_size=0.0,
        cache_size_note="faster (2",
        fold_begin=None,
    )


def test_a_long_slow_stretch_with_short_recoveries_is_no_cache() -> None:
    series = fill((88, 76), (22, 90), (88, 94), (25, 110), (90, 112), (40, 130), (91, 240))
    check(series, cache_size=0.0, fold_begin=None)


@pytest.mark.parametrize("cache", [0.5, 0.6, 0.7, 0.8])
def test_a_cache_of_two_samples_before_a_saw_tooth(cache: float) -> None:
    # As a twin showed it: what a full drive has left of its cache.
    teeth = pulses(2.8, 0.5, 2, from_gb=cache)
    series = fill((461, cache), (80, 240), factor=teeth)
    check(series, cache_size=near(cache, 0.1))
    end = found(series)["cache_size"]
    assert end.low is not None and end.high is not None
    assert end.low <= cache <= end.high


def test_one_fast_sample_is_no_cache() -> None:
    check(fill((461, 0.23), (80, 240)), cache_size=0.0)


def test_no_cache() -> None:
    check(
        fill((480, 240)),
        cache_size=0.0,
        cache_size_note="would show from",
        speed_cache=None,
        speed_past_cache=near(480),
        mean=near(480),
        fold_begin=None,
    )
    none = found(fill((480, 240)))["cache_size"]
    assert none.low == 0.0
    assert none.high is not None
    # What it says would have been seen has to be seen.
    check(fill((600, none.high * 1.05), (480, 240)), cache_size=near(none.high * 1.05, 0.2))


def test_no_cache_in_a_part_of_the_drive() -> None:
    check(fill((480, 20)), 1000, cache_size=0.0, cache_size_note="only 20 GB of 1,000 GB")


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("memory", [0.0, 0.7, 0.95])
def test_waves_alone_are_no_cache(noise: float, memory: float) -> None:
    check(fill((480, 240), noise=noise, memory=memory), cache_size=0.0, fold_begin=None)


def test_periodic_stalls() -> None:
    share = 0.9
    check(
        fill((461, 24), (111, 192), (81, 240), factor=pulses(0.0, 1, 10)),
        cache_size=near(24, 0.005),
        speed_cache=near(461 * share, 0.03),
        speed_past_cache=near(111 * share, 0.03),
        fold_begin=near(192, 0.005),
    )


def test_a_long_stall_is_no_plateau() -> None:
    series = fill((461, 24), (111, 240), factor=lambda s, _: 0.0 if 500 < s < 560 else 1.0)
    check(series, cache_size=near(24, 0.002), fold_begin=None)
    speed = found(series)["speed_past_cache"]
    # Time without data belongs to the plateau: bytes over time, and an interval that knows of it.
    assert speed.value == near(216e3 / (216e3 / 111 + 60))
    assert speed.low is not None and speed.high is not None
    assert speed.low < 111 < speed.high


@pytest.mark.parametrize("seed", range(6))
def test_strong_noise(seed: int) -> None:
    check(
        fill((461, 24), (111, 192), (81, 240), noise=0.2, seed=seed),
        cache_size=near(24, 0.01),
        speed_cache=near(461, 0.06),
        speed_past_cache=near(111, 0.03),
        fold_begin=near(192, 0.01),
        speed_folding=near(81, 0.03),
    )


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.1])
def test_very_short_cache(noise: float) -> None:
    check(
        fill((450, 1.2), (170, 128), noise=noise),
        128,
        cache_size=near(1.2, 0.05),
        speed_cache=near(450, 0.1),
        speed_past_cache=near(170),
    )


def test_cache_as_large_as_a_third_of_the_drive() -> None:
    check(
        fill((2500, 341), (500, 1000)),
        1000,
        cache_size=near(341, 0.002),
        one_third_note="signature present",
        fold_begin=None,
    )


@pytest.mark.parametrize("seed", range(4))
def test_outliers(seed: int) -> None:
    check(
        fill((461, 24), (111, 192), (81, 240), factor=odd(0.01, seed), seed=seed),
        cache_size=near(24, 0.02),
        speed_cache=near(461, 0.05),
        speed_past_cache=near(111, 0.03),
        fold_begin=near(192, 0.01),
    )


@pytest.mark.parametrize("noise", [0.005, 0.02, 0.1])
@pytest.mark.parametrize(("gb", "sample_s"), [(1000, 1.0), (10, 4.0)])
def test_a_linear_decline_is_no_cache(noise: float, gb: float, sample_s: float) -> None:
    series = fill(
        (200, gb), factor=lambda _, done: 1 - 0.5 * done / gb / GB, noise=noise, sample_s=sample_s
    )
    check(series, gb, cache_size=0.0, cache_size_note="none seen", fold_begin=None)
    if noise < 0.1:
        check(series, gb, cache_size_note="little by little")


def test_a_decline_past_the_cache() -> None:
    check(
        fill(
            (461, 24),
            (111, 240),
            factor=lambda _, done: 1 if done < 24e9 else 1.2 - 0.5 * done / 240e9,
        ),
        cache_size=near(24, 0.002),
        speed_past_cache_note="drifts",
        fold_begin=None,
    )


def test_a_cache_that_ends_in_a_ramp() -> None:
    def ramp(_: float, done: float) -> float:
        return 1 - 0.75 * float(np.clip((done / GB - 24) / 4, 0, 1))

    end = found(fill((461, 240), factor=ramp))["cache_size"]
    assert end.value is not None and 23.5 < end.value < 28.5
    # No sharp edge is there: the interval has to say so.
    assert end.low is not None and end.high is not None
    assert end.high - end.low > 0.8


def test_the_findings_are_always_the_same_ones() -> None:
    names = list(found(fill((461, 24), (111, 192), (81, 240))))
    assert names == [
        "cache_size",
        "speed_cache",
        "speed_past_cache",
        "fold_begin",
        "speed_folding",
        "mean_past_cache",
        "mean",
        "duration",
        "one_third",
        "cache_probability",
        "slowed_by",
        "rate_held",
    ]
    for series in (fill((480, 240)), fill((461, 0.3)), fill((900, 99), factor=pulses(0.3, 10, 12))):
        assert [name for name in found(series) if name not in FURTHER_TITLES] == names


@pytest.mark.parametrize(
    ("series", "reason"),
    [
        (Fill(t_ns=[], dt_ns=[], bytes_=[]), "empty"),
        (
            Fill(t_ns=np.arange(99) * 10**9, dt_ns=np.full(99, 10**9), bytes_=np.zeros(99)),
            "nothing was written",
        ),
        (Fill(t_ns=[0, 1], dt_ns=[0, 0], bytes_=[5, 5]), "empty"),
        (fill((461, 0.65)), "only 3 samples"),
    ],
)
def test_too_little_to_say_anything(series: Fill, reason: str) -> None:
    findings = found(series)
    assert findings["cache_size"].value is None
    assert all(f.value is None for n, f in findings.items() if n not in ("mean", "duration"))
    assert all(reason in (finding.note or "") for finding in findings.values())


@pytest.mark.parametrize("last", [1.5, 1.2, 1.12])
def test_a_series_of_a_few_samples(last: float) -> None:
    check(fill((461, 1), (111, last)), cache_size=near(1, 0.02), speed_past_cache=near(111, 0.05))


def test_every_length_of_series_gets_an_answer() -> None:
    whole = fill((461, 3), (111, 5), (300, 7))
    for count in range(len(whole.t_ns)):
        part = Fill(t_ns=whole.t_ns[:count], dt_ns=whole.dt_ns[:count], bytes_=whole.bytes_[:count])
        for finding in found(part).values():
            if finding.low is not None and finding.high is not None:
                assert finding.value is not None
                assert finding.low <= finding.value <= finding.high


def test_a_later_pass() -> None:
    second = found(fill((461, 5), (81, 240)), pass_number=2)
    assert list(second) == ["second_pass.cache_size", "second_pass.speed_first", "second_pass.mean"]
    assert second["second_pass.cache_size"].value == near(5, 0.005)
    assert second["second_pass.speed_first"].value == near(461)
    none = found(fill((81, 240)), pass_number=3)
    assert none["third_pass.cache_size"].value == 0.0
    assert none["third_pass.speed_first"].value == near(81)
    assert "whole pass" in (none["third_pass.speed_first"].note or "")
    empty = found(Fill(t_ns=[], dt_ns=[], bytes_=[]), pass_number=2)
    assert list(empty) == list(second)


def test_long_series_and_short_samples() -> None:
    check(
        fill((461, 24), (111, 192), (81, 240), sample_s=0.3),
        cache_size=near(24, 0.001),
        fold_begin=near(192, 0.001),
    )


def test_labels_name_findings_and_decide_nothing() -> None:
    series = fill((461, 24), (111, 240))
    finding = found(series)["cache_size"]
    assert finding.evidence is not None
    assert finding.evidence.label == "fill/128k-q32/pass-1"
    assert (finding.evidence.axis, finding.evidence.start) == ("bytes", 0.0)
    assert finding.evidence.end == pytest.approx(240e9)


def test_the_same_series_gives_the_same_findings() -> None:
    series = fill((461, 24), (111, 192), (81, 240), noise=0.1)
    assert found(series) == found(series)


def test_a_drive_that_falls_too_low_before_it_comes_to_its_pace_has_one_plateau_there() -> None:
    check(
        fill((900, 36), (525, 204), (275, 211.5), (450, 216), (335, 240)),
        cache_size=near(36, 0.002),
        fold_begin=near(204, 0.01),
        speed_folding=near(335, 0.02),
    )


@pytest.mark.parametrize(
    ("low", "high_gb", "low_gb"), [(1000, 15, 45), (400, 14, 56), (800, 20, 100)]
)
def test_a_cache_that_takes_data_again_keeps_its_first_plateau(
    low: float, high_gb: float, low_gb: float
) -> None:
    parts, end = [(3000.0, 25.0)], 25.0
    while end < 1000:
        parts += [(low, end + low_gb), (3000.0, end + low_gb + high_gb)]
        end += low_gb + high_gb
    findings = found(fill(*parts, noise=0.02), 1000)
    assert findings["cache_size"].number == pytest.approx(25, rel=0.01)
    assert findings["tooth_period"].number == pytest.approx(high_gb + low_gb, rel=0.03)
    told = re.search(r"fast for ([0-9]+) % of the bytes", findings["tooth_period"].note or "")
    assert told and int(told[1]) / 100 == pytest.approx(high_gb / (high_gb + low_gb), abs=0.015)
    likely = findings["cache_probability"].number
    assert likely is not None and likely > 0.5


def test_of_stairs_the_first_one_ends_the_first_plateau() -> None:
    """Later and larger falls are no waves beside which the first ones would count for nothing."""
    stairs = ((3560, 218), (2720, 378), (1930, 517), (1180, 555), (585, 712))
    series = fill(*stairs, noise=0.025, sample_s=2.0)
    findings = found(series, 712)
    assert findings["cache_size"].value == near(218, 0.01)
    assert findings["speed_cache"].value == near(3560)
