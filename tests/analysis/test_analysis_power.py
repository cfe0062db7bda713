"""Watts and write amplification out of readings, against values that are reckoned by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flashtwin.analysis import power
from flashtwin.analysis.amplification import from_smart


def test_a_mean_is_energy_over_time_and_not_of_samples() -> None:
    read = power.readings([1_000_000_000, 3_000_000_000], [2_000_000, 400_000])
    mean = power.mean(read)
    assert mean is not None
    assert mean.value == pytest.approx((2.0 + 1.2) / 4)
    assert read.joules == pytest.approx(3.2)
    assert power.most(read) == pytest.approx(2.0)


def test_the_interval_of_a_mean_covers_it() -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        drawn = rng.normal(900_000, 50_000, 60).clip(0)
        mean = power.mean(power.readings(np.full(60, 10**9), drawn))
        assert mean is not None and mean.low is not None and mean.high is not None
        covered += mean.low <= 0.9 <= mean.high
    assert 180 <= covered <= 199


def test_data_for_a_joule() -> None:
    read = power.readings([10**9] * 10, [500_000] * 10)
    found = power.efficiency(read, 1_000_000_000)
    assert found is not None
    assert found.value == pytest.approx(200.0)
    assert power.efficiency(read, 0) is None


def test_the_settled_part() -> None:
    read = power.readings([10**9] * 4, [4_000_000, 3_000_000, 2_000_000, 1_000_000])
    assert read.from_share(0.5).watts.tolist() == [2.0, 1.0]
    assert read.from_share(1.0).watts.tolist() == [1.0]


def test_nothing_read_is_nothing_known() -> None:
    none = power.readings([], [])
    assert power.mean(none) is None
    assert power.most(none) is None
    assert power.efficiency(none, 10) is None


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
    found = from_smart(before, after)
    assert found is not None
    assert found.value == pytest.approx(waf)
    assert found.low is not None and found.high is not None
    assert found.low < waf < found.high


def test_a_drive_that_counts_no_programs_has_none() -> None:
    samsung = smart(a177=5, a241=1000)
    assert from_smart(samsung, smart(a177=9, a241=9000)) is None
    assert from_smart({}, {"nvme_smart_health_information_log": {}}) is None


def test_too_little_for_the_counters() -> None:
    assert from_smart(smart(a241=10, a249=1), smart(a241=10, a249=1)) is None
    grain = from_smart(smart(a241=10, a249=1), smart(a241=11, a249=1))
    assert grain is not None
    assert (grain.value, grain.low, grain.high) == (0.0, 0.0, None)
