"""Fills that hostile generators found misread: each mechanism alone, as a host would see it."""

from __future__ import annotations

import numpy as np
import pytest
from shapes import GB, Factor, fill, found, pulses
from thinning import thinned

from flashtwin.analysis import calibration
from flashtwin.analysis.curve import Curve, curve_of
from flashtwin.analysis.first_plateau import is_step
from flashtwin.analysis.shape import Shape, shape_of

Part = tuple[int, float]


def shape(series: object) -> Shape:
    """The shape of a synthetic fill."""
    columns = series.t_ns, series.dt_ns, series.bytes_  # type: ignore[attr-defined]
    return shape_of(curve_of(*columns))


def rates(*parts: tuple[int, float], dt: float = 0.5, seed: int = 5, noise: float = 0.01) -> Curve:
    """So many samples at so many MB/s each."""
    rate = np.concatenate([np.full(count, speed, dtype=np.float64) for count, speed in parts])
    rate *= 1e6 * (1 + np.random.default_rng(seed).normal(0.0, noise, rate.size))
    return Curve(dt=np.full(rate.size, dt), size=rate * dt)


@pytest.mark.parametrize("seconds", [9.0, 18.0])
def test_a_silence_of_a_thousand_samples_is_one_stall(seconds: float) -> None:
    silent = int(seconds / 0.02)
    curve = rates((60, 3000), (silent, 0.1), (900, 3000), (3000, 1300), dt=0.02)
    read = shape_of(curve)
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(960 * 0.02 * 3e9, rel=0.005)
    assert [round(p.speed.value / 1e6, -2) for p in read.plateaus] == [3000, 1300]
    assert sum(length for _, length in read.stalls) == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize("slow", [600, 1100])
def test_three_minutes_behind_a_limiter_slow_no_plateau(slow: float) -> None:
    # 180 s at the limiter's pace, then the cache's own, then what is past it.
    read = shape_of(rates((360, slow), (500, 1650), (1500, 500)))
    assert read.edge is not None
    assert read.plateaus[0].speed.value == pytest.approx(1650e6, rel=0.01)
    assert read.rise == pytest.approx(180 * slow * 1e6, rel=0.03)


def test_a_slow_start_shorter_than_a_pool_of_samples_is_seen() -> None:
    # 14,000 samples are read in pools of ten.
    read = shape_of(rates((50, 276), (25, 344), (14_000, 34), dt=0.3))
    assert read.plateaus[0].speed.value == pytest.approx(344e6, rel=0.01)


def test_seconds_of_a_journal_every_half_minute_count_in_no_speed() -> None:
    # Finely sampled, each is a hundred samples at a quarter of the speed.
    past = [(650, 1660.0), (100, 430.0)] * 8
    read = shape_of(rates((200, 4700), *past, dt=0.04))
    assert [p.speed.value / 1e6 for p in read.plateaus] == pytest.approx([4700, 1660], rel=0.01)


def test_bursts_that_recur_count_in_the_speed_past_the_cache() -> None:
    # A drive that takes 4.5 GB fast after each 9 GB; the fill ends in such a burst.
    past = [(180, 50.0), (30, 150.0)] * 12
    curve = rates((200, 400), *past)
    read = shape_of(curve)
    assert len(read.plateaus) == 2
    mean = curve.mean(200, len(curve))
    assert read.plateaus[1].speed.value == pytest.approx(mean, rel=0.02)


def test_one_burst_is_still_an_excursion() -> None:
    read = shape_of(rates((200, 400), (900, 100), (30, 390), (1500, 100)))
    assert read.plateaus[-1].speed.value == pytest.approx(100e6, rel=0.01)


@pytest.mark.parametrize("stall_s", [0.7, 2.0, 7.0, 18.0])
@pytest.mark.parametrize("share", [0.15, 0.5, 0.85])
def test_a_pause_at_the_end_stays_within_the_interval(stall_s: float, share: float) -> None:
    # The drive pauses when the cache is full, in mid-sample; a sample holds 1 s.
    series = fill((900, 90 + 0.9 * share), (300, 400), sample_s=0.1, noise=0.01)
    done = np.concatenate(([0.0], np.cumsum(series.bytes_)))
    time = np.concatenate(([0.0], np.cumsum(series.dt_ns) / 1e9))
    truth = (90 + 0.9 * share) * GB
    at = float(np.interp(truth, done, time))
    moments = np.arange(0.0, time[-1] + stall_s, 1.0)
    active = np.where(moments < at, moments, np.maximum(moments - stall_s, np.minimum(moments, at)))
    size = np.diff(np.interp(active, time, done))
    curve = Curve(dt=np.ones(size.size), size=size)
    read = calibration.widened_shape(shape_of(curve), curve)
    assert read.edge is not None
    place = read.edge.place
    assert place.low is not None and place.high is not None
    assert place.low <= truth <= place.high
    assert place.value == pytest.approx(truth, rel=0.02)


def test_a_saw_tooth_past_the_cache_is_no_gradual_decline() -> None:
    teeth = [(6, 7900.0), (6, 6400.0), (6, 5200.0), (6, 4200.0), (6, 3300.0), (6, 2600.0)] * 50
    read = shape_of(rates((170, 11_700), *teeth, dt=0.02))
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(170 * 0.02 * 11.7e9, rel=0.03)


def test_heat_with_ramps_leaves_the_speeds_alone() -> None:
    def heat(second: float, done: float) -> float:
        phase = (second % 60) / 60
        depth = float(np.clip(min((phase - 0.6) / 0.08, (1 - phase) / 0.08), 0, 1))
        return 1 - 0.5 * depth

    read = shape(fill((900, 100), (300, 300), factor=heat, noise=0.01))
    assert [p.speed.value / 1e6 for p in read.plateaus] == pytest.approx([900, 300], rel=0.006)


def test_a_drive_that_stops_again_and_again_keeps_its_stalls() -> None:
    # Pauses that recur are the drive's pace past its cache, and no interruptions.
    series = fill((461, 24), (111, 240), factor=pulses(0.0, 10, 60, from_gb=24))
    speed = found(series)["speed_past_cache"]
    assert speed.number == pytest.approx(111 * 50 / 60, rel=0.03)


@pytest.mark.parametrize("share", [0.96, 0.97])
def test_a_last_plateau_of_three_per_cent_is_seen(share: float) -> None:
    read = shape(fill((900, 30), (300, 240 * share), (100, 240)))
    assert [round(p.speed.value / 1e6, -1) for p in read.plateaus] == [900, 300, 100]
    assert read.plateaus[-1].start == pytest.approx(240 * share * GB, rel=0.005)


@pytest.mark.parametrize("begins", [60.0, 150.0])
def test_a_limiter_outside_of_the_drive_for_a_while_is_no_cache(begins: float) -> None:
    def limited(second: float, done: float) -> float:
        return 0.55 if begins <= second < begins + 25 else 1.0

    findings = found(fill((900, 240), factor=limited))
    assert findings["cache_size"].value == 0
    assert findings["speed_past_cache"].number == pytest.approx(900, rel=0.01)


@pytest.mark.parametrize("seed", thinned(range(4), every=2))
@pytest.mark.parametrize("noise", [0.01, 0.08])
def test_the_bound_beside_no_cache_holds(noise: float, seed: int) -> None:
    # A cache just above the bound is seen in the very same noise.
    none = found(fill((500, 240), noise=noise, seed=seed), calibrate=True)["cache_size"]
    assert none.value == 0 and none.interval is not None and none.interval.high is not None
    above = 1.05 * none.interval.high
    seen = found(fill((640, above), (500, 240), noise=noise, seed=seed), calibrate=True)
    assert seen["cache_size"].value


def test_a_journals_burst_just_before_the_end_does_not_end_the_cache() -> None:
    # Two samples below half of the speed, every 20, as slow as what is past the cache: it ends two
    # samples after the last of them.
    past = [(18, 2000.0), (2, 900.0)] * 30
    read = shape_of(rates((7, 4700), (2, 2100), (2, 4700), *past))
    assert read.edge is not None
    written = 0.5 * (9 * 4700 + 2 * 2100) * 1e6
    assert read.edge.place.value == pytest.approx(written, rel=0.02)


def journal(speed: float, lower: float, *, times: int, samples: tuple[int, int]) -> list[Part]:
    """A plateau with so many bursts of the host, of so many samples each after so many between."""
    return [(samples[0], speed), (samples[1], lower)] * times


@pytest.mark.parametrize("burst", [20, 60, 120])
def test_bursts_of_many_samples_count_in_no_speed_of_any_plateau(burst: int) -> None:
    # Every half minute the host is three times slower, in the cache as past it: one period of
    # seconds for both, and 2 to 12 s of it are slow.
    between = 300 - burst
    first = journal(2800, 900, times=4, samples=(between, burst))
    later = journal(430, 140, times=30, samples=(between, burst))
    read = shape_of(rates(*first, *later, dt=0.1, noise=0.02))
    assert read.edge is not None
    assert [p.speed.value / 1e6 for p in read.plateaus] == pytest.approx([2800, 430], rel=0.01)
    written = 4 * 0.1 * (between * 2800 + burst * 900) * 1e6
    assert read.edge.place.value == pytest.approx(written, rel=0.01)


def test_a_burst_that_ends_with_the_plateau_belongs_to_it() -> None:
    # Its 8 s at 1000 MB/s end where the cache does: past it the drive is slower than that.
    first = journal(2800, 1000, times=3, samples=(220, 80))
    later = journal(430, 150, times=20, samples=(220, 80))
    read = shape_of(rates(*first, *later, dt=0.1, noise=0.02))
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(
        3 * 0.1 * (220 * 2800 + 80 * 1000) * 1e6, rel=0.01
    )


def test_pauses_of_a_drive_that_folds_in_turns_stay_in_its_speed() -> None:
    # They recur as evenly as a journal does, but only past the cache.
    past = journal(600, 150, times=40, samples=(25, 12))
    curve = rates((600, 2000), *past, dt=0.5)
    read = shape_of(curve)
    assert read.plateaus[-1].speed.value == pytest.approx(curve.mean(600, len(curve)), rel=0.02)


@pytest.mark.parametrize("count", [20, 490])
def test_an_even_beginning_ends_where_a_saw_tooth_begins(count: int) -> None:
    # The teeth are so coarse that no segment of the series has a level.
    teeth = [(1, 1850.0), (1, 1500.0), (1, 1250.0), (1, 1000.0), (1, 800.0), (1, 620.0)] * 80
    read = shape_of(rates((count, 2690), *teeth, dt=1.7))
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(count * 1.7 * 2.69e9, rel=0.05)


def test_a_cache_of_some_samples_that_is_armed_again_and_again() -> None:
    past = [(3, 870.0), (1, 1680.0), (2, 860.0)] * 12
    read = shape_of(rates((8, 1680), *past, dt=5.0))
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(8 * 5 * 1.68e9, rel=0.1)


@pytest.mark.parametrize("slow", [1, 2, 4])
def test_a_short_first_plateau_after_a_slow_start(slow: int) -> None:
    read = shape_of(rates((slow, 700), (3, 1200), (140, 790), dt=18.0, noise=0.03))
    assert read.edge is not None
    written = 18 * (slow * 700 + 3 * 1200) * 1e6
    assert read.edge.place.value == pytest.approx(written, rel=0.05)
    assert read.plateaus[0].speed.value == pytest.approx(1200e6, rel=0.05)


def test_a_quarter_of_an_hour_behind_a_limiter_slows_no_plateau() -> None:
    read = shape_of(rates((160, 250), (150, 655), (2000, 190), dt=6.5))
    assert read.plateaus[0].speed.value == pytest.approx(655e6, rel=0.01)


def test_a_dip_in_a_short_first_plateau_hides_no_end() -> None:
    # 15,000 samples are read in pools; what scatters in the first plateau is one burst.
    read = shape_of(rates((6, 1600), (26, 650), (26, 1590), (15_000, 670), dt=0.1))
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(0.1 * (32 * 1.596e9 + 26 * 0.65e9), rel=0.02)


def test_heat_that_was_there_when_a_plateau_ended_goes_on_in_the_next() -> None:
    # The first plateau ends hot and the second begins so; a low takes 38 s in either.
    cycles = [(88, 129.0), (140, 180.0)] * 3
    read = shape_of(rates((240, 676), (76, 489), (60, 131), (140, 180), *cycles, dt=0.5))
    assert [p.speed.value / 1e6 for p in read.plateaus] == pytest.approx([676, 180], rel=0.01)
    assert read.edge is not None
    written = 0.5 * (240 * 676 + 76 * 489) * 1e6
    assert read.edge.place.value == pytest.approx(written, rel=0.01)


def test_a_wave_in_the_cache_does_not_end_it() -> None:
    # A tenth down and up again, and then the end: it is too short a time to have recovered in.
    waves = [(39, 5650), (37, 4900), (21, 5660)]
    read = shape_of(rates(*waves, (6000, 1470), dt=0.2, noise=0.02))
    assert read.edge is not None
    written = 0.2 * sum(count * speed for count, speed in waves) * 1e6
    assert read.edge.place.value == pytest.approx(written, rel=0.02)


@pytest.mark.parametrize("sample_s", [0.3, 0.6, 1.0])
@pytest.mark.parametrize(
    ("begins", "period", "duty", "left"),
    [(0.28, 0.04, 0.55, 0.44), (0.11, 0.04, 0.5, 0.4), (0.48, 0.08, 0.4, 0.45)],
)
def test_heat_of_few_samples_ends_no_cache(
    sample_s: float, begins: float, period: float, duty: float, left: float
) -> None:
    # A flat drive is slowed from some moment on, in turns of 5 to 15 samples.
    series = fill((3000, 240), factor=turns(begins, period, duty, left), sample_s=sample_s)
    assert not found(series)["cache_size"].value
    assert [plateau.speed.value for plateau in shape(series).plateaus] == pytest.approx(
        [3e9], rel=0.2
    )


def turns(begins: float, period: float, duty: float, left: float) -> Factor:
    """A speed that is `left` for a share of each period from a place on, with short ramps."""

    def factor(_: float, done: float) -> float:
        phase = (done / (240 * GB) - begins) % period / period
        depth = min(phase / (0.1 * duty), (duty - phase) / (0.1 * duty), 1.0)
        return 1 - (1 - left) * max(depth, 0.0) if done >= begins * 240 * GB else 1.0

    return factor


def test_a_cache_that_takes_data_again_is_no_heat() -> None:
    # Each 8 GB a quarter of them goes fast: most bytes are slow, which heat does not do.
    past = [(4, 2000.0), (36, 500.0)] * 12
    read = shape_of(rates((60, 2000), *past, dt=1.0))
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(128 * GB, rel=0.01)
    again = read.first_plateau.rearming
    assert again is not None and again.cycles == 10
    assert again.period.value == pytest.approx(26 * GB, rel=0.01)
    assert again.duty == pytest.approx(8 / 26, rel=0.05)


def test_where_cells_come_back_is_no_cache_behind_a_burst() -> None:
    # Of the first seconds alone one would say so: the last plateau explains more than they do.
    read = shape_of(rates((9, 1840), (400, 1350), (60, 860)))
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(9 * 0.92 * GB, rel=0.01)
    assert read.without_burst == pytest.approx((9 * 0.92 + 400 * 0.675) * GB, rel=0.01)


@pytest.mark.parametrize(("times", "word"), [(1.3, "taken for a burst"), (1.8, "may be a burst")])
def test_a_beginning_of_seconds_is_told_with_both_readings(times: float, word: str) -> None:
    rate = 500 * np.where(np.arange(600) < 4, times, 1.0)
    rate *= 1 + 0.01 * np.random.default_rng(3).normal(size=600)
    series = fill((500, 150), factor=lambda t, _: float(rate[min(int(2 * t), 599)] / 500))
    assert word in (found(series)["cache_size"].note or "")


def test_no_host_takes_data_of_a_whole_drive_that_the_battery_writes() -> None:
    # A first tier of two seconds; the second one explains more of the fill.
    series = fill((1500, 3), (900, 60), (300, 240))
    known = found(series, excluded=frozenset({"burst"}))["cache_size"]
    assert known.number == pytest.approx(3, rel=0.02) and "burst" not in (known.note or "")
    handed_over = found(series)["cache_size"]
    assert handed_over.number == pytest.approx(60, rel=0.02)
    assert "may be a cache of that size" in (handed_over.note or "")


@pytest.mark.parametrize(("memory_mb", "end_gb"), [(40, 6.56), (10, 0.16)])
def test_what_a_drives_own_memory_can_hold_is_no_cache(memory_mb: int, end_gb: float) -> None:
    # Two samples bring 32 MB beyond the cache's own speed, as a write buffer takes them.
    curve = rates((2, 4000), (100, 3200), (3000, 200), dt=0.02)
    read = shape_of(curve, memory_bytes=memory_mb * 1e6)
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx(end_gb * GB, rel=0.02)


def test_a_stall_past_the_end_makes_no_slope_of_it() -> None:
    curve = rates((13, 3150), (75, 2360), (61, 670))
    stalled = np.where(np.arange(len(curve)) == 40, 40.0, 1.0) * curve.dt
    assert is_step(Curve(dt=stalled, size=curve.size), 0, 13, 88)


def test_the_last_samples_of_a_fill_end_no_plateau() -> None:
    read = shape_of(rates((300, 1000), (4, 500)))
    assert read.edge is None


def test_a_tenth_less_before_the_end_of_a_cache_does_not_end_it() -> None:
    read = shape_of(rates((13, 3070), (4, 2730), (2400, 850)))
    assert read.edge is not None
    assert read.edge.place.value == pytest.approx((13 * 1.535 + 4 * 1.365) * GB, rel=0.02)


def sparse(seed: int) -> Curve:
    """A drive that writes nothing in many samples, which come alone, in turns or in long rows."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(20, 300))
    size = np.round(5e8 * np.exp(rng.normal(0, 0.3, count)))
    if seed % 2:
        size = np.where(rng.random(count) < rng.uniform(0.05, 0.6), rng.integers(1, 9, count), 0.0)
    else:
        size[(np.arange(count) // int(rng.integers(2, 40))) % 2 == 0] = 0.0
    for start in rng.integers(0, count, 6):
        size[start : start + int(rng.integers(1, 60))] *= rng.choice([0.0, 0.01, 0.3, 2.0])
    size[-1] = 1.0
    return Curve(dt=np.full(count, 0.1), size=size)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", [8, 14, 17, 42, 52, 58, 86])
def test_samples_without_a_byte_are_no_error(seed: int) -> None:
    """Each of these divided by the bytes of a usual sample, by a speed of 0, or counted below 0."""
    read = shape_of(sparse(seed))
    assert all(np.isfinite(plateau.speed.value) for plateau in read.plateaus)
