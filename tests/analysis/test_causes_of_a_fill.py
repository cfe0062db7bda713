"""Looks of made fills, counts as probabilities, what a thermometer says, and saw-teeth."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import numpy as np
import pytest
from shapes import GB, Factor, Fill, fill, found, hot, pulses, saw

from flashtwin.analysis import fill_classes, heating, two_speeds
from flashtwin.analysis.curve import Curve, Floats, curve_of
from flashtwin.analysis.relaxation import decays_s
from flashtwin.analysis.sawtooth import teeth
from flashtwin.analysis.shape import shape_of
from flashtwin.batteries.fill.causes import CAUSES, Degrees

DOCS = Path(__file__).parents[2] / "docs"


def curve(series: Fill) -> Curve:
    return curve_of(series.t_ns, series.dt_ns, series.bytes_)


def capped(from_s: float, to_s: float, share: float, level: float) -> Fill:
    """A fill at `level` MB/s with noise of 3 %, which a limit of a share of it cuts for a while."""
    rate = noisy(800, level)
    at = np.arange(800) * 0.5
    inside = (at >= from_s) & (at < to_s)
    rate[inside] = np.minimum(rate[inside], share * level)
    return sampled(rate)


def in_turns(slow_s: float, fast_s: float) -> Fill:
    """A fill at 500 MB/s that a limit of half of that cuts again and again from 150 s on."""
    rate = noisy(1600, 500)
    at = np.arange(1600) * 0.5
    inside = (at >= 150) & ((at - 150) % (slow_s + fast_s) < slow_s)
    rate[inside] = np.minimum(rate[inside], 250)
    return sampled(rate)


def slow_by_the_byte() -> Fill:
    """Slower to a third in turns, where each sample comes out three times as long, and no other."""
    rate = noisy(1600, 500)
    at, pieces = 300, [rate[:300]]
    while at < 1500:
        pieces += [np.repeat(rate[at : at + 30] / 3, 3), rate[at + 30 : at + 110]]
        at += 110
    return sampled(np.concatenate(pieces))


def telegraph(seed: int) -> Factor:
    """Two speeds in turns, each for 3 to 12 seconds that are drawn."""
    random = Random(seed)
    changes = np.cumsum([random.uniform(3, 12) for _ in range(800)])
    return lambda second, _: 0.35 if int(np.searchsorted(changes, second)) % 2 else 1.0


def noisy(samples: int, level: float) -> Floats:
    """Speeds in MB/s with noise of 3 %."""
    return level * (1 + 0.03 * np.random.default_rng(4).normal(size=samples))


def sampled(rate: Floats) -> Fill:
    """A fill of samples of half a second at such speeds, in MB/s."""
    size = np.round(rate * 1e6 * 0.5).astype(np.int64)
    at = np.arange(rate.size) * 500_000_000
    return Fill(t_ns=at, dt_ns=np.full(rate.size, 500_000_000), bytes_=size)


BEGINNINGS = {
    "one level, steep": fill((461, 24), (111, 240)),
    "one level, far": fill((461, 24), (80, 240)),
    "one level, weak": fill((461, 60), (400, 240), noise=0.005),
    "flat": fill((461, 240)),
    "late, steep": fill((3000, 600), (1000, 1000), factor=pulses(0.5, 15, 60)),
}


@pytest.mark.parametrize("look", BEGINNINGS)
def test_a_beginning_looks_like_what_it_is(look: str) -> None:
    series = curve(BEGINNINGS[look])
    assert fill_classes.beginning(series, shape_of(series), "cache") == look


def test_where_a_part_ends_says_nothing_of_a_drive() -> None:
    series = curve(BEGINNINGS["late, steep"])
    assert fill_classes.beginning(series, shape_of(series), "part") == "one level, steep"


def uneven(second: float, _done: float) -> float:
    """Slower four times, for as long, after a longer stretch and after others of all lengths."""
    return 0.5 if any(0 <= second - begin < 15 for begin in (110, 160, 245, 280)) else 1.0


def rounded(series: Fill, grid: float) -> Fill:
    """The fill with its rates rounded to a step, as a program's report has them."""
    size = np.round(series.bytes_ / (grid * series.dt_ns / 1e9)) * grid * series.dt_ns / 1e9
    return Fill(t_ns=series.t_ns, dt_ns=series.dt_ns, bytes_=np.round(size).astype(np.int64))


def dipping(second: float, _: float) -> float:
    """Dips to a third, in four samples of ten until 15 s and in one of ten from then on."""
    return 0.33 if int(second * 2) % 10 in ((1, 3, 6, 8) if second < 15 else (1,)) else 1.0


SCATTER_STAYS = {
    "rounded rates": rounded(fill((3000, 60), (900, 240), noise=0.03), 0.1e9),
    "dips become rarer": fill((3000, 30), (900, 240), factor=dipping),
    "few samples before": fill((3000, 12), (900, 240), noise=0.05, seed=3),
}


@pytest.mark.parametrize("case", SCATTER_STAYS)
def test_scatter_that_is_not_seen_shows_no_limit(case: str) -> None:
    series = curve(SCATTER_STAYS[case])
    assert fill_classes.beginning(series, shape_of(series), "part") != "cut off"


def test_a_limit_from_a_moment_on_cuts_the_scatter_off() -> None:
    series = curve(capped(100, 400, 0.4, 500))
    assert fill_classes.beginning(series, shape_of(series), "part") == "cut off"


def test_noise_at_a_sharp_end_is_no_slope() -> None:
    series = curve(fill((3000, 100), (1000, 300), noise=0.3))
    assert not fill_classes.beginning(series, shape_of(series), "part").startswith("sloping")


@pytest.mark.parametrize("seconds", [1, 3])
def test_a_host_memory_hides_no_cache(seconds: float) -> None:
    gb = 3 * seconds
    series = curve(fill((3000, gb), (480, gb + 40), (90, 200), sample_s=1.0))
    shape = shape_of(series)
    assert shape.edge is not None
    assert shape.edge.place.value == pytest.approx((gb + 40) * GB, rel=0.02)


def test_a_host_memory_alone_is_no_claim() -> None:
    series = curve(fill((3000, 12), (200, 60)))
    look = fill_classes.beginning(series, shape_of(series), "part")
    assert fill_classes.likely("part", look)[0]["cache"].value < fill_classes.CLAIMED


SLOWER = {
    "none": fill((461, 24), (111, 240)),
    "teeth": fill((461, 24), (200, 240), factor=saw(0.5, 1.5, 20, from_gb=24)),
    "even": capped(100, 140, 0.6, 500),
    "uneven teeth": fill((900, 1000), factor=telegraph(2)),
    "a faster plateau later": fill((2250, 365), (1125, 566), (2250, 760)),
    "many": fill((3000, 1000), factor=pulses(0.5, 5, 60)),
    "many long": fill((3000, 1000), factor=pulses(0.5, 15, 60)),
    "many even": in_turns(40, 60),
    "many long after a longer stretch": fill((3000, 1000), factor=uneven),
    "two speeds in turns": fill((3000, 1000), factor=pulses(0.5, 16, 64, 330)),
    "two speeds in turns, at a round period": fill((3000, 1000), factor=pulses(0.5, 15, 60, 300)),
    "two speeds in turns, briefly fast": fill((3000, 700), factor=hot(0.4, 100, 60, 8)),
    "two speeds in few turns": fill((3000, 1000), factor=hot(0.5, 200, 100, 75)),
    "two speeds in turns past the first plateau": fill(
        (3000, 100), (1000, 600), factor=hot(0.4, 150, 60, 30)
    ),
    "two speeds in turns past another plateau's end": fill(
        (3000, 1000), (1500, 1600), factor=hot(0.4, 100, 60, 30)
    ),
    "relaxing": fill(
        (3000, 1000), factor=lambda t, _: 0.6 + 0.4 * float(np.exp(min(100 - t, 0) / 9))
    ),
}


def test_scatter_that_only_takes_longer_is_not_cut_off() -> None:
    series = curve(slow_by_the_byte())
    look = fill_classes.slower(series, shape_of(series), None)
    assert look in two_speeds.LOOKS


@pytest.mark.parametrize("left", [0.2, 0.88])
def test_a_decay_to_less_or_more_than_heat_leaves_is_none(left: float) -> None:
    def decay(second: float, _: float) -> float:
        return left + (1 - left) * float(np.exp(min(100 - second, 0) / 9))

    series = curve(fill((3000, 1000), factor=decay, noise=0.003))
    shape = shape_of(series)
    assert fill_classes.slower(series, shape, teeth(shape)) != fill_classes.RELAXING


def test_stairs_are_no_decay() -> None:
    stairs = ((3000, 141), (1959, 197), (1119, 232), (687, 281))
    shape = shape_of(curve(fill(*stairs, noise=0.01, sample_s=1.0, seed=3)))
    assert len(shape.plateaus) == len(stairs)
    assert shape.decay_s is None
    assert decays_s(shape.quiet) is not None


def decays_at(begin_s: float, left: float) -> Factor:
    return lambda t, _: left + (1 - left) * float(np.exp(min(begin_s - t, 0) / (0.1 * begin_s)))


def test_a_decay_soon_after_a_cache_is_seen() -> None:
    series = curve(fill((3000, 150), (1000, 600), factor=decays_at(110, 0.5)))
    shape = shape_of(series)
    assert fill_classes.slower(series, shape, teeth(shape)) == fill_classes.RELAXING


@pytest.mark.parametrize("period_s", [150.0, 280.0, 600.0])
def test_a_wave_is_no_decay(period_s: float) -> None:
    wave = fill((1000, 1200), factor=lambda t, _: 1 + 0.25 * float(np.sin(6.283 * t / period_s)))
    shape = shape_of(curve(wave))
    assert fill_classes.slower(curve(wave), shape, teeth(shape)) != fill_classes.RELAXING


def test_an_end_by_decay_is_heat_for_the_cache_too() -> None:
    """What slowed a fill and what ended its first plateau are one thing there."""
    series = fill((3000, 1000), factor=decays_at(100, 0.5))
    told = found(series)
    assert told["slowed_by"].value == "throttling"
    assert (told["cache_probability"].number or 0.0) < 0.15


@pytest.mark.parametrize("look", SLOWER)
def test_slower_stretches_look_like_what_they_are(look: str) -> None:
    series = curve(SLOWER[look])
    shape = shape_of(series)
    assert fill_classes.slower(series, shape, teeth(shape)) == look


def test_probabilities_of_all_looks_add_up_within_their_intervals() -> None:
    kinds: tuple[fill_classes.Kind, ...] = ("cache", "part", "slowed")
    for kind in kinds:
        wanted = None if kind == "slowed" else set(CAUSES)
        for look in fill_classes._document()[kind]:
            likely, _ = fill_classes.likely(kind, look)
            assert wanted is None or set(likely) == wanted
            assert sum(share.value for share in likely.values()) == pytest.approx(1.0)
            for share in likely.values():
                assert share.low is not None and share.high is not None
                assert 0 <= share.low <= share.value <= share.high <= 1
                assert 0 < share.value < 1


@pytest.mark.parametrize(
    ("series", "least", "most"),
    [
        (fill((461, 24), (111, 240)), 0.8, 0.95),
        (fill((461, 24), (111, 180), (30, 240)), 0.95, 1.0),
        (fill((461, 240)), 0.02, 0.5),
        (fill((3000, 1000), factor=pulses(0.5, 15, 60)), 0.02, 0.7),
    ],
)
def test_a_cache_is_as_probable_as_its_fill_says(series: Fill, least: float, most: float) -> None:
    finding = found(series)["cache_probability"]
    assert finding.number is not None and least <= finding.number <= most
    assert finding.low is not None and finding.high is not None
    assert finding.low <= finding.number <= finding.high


def test_a_file_without_a_drop_tells_nothing_of_a_cache_and_says_what_would() -> None:
    finding = found(fill((480, 4), sample_s=0.05), 4, raw_bytes=0)["cache_probability"]
    assert finding.value is None
    assert "a larger file would tell" in (finding.note or "")


def test_a_speed_that_comes_and_goes_is_likely_no_cache() -> None:
    finding = found(fill((900, 1000), factor=pulses(0.3, 10, 12)))["cache_probability"]
    assert finding.number is not None and finding.number < 0.5
    assert "heat" in (finding.note or "") and "in turns" in (finding.note or "")


def test_a_limit_from_outside_is_told_by_the_scatter_that_it_takes_away() -> None:
    findings = found(capped(100, 140, 0.6, 500))
    limited = findings["slowed_by.outside"].number
    assert limited is not None and limited > 0.3
    assert limited > (findings["slowed_by.throttling"].number or 0)
    own = fill((500, 200), noise=0.03, factor=lambda t, _: 0.6 if 100 <= t < 140 else 1.0)
    other = found(own).get("slowed_by.outside")
    assert other is None or (other.number or 0) < limited


def test_an_even_fill_was_slowed_by_nothing() -> None:
    finding = found(fill((461, 24), (111, 240)))["slowed_by"]
    assert finding.kind == "choice" and finding.value == "nothing"
    assert "slowed_by.throttling" not in found(fill((461, 24), (111, 240)))


def heated(same: bool) -> tuple[Fill, Degrees]:
    """Lows that begin every time at 70 °C, or at a temperature that rises from low to low."""
    series = fill((3000, 1000), factor=pulses(0.5, 15, 60), noise=0.01)
    at = series.t_ns / 1e9
    phase = at % 60
    cycle = np.where(phase < 45, 60 + 10 * phase / 45, 70 - 10 * (phase - 45) / 15)
    warm = np.where(at < 60, 30 + 40 * np.minimum(at / 45, 1), cycle)
    rising = 30 + 40 * at / at[-1]
    return series, Degrees(at_s=at, degrees=warm if same else rising)


def test_a_thermometer_decides_whether_lows_are_heat() -> None:
    alone = found(heated(True)[0])["slowed_by.throttling"].number or 0.0
    series, warm = heated(True)
    hot = found(series, warm=warm)
    assert hot["slowed_by"].value == "throttling"
    assert (hot["slowed_by.throttling"].number or 0) > max(alone, 0.9)
    series, rising = heated(False)
    cool = found(series, warm=rising)
    assert cool["slowed_by"].value != "throttling"
    assert (cool["slowed_by.throttling"].number or 0) < alone
    total = sum(
        cool[f"slowed_by.{word}"].number or 0 for word in ("nothing", "throttling", "outside")
    )
    assert total == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("late_s", [0.0, 6.0])
def test_a_sensor_that_is_late_still_tells_heat(late_s: float) -> None:
    series, warm = heated(True)
    told = np.round(np.interp(np.floor(warm.at_s / 5) * 5 - late_s, warm.at_s, warm.degrees))
    hot = found(series, warm=Degrees(at_s=warm.at_s, degrees=told))
    assert hot["slowed_by"].value == "throttling"


def warming(stops: bool, lasts_s: float, seconds: float = 120.0) -> tuple[Fill, Degrees]:
    """A drive that warms until some moment and comes down to a slower speed from then on, in some
    seconds: it stops in mid-rise there, or goes on to warm as bodies do."""

    def factor(t: float, _: float) -> float:
        return 1.0 if t < seconds else 0.6 + 0.4 * float(np.exp((seconds - t) / lasts_s))

    series = fill((1000, 240), factor=factor, noise=0.01)
    at = series.t_ns / 1e9
    degrees = 35 + 60 * (1 - np.exp(-at / seconds))
    held = np.minimum(degrees, 35 + 60 * (1 - np.exp(-1.0)))
    return series, Degrees(at_s=at, degrees=np.round(held if stops else degrees))


def test_a_temperature_that_is_held_is_heat_and_one_that_settles_is_not() -> None:
    series, warm = warming(stops=True, lasts_s=10.0)
    slowed = found(series, warm=warm)["slowed_by"]
    assert slowed.value == "throttling" and "rises no more" in (slowed.note or "")
    assert slowed.evidence is not None
    assert slowed.evidence.start == pytest.approx(120 * GB, rel=0.1)
    series, warm = warming(stops=False, lasts_s=10.0)
    assert found(series, warm=warm)["slowed_by"].value != "throttling"


def test_a_drive_that_is_slower_at_once_and_no_warmer_may_be_behind_a_slower_link() -> None:
    """A drive that writes less heats itself less: eight of 214 drives without throttling that had a
    thermometer were told as throttled."""
    series, warm = warming(stops=True, lasts_s=1e-3)
    slowed = found(series, warm=warm)["slowed_by"]
    assert slowed.value is None and "fill it once more" in (slowed.note or "")


def test_a_drive_that_was_slow_before_it_was_hot_is_not_slowed_by_heat() -> None:
    """A saw-tooth from the beginning: the drive cools in each of its lows, from its highest ones
    once it has warmed up."""
    series = fill((1000, 240), factor=pulses(0.4, 20, 60), noise=0.01)
    at = series.t_ns / 1e9
    phase = at % 60
    swing = np.where(phase < 40, phase / 40, 1 - (phase - 40) / 20) - 1
    degrees = np.round(30 + 40 * (1 - np.exp(-at / 40)) + 6 * swing)
    slowed = found(series, warm=Degrees(at_s=at, degrees=degrees))["slowed_by"]
    assert slowed.value != "throttling"


def test_one_slower_stretch_in_which_the_drive_cools_is_heat() -> None:
    """From the series alone it is a plateau between two others."""
    series = fill((1000, 240), factor=lambda t, _: 0.3 if 100 <= t < 220 else 1.0, noise=0.01)
    at = series.t_ns / 1e9
    warms = 35 + 60 * (1 - np.exp(-at / 90))
    top = 35 + 60 * (1 - np.exp(-100 / 90))
    cools = top - 8 * (1 - np.exp(-(at - 100) / 60))
    again = np.minimum(top - 7 + (at - 220) * 0.2, top - 0.5)
    degrees = np.where(at < 100, warms, np.where(at < 220, cools, again))
    slowed = found(series, warm=Degrees(at_s=at, degrees=np.round(degrees)))["slowed_by"]
    assert slowed.value == "throttling" and "its temperature falls" in (slowed.note or "")


@pytest.mark.parametrize("slower_when", ["cooling", "warming"])
def test_a_drive_that_is_slower_each_time_it_cools_is_hot(slower_when: str) -> None:
    # Down to a fifth of the speed, which from the series alone is no heat.
    series = fill((1000, 240), factor=pulses(0.2, 20, 60), noise=0.01)
    at = series.t_ns / 1e9
    phase = at % 60
    rises = np.where(phase < 40, 60 + 15 * phase / 40, 75 - 15 * (phase - 40) / 20)
    falls = np.where(phase < 40, 75 - 15 * phase / 40, 60 + 15 * (phase - 40) / 20)
    cycle = rises if slower_when == "cooling" else falls
    warm = Degrees(at_s=at, degrees=np.round(np.where(at < 40, 30 + at, cycle)))
    slowed = found(series, warm=warm)["slowed_by"]
    assert (slowed.value == "throttling") is (slower_when == "cooling")


def test_where_nobody_can_tell_the_note_names_the_test() -> None:
    findings = found(fill((3000, 1000), factor=pulses(0.2, 10, 100)))
    finding = findings["slowed_by"]
    if finding.value is None:
        assert finding.note is not None and finding.note.startswith("cannot tell")
        assert "fill it once more" in finding.note or "read the same range" in finding.note


def test_a_thermometer_that_never_warms_says_no_heat_and_one_low_says_nothing() -> None:
    at = np.arange(100.0)
    assert heating.denies([(10, 20), (30, 40)], at, np.full(100, 35.0))
    assert not heating.denies([(10, 20)], at, 30 + at)


@pytest.mark.parametrize("seconds", [8.0, 20.0, 45.0])
def test_a_saw_tooth_has_the_period_that_it_was_made_with(seconds: float) -> None:
    series = fill((461, 24), (200, 240), factor=saw(0.5, 1.5, seconds, from_gb=24))
    finding = found(series)["tooth_period"]
    true = 0.2 * seconds
    assert finding.low is not None and finding.high is not None
    assert finding.low <= true <= finding.high
    assert finding.high - finding.low < 0.15 * true
    assert finding.evidence is not None and finding.evidence.start >= 23.9 * GB


@pytest.mark.parametrize(
    "series",
    [
        fill((461, 24), (111, 240), noise=0.05),
        fill((461, 24), (111, 240), noise=0.05, memory=0.9),
        fill((461, 24), (111, 192), (81, 240)),
        # A journal that slows the host each 30 s, from the first second on.
        fill((461, 24), (111, 240), factor=pulses(0.6, 1, 30)),
        # Teeth of a tenth are no saw-tooth that anybody would see.
        fill((461, 24), (200, 240), factor=saw(0.95, 1.05, 20, from_gb=24)),
    ],
)
def test_without_a_saw_tooth_none_is_claimed(series: Fill) -> None:
    assert "tooth_period" not in found(series)


def test_the_highest_rate_held_is_a_bound_below_the_interface() -> None:
    finding = found(fill((461, 24), (111, 240), noise=0.02))["rate_held"]
    assert finding.number == pytest.approx(461, rel=0.03)
    assert finding.interval is not None and finding.interval.means == "bound"
    assert finding.low == finding.number and finding.high is None
    # A plateau that lasts less than three samples is held as long as it lasts.
    short = found(fill((2621, 4.0), (600, 240)))
    assert short["rate_held"].number == pytest.approx(2621, rel=0.05)
    # A burst of one sample is not held.
    burst = fill((461, 240), factor=lambda t, _: 3.0 if 50 <= t < 50.5 else 1.0)
    assert (found(burst)["rate_held"].number or 0) < 600


def test_the_page_says_how_likely_a_lasting_drop_is_a_cache() -> None:
    """The counts are made anew now and then; the sentence that quotes them follows."""
    text = (DOCS / "concepts" / "findings.md").read_text(encoding="utf-8")
    said = re.search(r"is (\d+) to (\d+) % a cache", text)
    assert said is not None
    shares = [
        fill_classes.likely("cache", f"one level{how}")[0]["cache"].value
        for how in (", weak", "", ", steep", ", far")
    ]
    assert [int(number) for number in said.groups()] == [
        round(100 * min(shares)),
        round(100 * max(shares)),
    ]
