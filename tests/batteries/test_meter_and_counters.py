"""Watts and write amplification out of readings, against values that are reckoned by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flashtwin.batteries.power.meter import Readings
from flashtwin.batteries.waf import from_smart
from flashtwin.model.finding import Interval


def test_a_mean_is_energy_over_time_and_not_of_samples() -> None:
    read = Readings.of([1_000_000_000, 3_000_000_000], [2_000_000, 400_000])
    mean = read.mean()
    assert mean is not None
    assert mean.value == pytest.approx((2.0 + 1.2) / 4)
    most = read.most()
    assert most is not None and most.value == pytest.approx(2.0)


def test_the_interval_of_a_mean_covers_it() -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        drawn = rng.normal(900_000, 50_000, 60).clip(0)
        mean = Readings.of(np.full(60, 10**9), drawn).mean()
        assert mean is not None and mean.low is not None and mean.high is not None
        covered += mean.low <= 0.9 <= mean.high
    assert 180 <= covered <= 199


def test_data_for_a_joule() -> None:
    read = Readings.of([10**9] * 10, [500_000] * 10)
    found = read.efficiency(1_000_000_000)
    assert found is not None
    assert found.value == pytest.approx(200.0)
    assert read.efficiency(0) is None


def test_the_settled_part() -> None:
    read = Readings.of([10**9] * 4, [4_000_000, 3_000_000, 2_000_000, 1_000_000])
    assert read.from_share(0.5).watts.tolist() == [2.0, 1.0]
    assert read.from_share(1.0).watts.tolist() == [1.0]


def test_nothing_read_is_nothing_known() -> None:
    none = Readings.of([], [])
    assert none.mean() is None
    assert none.most() is None
    assert none.efficiency(10) is None


def smart(**raw: int) -> dict[str, Any]:
    table = [{"id": int(name[1:]), "raw": {"value": value}} for name, value in raw.items()]
    return {"ata_smart_attributes": {"table": table}}


@pytest.mark.parametrize(
    ("before", "after", "waf"),
    [
        # Micron: 1,000 pages for the host, 1,500 of the firmware's own.
        (smart(a247=100, a248=900), smart(a247=1100, a248=2400), 2.5),
        # Intel: 32 x 32 MiB from the host, 3 GiB programmed.
        (smart(a241=10, a249=1), smart(a241=42, a249=4), 3.0),
        # WD: 4 GiB from the host, 4 into SLC cells and 2 into native ones.
        (smart(a241=1, a233=5, a234=7), smart(a241=5, a233=7, a234=11), 1.5),
    ],
)
def test_write_amplification_by_maker(
    before: dict[str, Any], after: dict[str, Any], waf: float
) -> None:
    ratio = from_smart(before, after)
    assert ratio is not None
    value, interval = ratio
    assert value == pytest.approx(waf)
    assert interval.low is not None and interval.high is not None
    assert interval.low < waf < interval.high


def test_a_drive_that_counts_no_programs_has_none() -> None:
    samsung = smart(a177=5, a241=1000)
    assert from_smart(samsung, smart(a177=9, a241=9000)) is None
    assert from_smart({}, {"nvme_smart_health_information_log": {}}) is None


def test_too_little_for_the_counters() -> None:
    assert from_smart(smart(a241=10, a249=1), smart(a241=10, a249=1)) is None
    ratio = from_smart(smart(a241=10, a249=1), smart(a241=11, a249=1))
    assert ratio == (0.0, Interval(low=0.0, high=None, means="bound"))
